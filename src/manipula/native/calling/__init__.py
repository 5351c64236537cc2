"""Calling machine code from Python."""
