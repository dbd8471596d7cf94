"""The command line: one module per verb; only this package prints."""

from __future__ import annotations


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
    from bestofk.cli.app import run

    return run(arguments)
