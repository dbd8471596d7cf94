"""Stores: where fits are kept."""
