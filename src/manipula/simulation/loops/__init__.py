"""Compiled loops from initial states to samples."""
