"""Results in files, one format a module; ``content.py`` says what all of them hold."""
