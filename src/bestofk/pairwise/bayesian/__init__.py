"""Posterior probabilities of better, equivalent and worse."""
