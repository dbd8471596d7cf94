"""Confidence intervals of ranks, and the confidence set of the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from bestofk._base.checks import (
    Bools,
    Floats,
    Ints,
    RandomState,
    finite_array,
    generator,
    probability,
)
from bestofk._base.errors import ArgumentError

DRAWS = 2000
_BLOCK_CELLS = 4_000_000
"""Differences that are computed at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankIntervals:
    """Simultaneous confidence intervals of the ranks of K learners; rank 1 is the best.

    Attributes
    ----------
    low, high : ndarray of int, shape (K,)
        With probability 1 - alpha, all true ranks lie between these ends.
    may_be_best : ndarray of bool, shape (K,)
        With probability 1 - alpha, the best learner is among these.
    better : ndarray of bool, shape (K, K)
        Entry [j, k]: learner j is shown to have a smaller mean loss than learner k.
    """

    low: Ints
    high: Ints
    may_be_best: Bools
    better: Bools
    alpha: float
    method: str


def ranks_from_claims(better: Any, *, alpha: float, method: str = "claims") -> RankIntervals:
    """Return the rank intervals that simultaneous claims about pairs imply.

    If the chance of any wrong claim is at most alpha, all intervals cover together with
    probability 1 - alpha. A learner may be the best unless some learner is shown to be better.

    Examples
    --------
    >>> ranks = ranks_from_claims([[0, 1, 1], [0, 0, 0], [0, 0, 0]], alpha=0.05)
    >>> ranks.low.tolist(), ranks.high.tolist(), ranks.may_be_best.tolist()
    ([1, 2, 2], [1, 3, 3], [True, False, False])
    """
    shown = np.asarray(better, dtype=bool)
    beaten_by, beats = shown.sum(axis=0), shown.sum(axis=1)
    return RankIntervals(
        low=1 + beaten_by,
        high=len(shown) - beats,
        may_be_best=beaten_by == 0,
        better=shown,
        alpha=alpha,
        method=method,
    )


def rank_intervals(
    losses: Any,
    *,
    alpha: float = 0.05,
    draws: int = DRAWS,
    random_state: RandomState = 0,
) -> RankIntervals:
    """Compute simultaneous rank intervals from the losses of K learners on n units.

    Two learners differ if the studentised difference of their means exceeds the 1 - alpha quantile
    of the largest such difference among all pairs, drawn by Gaussian multipliers on the units
    (a step-down procedure). The set of the best needs one-sided comparisons with each candidate
    only, so it is smaller than the set of learners that are not shown to be worse.

    Parameters
    ----------
    losses : array of shape (K, n)
        One column per independent unit: a data set, an item or the sum over a cluster.
    alpha : float
        Chance that any interval misses; also the chance that the set misses the best.
    draws : int
        Number of draws of the null distribution.
    random_state : int, Generator or None

    References
    ----------
    M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm (2024). Inference for ranks with
    applications to mobility across neighbourhoods and academic achievement across countries.
    Review of Economic Studies 91, 476-518. doi:10.1093/restud/rdad006

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal([[0.0], [0.1], [1.0]], 0.5, (3, 60))
    >>> ranks = rank_intervals(table)
    >>> ranks.low.tolist(), ranks.high.tolist(), ranks.may_be_best.tolist()
    ([1, 1, 3], [2, 2, 3], [True, True, False])
    """
    alpha = probability(alpha, "alpha")
    values = finite_array(losses, "losses", min_ndim=2)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ArgumentError(
            f"losses must have one row per learner and at least two units; got shape "
            f"{values.shape}."
        )
    n = values.shape[1]
    means = values.mean(axis=1)
    centred = values - means[:, np.newaxis]
    covariance = centred @ centred.T / (n - 1)
    variances = np.diag(covariance)
    spread = variances[:, np.newaxis] + variances - 2 * covariance
    scale = np.maximum(spread, 0.0)
    noise = 1e-24 * (np.square(means).max() + variances.max())
    errors = np.sqrt(scale / n)
    gaps = means[np.newaxis, :] - means[:, np.newaxis]
    # entry [j, k]: evidence that j is better than k
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(scale > noise, gaps / errors, np.where(gaps == 0, 0.0, np.inf * np.sign(gaps)))
    inverse = np.where(scale > noise, 1.0 / np.where(errors > 0, errors, 1.0), 0.0)
    rng = generator(random_state)
    shifts = _multiplier_means(centred, draws, rng) / np.sqrt((n - 1) / n)
    # Give every pair the tails of a normal, so that the draws fit small n too.
    t = np.sign(t) * special.ndtri(special.stdtr(n - 1, -np.abs(t))) * -1.0
    better = _step_down(t, shifts, inverse, alpha)
    best = _set_of_best(t, shifts, inverse, alpha)
    pairs = ranks_from_claims(better, alpha=alpha, method="max-t")
    return RankIntervals(
        low=pairs.low, high=pairs.high, may_be_best=best, better=better, alpha=alpha,
        method="max-t",
    )  # fmt: skip


