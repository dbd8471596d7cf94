"""The ten t tests of Bouckaert on repeated k-fold cross-validation, and one on random splits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, one_of, side
from bestofk._base.errors import ArgumentError
from bestofk.papers.stats.published_df import df_of_design
from bestofk.stats.pairwise.differences import (
    agreeing_interval,
    least_variance,
    over_pairs,
    paired_losses,
    resolution_step,
    without_noise,
)
from bestofk.stats.pairwise.resampled import (
    degrees_of_freedom,
    kfold_t,
    t_from_variance,
    t_result,
)
from bestofk.stats.pairwise.result import (
    Interval,
    PairwiseResult,
    scalar_or_array,
    tail_level,
)
from bestofk.stats.tails import pvalue_of_t, t_quantile

VARIANTS = (
    "use-all-data",
    "folds",
    "folds-averaged-var",
    "runs",
    "runs-averaged-var",
    "sorted-runs",
    "sorted-runs-averaged-var",
    "folds-averaged-t",
    "runs-averaged-t",
    "sorted-runs-averaged-t",
)


def repeated_kfold_t(
    a: Any,
    b: Any,
    *,
    variant: str = "use-all-data",
    alternative: str = "two-sided",
    df: float | str | None = None,
    resolution: float | None = None,
) -> PairwiseResult:
    """Student t test on r runs of k-fold cross-validation, in one of Bouckaert's ten variants.

    Test the null hypothesis that the two learners have the same expected loss
    (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., runs, folds)
        Losses on the same folds; leading axes broadcast.
    variant : str
        ``"use-all-data"``, ``"folds"``, ``"folds-averaged-var"``, ``"runs"``,
        ``"runs-averaged-var"``, ``"sorted-runs"``, ``"sorted-runs-averaged-var"``,
        ``"folds-averaged-t"``, ``"runs-averaged-t"`` or ``"sorted-runs-averaged-t"``.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    df : float, "calibrated", or None
        Degrees of freedom in the statistic and in the t distribution. None: the default of the
        variant, with which most variants reject far too often. ``"calibrated"``: the value whose
        measured Type I error is at most 0.05 for this design; see
        `bestofk.papers.stats.published_df`.
    resolution : float, optional
        As for `kfold_t`.

    Returns
    -------
    PairwiseResult
        `note` names the calibration used.

    Raises
    ------
    DesignError
        With ``df="calibrated"``, if the variant does not keep its level with any df.

    Notes
    -----
    Let ``x_ij`` be the difference on fold i of run j, m the grand mean, ``x_.j`` and ``x_i.`` the
    means of run j and fold i, and ``s2_.j`` and ``s2_i.`` their unbiased variances. *Sorted*
    variants first sort the k differences within each run, so that i is a rank. Then
    ``Z = m / sqrt(var / (df + 1))``:

    ======================== ================================ ==========
    variant                  var                              default df
    ======================== ================================ ==========
    use-all-data             ``sum_ij (x_ij - m)^2 / (kr-1)`` kr - 1
    folds                    ``sum_j (x_.j - m)^2 / (r-1)``   r - 1
    folds-averaged-var       ``mean_j s2_.j``                 r - 1
    runs                     ``sum_i (x_i. - m)^2 / (k-1)``   k - 1
    runs-averaged-var        ``mean_i s2_i.``                 k - 1
    sorted-runs              as runs, sorted                  k - 1
    sorted-runs-averaged-var as runs-averaged-var, sorted     k - 1
    ======================== ================================ ==========

    and for the averaged t ``Z = mean_j x_.j / sqrt(s2_.j / (df + 1))`` (folds-averaged-t,
    df = k - 1) or the same over i (runs-averaged-t and its sorted form, df = r - 1). In such a
    mean, a term 0/0 counts as 0 and x/0 is infinite. Infinite terms of both signs contradict each
    other and count as no evidence: Z = 0, p = 1. With a resolution, each var (each s2 of an
    averaged t) is at least twice its value for a single difference of one step among zeros.

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    Examples
    --------
    >>> a = [[0.30, 0.25, 0.28], [0.27, 0.29, 0.26]]
    >>> b = [[0.26, 0.24, 0.23], [0.25, 0.26, 0.24]]
    >>> r = repeated_kfold_t(a, b, variant="folds-averaged-t", df=2)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (4.8868, 2.0, 0.0394)
    """
    variant = one_of(variant, "variant", VARIANTS)
    sides: Alternative = side(alternative)
    a, b = paired_losses(a, b, axes=2)
    runs, folds = a.shape[-2:]
    groups, members = _sizes(variant, runs, folds)
    averaged_t = variant.endswith("-averaged-t")
    of_means = variant in ("folds", "runs", "sorted-runs")
    if (groups if of_means else members) < 2:
        axis = "runs" if variant.startswith("folds") == of_means else "folds"
        raise ArgumentError(
            f"{axis} must be at least 2 for the variant {variant!r}; "
            f"got {runs} runs of {folds} folds."
        )
    note = ""
    if isinstance(df, str):
        one_of(df, "df", ("calibrated",))
        degrees, note = df_of_design(variant, runs, folds)
    else:
        of_members = averaged_t or variant == "use-all-data"
        default = members - 1 if of_members else groups - 1
        degrees = degrees_of_freedom(df, default, where=f"{runs} runs of {folds} folds")
    step = resolution_step(resolution)
    if averaged_t:
        # the lower bound applies to the variance of each group
        least = least_variance(step, members)
        return _averaged_t(variant, a, b, degrees, sides, note, least)
    # twice the variance of one step in one fold of one run
    least = least_variance(step, runs * folds)
    if of_means:
        least = least_variance(step / members, groups)
    least /= degrees + 1.0

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean = d.mean(axis=(0, 1))
        variance = _variance(variant, d, mean)
        mean, variance = without_noise(mean, variance, noise.mean(axis=0))
        return t_from_variance(mean, variance / (degrees + 1.0), degrees, sides, least)

    t, p, estimate, se = over_pairs(a, b, kernel, axes=2, outputs=4)
    return t_result(variant, t, p, degrees, estimate, se, sides, note=note)


def _sizes(variant: str, runs: int, folds: int) -> tuple[int, int]:
    """Return the number of groups of differences, and of the members of each."""
    if variant == "use-all-data":
        return 1, runs * folds
    return (runs, folds) if variant.startswith("folds") else (folds, runs)


def _grouped(variant: str, d: Floats) -> Floats:
    """Return differences (runs, folds, block) as (groups, members, block)."""
    if variant.startswith("folds"):
        return d
    return (np.sort(d, axis=1) if variant.startswith("sorted-") else d).swapaxes(0, 1)


def _variance(variant: str, d: Floats, mean: Floats) -> Floats:
    """Return the variance of the variant; `d` has shape (runs, folds, block)."""
    if variant == "use-all-data":
        return np.asarray(np.square(d - mean).sum(axis=(0, 1)) / (d.shape[0] * d.shape[1] - 1))
    x = _grouped(variant, d)
    if variant.endswith("-averaged-var"):
        return np.asarray(x.var(axis=1, ddof=1).mean(axis=0))
    return np.asarray(np.square(x.mean(axis=1) - mean).sum(axis=0) / (len(x) - 1))


def _groups(variant: str, d: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Return means and variances of the groups whose t statistics are averaged, groups first."""
    x = _grouped(variant, d)
    noise = noise if variant.startswith("folds") else noise.mean(axis=0)
    return without_noise(x.mean(axis=1), x.var(axis=1, ddof=1), noise)


