"""The conservative Z of Nadeau and Bengio."""

from __future__ import annotations

from typing import Any

from bestofk.checks import Alternative, Floats, side, whole
from bestofk.pairwise.differences import without_noise
from bestofk.pairwise.result import PairwiseResult
from bestofk.pairwise.splits.subset_parts import two_parts, variance_at_half
from bestofk.pairwise.z_values import z_from_variance, z_result


def conservative_z(
    a: Any,
    b: Any,
    *,
    runs: int,
    folds: int,
    halvings: int,
    half_folds: int,
    alternative: str = "two-sided",
) -> PairwiseResult:
    """Conservative Z test: the variance on half of the rows serves for all of them.

    Tests the hypothesis that the two *learners* have the same expected loss over data sets of
    this size (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., runs * folds + 2 * halvings * half_folds)
        Losses of every fold of every run on all rows; then, for each halving, those of the folds
        of its one half and of its other half. Leading axes broadcast.
    runs, folds : int
        Of the cross-validation on all rows.
    halvings, half_folds : int
        How often the rows were halved, and folds of the cross-validation of each half.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is the greater one.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``Z = m / sqrt(v)``, standard normal, with m the mean difference on all rows and
    ``v = mean_m (u_m - w_m)^2 / 2`` from the mean differences u_m and w_m of the two sides of
    halving m: unbiased for the variance of such a mean on half of the rows, which is about twice
    that on all. In the paper each mean is over 15 random splits; here it is cross-validated.

    References
    ----------
    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning
    52, 239-281, section 4. doi:10.1023/A:1024068626366

    Examples
    --------
    Two runs of two folds, and two halvings with two folds in each half:

    >>> a = [0.30, 0.28, 0.27, 0.31] + [0.35, 0.33, 0.30, 0.36] + [0.31, 0.35, 0.36, 0.30]
    >>> b = [0.26, 0.24, 0.25, 0.27] + [0.26, 0.32, 0.28, 0.30] + [0.30, 0.32, 0.27, 0.33]
    >>> r = conservative_z(a, b, runs=2, folds=2, halvings=2, half_folds=2)
    >>> round(r.statistic, 4), r.df
    (4.9497, None)
    """
    sides: Alternative = side(alternative)
    halvings = whole(halvings, "halvings", at_least=2)
    apply = two_parts(
        a, b, runs=runs, folds=folds, subset_runs=2 * halvings, subset_folds=half_folds
    )

    def kernel(whole_runs: Floats, halves: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, variance = without_noise(
            whole_runs.mean(axis=(0, 1)), variance_at_half(halves), noise
        )
        return (*z_from_variance(mean, variance, sides), mean)

    z, p, se, estimate = apply(kernel, (0, 0, 1, 1))
    return z_result("conservative-z", z, p, estimate, estimate, se, sides)
