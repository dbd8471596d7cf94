"""The four procedures on many runs at once.

Two customs of the paper are kept: learners in prior order, and no rejection where the denominator
of the 5x2cv t statistic is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.ordering import order_many, stack_tables
from bestofk.pairwise import PairwiseResult, corrected_repeated_kfold_t, five_by_two_t

PROCEDURES = ("Anova", "TestFirst", "Newman-Keuls", "MultiTest")
NOT_FOUND = -1
Choices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decisions:
    """What each procedure chose in every run.

    `chosen` maps a procedure to an array over the leading axes: the number of the learner, or
    -1 where no best was found; `edges` (..., K, K) are those of MultiTest.
    """

    chosen: dict[str, Choices]
    edges: Flags
    losses: Floats
    alpha: float


def decide(
    losses: Floats, *, alpha: float = 0.05, test: str = "5x2cv-t", correction: str = "bonferroni"
) -> Decisions:
    """Decide from losses (..., K, runs, folds), learners in prior order.

    Parameters
    ----------
    losses : array (..., K, r, k)
        (5, 2) folds for the 5x2cv t test; the leading axes are separate decisions.
    alpha : float
        Level of every procedure.
    test : str
        ``"5x2cv-t"`` (the paper's) or ``"corrected-repeated-kfold-t"``.
    correction : str
        Over the K (K - 1) / 2 tests of MultiTest and the K - 1 of TestFirst.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> {name: int(best) for name, best in decide(losses).chosen.items()}
    {'Anova': -1, 'TestFirst': 1, 'Newman-Keuls': 1, 'MultiTest': 1}
    """
    lead, K = losses.shape[:-3], losses.shape[-3]
    tables = stack_tables(losses.reshape(-1, *losses.shape[-3:]), prior="listed")
    asked: dict[str, Any] = {"alpha": alpha}
    pairs: dict[str, Any] = {"test": TESTS[test], "correction": correction}
    found = {
        # as published
        "MultiTest": order_many(tables, family="prior", guard=False, **pairs, **asked),
        "TestFirst": order_many(tables, procedure="test-first", **pairs, **asked),
        "Anova": order_many(tables, procedure="anova-choice", **asked),
        "Newman-Keuls": order_many(tables, procedure="newman-keuls-choice", **asked),
    }
    return Decisions(
        chosen={name: found[name].recommended.reshape(lead) for name in PROCEDURES},
        edges=found["MultiTest"].edges.reshape(*lead, K, K),
        losses=losses,
        alpha=alpha,
    )


def _paper_five_by_two_t(a: Floats, b: Floats, *, alternative: str) -> PairwiseResult:
    """The 5x2cv t test; the paper does not reject on a zero denominator."""
    result = five_by_two_t(a, b, alternative=alternative)
    return replace(result, pvalue=np.where(result.standard_error == 0, 1.0, result.pvalue))


TESTS = {
    "5x2cv-t": _paper_five_by_two_t,
    "corrected-repeated-kfold-t": corrected_repeated_kfold_t,
}
"""Tests of arrays, told nothing of the step in which the losses change."""
