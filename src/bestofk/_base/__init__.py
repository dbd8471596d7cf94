"""Errors, argument checks, registries, number formatting and atomic writes."""
