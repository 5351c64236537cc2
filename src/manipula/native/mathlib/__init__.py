"""Elementary functions as code of our own."""
