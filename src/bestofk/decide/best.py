"""Say which learners may be the best, and how much worse than the best each one can be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk._base.errors import ArgumentError
from bestofk.decide.choose_test import Choice
from bestofk.decide.decision import NO_LEARNER, Ruled
from bestofk.decide.evidence import Evidence


def rule_of_best(evidence: Evidence, stated: bool, margin: float | None = None) -> Ruled:
    """Recommend one of the learners that may be the best, and bound how much worse it can be.

    A learner may be the best if no other is shown to be better at level alpha / (K - 1). With a
    preference, the most preferred of these is recommended, otherwise that with the best mean.
    This is MultiTest's rule with the correction that its question needs.
    """
    choice = evidence.choice
    bounds = choice is None or bounds_means(choice)
    best = best_of_evidence(evidence, bounds=bounds, margin=margin)
    # without a preference, the means order the learners
    overrides = best.beaten if stated else np.zeros_like(best.beaten)
    order = sort_by_overrides(overrides, best.recommended)
    none = best.recommended[..., np.newaxis] == NO_LEARNER
    return Ruled(best.recommended, np.where(none, NO_LEARNER, order), best)


def bounds_means(choice: Choice) -> bool:
    """Return whether the intervals of a test bound differences of one mean per learner."""
    entry = choice.entry
    if entry is None:
        return True
    return entry.estimand == "mean" and not entry.bayesian and not entry.pair_by_pair


class Best(NamedTuple):
    """The statement about the best of K learners in a table, or in B tables (with a first axis).

    With probability at least 1 - alpha, for all learners at once, the best is a candidate, and
    each learner is between `at_least` and `at_most` worse than the best.

    Attributes
    ----------
    candidates : (K,) array of bool
        The learners that may be the best: no other is shown to be better.
    at_least, at_most : (K,) arrays
        Bounds of how much worse than the best each learner is; NaN without a bound.
    within : (K,) array of bool
        The learners that are shown to be at most the margin worse than the best.
    recommended : int
        The most preferred learner that may be the best or is within the margin; -1 if there is no
        candidate.
    beaten : (K, K) array of bool
        ``beaten[i, j]``: j is shown to be better than i, at alpha / (K - 1).

    Notes
    -----
    Let L_ij and U_ij be the ends of the two-sided interval of the loss of i minus that of j at
    level 1 - alpha / (K - 1). The candidates are B = {i : L_ij <= 0 for all j}. Learner i is at
    most max(0, max over j in B of U_ij) worse than the best, and a learner outside B at least
    max(0, min over j in B of L_ij). Only the K - 1 intervals of the truly best learner matter, so
    nothing else is corrected for.

    References
    ----------
    Edwards, D. G. and Hsu, J. C. (1983). Multiple comparisons with the best treatment. Journal of
    the American Statistical Association 78, 965-971. doi:10.1080/01621459.1983.10477047

    Hsu, J. C. (1984). Constrained simultaneous confidence intervals for multiple comparisons with
    the best. Annals of Statistics 12, 1136-1144. doi:10.1214/aos/1176346732
    """

    candidates: Bools
    at_least: Floats
    at_most: Floats
    within: Bools
    recommended: Ints
    beaten: Bools


def best_of(
    beaten: Bools,
    low: Floats | None = None,
    high: Floats | None = None,
    *,
    margin: float | None = None,
) -> Best:
    """Return the statement from comparisons of learners in order of preference.

    Parameters
    ----------
    beaten : (..., K, K) array of bool
        ``beaten[i, j]``: j is shown to be better than i, at alpha / (K - 1).
    low, high : (..., K, K) arrays, optional
        Intervals of the loss of i minus that of j; not finite if unknown. Only those with a
        candidate are read.
    margin : float, optional
        A difference that does not matter.

    Examples
    --------
    The third is beaten by the first; the second may be as good as the first:

    >>> beaten = np.zeros((3, 3), dtype=bool)
    >>> beaten[2, 0] = True
    >>> d = np.array([0.10, 0.12, 0.20])
    >>> difference = d[:, None] - d
    >>> best = best_of(beaten, difference - 0.05, difference + 0.05)
    >>> best.candidates.tolist(), best.at_least.round(2).tolist(), best.at_most.round(2).tolist()
    ([True, True, False], [0.0, 0.0, 0.03], [0.03, 0.07, 0.15])
    """
    candidates: Bools = np.asarray(~beaten.any(axis=-1))
    some: Bools = np.asarray(candidates.any(axis=-1))
    if low is None or high is None:
        at_least = at_most = np.full(candidates.shape, np.nan)
    else:
        others = candidates[..., np.newaxis, :] & ~np.eye(beaten.shape[-1], dtype=bool)
        at_most = np.where(others, high, -np.inf).max(axis=-1)
        at_least = np.where(others, low, np.inf).min(axis=-1)
        at_least = np.where(candidates, 0.0, np.maximum(at_least, 0.0))
        unknown = np.isinf(at_most) & others.any(axis=-1) | ~some[..., np.newaxis]
        at_most = np.where(unknown, np.nan, np.maximum(at_most, 0.0))
        at_least = np.where(np.isfinite(at_least) & ~unknown, at_least, np.nan)
    within: Bools = np.zeros_like(candidates)
    if margin is not None:
        within = np.isfinite(at_most) & (at_most <= margin)
    recommended = np.where(some, np.argmax(candidates | within, axis=-1), NO_LEARNER)
    return Best(candidates, at_least, at_most, within, recommended, beaten)


def best_of_evidence(evidence: Evidence, *, bounds: bool, margin: float | None = None) -> Best:
    """Return the statement; `bounds` says whether the test compares means."""
    beaten = evidence.beaten()
    if not bounds:
        return best_of(beaten, margin=margin)
    first, second, rows = evidence.first, evidence.second, None
    if beaten.ndim == 2:
        candidates = np.asarray(~beaten.any(axis=1))
        rows = np.flatnonzero(candidates[first] | candidates[second])
        first, second = first[rows], second[rows]
    ends = evidence.intervals_at(evidence.family.interval_level(), rows)
    # cover the estimate, also if a test such as 5x2cv-t has intervals around another number
    estimate = evidence.estimate if rows is None else evidence.estimate[rows]
    low, high = np.minimum(ends[0], estimate), np.maximum(ends[1], estimate)
    lows, highs = np.full(beaten.shape, -np.inf), np.full(beaten.shape, np.inf)
    lows[..., first, second], highs[..., first, second] = low, high
    lows[..., second, first], highs[..., second, first] = -high, -low
    return best_of(beaten, lows, highs, margin=margin)


def sort_by_overrides(overrides: Bools, first: Ints | None = None) -> Ints:
    """Repeatedly take the most preferred learner that no remaining one is shown to beat.

    This is MultiTest's order (Yildiz and Alpaydin 2006).

    Parameters
    ----------
    overrides : (..., K, K) array of bool
        Learners in order of preference; ``overrides[i, j]``: j is shown to be better than i. If
        each remaining learner is beaten, the most preferred of them goes next.
    first : (...) array of int, optional
        The learner that goes first; by default the rule takes it.

    Returns
    -------
    (..., K) array of int
        The order, best first.

    Examples
    --------
    Fig. 2 of Yildiz and Alpaydin (2006), with learners counted from 0:

    >>> edges = np.zeros((4, 4), dtype=bool)
    >>> edges[[0, 0, 0, 1], [1, 2, 3, 2]] = True
    >>> sort_by_overrides(edges).tolist()
    [2, 1, 3, 0]
    """
    beaten = np.asarray(overrides, dtype=bool)
    if beaten.ndim < 2 or beaten.shape[-2] != beaten.shape[-1]:
        raise ArgumentError(f"overrides must be a square matrix; got shape {beaten.shape}.")
    lead, K = beaten.shape[:-2], beaten.shape[-1]
    tables = beaten.reshape(-1, K, K)
    order = np.tile(np.arange(K, dtype=np.int64), (len(tables), 1))
    start = None if first is None else np.broadcast_to(first, lead).reshape(-1)
    moved = tables.any(axis=(1, 2)) if start is None else tables.any(axis=(1, 2)) | (start != 0)
    # if nothing overrides the preference, it is the order
    rows = np.flatnonzero(moved)
    if rows.size:
        order[rows] = _ordered(tables[rows], None if start is None else start[rows])
    return order.reshape(*lead, K)


def _ordered(beaten: Bools, first: Ints | None) -> Ints:
    """Return the orders of tables (B, K, K)."""
    B, K = beaten.shape[:2]
    every = np.arange(B)
    # int32 sums: removing the column of the chosen one removes its wins
    losses = beaten.sum(axis=2, dtype=np.int32)
    columns = np.ascontiguousarray(beaten.transpose(0, 2, 1))
    left = np.ones((B, K), dtype=bool)
    order = np.empty((B, K), dtype=np.int64)
    for step in range(K):
        free = left & (losses == 0)
        # claims of a test that does not compare means may form a circle
        chosen: Any = np.argmax(np.where(free.any(axis=1, keepdims=True), free, left), axis=1)
        if step == 0 and first is not None:
            chosen = np.where(first == NO_LEARNER, chosen, first)
        order[:, step] = chosen
        losses -= columns[every, chosen]
        left[every, chosen] = False
    return order
