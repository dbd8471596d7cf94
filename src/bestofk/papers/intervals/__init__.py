"""Otero et al. 2014: bootstrap analysis of multiple repetitions of experiments."""
