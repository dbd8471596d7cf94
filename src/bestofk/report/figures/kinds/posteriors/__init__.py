"""Figures of Bayesian tests: how probable better, equivalent and worse are."""
