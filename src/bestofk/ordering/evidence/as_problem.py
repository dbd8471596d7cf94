"""What a caller may hand to a procedure, and the problem that it stands for."""

from __future__ import annotations

from typing import Any

from bestofk.ordering.evidence.problem import Problem, problem_from_array, problem_from_losses
from bestofk.ordering.preference import LISTED, Prior


def as_problem(losses: Any, *, prior: Prior = None, missing: str = "refuse") -> Problem:
    """A `Losses`, a file or data frame of losses, or a bare (K, ...) array, as a problem."""
    from bestofk.losses import Losses

    if isinstance(losses, Problem):
        return losses
    if not isinstance(losses, Losses) and _is_table(losses):
        from bestofk.losses import read_losses

        losses = read_losses(losses)
    if isinstance(losses, Losses):
        return problem_from_losses(losses, prior=prior, missing=missing)
    return problem_from_array(losses, prior=prior)


def as_ordered(losses: Any, *, prior: Prior = None, missing: str = "refuse") -> Problem:
    """As `as_problem`; a bare array handed to a procedure is in the order of preference."""
    if prior is None and not isinstance(losses, Problem) and not _is_named(losses):
        prior = LISTED
    return as_problem(losses, prior=prior, missing=missing)


def _is_named(losses: Any) -> bool:
    return hasattr(losses, "algorithms") or _is_table(losses)


def _is_table(value: Any) -> bool:
    """A path, or something that has columns."""
    return isinstance(value, str) or hasattr(value, "__fspath__") or hasattr(value, "columns")
