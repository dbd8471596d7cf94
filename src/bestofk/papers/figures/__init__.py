"""Figures that only the lab and the papers draw."""
