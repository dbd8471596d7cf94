"""The command line: one file per verb, and the only room that prints."""

from __future__ import annotations


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    from bestofk.cli.app import run

    return run(arguments)
