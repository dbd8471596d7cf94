"""What a caller may hand to a procedure, and the problem that it stands for."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from bestofk.checks import missing_word
from bestofk.errors import ArgumentError
from bestofk.ordering.evidence.problem import Problem, problem_from_array, problem_from_losses
from bestofk.ordering.preference import LISTED, Prior

_OF_ARRAYS = ("higher_is_better", "design")
"""What an array may be read with, too."""


def as_problem(
    losses: Any,
    *,
    prior: Prior = None,
    missing: str = "refuse",
    arguments: MutableMapping[str, Any] | None = None,
) -> Problem:
    """A `Losses`, a file or data frame of losses, or a bare (K, ...) array, as a problem.

    What `read_losses` takes is taken out of `arguments`; the rest is left for the test.
    """
    from bestofk.losses import Losses

    reading = reading_arguments(arguments)
    missing = missing_word(missing)
    gaps = "refuse" if missing == "refuse" else "allow"
    if not isinstance(losses, Losses | Problem) and _is_table(losses):
        from bestofk.losses import read_losses

        losses = read_losses(
            losses, missing="refuse" if missing == "refuse" else "allow", **reading
        )
        reading = {}
    for name, value in reading.items():
        if isinstance(losses, Losses | Problem) or name not in _OF_ARRAYS:
            what = "losses" if isinstance(losses, Losses | Problem) else "an array"
            raise ArgumentError(
                f"{name} says how a file or a data frame is to be read; got {what} and "
                f"{name}={value!r}: leave {name} out."
            )
    if reading:
        losses = Losses(losses, missing=gaps, **reading)
    if isinstance(losses, Problem):
        return losses
    if isinstance(losses, Losses):
        return problem_from_losses(losses, prior=prior, missing=missing)
    return problem_from_array(losses, prior=prior)


def as_ordered(
    losses: Any,
    *,
    prior: Prior = None,
    missing: str = "refuse",
    arguments: MutableMapping[str, Any] | None = None,
) -> Problem:
    """As `as_problem`; a bare array handed to a procedure is in the order of preference."""
    if prior is None and not isinstance(losses, Problem) and not _is_named(losses):
        prior = LISTED
    return as_problem(losses, prior=prior, missing=missing, arguments=arguments)


def reading_arguments(arguments: MutableMapping[str, Any] | None) -> dict[str, Any]:
    """The arguments that say how to read, taken out of those of the test."""
    if not arguments:
        return {}
    from bestofk.losses.read_losses import READING

    # a test may take the sizes of the splits, which are numbers; a column has a name
    names = [
        name
        for name in READING
        if name in arguments
        and (name not in ("n_train", "n_test") or isinstance(arguments[name], str))
    ]
    found = {name: arguments.pop(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def refuse_unknown(arguments: Mapping[str, Any], where: str) -> None:
    """Raise what Python raises for an argument that a function does not have."""
    for name in arguments:
        raise TypeError(f"{where}() got an unexpected keyword argument {name!r}")


def _is_named(losses: Any) -> bool:
    return hasattr(losses, "algorithms") or _is_table(losses)


def _is_table(value: Any) -> bool:
    """A path, or something that has columns."""
    return (
        isinstance(value, str | Mapping)
        or hasattr(value, "__fspath__")
        or hasattr(value, "columns")
    )
