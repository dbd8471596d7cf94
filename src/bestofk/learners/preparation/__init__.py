"""Rows for learners: what a learner declares to take, and what is done where it takes less."""