def _multiplier_means(centred: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return means (draws, K) of the units times standard normal multipliers."""
    n = centred.shape[1]
    block = max(1, _BLOCK_CELLS // n)
    parts = [
        rng.standard_normal((min(block, draws - start), n)) @ centred.T / n
        for start in range(0, draws, block)
    ]
    return np.concatenate(parts)


def _step_down(t: Floats, shifts: Floats, inverse: Floats, alpha: float) -> Bools:
    """Return which pairs differ, with the largest of the open pairs as reference."""
    K = len(t)
    open_pairs = np.triu(np.ones((K, K), dtype=bool), 1)
    magnitude = np.abs(t)
    while open_pairs.any():
        critical = _quantile(_largest(shifts, np.where(open_pairs, inverse, 0.0)), alpha)
        shown = open_pairs & (magnitude > critical)
        if not shown.any():
            break
        open_pairs &= ~shown
    different = np.triu(np.ones((K, K), dtype=bool), 1) & ~open_pairs
    different |= different.T
    result: Bools = different & (t > 0)
    return result


def _largest(shifts: Floats, inverse: Floats) -> Floats:
    """Return the largest absolute studentised difference among the pairs, for each draw."""
    K = shifts.shape[1]
    rows = np.flatnonzero(inverse.any(axis=1))
    out = np.zeros(len(shifts))
    block = max(1, _BLOCK_CELLS // max(K * len(rows), 1))
    for start in range(0, len(shifts), block):
        part = shifts[start : start + block]
        differences = part[:, np.newaxis, :] - part[:, rows, np.newaxis]
        np.abs(differences, out=differences)
        differences *= inverse[rows]
        out[start : start + block] = differences.max(axis=(1, 2), initial=0.0)
    return out


def _set_of_best(t: Floats, shifts: Floats, inverse: Floats, alpha: float) -> Bools:
    """Return the learners that no other is shown to beat, each tested as if it were the best."""
    K = len(t)
    result = np.ones(K, dtype=bool)
    for j in range(K):
        others = inverse[j] > 0
        worst = float(t[:, j].max(initial=0.0, where=np.arange(K) != j))
        if worst <= 0 or not others.any():
            result[j] = worst <= 0 or not np.isinf(worst)
            continue
        differences = (shifts[:, j, np.newaxis] - shifts[:, others]) * inverse[j, others]
        result[j] = worst <= _quantile(differences.max(axis=1), alpha)
    return result


def _quantile(draws: Floats, alpha: float) -> float:
    """Return the smallest value that at most alpha of the draws and the data exceed."""
    position = int(np.ceil((1 - alpha) * (len(draws) + 1)))
    return float("inf") if position > len(draws) else float(np.sort(draws)[position - 1])
