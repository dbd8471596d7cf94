"""From p-values to the paper's counts: significant and right, not significant, wrong, open."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.adjust import adjust
from bestofk.checks import Floats, one_of
from bestofk.papers.intervals.evidence import FIRST, PAIRS, Ranges, Scalar

COUNTINGS = ("named", "as_printed")
OUTCOMES = ("ok", "no", "err", "inc")
ALPHA = 0.05

_JUDGED_BY = {"named": np.arange(PAIRS), "as_printed": FIRST}
"""Which p-value decides on each pair.

All pairs of A_1 come first, so that (A_1, A_{i+1}) stands at place i - 1: the index that pair
(A_i, A_j) seems to have been judged with, for No Sig is the same along each row of Tables 3 and 5.
"""

Verdicts = npt.NDArray[np.int8]
"""Places in `OUTCOMES`."""


def scalar_multiple(p: Scalar, counting: str) -> dict[str, npt.NDArray[np.bool_]]:
    """In which simulations the five algorithms are found to differ, by test.

    The print left out the adjustment of Bootstrap-A for five tests that its text asks for.
    """
    correction = "bonferroni" if one_of(counting, "counting", COUNTINGS) == "named" else "none"
    return {
        "ANOVA": p.anova <= ALPHA,
        "Friedman": p.friedman <= ALPHA,
        "Bootstrap-A": np.asarray((adjust(p.bootstrap_a, correction) <= ALPHA).any(axis=-1)),
    }


def scalar_pairs(p: Scalar, counting: str) -> dict[str, Verdicts]:
    """The verdict on each pair, shape (..., 10), behind each test's own comparison of all five."""
    gates = scalar_multiple(p, counting)
    judged = {
        "t": (gates["ANOVA"], adjust(p.t, "hochberg")),
        "Wilcoxon": (gates["Friedman"], adjust(p.wilcoxon, "hochberg")),
        "Bootstrap-A": (gates["Bootstrap-A"], p.bootstrap_a_pairs),
        "Bootstrap-A, Hochberg": (gates["Bootstrap-A"], adjust(p.bootstrap_a_pairs, "hochberg")),
    }
    by = _JUDGED_BY[counting]
    return {
        name: _verdicts(gate, q[..., by] <= ALPHA, p.differences)
        for name, (gate, q) in judged.items()
    }


def range_multiple(p: Ranges, counting: str) -> Verdicts:
    """Bootstrap-B on all five: 0 significant, 1 not, 3 inconclusive."""
    correction = "bonferroni" if one_of(counting, "counting", COUNTINGS) == "named" else "none"
    low, high = (adjust(p.algorithms[..., end], correction) for end in (0, 1))
    found, open_ = (high < ALPHA).any(axis=-1), (low <= ALPHA).any(axis=-1)
    return np.where(found, 0, np.where(open_, 3, 1)).astype(np.int8)


def range_pairs(p: Ranges, counting: str) -> Verdicts:
    """The verdict of Bootstrap-B on each pair, shape (..., 10), not adjusted for their number."""
    gate = range_multiple(p, counting) == 0
    low, high = (p.pairs[..., _JUDGED_BY[counting], end] for end in (0, 1))
    verdicts = _verdicts(gate, high < ALPHA, p.differences)
    open_ = gate[..., np.newaxis] & (low <= ALPHA) & (high >= ALPHA)
    return np.where(open_, 3, verdicts).astype(np.int8)


def _verdicts(gate: Any, significant: Any, differences: Floats) -> Verdicts:
    # of i < j the first has the smaller expected error
    found = np.asarray(gate)[..., np.newaxis] & significant
    return np.where(found, np.where(differences < 0, 0, 2), 1).astype(np.int8)


def tally(verdicts: Verdicts, axis: int | tuple[int, ...]) -> Floats:
    """How often each of the four outcomes came, over `axis`; they become the last axis."""
    return np.stack([(verdicts == k).sum(axis=axis) for k in range(4)], axis=-1).astype(np.float64)
