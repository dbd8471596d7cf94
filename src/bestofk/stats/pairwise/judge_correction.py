"""Compare two learners by a judge's scores on all items and human labels on some of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Bools, Floats, side
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.clustered import (
    MIN_DIFFERING_CLUSTERS,
    Clusters,
    cluster_moments,
    clusters_of,
)
from bestofk.stats.pairwise.differences import paired_losses, ratio
from bestofk.stats.pairwise.result import PairwiseResult
from bestofk.stats.pairwise.skew_corrected import mean_result, skew_corrected_ends
from bestofk.stats.tails import t_quantile

MIN_LABELLED = 10
"""Clusters with labels that the test needs."""
_TAILS = (0.025, 0.01, 0.005, 0.0025, 0.001, 0.0005)
"""Tails at which the interval with the judge must be narrower."""


def prediction_powered(
    a: Any,
    b: Any,
    *,
    truth: tuple[Any, Any],
    labelled: Any,
    clusters: Any = None,
    unit: float | None = None,
    alternative: str = "two-sided",
) -> PairwiseResult:
    """Test the mean difference of the human labels, with a judge's scores as a covariate.

    The null hypothesis is that the two learners have the same expected loss by the human labels.
    The judge may be biased, also in favour of one learner. The labelled items are a random sample
    of all items.

    Parameters
    ----------
    a, b : array_like, shape (..., N)
        The judge's losses on the same N items, averaged over epochs; leading axes broadcast.
    truth : tuple of two array_like, shape (..., n)
        The losses of `a` and `b` by the human labels, on the labelled items.
    labelled : array_like of bool, shape (N,)
        Which items have labels.
    clusters, unit, alternative
        As for `cluster_sign_flip`.

    Returns
    -------
    PairwiseResult
        As for `cluster_t`. At levels from 95 to 99.9 percent, the interval is not wider than that
        of `cluster_t` from the labels alone.

    Notes
    -----
    With y the difference by the labels and f that by the judge, the estimate is::

        mean of y + slope (mean of f over all items - mean of f over labelled items)

    The slope is that of the least squares line of y on f. This is the prediction-powered estimate
    with power tuning (PPI++): its lambda is slope N' / (N' + n), with N' items without labels. The
    variance uses residuals of lines that were fitted without the item (HC3), so that few labels do
    not make it too small, and t has 2 degrees of freedom less than labelled clusters. A pair whose
    interval would be wider than that from the labels alone uses the labels alone.

    References
    ----------
    A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023). PPI++: efficient prediction-powered
    inference. arXiv:2311.01453

    Examples
    --------
    The judge finds the first learner worse by 0.4 on average; the labels do not:

    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(2, 400))
    >>> judge = human + rng.normal(scale=0.5, size=(2, 400)) + [[0.4], [0.0]]
    >>> labelled = np.arange(400) < 100
    >>> r = prediction_powered(*judge, truth=human[:, :100], labelled=labelled)
    >>> round(r.estimate, 2), round(r.pvalue, 2)
    (-0.08, 0.39)
    """
    sides: Alternative = side(alternative)
    first, second = paired_losses(a, b, axes=1)
    known = np.asarray(labelled, dtype=bool)
    grouping = clusters_of(clusters, first.shape[-1])
    codes = np.repeat(np.arange(len(grouping)), grouping.sizes.astype(np.int64))
    cluster = np.empty(first.shape[-1], dtype=np.int64)
    cluster[grouping.order] = codes
    of_labels = clusters_of(cluster[known], int(known.sum())) if known.any() else None
    if of_labels is None or len(of_labels) < MIN_LABELLED:
        count = 0 if of_labels is None else len(of_labels)
        raise ArgumentError(f"labelled must mark at least {MIN_LABELLED} clusters; got {count}.")
    labels = paired_losses(*truth, axes=1)
    f, y = first - second, labels[0] - labels[1]
    noise = 1e-12 * np.maximum(np.abs(labels[0]).max(axis=-1), np.abs(labels[1]).max(axis=-1))
    alone = cluster_moments(y, noise, grouping=of_labels, unit=unit)
    judged = _with_judge(f, y, known, grouping, of_labels, unit)
    better = np.asarray(_narrower(judged, alone, len(of_labels)))
    mean, error, df, skewness = (np.where(better, x, z) for x, z in zip(judged, alone, strict=True))
    mean = np.where(np.abs(mean) <= noise, 0.0, mean)
    return mean_result(
        "prediction-powered",
        (first, second),
        mean,
        error,
        df,
        sides,
        count=len(of_labels),
        skewness=skewness,
        unit=unit,
    )


def _narrower(judged: tuple[Floats, ...], alone: tuple[Floats, ...], count: int) -> Any:
    """Return whether the interval with the judge is narrower at all usual levels."""
    narrower: Any = True
    for tail in _TAILS:
        widths = []
        for _, error, df, skewness in (judged, alone):
            above, below = skew_corrected_ends(-t_quantile(tail, df), skewness, count)
            widths.append((above - below) * error)
        narrower = narrower & (widths[0] < widths[1])
    return narrower


def _with_judge(
    f: Floats, y: Floats, known: Bools, grouping: Clusters, of_labels: Clusters,
    unit: float | None,
) -> tuple[Floats, Floats, Floats, Floats]:  # fmt: skip
    """Return mean, standard error, df and skewness of the estimate; infinite error if f is flat."""
    n, count = y.shape[-1], len(of_labels)
    labelled_f = f[..., known]
    f_mean, y_mean = labelled_f.mean(axis=-1), y.mean(axis=-1)
    x = labelled_f - f_mean[..., np.newaxis]
    squares = np.square(x).sum(axis=-1)
    flat = squares <= 1e-20 * np.square(labelled_f).sum(axis=-1)
    squares = np.where(flat, 1.0, squares)
    slope = np.where(flat, 0.0, (x * (y - y_mean[..., np.newaxis])).sum(axis=-1) / squares)
    shift = f.mean(axis=-1) - f_mean
    residual = y - y_mean[..., np.newaxis] - slope[..., np.newaxis] * x
    leverage = np.minimum(1.0 / n + np.square(x) / squares[..., np.newaxis], 1.0)
    # the line through an item of leverage 1 does not show how far off it is
    own, _ = ratio(residual, 1.0 - leverage)
    own = np.where(leverage < 1.0 - 1e-9, own, 0.0)
    part = own * (1.0 / n + (shift / squares)[..., np.newaxis] * x) * np.sqrt((count - 1) / count)
    centred = f - f.mean(axis=-1, keepdims=True)
    influence = slope[..., np.newaxis] * centred / np.sqrt(f.shape[-1] * (f.shape[-1] - 1.0))
    influence[..., known] += part
    totals, of_part = grouping.totals(influence), of_labels.totals(part)
    variance = np.square(totals).sum(axis=-1)
    from_labels = np.square(of_part).sum(axis=-1)
    # if fewer than three clusters make up the residuals, their variance is unreliable
    effective, _ = ratio(np.square(from_labels), (of_part**4).sum(axis=-1))
    largest = np.abs(y).max(axis=-1) if unit is None else float(unit)
    few = (effective < MIN_DIFFERING_CLUSTERS) | (from_labels == 0.0)
    floor = np.where(few, variance - from_labels + np.square(largest / count), 0.0)
    skewness, _ = ratio((totals**3).sum(axis=-1), np.maximum(variance, floor) ** 1.5)
    skewness = skewness * np.sqrt(count) * np.sqrt(count * (count - 1.0)) / (count - 2.0)
    error = np.where(flat, np.inf, np.sqrt(np.maximum(variance, floor)))
    return y_mean + slope * shift, error, np.full(error.shape, count - 2.0), skewness
