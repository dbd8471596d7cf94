"""Options of figures: one that a figure does not have is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from bestofk.errors import ArgumentError
from bestofk.report.figures.comparisons import comparisons_of
from bestofk.wording import joined

PAPER = ("width", "font", "fontsize", "note")
"""What every figure takes."""


def known_options(layout: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the options of a layout, with those that it hands on to `comparisons_of`."""
    found = signature(layout).parameters.values()
    names = [one.name for one in found if one.kind is Parameter.KEYWORD_ONLY]
    if any(one.kind is Parameter.VAR_KEYWORD for one in found):
        names += [*signature(comparisons_of).parameters][1:]
    return tuple(name for name in names if name != "paper")


def check_options(layout: Callable[..., Any], kind: str, options: Mapping[str, Any]) -> None:
    """Refuse options that the layout does not have."""
    known = known_options(layout)
    unknown = [name for name in options if name not in known and name != "paper"]
    if unknown:
        offered = joined([*PAPER, *known])
        raise ArgumentError(
            f"figure {kind!r} has no option {unknown[0]!r}; its options are {offered}."
        )
