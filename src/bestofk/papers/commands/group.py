"""``bestofk papers``: the group of commands that only the papers need."""

from __future__ import annotations

import click

from bestofk.cli.app import LazyGroup
from bestofk.cli.registry import Command

_HERE = "bestofk.papers.commands"
TABLE = {
    command.name: command
    for command in (
        Command(
            name="reproduce",
            function=f"{_HERE}.reproduce:reproduce",
            summary="Reproduce the papers' tables next to the published numbers.",
        ),
        Command(
            name="fetch",
            function=f"{_HERE}.fetch:fetch",
            summary="Download the data sets of the papers.",
        ),
        Command(
            name="measure",
            function=f"{_HERE}.measure:measure",
            summary="Measure the error rate and the power of a test.",
        ),
        Command(
            name="calibrate",
            function=f"{_HERE}.measure:calibrate",
            summary="Calibrate a test on your own data.",
        ),
        Command(
            name="test",
            function=f"{_HERE}.test:one_test",
            summary="Run one test on a table of losses.",
        ),
        Command(
            name="estimate",
            function=f"{_HERE}.estimate:estimate",
            summary="Estimate the error rate of one learner.",
        ),
    )
}


@click.group(cls=LazyGroup, table=TABLE)
def papers() -> None:
    """Reproduce the papers, run one of their tests, and measure how tests behave.

    \b
    Examples:
      bestofk papers reproduce --list
      bestofk papers test digits-5x2 --test newman-keuls
    """
