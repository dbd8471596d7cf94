"""The figures, by kind."""
