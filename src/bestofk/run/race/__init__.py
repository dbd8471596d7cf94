"""A comparison that stops when it is settled: what is run next, and what was decided."""
