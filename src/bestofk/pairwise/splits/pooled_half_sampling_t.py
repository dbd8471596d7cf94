"""The corrected t test with one variance factor for all pairs of a study."""

from __future__ import annotations

from typing import Any

from bestofk.checks import Alternative, Floats, positive, side
from bestofk.errors import ArgumentError
from bestofk.pairwise.differences import over_pairs, paired_losses, without_noise
from bestofk.pairwise.result import PairwiseResult
from bestofk.pairwise.splits.resampled_t import degrees_of_freedom, t_from_variance, t_result
from bestofk.pairwise.splits.subset_parts import corrected_variance


def pooled_half_sampling_t(
    a: Any,
    b: Any,
    *,
    factor: float,
    alternative: str = "two-sided",
    df: float | None = None,
) -> PairwiseResult:
    """Corrected repeated k-fold t test, its variance multiplied by the factor of a study.

    Tests the hypothesis that the two *learners* have the same expected loss over data sets of
    this size (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., runs, folds)
        Losses on the same folds; leading axes broadcast.
    factor : float
        How much larger than the corrected variance the variance of a mean difference is: what
        `study_factor` finds for all pairs of the study together.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is the greater one.
    df : float, optional
        Degrees of freedom instead of runs * folds - 1.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``t = m / sqrt(factor * c)`` with c the variance of `corrected_repeated_kfold_t`. One factor
    is steadier than one for each pair, but it is wrong where stable and unstable learners meet in
    one study: too large for pairs of the former, too small for pairs of the latter.

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
    times = positive(factor, "factor")
    a, b = paired_losses(a, b, axes=2)
    runs, folds = a.shape[-2:]
    if folds < 2:
        raise ArgumentError(f"folds (the last axis) must be at least 2; got {folds}.")
    degrees = degrees_of_freedom(df, runs * folds - 1, where=f"{runs} runs of {folds} folds")

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, variance = without_noise(
            d.mean(axis=(0, 1)), times * corrected_variance(d), times * noise.mean(axis=0)
        )
        return t_from_variance(mean, variance, degrees, sides)

    t, p, estimate, se = over_pairs(a, b, kernel, axes=2, units=(0, 0, 1, 1))
    return t_result("pooled-half-sampling-t", t, p, degrees, estimate, se, sides)
