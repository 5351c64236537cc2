"""How fast it is, beside other libraries, in one run on one machine. Ratios, never absolutes."""
