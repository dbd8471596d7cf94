"""The corrected t test, its variance raised where halves of the rows show more."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats, side, whole
from bestofk.pairwise.differences import without_noise
from bestofk.pairwise.resampled import degrees_of_freedom, t_from_variance, t_result
from bestofk.pairwise.result import PairwiseResult
from bestofk.pairwise.subset_parts import corrected_variance, two_parts, variance_at_half

DF_PER_HALVING = 3


def raised_corrected_t(
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
    """Corrected repeated k-fold t test with the larger of two variances.

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
    df : float, optional
        Degrees of freedom instead of three a halving (at most runs * folds - 1).

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``t = m / sqrt(max(c, v / 2))`` with m the mean difference on all rows, c the variance of
    `corrected_repeated_kfold_t` and v that of `half_sampling_t`. For stable learners c is right
    and steady; for unstable ones (nearest neighbours, trees) it is up to 40 percent too small,
    and v shows that. The larger of the two is seldom far too small, so that the degrees of
    freedom may be more than one a halving; three a halving keep the level in simulation (see the
    page *Unstable learners* of the documentation).

    References
    ----------
    R. R. Bouckaert and E. Frank (2004). Evaluating the replicability of significance tests for
    comparing learning algorithms. PAKDD 2004, LNCS 3056, 3-12.
    doi:10.1007/978-3-540-24775-3_3

    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning
    52, 239-281, section 4. doi:10.1023/A:1024068626366

    Examples
    --------
    Two runs of two folds, and two halvings with two folds in each half:

    >>> a = [0.30, 0.28, 0.27, 0.31] + [0.35, 0.33, 0.30, 0.36] + [0.31, 0.35, 0.36, 0.30]
    >>> b = [0.26, 0.24, 0.25, 0.27] + [0.26, 0.32, 0.28, 0.30] + [0.30, 0.32, 0.27, 0.33]
    >>> r = raised_corrected_t(a, b, runs=2, folds=2, halvings=2, half_folds=2)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (3.1305, 3.0, 0.052)
    """
    sides: Alternative = side(alternative)
    halvings = whole(halvings, "halvings", at_least=2)
    apply = two_parts(
        a, b, runs=runs, folds=folds, subset_runs=2 * halvings, subset_folds=half_folds
    )
    degrees = degrees_of_freedom(
        df, min(DF_PER_HALVING * halvings, runs * folds - 1), where=f"{halvings} halvings"
    )

    def kernel(whole_runs: Floats, halves: Floats, noise: Floats) -> tuple[Floats, ...]:
        raised = np.maximum(corrected_variance(whole_runs), variance_at_half(halves) / 2.0)
        mean, variance = without_noise(whole_runs.mean(axis=(0, 1)), raised, noise)
        return t_from_variance(mean, variance, degrees, sides)

    t, p, estimate, se = apply(kernel, (0, 0, 1, 1))
    return t_result("raised-corrected-t", t, p, degrees, estimate, se, sides)
