"""Reproductions of the papers: published figures as data, and the code that recomputes them."""
