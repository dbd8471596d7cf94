"""The sign test: wins against losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats, side
from bestofk.pairwise.agreeing_interval import agreeing_interval
from bestofk.pairwise.differences import over_pairs, paired_losses
from bestofk.pairwise.result import (
    Interval,
    PairwiseResult,
    scalar_or_array,
    tail_level,
)
from bestofk.pairwise.smallest_pvalue import never_zero
from bestofk.tails import binomial_at_most, pvalue_of_count


def sign(a: Any, b: Any, *, alternative: str = "two-sided") -> PairwiseResult:
    """Sign test, exact.

    Tests the hypothesis that each learner is as likely to win as the other
    (``alternative="greater"``: that `b` is not more likely to win than `a`).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n data sets (or instances); leading axes broadcast. Differences at
        the level of rounding error are ties.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is the greater one.

    Returns
    -------
    PairwiseResult
        `statistic` is the number of wins of `a` (smaller losses). The interval is that of the
        median difference, between order statistics; it excludes 0 exactly where p is at most
        1 - level.

    Notes
    -----
    Ties are dropped; the number of wins is then binomial with probability 1/2. Without any
    difference p = 1; from many wins p is tiny, but never 0.

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.

    Examples
    --------
    >>> a = [0.31, 0.22, 0.45, 0.18, 0.27, 0.40]
    >>> b = [0.29, 0.20, 0.41, 0.19, 0.22, 0.40]
    >>> r = sign(a, b, alternative="greater")
    >>> r.statistic, r.pvalue
    (1.0, 0.1875)
    """
    sides: Alternative = side(alternative)
    a, b = paired_losses(a, b, axes=1)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        differs = d * d > noise
        wins_b = (differs & (d > 0)).sum(axis=0)
        wins_a = (differs & (d < 0)).sum(axis=0)
        mean = d.mean(axis=0)
        mean = np.where(mean * mean <= noise.mean(axis=0), 0.0, mean)
        return (
            wins_a,
            never_zero(pvalue_of_count(wins_b, wins_a + wins_b, sides)),
            mean,
            np.asarray(wins_b - wins_a, dtype=np.float64),
        )

    wins, p, estimate, direction = over_pairs(a, b, kernel, axes=1, units=(0, 0, 1, 0), each=True)
    return PairwiseResult(
        test="sign",
        statistic=scalar_or_array(wins),
        pvalue=scalar_or_array(p),
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        direction=scalar_or_array(direction),
        losses=(a, b),
        interval_rule=_median_interval,
    )


def _median_interval(result: PairwiseResult, level: float) -> Interval:
    """From the (k+1)-th smallest to the (k+1)-th largest difference, P(X <= k) within the tail."""
    n = result.losses[0].shape[-1]
    tail = tail_level(level, result.alternative)
    k = int((binomial_at_most(np.arange(n), n) <= tail).sum()) - 1

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:  # noqa: ARG001
        ordered = np.sort(d, axis=0)
        if k < 0:
            ends = np.full(d.shape[1:], -np.inf), np.full(d.shape[1:], np.inf)
        else:
            ends = ordered[k], ordered[n - 1 - k]
        return *ends, ordered[0], ordered[-1]

    a, b = result.losses
    low, high, least, most = over_pairs(a, b, kernel, axes=1, units=(1, 1, 1, 1))
    return agreeing_interval(result, level, low, high, least=least, most=most)
