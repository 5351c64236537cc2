"""The speed a person feels: whole calls, new processes and commands, beside other libraries in one run."""
