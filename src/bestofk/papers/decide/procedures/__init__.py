"""The procedures."""
