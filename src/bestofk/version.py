"""The version of bestofk."""

__version__ = "0.1.0.dev0"
