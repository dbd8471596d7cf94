"""The plan where none is asked for: its test keeps its level, unstable learners or not."""

from __future__ import annotations

from typing import Any

from bestofk.ordering.registry import PROCEDURES
from bestofk.pairwise.registry import PAIRWISE_TESTS
from bestofk.plans.plan import plan as make_plan

NESTED = "10x5+nested"
"""Ten runs of five folds, and every pair of folds left out together: its test is nested-cv-t."""
REPEATED = "10x10"


def default_plan(
    *,
    rows: int,
    datasets: int = 1,
    procedure: str = "multitest",
    test: Any = "auto",
    budget: float | None = None,
) -> str:
    """The plan of a comparison that names none.

    Nested cross-validation on one data set: of the tests that were measured on equal learners
    (``benchmarks/unstable_learners.py``) its test alone found a difference in at most 6 percent of
    data sets whatever the learners, with at most 5 points less power on stable ones and less than
    twice the processor time of ten runs of ten folds. Those remain the plan for several data sets,
    of which only the means are tested; for a test or a procedure that makes no use of nested runs;
    within a budget of time, which might end before the nested runs do; and for very few rows.

    Parameters
    ----------
    rows : int
        Rows of the (smallest) data set.
    datasets : int
        How many there are.
    procedure, test
        As for `order`.
    budget : float, optional
        As for `compare`.

    Examples
    --------
    >>> default_plan(rows=150), default_plan(rows=150, datasets=3)
    ('10x5+nested', '10x10')
    """
    needs = PAIRWISE_TESTS[test].subsets if isinstance(test, str) and test in PAIRWISE_TESTS else ""
    wanted = (isinstance(test, str) and test == "auto") or needs == "nested"
    wanted = wanted and PROCEDURES[procedure].takes_test
    enough = rows >= 2 * (make_plan(NESTED).folds or 0)
    if datasets == 1 and wanted and enough and budget is None:
        return NESTED
    return REPEATED
