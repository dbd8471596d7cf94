"""Kernels of the learners of the papers."""
