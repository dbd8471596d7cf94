"""Welch's t test for independent training runs of two learners."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, refuse, refuse_named_table, side
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import loss_unit
from bestofk.stats.pairwise.resolution import never_zero, resolution_step
from bestofk.stats.pairwise.result import (
    Interval,
    PairwiseResult,
    one_sided,
    scalar_or_array,
    tail_level,
)
from bestofk.stats.tails import pvalue_of_t, t_quantile


def welch_t(
    a: Any, b: Any, *, alternative: str = "two-sided", resolution: float | None = None
) -> PairwiseResult:
    """Welch's t test for independent training runs of two learners.

    Test the null hypothesis that the two learners have the same expected loss on one test set,
    over the randomness of their training (``alternative="greater"``: that the loss of `a` is at
    most that of `b`). The runs are not paired, and the variances may differ.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses of the runs, at least 2 of each learner; NaN stands for no run. Leading axes
        broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    resolution : float, optional
        The step r of which all losses are multiples, such as 1 / n_test for error rates. None: the
        step is unknown and adds no variance.

    Returns
    -------
    PairwiseResult
        `statistic` is t; `df` is None, because the degrees of freedom differ by pair. If all runs
        have the same loss, p = 1.

    Notes
    -----
    With means m, unbiased variances S^2 and numbers of runs n::

        t = (m_a - m_b) / se,    se^2 = v_a + v_b + 2 (r / n_a)^2 + 2 (r / n_b)^2,    v = S^2 / n

    and the degrees of freedom (v_a + v_b)^2 / (v_a^2 / (n_a - 1) + v_b^2 / (n_b - 1)). The terms
    with r allow for coarse losses, as in `paired_t`. Without a resolution, runs of each learner
    that are all equal show no randomness: p is then that of the most extreme of all
    C(n_a + n_b, n_a) assignments of the runs to the learners.

    References
    ----------
    B. L. Welch (1947). The generalization of Student's problem when several different population
    variances are involved. Biometrika 34, 28-35. doi:10.2307/2332510

    Examples
    --------
    >>> r = welch_t([0.21, 0.24, 0.22, 0.23, 0.20], [0.18, 0.19, 0.21])
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (2.3591, 0.0709)
    """
    from scipy.special import comb

    sides: Alternative = side(alternative)
    step = resolution_step(resolution)
    first, second = _runs(a, "a"), _runs(b, "b")
    try:
        np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    except ValueError:
        raise ArgumentError(
            f"a and b must have leading axes that broadcast; got the shapes {first.shape} and "
            f"{second.shape}."
        ) from None
    unit = loss_unit(*(np.nan_to_num(x) for x in (first, second)))
    (mean_a, v_a, n_a), (mean_b, v_b, n_b) = (_moments(x / unit) for x in (first, second))
    estimate = mean_a - mean_b
    scale = np.maximum(np.abs(mean_a), np.abs(mean_b))
    estimate = np.where(np.abs(estimate) <= 1e-13 * scale, 0.0, estimate)
    coarse = np.sqrt(2.0) * min(step / unit, 1e300) * np.hypot(1.0 / n_a, 1.0 / n_b)
    se = np.hypot(np.sqrt(v_a + v_b), coarse)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(se > 0, estimate / se, np.sign(estimate) * np.inf)
        t = np.where(estimate == 0, 0.0, t)
        df = (v_a + v_b) ** 2 / (v_a**2 / (n_a - 1) + v_b**2 / (n_b - 1))
    df = np.where(np.isfinite(df), df, np.minimum(n_a, n_b) - 1.0)
    t, df = np.broadcast_arrays(t, df)
    tails = [float(pvalue_of_t(x, float(d), sides)) for x, d in zip(t.flat, df.flat, strict=True)]
    p = never_zero(np.array(tails).reshape(t.shape))
    fewest = (2.0 if sides == "two-sided" else 1.0) / comb(n_a + n_b, n_a)
    p = np.where(np.isinf(t), np.maximum(p, np.minimum(fewest, 1.0)), p)
    same = first.shape[-1] == second.shape[-1] and np.all(
        (first == second) | (np.isnan(first) & np.isnan(second)), axis=-1
    )
    p = np.where(same | ((se == 0) & (estimate == 0)), 1.0, p)
    return PairwiseResult(
        test="welch-t",
        statistic=scalar_or_array(t),
        pvalue=scalar_or_array(p),
        df=None,
        estimate=scalar_or_array(unit * estimate),
        alternative=sides,
        pivot=scalar_or_array(unit * estimate),
        standard_error=scalar_or_array(unit * se),
        losses=(first, second),
        interval_rule=_Interval(df),
    )


def _runs(value: Any, name: str) -> Floats:
    """Return the losses of at least 2 runs; NaN stands for no run."""
    refuse_named_table(value, name)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(name, "an array of numbers", value) from None
    if array.ndim < 1 or np.isinf(array).any():
        raise refuse(name, "an array of finite losses", value)
    if (np.isfinite(array).sum(axis=-1) < 2).any():
        raise ArgumentError(f"{name} must hold at least 2 runs of each learner.")
    return array


def _moments(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean, the variance of the mean and the number of runs over the last axis."""
    count = np.isfinite(x).sum(axis=-1).astype(np.float64)
    mean = np.nansum(x, axis=-1) / count
    variance = np.nansum(np.square(x - mean[..., np.newaxis]), axis=-1) / (count - 1)
    noise = np.square(1e-13 * np.abs(mean))
    return mean, np.where(variance <= noise, 0.0, variance) / count, count


class _Interval:
    """The t interval with the degrees of freedom of each pair."""

    def __init__(self, df: Floats) -> None:
        self.df = df

    def __call__(self, result: PairwiseResult, level: float) -> Interval:
        tail = tail_level(level, result.alternative)
        half = -t_quantile(tail, self.df) * np.asarray(result.standard_error)
        centre = np.asarray(result.pivot)
        return one_sided(centre - half, centre + half, result.alternative)
