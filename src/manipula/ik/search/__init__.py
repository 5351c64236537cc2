"""One target: starts, descents, and all postures."""
