"""Where steps end, and how two ways of stepping are compared."""
