"""Reproducing the papers: their published figures as data, and the code that obtains them again."""
