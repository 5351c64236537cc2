"""Programmed motion: the tip obeys formulas; motion, friction and torques follow."""
