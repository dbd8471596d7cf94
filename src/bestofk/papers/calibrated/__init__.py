"""Bouckaert 2003: ten tests on repeated cross-validation, calibrated by measurement."""