def _averaged_t(
    variant: str,
    a: Floats,
    b: Floats,
    df: float,
    alternative: Alternative,
    note: str,
    least: float,
) -> PairwiseResult:
    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        x, variance = _groups(variant, d, noise)
        identical = ((variance == 0) & (x == 0)).all(axis=0)
        se = np.sqrt(np.maximum(variance, least) / (df + 1.0))
        constant = se == 0
        finite = np.where(constant, 0.0, x / np.where(constant, 1.0, se)).mean(axis=0)
        up, down = (constant & (x > 0)).any(axis=0), (constant & (x < 0)).any(axis=0)
        z = np.where(up, np.inf, np.where(down, -np.inf, finite))
        no_evidence = (up & down) | identical
        z = np.where(no_evidence, 0.0, z)
        p = np.where(no_evidence, 1.0, pvalue_of_t(z, df, alternative))
        mean = d.mean(axis=(0, 1))
        return z, p, np.where(mean * mean <= noise.mean(axis=0), 0.0, mean)

    z, p, estimate = over_pairs(a, b, kernel, axes=2, outputs=3)
    return PairwiseResult(
        test=variant,
        statistic=scalar_or_array(z),
        pvalue=scalar_or_array(p),
        df=df,
        estimate=scalar_or_array(estimate),
        alternative=alternative,
        direction=scalar_or_array(z),
        note=note,
        losses=(a, b),
        interval_rule=partial(_averaged_t_interval, least=least),
    )


def _averaged_t_interval(result: PairwiseResult, level: float, *, least: float) -> Interval:
    """Return the accepted deltas: Z(delta) = Z - delta mean_j(1 / se_j) is within +-q.

    If some groups have no spread, they alone determine the interval: between the smallest and the
    largest of their means the infinite terms contradict each other; outside they agree.
    """
    df = result.df
    assert isinstance(df, float)
    q = -t_quantile(tail_level(level, result.alternative), df)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        x, variance = _groups(result.test, d, noise)
        se = np.sqrt(np.maximum(variance, least) / (df + 1.0))
        constant = se == 0
        weight = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, se))
        any_constant = constant.any(axis=0)
        total = np.where(any_constant, 1.0, weight.mean(axis=0))
        centre = (weight * x).mean(axis=0) / total
        low, high = centre - q / total, centre + q / total
        low = np.where(any_constant, np.where(constant, x, np.inf).min(axis=0), low)
        high = np.where(any_constant, np.where(constant, x, -np.inf).max(axis=0), high)
        return low, high, x.min(axis=0), x.max(axis=0)

    a, b = result.losses
    low, high, least_mean, most_mean = over_pairs(a, b, kernel, axes=2, outputs=4)
    return agreeing_interval(result, level, low, high, least=least_mean, most=most_mean)


def resampled_t(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    df: float | None = None,
    resolution: float | None = None,
) -> PairwiseResult:
    """Paired t test on n random splits that treats them as independent.

    Test the null hypothesis that the two learners have the same expected loss
    (``alternative="greater"``: that the loss of `a` is at most that of `b`). The splits share
    rows, so the test rejects far too often with its default df: prefer `corrected_resampled_t`.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n random splits; leading axes broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    df : float, optional
        Calibrated degrees of freedom instead of n - 1.
    resolution : float, optional
        As for `kfold_t`.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``t = m / (S / sqrt(df + 1))``, as in `kfold_t`.

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised
    classification learning algorithms. Neural Computation 10, 1895-1923.
    doi:10.1162/089976698300017197

    Examples
    --------
    >>> r = resampled_t([0.30, 0.25, 0.28], [0.26, 0.24, 0.23], alternative="greater")
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (2.7735, 0.0546)
    """
    result = kfold_t(a, b, alternative=alternative, df=df, resolution=resolution)
    return replace(result, test="resampled-t")
