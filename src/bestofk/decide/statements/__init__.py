"""A decision in words and as JSON."""
