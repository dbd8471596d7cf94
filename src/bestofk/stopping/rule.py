"""When a comparison is settled: what is asked for, and at what risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Target = Literal["best", "order"]
Settle = Literal["plan", "limit"]
TARGETS: tuple[Target, ...] = ("best", "order")
FIRST_LOOK = 2
"""Runs before the first prediction: one run has no spread over runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """When a comparison is settled.

    Attributes
    ----------
    target : {"best", "order"}
        What must be settled: who is recommended, or the whole order.
    risk : float
        The chance, given the data, that the full plan would have decided otherwise; 0: only
        what no result of the rest can change.
    settle : {"plan", "limit"}
        The verdict of the plan, or that of endless runs of the same test.
    max_runs : int
        With ``settle="limit"``, the runs after which what is open stays so.
    """

    target: Target = "best"
    risk: float = 0.05
    settle: Settle = "plan"
    max_runs: int = 30
