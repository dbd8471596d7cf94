"""t tests whose variance comes from cross-validation on random halves of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, positive, side, whole
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import over_pairs, paired_losses, without_noise
from bestofk.stats.pairwise.resampled import degrees_of_freedom, t_from_variance, t_result
from bestofk.stats.pairwise.result import PairwiseResult

Kernel = Callable[[Floats, Floats, Floats], tuple[Floats, ...]]
Prepared = Callable[[Kernel, tuple[int, ...]], tuple[Floats, ...]]


def two_parts(
    a: Any, b: Any, *, runs: Any, folds: Any, subset_runs: Any, subset_folds: Any
) -> Prepared:
    """Return a function that applies a kernel to the differences of both parts.

    - `a`, `b` (..., runs * folds + subset_runs * subset_folds): The losses of every fold of every
      run, followed by those of the runs on parts of the rows.
    - `runs`, `folds`, `subset_runs`, `subset_folds`: Sizes of the two parts.
    - Returns: ``apply(kernel, units)`` calls ``kernel(whole, part, noise)`` with differences of
      shape (runs, folds, block) and (subset_runs, subset_folds, block); see `over_pairs`.
    """
    sizes = (
        whole(runs, "runs", at_least=1),
        whole(folds, "folds", at_least=2),
        whole(subset_runs, "the number of runs on parts of the rows", at_least=1),
        whole(subset_folds, "the folds of runs on parts of the rows", at_least=1),
    )
    split = sizes[0] * sizes[1]
    n = split + sizes[2] * sizes[3]
    a, b = paired_losses(a, b, axes=1, shape_text="(losses of both parts,)")
    if a.shape[-1] != n:
        raise ArgumentError(
            f"a must contain {split} losses of {sizes[0]} runs of {sizes[1]} folds, followed by "
            f"{n - split} of {sizes[2]} runs of {sizes[3]} folds on parts of the rows; got "
            f"{a.shape[-1]}."
        )

    def apply(kernel: Kernel, units: tuple[int, ...]) -> tuple[Floats, ...]:
        def of_both(d: Floats, noise: Floats) -> tuple[Floats, ...]:
            block = d.shape[1:]
            return kernel(
                d[:split].reshape(*sizes[:2], *block), d[split:].reshape(*sizes[2:], *block), noise
            )

        return over_pairs(a, b, of_both, axes=1, units=units)

    return apply


def variance_at_half(part: Floats) -> Floats:
    """Estimate the variance of a cross-validated mean difference on half of the rows.

    `part` has shape (2 * halvings, folds, ...), with the two halves of a halving one after the
    other. The halves share no rows, so half of their squared difference is unbiased.
    """
    halves = part.mean(axis=1)
    return np.asarray((np.square(halves[0::2] - halves[1::2]) / 2.0).mean(axis=0))


def corrected_variance(whole_runs: Floats) -> Floats:
    """Return Nadeau and Bengio's corrected variance of the mean over the first two axes."""
    runs, folds = whole_runs.shape[:2]
    n = runs * folds
    s_squared = np.square(whole_runs - whole_runs.mean(axis=(0, 1))).sum(axis=(0, 1)) / (n - 1)
    return np.asarray((1.0 / n + 1.0 / (folds - 1)) * s_squared)


