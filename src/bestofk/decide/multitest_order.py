"""Order K learners from pairwise tests and a preference (MultiTest), and sort its graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Ints
from bestofk.decide.best import sort_by_overrides
from bestofk.decide.compare_scores import decide_by_rule
from bestofk.decide.decision import Decision, Ruled
from bestofk.decide.evidence import Evidence

AS_PUBLISHED: dict[str, Any] = {
    "rule": "multitest", "test": "5x2cv-t", "correction": "bonferroni",
    "family": "preference",
}  # fmt: skip
"""The settings of Yildiz and Alpaydin 2006; they also prefer simpler learners."""


def multitest(losses: Any, **options: Any) -> Decision:
    """Order K learners from pairwise tests and a preference.

    The data override the preference only if a pair differs significantly and the less preferred
    learner is the better one. MultiTest recommends the most preferred learner that no other
    overrides, removes it and repeats, which gives the order. There is always a recommendation.
    Without a preference it recommends the learner with the smallest mean.

    Parameters
    ----------
    losses : Scores or array (K, ...)
        Losses with their design, or a bare array in order of preference, 0 the most preferred:
        (K, folds), (K, runs, folds) or (K, data sets, runs, folds, repetitions).
    **options
        As for `compare_scores`. `correction` is ``"holm"`` by default, over the family: ``"all"``
        pairs, two-sided; with ``family="preference"`` all pairs, one-sided against the
        preference, as published; with ``family="control"`` one learner against the others.

    Returns
    -------
    Decision

    Notes
    -----
    In the family ``"all"`` with Holm's correction the chance of any false claim, in any
    direction, is at most alpha under any dependence: after j - 1 correct rejections the opposite
    directions of those pairs have p > 1/2 and cannot be rejected, so that of the P - j + 1 pairs
    left E are equal and N are not, and 2 E + N true one-sided hypotheses remain, each with
    threshold alpha / (2 (P - j + 1)).

    References
    ----------
    O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2 supervised learning
    algorithms, IEEE Trans. Pattern Analysis and Machine Intelligence 28 (2006) 392-402,
    doi:10.1109/TPAMI.2006.61.

    Examples
    --------
    Three learners in 5x2 cross-validation, the cheapest first; the second is clearly better:

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> decision = multitest(losses)
    >>> decision.ranking, decision.edges
    ((1, 2, 0), ((0, 1), (0, 2)))
    >>> [step.candidates for step in decision.steps]
    [(1, 2), (2,), (0,)]
    """
    return decide_by_rule("multitest", losses, **options)


def rule_of_multitest(evidence: Evidence, stated: bool, _margin: float | None = None) -> Ruled:
    """Return MultiTest's order; without a preference, that of the means."""
    overrides = evidence.overrides()
    order = np.broadcast_to(np.arange(overrides.shape[-1]), overrides.shape[:-1])
    if stated:
        order = sort_by_overrides(overrides)
    return Ruled(order[..., 0], order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the ordering: the candidates, and the choice."""

    candidates: tuple[int | str, ...]
    """Learners that no remaining learner is shown to beat, most preferred first."""
    chosen: int | str
    """The most preferred candidate."""


def steps_of(overrides: Bools) -> list[tuple[Ints, int]]:
    """Return the candidates and the choice, for every step of a table."""
    overrides = np.asarray(overrides, dtype=bool)
    outgoing = overrides.sum(axis=1, dtype=np.int32)
    steps = []
    for taken in sort_by_overrides(overrides).tolist():
        steps.append((np.flatnonzero(outgoing == 0), taken))
        outgoing -= overrides[:, taken]
        outgoing[taken] = -1
    return steps
