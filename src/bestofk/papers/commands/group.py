"""``bestofk papers``: the group of commands that only the papers need."""

from __future__ import annotations

import click

from bestofk.cli.app import LazyGroup
from bestofk.cli.registry import Command

COMMANDS = {
    "reproduce": ("reproduce", "Reproduce the papers' tables next to the published numbers."),
    "fetch": ("fetch", "Download the data sets of the papers."),
    "measure": ("measure", "Measure the error rate and the power of a test."),
    "calibrate": ("measure", "Calibrate a test on your own data."),
    "test": ("test", "Run one test on a table of losses."),
    "estimate": ("estimate", "Estimate the error rate of one learner."),
}
"""The module of each command in this package, and its summary."""
TABLE = {
    name: Command(
        name=name, function=f"bestofk.papers.commands.{module}:{name}_command", summary=summary
    )
    for name, (module, summary) in COMMANDS.items()
}


@click.group(cls=LazyGroup, table=TABLE)
def papers() -> None:
    """Reproduce the papers, run one of their tests, and measure how tests behave.

    \b
    Examples:
      bestofk papers reproduce --list
      bestofk papers test digits-5x2 --test newman-keuls
    """
