"""What a caller may hand to a procedure, and the problem that it stands for."""

from __future__ import annotations

from typing import Any

from bestofk.errors import ArgumentError
from bestofk.ordering.problem import Prior, Problem, problem_from_array, problem_from_losses


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
    if prior is not None:
        raise ArgumentError(
            "prior applies to named learners: a bare array is taken in prior order, its first "
            "learner the most preferred; give a Losses, or reorder the array."
        )
    return problem_from_array(losses)


def _is_table(value: Any) -> bool:
    """A path, or something that has columns."""
    return isinstance(value, str) or hasattr(value, "__fspath__") or hasattr(value, "columns")
