"""Machine code that is kept, in memory and on disk."""
