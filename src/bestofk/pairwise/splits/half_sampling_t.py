"""A t test whose variance comes from cross-validation on random halves of the rows."""

from __future__ import annotations

from typing import Any

from bestofk.checks import Alternative, Floats, side, whole
from bestofk.pairwise.differences import without_noise
from bestofk.pairwise.result import PairwiseResult
from bestofk.pairwise.splits.resampled_t import degrees_of_freedom, t_from_variance, t_result
from bestofk.pairwise.splits.subset_parts import two_parts, variance_at_half


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
    """Half-sampling t test: repeated cross-validation, its variance from halves of the rows.

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
        Degrees of freedom instead of `halvings`.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    With u_m and w_m the mean differences that the cross-validations of the two sides of halving
    m give, ``v = mean_m (u_m - w_m)^2 / 2`` is an unbiased estimate of the variance of such a
    mean on half of the rows, whatever the learners do with them. ``t = m / sqrt(v / 2)`` with m
    the mean difference on all rows: the variance on n rows is taken to be half of that on n / 2.
    It is somewhat less, so the test errs on the safe side.

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
