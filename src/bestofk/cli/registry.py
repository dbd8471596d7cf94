"""The registry of commands; the functions are imported only when they are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestofk._base.registry import Registry, resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of the command line."""

    name: str
    function: str
    """Its location as ``package.module:name``; imported on use."""
    summary: str
    """Its line in the help text."""

    def load(self) -> Any:
        """Return the command of click."""
        return resolve(self.function)


COMMANDS: Registry[Command] = Registry(
    "command",
    Command(
        name="compare",
        function="bestofk.cli.compare:compare",
        summary="Compare learners on data and decide which to use.",
    ),
    Command(
        name="scores",
        function="bestofk.cli.scores:scores",
        summary="Decide from a table of losses or scores.",
    ),
    Command(
        name="evals",
        function="bestofk.cli.evals:evals",
        summary="Choose a language model from evaluation logs.",
    ),
    Command(
        name="gate",
        function="bestofk.cli.gate:gate",
        summary="Fail the build if the new model is worse.",
    ),
    Command(
        name="size",
        function="bestofk.cli.size:size",
        summary="Find out what a design can show, or how large it must be.",
    ),
    Command(
        name="show",
        function="bestofk.cli.show:show",
        summary="Show the studies in a store, or write a report of one.",
    ),
    Command(
        name="list",
        function="bestofk.cli.listings:listing",
        summary="List learners, metrics, plans, tests, settings, ..., or explain one.",
    ),
)
