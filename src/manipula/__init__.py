"""Manipula: from a robot table to torque."""

__version__ = "0.1.0"
