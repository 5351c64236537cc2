"""Where to go: paths, time laws, trajectories."""
