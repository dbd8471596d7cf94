"""Running learners over plans: the only room that calls fit and predict."""
