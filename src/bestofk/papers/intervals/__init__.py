"""Otero et al. 2013: bootstrap analysis of multiple repetitions of experiments."""
