"""Formulas for readers: one file a notation. A writer gets formulas, never SymPy trees."""
