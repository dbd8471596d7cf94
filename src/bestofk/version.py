"""The version of bestofk."""

__version__ = "1.0.0"
