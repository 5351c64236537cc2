"""Redundant arms: what a posture may be used for beside its task."""
