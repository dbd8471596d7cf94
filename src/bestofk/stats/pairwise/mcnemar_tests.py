"""McNemar's test of two error rates, with Tango's score interval."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bestofk._base.checks import Alternative, Floats, refuse, side
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import (
    EXACT_BELOW,
    agreeing_interval,
    never_zero,
    paired_losses,
)
from bestofk.stats.pairwise.result import Interval, PairwiseResult, scalar_or_array, tail_level
from bestofk.stats.tails import chi2_sf, normal_quantile, pvalue_of_count, pvalue_of_z

_ITEMS_AT_ONCE = 1 << 12


def mcnemar(
    wrong_a: Any,
    wrong_b: Any,
    *,
    exact: bool | Literal["auto"] = False,
    alternative: str = "two-sided",
) -> PairwiseResult:
    """McNemar's test on one test set.

    Test the null hypothesis that the two learners have the same error rate
    (``alternative="greater"``: that the error rate of `a` is at most that of `b`).

    Parameters
    ----------
    wrong_a, wrong_b : array_like of bool or 0/1, shape (..., n)
        Whether each learner gets each of the n test instances wrong; leading axes broadcast.
    exact : bool or "auto"
        Use the binomial distribution instead of chi-squared; ``"auto"``: below 25 disagreements.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the error rate of `a` is greater.

    Returns
    -------
    PairwiseResult
        `statistic` is chi-squared with continuity correction (one-sided: its root, signed as
        ``n10 - n01``); in the exact form it is the smaller of n01 and n10 (one-sided: n10).
        The interval is Tango's score interval for the difference of the error rates. Its ends are
        moved to 0 if it would disagree with the p-value about 0.

    Notes
    -----
    With n10 the instances that only `a` gets wrong and n01 those that only `b` gets wrong,
    ``max(|n01 - n10| - 1, 0)^2 / (n01 + n10)`` is compared with chi-squared with 1 df; large
    values reject the hypothesis. If two learners never disagree, p = 1.

    References
    ----------
    Q. McNemar (1947). Note on the sampling error of the difference between correlated
    proportions or percentages. Psychometrika 12, 153-157. doi:10.1007/BF02295996

    T. Tango (1998). Equivalence test and confidence interval for the difference in proportions
    for the paired-sample design. Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> wrong_a = [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]
    >>> wrong_b = [1, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    >>> r = mcnemar(wrong_a, wrong_b)
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (2.2857, 0.1306)
    >>> mcnemar(wrong_a, wrong_b, exact=True).pvalue
    0.125
    """
    sides: Alternative = side(alternative)
    if not isinstance(exact, bool | np.bool_) and exact != "auto":
        raise refuse("exact", "True, False or 'auto'", exact)
    a, b = paired_losses(wrong_a, wrong_b, axes=1, names=("wrong_a", "wrong_b"))
    for array, name in ((a, "wrong_a"), (b, "wrong_b")):
        if not ((array == 0) | (array == 1)).all():
            other = array[(array != 0) & (array != 1)][0]
            raise ArgumentError(f"{name} must contain only 0 and 1; got {other:g}.")

    n10, n01 = _disagreements(a, b)
    statistic, p = mcnemar_of_counts(n10, n01, exact=exact, alternative=sides)
    return PairwiseResult(
        test="mcnemar",
        statistic=scalar_or_array(statistic),
        pvalue=scalar_or_array(p),
        df=None if exact is not False and exact != "auto" else 1.0,
        estimate=scalar_or_array((n10 - n01) / a.shape[-1]),
        alternative=sides,
        direction=scalar_or_array(n10 - n01),
        note="" if n10.ndim else f"Only the first errs {n10:g} times, only the second {n01:g}.",
        losses=(a, b),
        interval_rule=_tango_interval,
    )


def mcnemar_of_counts(
    n10: Any, n01: Any, *, exact: bool | Literal["auto"], alternative: Alternative = "two-sided"
) -> tuple[Floats, Floats]:
    """Return statistic and p-value, from how often only `a` and only `b` is wrong."""
    few = n10 + n01 < EXACT_BELOW if exact == "auto" else np.full(n10.shape, bool(exact))
    statistic, p = _chi_squared(n10, n01, alternative)
    if few.any():
        binomial = _binomial(n10, n01, alternative)
        statistic, p = (np.where(few, e, c) for e, c in zip(binomial, (statistic, p), strict=True))
    return statistic, p


def _disagreements(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return how often only `a` and only `b` is wrong; all sums are exact."""
    if a.ndim == b.ndim == 3 and a.shape[1] == b.shape[0] == 1:
        both = np.zeros((len(a), b.shape[1]))
        for start in range(0, a.shape[-1], _ITEMS_AT_ONCE):
            # the threads of a matrix product take more CPU time than this
            first, second = (
                x[..., start : start + _ITEMS_AT_ONCE].astype(np.float32) for x in (a[:, 0], b[0])
            )
            both += np.einsum("in,jn->ij", first, second)
    else:
        both = np.einsum("...n,...n->...", a, b)
    return a.sum(axis=-1) - both, b.sum(axis=-1) - both


def _chi_squared(n10: Any, n01: Any, alternative: Alternative) -> tuple[Floats, Floats]:
    disagree = n10 + n01
    excess = np.maximum(np.abs(n10 - n01) - 1.0, 0.0)
    chi_squared = np.square(excess) / np.maximum(disagree, 1)
    if alternative == "two-sided":
        return chi_squared, np.where(n10 == n01, 1.0, never_zero(chi2_sf(chi_squared, 1.0)))
    root = np.sign(n10 - n01) * np.sqrt(chi_squared)
    return root, np.where(disagree == 0, 1.0, never_zero(pvalue_of_z(root, alternative)))


def _binomial(n10: Any, n01: Any, alternative: Alternative) -> tuple[Floats, Floats]:
    statistic = np.minimum(n10, n01) if alternative == "two-sided" else n10
    return statistic, np.asarray(never_zero(pvalue_of_count(n10, n10 + n01, alternative)))


def _tango_interval(result: PairwiseResult, level: float) -> Interval:
    n = result.losses[0].shape[-1]
    tail = tail_level(level, result.alternative)
    low, high = tango_ends(*_disagreements(*result.losses), n, 1.0 - 2.0 * tail)
    return agreeing_interval(result, level, low, high, least=-1.0, most=1.0)


def tango_ends(n10: Any, n01: Any, n: int, level: float) -> tuple[Floats, Floats]:
    """Return Tango's interval, from how often only `a` and only `b` is wrong."""
    z = -float(normal_quantile((1.0 - level) / 2.0))
    return _delta_of_score(z, n10, n01, n), _delta_of_score(-z, n10, n01, n)


_HALVINGS = 42
"""Halvings of the interval from -1 to 1, for an error of 5e-13."""


def _delta_of_score(z: float, n10: Any, n01: Any, n: int) -> Floats:
    """Return the delta at which Tango's score, which decreases with delta, equals z."""
    low, high = np.full(np.shape(n10), -1.0), np.full(np.shape(n10), 1.0)
    for _ in range(_HALVINGS):
        delta = (low + high) / 2
        above = _score(delta, n10, n01, n) > z
        low, high = np.where(above, delta, low), np.where(above, high, delta)
    return (low + high) / 2


def _score(delta: Floats, n10: Any, n01: Any, n: int) -> Floats:
    # q is the maximum likelihood estimate of P(only b wrong) when the difference is delta
    linear = -(n10 + n01) + (2 * n - n10 + n01) * delta
    constant = -n01 * delta * (1.0 - delta)
    q = (np.sqrt(np.maximum(linear**2 - 8 * n * constant, 0.0)) - linear) / (4 * n)
    variance = n * (2.0 * q + delta * (1.0 - delta))
    gap = n10 - n01 - n * delta
    safe = variance > 0
    score = gap / np.sqrt(np.where(safe, variance, 1.0))
    return np.where(safe, score, np.where(gap == 0, 0.0, np.copysign(np.inf, gap)))
