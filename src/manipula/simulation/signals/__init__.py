"""Signals that are computed from a recorded run."""
