"""The plan where none is asked for: its test keeps its level, unstable learners or not."""

from __future__ import annotations

from typing import Any

from bestofk.ordering.registry import PROCEDURES
from bestofk.pairwise.registry import PAIRWISE_TESTS

NESTED = "10x5+nested"
"""Ten runs of five folds, and every pair of folds left out together: its test is nested-cv-t."""
REPEATED = "10x10"
FEWEST = 10
"""Rows from which both plans can be made."""


def default_plan(
    *,
    rows: int,
    datasets: int = 1,
    procedure: str = "multitest",
    test: Any = "auto",
    budget: float | None = None,
    groups: int | None = None,
    stops: bool = False,
) -> str:
    """The plan of a comparison that names none.

    Nested cross-validation on one data set: of the tests that were measured on equal learners
    (``studies/unstable_learners.py``) its test alone keeps to three bounds: a difference in
    at most 6 percent of data sets whatever the learners, at most 5 points less power on stable
    ones, and at most twice the processor time of ten runs of ten folds. Those remain the plan for
    several data sets, of which only the means are tested; for a test or a procedure that makes no
    use of nested runs; within a budget of time, which might end before the nested runs do. Fewer
    than ten rows have fewer folds, of two rows or more.

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
    groups : int, optional
        Groups of the data set with the fewest, which then stay whole: the same plans of groups,
        and with fewer than ten of them one run in which every group is a fold.
    stops : bool
        Whether the comparison stops when it is settled: then ten runs of ten folds.

    Examples
    --------
    >>> default_plan(rows=150), default_plan(rows=150, datasets=3)
    ('10x5+nested', '10x10')
    """
    needs = PAIRWISE_TESTS[test].subsets if isinstance(test, str) and test in PAIRWISE_TESTS else ""
    wanted = (isinstance(test, str) and test == "auto") or needs == "nested"
    wanted = wanted and PROCEDURES[procedure].takes_test
    if groups is not None:
        plan = default_plan(
            rows=groups, datasets=datasets, procedure=procedure, test=test, budget=budget,
            stops=stops,
        )  # fmt: skip
        if groups < FEWEST:
            return f"group-kfold:{max(2, groups)}"
        # two groups in each fold at least, or all runs would be the same
        return f"group-{plan}" if plan == NESTED or groups >= 2 * FEWEST else "group-10x5"
    enough = rows >= FEWEST
    if datasets == 1 and wanted and enough and budget is None and not stops:
        return NESTED
    # two rows in each fold at least, so that the plan can be made
    return REPEATED if rows >= FEWEST or rows < 4 else f"10x{rows // 2}"
