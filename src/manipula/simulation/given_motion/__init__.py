"""Runs whose motion is given: kinematic runs and inverse dynamics."""
