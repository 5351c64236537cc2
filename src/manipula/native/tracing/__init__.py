"""From a Python function to a graph of operations."""
