"""From a graph to the order and grouping in which it is computed."""
