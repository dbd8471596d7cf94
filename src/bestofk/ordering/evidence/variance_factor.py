"""What runs on parts of the rows tell a test: their sizes, or one variance factor of the study."""

from __future__ import annotations

from typing import Any

from bestofk.ordering.evidence.problem import Problem
from bestofk.pairwise.registry import PairwiseTest


def subset_facts(problem: Problem, entry: PairwiseTest) -> dict[str, Any]:
    """The arguments of a test that needs runs on parts of the rows; none for other tests."""
    design, parts = problem.design, problem.subset_values
    if not entry.subsets or parts is None or design.subsets is None:
        return {}
    if entry.pooled:
        from bestofk.pairwise.splits.study_factor import study_factor

        return {"factor": study_factor(problem.values, parts)}
    sizes: dict[str, Any] = {"runs": design.runs, "folds": design.folds}
    if entry.subsets == "halves":
        sizes |= {"halvings": design.subsets.halvings, "half_folds": design.subsets.folds}
    elif entry.takes_df and design.n_train is not None and design.n_test is not None:
        # groups are the units where there are such
        sizes["rows"] = design.groups or design.n_train[0] + design.n_test[0]
    return sizes
