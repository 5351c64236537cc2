"""Joint motions along task motions."""
