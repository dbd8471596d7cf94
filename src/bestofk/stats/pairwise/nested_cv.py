"""Tests by nested cross-validation, with a variance from pairs of folds left out together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, side, whole
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import (
    over_pairs,
    paired_losses,
    widening,
    without_noise,
)
from bestofk.stats.pairwise.resampled import degrees_of_freedom, t_from_variance, t_result
from bestofk.stats.pairwise.result import PairwiseResult

RUN_NOISE = 0.5
"""Share of the variance between runs that `nested_cv_t` subtracts."""
UNSTABLE = 2.0
"""Call a pair unstable if its VT exceeds this many row variances over n."""


Kernel = Callable[[Floats, Floats, Floats], tuple[Floats, ...]]


def nested_cv_t(
    a: Any,
    b: Any,
    *,
    runs: int,
    folds: int,
    rows: int | None = None,
    alternative: str = "two-sided",
    df: float | None = None,
    widened: float = 1.0,
) -> PairwiseResult:
    """Nested cross-validation t test.

    Test the null hypothesis that the two *learners* have the same expected loss over data sets of
    this size (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., runs * folds + runs * folds * (folds - 1))
        Losses of every fold of every run, followed for every run and every pair i < j of its folds
        by the losses of fold i and of fold j from a model trained on neither. Leading axes
        broadcast.
    runs, folds : int
        Runs and folds of the cross-validation; at least three folds.
    rows : int, optional
        Rows of the data set, if known.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    df : float, optional
        Degrees of freedom; by default one less than the number of models,
        ``runs * folds * (folds + 1) / 2``, and at most one less than the number of rows.
    widened : float
        As for `corrected_resampled_t`.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    Let K be the number of folds, o_ri the mean difference on fold i of run r, n_ri that on the
    other folds from models not trained on fold i either, s_r^2 the variance between the o_ri of
    run r, and W the variance between the means of the runs. SE^2 is the largest of three
    estimates, and t is the mean of all o_ri over SE::

        (K - 1) / K (mean_ri (n_ri - o_ri)^2 - mean_r s_r^2 - W / 2)
        mean_r s_r^2 / K
        V + (K - 2) / 2 max(VT, 0)

    The first is the estimate of Bates, Hastie and Tibshirani. The mean of several runs varies less
    than that of one, by about W, of which half is subtracted. The second is their lower bound.

    The third allows for fits that vary from data set to data set. Let x and y be the mean
    differences of one model on the two folds that it left out, and m their mean over all models::

        V = mean (x - y)^2 / (2 K),    VT = mean (x - m) (y - m)

    The model is the same for x and y, so V is the variance of single rows over their number. It
    comes from the means of folds: single rows are not stored. VT is the covariance of x and y,
    which comes from the fit. It is about -V if fits do not vary, because the folds share no rows,
    so stable learners lose no power. Training sets of (K - 2) / K of the same rows vary less than
    whole data sets, by the factor 2 / (K - 2).

    The paper tests the fitted models and subtracts the bias (`nested_cv_z`); this test is about the
    learners. For level and power see the page *Unstable learners* of the documentation.

    References
    ----------
    S. Bates, T. Hastie and R. Tibshirani (2023). Cross-validation: what does it estimate and how
    well does it do it? Journal of the American Statistical Association 119, 1434-1445,
    algorithm 1. doi:10.1080/01621459.2023.2197686

    Examples
    --------
    One run of three folds, with folds 0 and 1, 0 and 2, and 1 and 2 left out together:

    >>> a = [0.24, 0.24, 0.30] + [0.33, 0.20, 0.35, 0.22, 0.21, 0.29]
    >>> r = nested_cv_t(a, [0.20] * 9, runs=1, folds=3)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (1.2696, 5.0, 0.2601)
    """
    sides: Alternative = side(alternative)
    runs, K = whole(runs, "runs", at_least=1), whole(folds, "folds", at_least=3)
    most = runs * K * (K + 1) // 2
    if rows is not None:
        most = min(most, whole(rows, "rows", at_least=2))
    degrees = degrees_of_freedom(df, most - 1, where="models and rows")
    factor = widening(widened)

    def kernel(outer: Floats, inner: Floats, noise: Floats) -> tuple[Floats, ...]:
        mse, between = _mse(outer, inner_means(inner, K))
        if runs > 1:
            mse = mse - RUN_NOISE * outer.mean(axis=1).var(axis=0, ddof=1)
        rows, fits = (
            part.mean(axis=0)
            for part in rows_and_fits(inner[:, 0], inner[:, 1], inner.mean(axis=(0, 1)), K)
        )
        of_fits = rows + (K - 2) / 2 * np.maximum(fits, 0.0)
        variance = np.maximum(np.maximum((K - 1) / K * mse, between / K), of_fits)
        mean, variance = without_noise(outer.mean(axis=(0, 1)), variance, noise)
        return t_from_variance(mean, factor * factor * variance, degrees, sides)

    t, p, estimate, se = _over_parts(a, b, runs, K, kernel, 4)
    return t_result("nested-cv-t", t, p, degrees, estimate, se, sides)


def nested_cv_z(
    a: Any, b: Any, *, runs: int, folds: int, alternative: str = "two-sided"
) -> PairwiseResult:
    """Z test from nested cross-validation, as published.

    Test the null hypothesis that the two *models fitted to all rows* have the same expected loss
    on new rows (``alternative="greater"``: that the loss of `a` is at most that of `b`). The
    hypothesis is not about the learners on other data sets.

    Parameters
    ----------
    a, b, runs, folds, alternative
        As for `nested_cv_t`.

    Returns
    -------
    PairwiseResult
        `estimate` is the mean difference of the cross-validation. The statistic and the interval
        use the difference corrected for bias (`pivot`).

    Notes
    -----
    Let K be the number of folds, o_ri the mean difference on fold i of run r, and n_ri that of the
    inner cross-validation without this fold::

        MSE = mean_ri (n_ri - o_ri)^2 - mean_r s_r^2,    SE = sqrt((K - 1) / K MSE)

    Here s_r^2 is the variance between the folds of run r, which estimates the variance of o_ri
    given its model (the paper uses single rows). As in the paper, SE is limited to the range from
    the naive ``s / sqrt(K)`` to ``s``. The bias ``(1 + (K - 2) / K) (mean n - mean o)`` is
    subtracted from ``mean n``. The paper uses 200 runs.

    References
    ----------
    S. Bates, T. Hastie and R. Tibshirani (2023). Cross-validation: what does it estimate and how
    well does it do it? Journal of the American Statistical Association 119, 1434-1445,
    algorithm 1. doi:10.1080/01621459.2023.2197686

    Examples
    --------
    One run of three folds, with folds 0 and 1, 0 and 2, and 1 and 2 left out together:

    >>> a = [0.30, 0.28, 0.35] + [0.31, 0.33, 0.29, 0.36, 0.32, 0.30]
    >>> b = [0.26, 0.24, 0.25] + [0.26, 0.30, 0.28, 0.30, 0.24, 0.29]
    >>> r = nested_cv_z(a, b, runs=1, folds=3)
    >>> round(r.statistic, 4), round(r.pivot, 4), round(r.standard_error, 4)
    (3.3333, 0.0667, 0.02)
    """
    sides: Alternative = side(alternative)
    runs, K = whole(runs, "runs", at_least=1), whole(folds, "folds", at_least=3)

    def kernel(outer: Floats, inner: Floats, noise: Floats) -> tuple[Floats, ...]:
        within = inner_means(inner, K)
        mse, between = _mse(outer, within)
        variance = np.clip((K - 1) / K * mse, between / K, between)
        mean = outer.mean(axis=(0, 1))
        nested = within.mean(axis=(0, 1))
        pivot = nested - (1.0 + (K - 2) / K) * (nested - mean)
        mean, _ = without_noise(mean, variance, noise)
        pivot, variance = without_noise(pivot, variance, noise)
        return (*t_from_variance(pivot, variance, None, sides), mean)

    z, p, pivot, se, estimate = _over_parts(a, b, runs, K, kernel, 5)
    return t_result("nested-cv-z", z, p, None, estimate, se, sides, pivot=pivot)


def _over_parts(
    a: Any, b: Any, runs: int, folds: int, kernel: Kernel, outputs: int
) -> tuple[Floats, ...]:
    """Apply `kernel(outer, inner, noise)` to the differences of both parts; see `over_pairs`.

    The shapes are (runs, folds, block) and (runs * pairs of folds, 2, block).
    """
    split, inner = runs * folds, runs * folds * (folds - 1)
    a, b = paired_losses(a, b, axes=1, shape_text="(losses of both parts,)")
    if a.shape[-1] != split + inner:
        raise ArgumentError(
            f"a must contain {split} losses of {runs} runs of {folds} folds, followed by {inner} "
            f"of their pairs of folds; got {a.shape[-1]}."
        )

    def of_both(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        block = d.shape[1:]
        outer = d[:split].reshape(runs, folds, *block)
        return kernel(outer, d[split:].reshape(inner // 2, 2, *block), noise)

    return over_pairs(a, b, of_both, axes=1, outputs=outputs)


def _mse(outer: Floats, within: Floats) -> tuple[Floats, Floats]:
    """Return the mean squared error of a cross-validated mean, and the variance between folds."""
    between = outer.var(axis=1, ddof=1).mean(axis=0)
    return np.square(within - outer).mean(axis=(0, 1)) - between, between


def rows_and_fits(x: Floats, y: Floats, mean: Floats, folds: int) -> tuple[Floats, Floats]:
    """Return the terms of each pair of folds in V and VT of `nested_cv_t`."""
    return np.square(x - y) / (2.0 * folds), (x - mean) * (y - mean)


def unstable_learners(losses: Floats, *, runs: int, folds: int) -> list[int]:
    """Return the learners whose fits vary far more than their rows, by their positions.

    A pair is unstable if VT exceeds `UNSTABLE` times V of `nested_cv_t`. The learner of the pair
    with the larger VT of its own losses counts.

    - `losses` (learners, losses of both parts): As for `nested_cv_t`.
    - `runs`, `folds`: Runs and folds of the cross-validation.
    """
    inner = losses[:, runs * folds :].reshape(len(losses), -1, 2)
    x, y = np.moveaxis(inner - inner.mean(axis=(1, 2), keepdims=True), 2, 0)
    count = x.shape[1]
    products = (x - y) @ (x - y).T / (2.0 * folds * count)
    shared = x @ y.T / count
    own_rows, own_fits = np.diag(products), np.diag(shared)
    rows = own_rows[:, np.newaxis] + own_rows - 2.0 * products
    fits = own_fits[:, np.newaxis] + own_fits - shared - shared.T
    # ignore what rounding alone can produce
    unstable = fits > UNSTABLE * rows + 1e-12 * np.square(losses).max(initial=0.0)
    larger = own_fits[:, np.newaxis] >= own_fits
    return [int(one) for one in np.flatnonzero((unstable & larger).any(axis=1))]


def inner_means(pairs: Floats, folds: int) -> Floats:
    """Return for each fold the mean loss of the other folds from models not trained on it.

    The shape is (runs, folds, ...). `pairs` has shape (runs * pairs of folds, 2, ...), in the
    order of `nested_cv_z`.
    """
    first, second = np.triu_indices(folds, 1)
    by_run = pairs.reshape(-1, len(first), *pairs.shape[1:])
    means = np.zeros((len(by_run), folds, *pairs.shape[2:]))
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        means[:, i] += by_run[:, pair, 1]
        means[:, j] += by_run[:, pair, 0]
    return means / (folds - 1)