def half_sampling_t(
    a: Any,
    b: Any,
    *,
    runs: int,
    folds: int,
    halvings: int,
    half_folds: int,
    alternative: str = "two-sided",
    df: float | None = None,
) -> PairwiseResult:
    """Half-sampling t test: repeated cross-validation with a variance from halves of the rows.

    Test the null hypothesis that the two *learners* have the same expected loss over data sets of
    this size (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., runs * folds + 2 * halvings * half_folds)
        Losses of every fold of every run on all rows, followed for each halving by those of the
        folds of the first and of the second half. Leading axes broadcast.
    runs, folds : int
        Runs and folds of the cross-validation on all rows.
    halvings, half_folds : int
        Number of halvings, and folds of the cross-validation of each half.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    df : float, optional
        Degrees of freedom instead of `halvings`.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    Let u_m and w_m be the cross-validated mean differences on the two halves of halving m. Then
    ``v = mean_m (u_m - w_m)^2 / 2`` is an unbiased estimate of the variance of such a mean on half
    of the rows, for any learners. The statistic is ``t = m / sqrt(v / 2)`` with m the mean
    difference on all rows: it assumes that the variance on n rows is half of that on n / 2 rows.
    The true variance is somewhat smaller, so the test is conservative.

    References
    ----------
    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning
    52, 239-281, section 4, whose conservative Z does not halve v. doi:10.1023/A:1024068626366

    P. J. McCarthy (1969). Pseudo-replication: half samples. Review of the International
    Statistical Institute 37, 239-264. doi:10.2307/1402116

    Examples
    --------
    Two runs of two folds, and two halvings with two folds in each half:

    >>> a = [0.30, 0.28, 0.27, 0.31] + [0.35, 0.33, 0.30, 0.36] + [0.31, 0.35, 0.36, 0.30]
    >>> b = [0.26, 0.24, 0.25, 0.27] + [0.26, 0.32, 0.28, 0.30] + [0.30, 0.32, 0.27, 0.33]
    >>> r = half_sampling_t(a, b, runs=2, folds=2, halvings=2, half_folds=2)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (7.0, 2.0, 0.0198)
    """
    sides: Alternative = side(alternative)
    halvings = whole(halvings, "halvings", at_least=2)
    apply = two_parts(
        a, b, runs=runs, folds=folds, subset_runs=2 * halvings, subset_folds=half_folds
    )
    degrees = degrees_of_freedom(df, halvings, where=f"{halvings} halvings")

    def kernel(whole_runs: Floats, halves: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, variance = without_noise(
            whole_runs.mean(axis=(0, 1)), variance_at_half(halves) / 2.0, noise
        )
        return t_from_variance(mean, variance, degrees, sides)

    t, p, estimate, se = apply(kernel, (0, 0, 1, 1))
    return t_result("half-sampling-t", t, p, degrees, estimate, se, sides)


def pooled_half_sampling_t(
    a: Any,
    b: Any,
    *,
    factor: float,
    alternative: str = "two-sided",
    df: float | None = None,
) -> PairwiseResult:
    """Corrected repeated k-fold t test with its variance multiplied by the factor of a study.

    Test the null hypothesis that the two *learners* have the same expected loss over data sets of
    this size (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., runs, folds)
        Losses on the same folds; leading axes broadcast.
    factor : float
        The variance of a mean difference divided by the corrected variance, as `study_factor`
        estimates it for all pairs of the study together.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    df : float, optional
        Degrees of freedom instead of runs * folds - 1.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``t = m / sqrt(factor * c)`` with c the variance of `corrected_repeated_kfold_t`. One common
    factor varies less than one for each pair. It is wrong if a study mixes stable and unstable
    learners: too large for pairs of the former, too small for pairs of the latter.

    References
    ----------
    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning
    52, 239-281. doi:10.1023/A:1024068626366

    Examples
    --------
    >>> a = [[0.30, 0.25, 0.28], [0.27, 0.29, 0.26]]
    >>> b = [[0.26, 0.24, 0.23], [0.25, 0.26, 0.24]]
    >>> r = pooled_half_sampling_t(a, b, factor=4.0)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (1.1787, 5.0, 0.2915)
    """
    sides: Alternative = side(alternative)
    factor = positive(factor, "factor")
    a, b = paired_losses(a, b, axes=2)
    runs, folds = a.shape[-2:]
    if folds < 2:
        raise ArgumentError(f"folds (the last axis) must be at least 2; got {folds}.")
    degrees = degrees_of_freedom(df, runs * folds - 1, where=f"{runs} runs of {folds} folds")

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, variance = without_noise(
            d.mean(axis=(0, 1)), factor * corrected_variance(d), factor * noise.mean(axis=0)
        )
        return t_from_variance(mean, variance, degrees, sides)

    t, p, estimate, se = over_pairs(a, b, kernel, axes=2, units=(0, 0, 1, 1))
    return t_result("pooled-half-sampling-t", t, p, degrees, estimate, se, sides)


def study_factor(losses: Any, halves: Any) -> float:
    """Return the variance from halves of the rows over the corrected variance, for all pairs.

    Parameters
    ----------
    losses : array_like, shape (K, runs, folds)
        Losses of K learners on all rows.
    halves : array_like, shape (K, 2 * halvings, half_folds)
        Losses of the same learners on the halves, the two halves of a halving one after the other.

    Returns
    -------
    float
        The mean over all pairs of half the variance on half of the rows, divided by the mean
        corrected variance; 1 if both are 0.

    Examples
    --------
    >>> losses = [[[0.30, 0.25], [0.27, 0.29]], [[0.26, 0.24], [0.25, 0.26]]]
    >>> halves = [[[0.35, 0.33], [0.30, 0.36]], [[0.26, 0.32], [0.30, 0.30]]]
    >>> round(study_factor(losses, halves), 4)
    0.48
    """
    first, second = paired_losses(losses, losses, axes=2)
    part = paired_losses(halves, halves, axes=2)[0]
    i, j = np.triu_indices(len(first), 1)
    corrected = corrected_variance(np.moveaxis(first[i] - second[j], 0, -1)).mean()
    halved = variance_at_half(np.moveaxis(part[i] - part[j], 0, -1)).mean() / 2.0
    if corrected == 0.0:
        return 1.0
    return max(float(halved / corrected), np.finfo(np.float64).tiny)
