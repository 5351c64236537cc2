"""Scenarios in TOML: how each part of a run is read from a file and written to one."""
