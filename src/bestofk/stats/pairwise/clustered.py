"""Tests of two learners on clusters of instances, and the clustered standard error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Alternative, Floats, side
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted
from bestofk.stats.pairwise.differences import (
    EXACT_BELOW,
    agreeing_interval,
    over_blocks,
    paired_losses,
    ratio,
    smallest_pvalue,
    widening,
)
from bestofk.stats.pairwise.permutation_tests import permutation
from bestofk.stats.pairwise.result import (
    Interval,
    PairwiseResult,
    scalar_or_array,
)
from bestofk.stats.pairwise.skew_corrected import mean_result, sample_skewness

MIN_DIFFERING_CLUSTERS = 3
"""If fewer clusters differ, the standard error is at least about that of one differing cluster."""
MIN_CLUSTERS_WITHOUT_NOTE = 12
"""If fewer clusters differ, the note gives the smallest possible p-value."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Clusters:
    """The cluster of each instance and the stratum of each cluster.

    - `order` (n,): The instances, ordered by cluster.
    - `starts` (C,): Start of each cluster in `order`.
    - `sizes` (C,): Number of instances of each cluster.
    - `stratum` (C,): Stratum of each cluster, from 0.

    Examples
    --------
    >>> grouping = clusters_of(["p", "q", "p", "r"], 4)
    >>> grouping.sizes.tolist(), grouping.totals(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    ([2.0, 1.0, 1.0], [4.0, 2.0, 4.0])
    """

    order: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    sizes: Floats
    stratum: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def _in_order(self) -> bool:
        """True if each instance is a cluster, in the order of the instances."""
        return np.array_equal(self.order, self.starts)

    @cached_property
    def _strata(self) -> list[tuple[Any, Floats, float]]:
        """The index of the clusters of each stratum, their sizes, and the df of their mean."""
        if not self.stratum.any():
            return [(slice(None), self.sizes, degrees_of_freedom(self.sizes))]
        masks = [self.stratum == code for code in range(int(self.stratum.max()) + 1)]
        sizes = [self.sizes[here] for here in masks]
        return [
            (here, own, degrees_of_freedom(own)) for here, own in zip(masks, sizes, strict=True)
        ]

    def totals(self, values: Floats) -> Floats:
        """Return the sums (..., C) of values (..., n) by cluster."""
        if len(self.starts) == values.shape[-1]:
            return values if self._in_order else values[..., self.order]
        return np.asarray(np.add.reduceat(values[..., self.order], self.starts, axis=-1))

    def standard_error(self, totals: Floats, *, unit: Any = 0.0) -> tuple[Floats, Floats]:
        """Return the standard error of the mean difference and its df, of shape (...).

        If the instances are independent, the variance is unbiased for any cluster sizes. A large
        cluster pulls the mean towards itself, which makes its own deviation too small; Bell and
        McCaffrey's CR2 corrects for this.

        - `totals` (..., C): Sums of the differences by cluster.
        - `unit` (...): The largest possible difference of one instance. If fewer than three
          clusters differ, their variance is unreliable, and the standard error is at least unit /
          C, about that of one differing cluster.
        """
        variance, df = self.variance(totals)
        return np.maximum(np.sqrt(variance), self.least_error(totals, unit)), df

    def variance(self, totals: Floats) -> tuple[Floats, Floats]:
        """Return the variance of the mean difference and its df; see `standard_error`."""
        n = float(self.sizes.sum())
        variance, welch = np.zeros(totals.shape[:-1]), np.zeros(totals.shape[:-1])
        for here, sizes, own_df in self._strata:
            if sizes.size == 1:
                variance = np.full_like(variance, np.inf)
                continue
            of_stratum = _sum_of_squares(totals[..., here], sizes) / n**2
            variance = variance + of_stratum
            with np.errstate(under="ignore"):
                welch = welch + np.square(of_stratum) / own_df
        if len(self) > 1 and len(self._strata) == 1:
            # without the rounding of the quotient
            return variance, np.full(variance.shape, own_df)
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            df = np.where(welch > 0, np.square(variance) / welch, max(len(self) - 1.0, 1.0))
        return variance, np.where(np.isfinite(df), df, 1.0)

    def least_error(self, totals: Floats, unit: Any) -> Floats:
        """Return unit / C if fewer than three clusters differ, else 0."""
        unit = np.asarray(unit)
        # totals within rounding error do not count as differences
        rounding = 1e-12 * self.sizes * unit[..., np.newaxis]
        few = (np.abs(totals) > rounding).sum(axis=-1) < MIN_DIFFERING_CLUSTERS
        return np.where(few, unit / len(self), 0.0)

    def skewness(self, totals: Floats) -> Floats:
        """Return the bias-corrected skewness of the clusters' deviations from the mean."""
        means = np.stack(
            [totals[..., here].sum(axis=-1) / sizes.sum() for here, sizes, _ in self._strata],
            axis=-1,
        )
        mean = means if means.shape[-1] == 1 else means[..., self.stratum]
        return sample_skewness(totals - self.sizes * mean, axis=-1)


def _sum_of_squares(totals: Floats, sizes: Floats) -> Floats:
    """Return the sum of the CR2 squares of the clusters' deviations from the mean."""
    n = sizes.sum()
    deviation = totals - sizes * (totals.sum(axis=-1, keepdims=True) / n)
    return np.asarray((np.square(deviation, out=deviation) / (1.0 - sizes / n)).sum(axis=-1))


def degrees_of_freedom(sizes: Floats) -> float:
    """Return the degrees of freedom of the CR2 variance of a mean over clusters of these sizes.

    Satterthwaite's degrees of freedom depend on the correlation of the instances within a cluster.
    The large clusters weigh more than in a variance of equal clusters if the instances are
    independent, and much more if the instances of a cluster are all alike. This function returns
    the geometric mean of these two extremes. Of the rules tried, it is the one whose intervals miss
    at most 6 percent in all cases measured (``benchmarks/evals_type1.py --intervals``). For
    clusters of equal size it is their number minus 1.

    References
    ----------
    R. M. Bell and D. F. McCaffrey (2002). Bias reduction in standard errors for linear regression
    with multi-stage samples. Survey Methodology 28, 169-181.

    Examples
    --------
    >>> round(degrees_of_freedom(np.full(8, 5.0)), 6)
    7.0
    >>> round(degrees_of_freedom(np.arange(1.0, 11.0)), 2)
    5.93
    """
    if (sizes == sizes[0]).all():
        return float(len(sizes) - 1)
    n = float(sizes.sum())
    grown = 1.0 / (1.0 - sizes / n)
    product = 1.0
    for spread in (sizes, np.square(sizes)):
        v = spread / spread.mean()
        s = sizes / n
        total = float(v.sum())
        ss, sv, vv = ((grown * x * y).sum() for x, y in ((s, s), (s, v), (v, v)))
        # S = (I - s 1') diag(v) (I - s 1')' is the covariance of the deviations of the clusters
        diagonal = v - 2.0 * s * v + np.square(s) * total
        trace = (grown * diagonal).sum()
        squares = (np.square(grown) * v * (2.0 * diagonal - v)).sum() + (
            2.0 * ss * vv + 2.0 * sv**2 + (ss * total) ** 2 - 4.0 * total * ss * sv
        )
        product *= float(trace**2 / squares)
    return float(np.sqrt(product))


def clusters_of(clusters: Any, n: int, strata: Any = None) -> Clusters:
    """Return the clusters of n instances; if `clusters` is None, each instance is a cluster.

    The variance cannot separate strata if a cluster has instances in two of them, or if a stratum
    contains only one cluster. In these cases the strata concerned are merged.
    """
    each = np.arange(n)
    labels = each if clusters is None else _labels(clusters, n, "clusters")
    if labels.dtype.kind == "i" and np.array_equal(labels, each):
        order, starts, sizes = each, each, np.ones(n)
    else:
        names, codes = np.unique(labels, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(names)))
        sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
    stratum = np.zeros(len(starts), dtype=np.int64)
    if strata is not None:
        layer = np.unique(_labels(strata, n, "strata"), return_inverse=True)[1][order]
        low, high = np.minimum.reduceat(layer, starts), np.maximum.reduceat(layer, starts)
        counts = np.bincount(low)
        if (low == high).all():
            alone = counts[low] < 2
            low = np.where(alone, counts.size, low)
            if alone.sum() == 1:
                # a single cluster without a stratum of its own joins the largest stratum
                low[alone] = int(counts.argmax())
            stratum = np.unique(low, return_inverse=True)[1].astype(np.int64)
    return Clusters(order=order, starts=starts, sizes=sizes, stratum=stratum)


def _labels(values: Any, n: int, name: str) -> npt.NDArray[Any]:
    labels = np.asarray(values)
    if labels.shape != (n,):
        raise ArgumentError(
            f"{name} must contain one label for each of the {n} instances; got an array of shape "
            f"{labels.shape}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ArgumentError(f"{name} must contain a label for each instance; some are missing.")
    if labels.dtype.kind == "O":
        labels = np.array([f"{type(label).__name__} {label}" for label in labels.tolist()])
    return labels


def cluster_t(
    a: Any,
    b: Any,
    *,
    clusters: Any = None,
    strata: Any = None,
    unit: float | None = None,
    alternative: str = "two-sided",
    widened: float = 1.0,
) -> PairwiseResult:
    """Test the mean difference over clusters of instances, corrected for skewness.

    The null hypothesis is that the two learners have the same expected loss
    (``alternative="greater"``: that the loss of `a` is at most that of `b`). Clusters are
    independent of each other. The differences may be skewed.

    Parameters
    ----------
    a, b, clusters, strata, unit, alternative
        As for `cluster_sign_flip`.
    widened : float
        As for `skew_corrected_t`.

    Returns
    -------
    PairwiseResult
        `statistic` is the mean difference over its standard error, or Hall's transformation of
        this ratio, whichever is closer to 0. The interval contains the differences that the t test
        does not reject, and 0 if p exceeds 1 minus the level. `df` is None if the pairs have
        different degrees of freedom.

    Notes
    -----
    The standard error and the degrees of freedom are those of the interval of
    `cluster_sign_flip`; the transformation is that of `skew_corrected_t`, with the skewness of
    the clusters' deviations from the mean. If the learners differ on fewer than 25 clusters, the
    p-value is the larger one of this test and of `cluster_sign_flip`. The t distribution is
    unreliable on few clusters, and sign flips are if clusters of different sizes favour different
    learners: the larger p-value keeps the level in both cases.

    References
    ----------
    P. Hall (1992). On the removal of skewness by transformation. Journal of the Royal Statistical
    Society, Series B 54, 221-228. doi:10.1111/j.2517-6161.1992.tb01876.x

    R. M. Bell and D. F. McCaffrey (2002). Bias reduction in standard errors for linear regression
    with multi-stage samples. Survey Methodology 28, 169-181.

    Examples
    --------
    >>> a = [1, 0.5, 1, 0, 0.8, 1, 1, 0, 1, 1, 0, 0]
    >>> b = [0, 0.2, 0, 0, 0.4, 1, 0.3, 0, 0.2, 0, 0, 0]
    >>> r = cluster_t(a, b, clusters=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])
    >>> r.df, round(r.estimate, 4), round(r.pvalue, 4)
    (5.0, 0.4333, 0.0625)
    """
    sides: Alternative = side(alternative)
    first, second = paired_losses(a, b, axes=1)
    grouping = clusters_of(clusters, first.shape[-1], strata)
    moments = over_blocks(first, second, partial(cluster_moments, grouping=grouping, unit=unit))
    mean, error, df, skewness = moments
    error = widening(widened) * error
    result = mean_result(
        "cluster-t",
        (first, second),
        mean,
        error,
        df,
        sides,
        count=len(grouping),
        skewness=skewness,
        unit=unit,
    )
    return _with_sign_flips(result, grouping)


def _with_sign_flips(result: PairwiseResult, grouping: Clusters) -> PairwiseResult:
    """Return the larger p-value of the t test and of sign flips if few clusters differ."""
    totals = tuple(grouping.totals(losses) for losses in result.losses)
    few = np.asarray(differing(*totals) < EXACT_BELOW)
    if not few.any():
        return result
    a, b = (np.broadcast_to(x, (*few.shape, len(grouping)))[few] for x in totals)
    p = np.array(result.pvalue, dtype=float)
    p[few] = np.maximum(p[few], permutation(a, b, alternative=result.alternative).pvalue)
    of_t = result.interval_rule
    assert of_t is not None

    def rule(result: PairwiseResult, level: float) -> Interval:
        low, high = of_t(result, level)
        accepted = p > 1.0 - level
        return Interval(
            scalar_or_array(np.where(accepted, np.minimum(low, 0.0), low)),
            scalar_or_array(np.where(accepted, np.maximum(high, 0.0), high)),
        )

    return replace(result, pvalue=scalar_or_array(p), interval_rule=rule)


def cluster_moments(
    d: Floats, noise: Floats, *, grouping: Clusters, unit: float | None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the mean of differences (..., n), its standard error and df, and the skewness."""
    totals = grouping.totals(d)
    largest = np.abs(d).max(axis=-1) if unit is None else float(unit)
    variance, df = grouping.variance(totals)
    plain = np.sqrt(variance)
    error = np.maximum(plain, grouping.least_error(totals, largest))
    mean = totals.sum(axis=-1) / d.shape[-1]
    mean = np.where(np.abs(mean) <= noise, 0.0, mean)
    error = np.where(error <= noise, 0.0, error)
    # a standard error above that of the clusters makes the skewness count less
    share, _ = ratio(np.where(np.isfinite(plain), plain, 0.0), error)
    skewness = grouping.skewness(totals) * np.minimum(share, 1.0) ** 3
    return mean, error, df, skewness


def cluster_sign_flip(
    a: Any,
    b: Any,
    *,
    clusters: Any = None,
    strata: Any = None,
    unit: float | None = None,
    alternative: str = "two-sided",
) -> PairwiseResult:
    """Sign-flip test of the mean difference over clusters of instances.

    Test the null hypothesis that the two learners are exchangeable on every cluster, so that all
    differences of a cluster could together equally well have the opposite sign
    (``alternative="greater"``: against a greater loss of `a`).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n instances, averaged over epochs; leading axes broadcast.
    clusters : array_like, shape (n,), optional
        The cluster of each instance; None: each instance is a cluster.
    strata : array_like, shape (n,), optional
        Fixed tasks rather than a sample of tasks: the interval excludes the variance between them.
        The p-value does not change.
    unit : float, optional
        The largest possible difference of one instance, such as 1 for right or wrong; by default
        the largest of this pair. It bounds the interval if hardly any cluster differs.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.

    Returns
    -------
    PairwiseResult
        `statistic` is the mean difference. The interval is the clustered t interval; its ends are
        moved to 0 if it would disagree with the p-value about 0.

    Notes
    -----
    With D_c the sum of the differences of cluster c, the sum of D_c is compared with that of
    e_c D_c over independent signs e_c. If C clusters differ, the p-value cannot fall below
    2^(1-C). The standard error of the interval is sqrt(sum_c (D_c - n_c d)^2 / (1 - n_c / n)) / n
    with d the mean difference and n_c of the n instances in cluster c. The t distribution has
    `C - 1` degrees of freedom, fewer if the cluster sizes are unequal. Several strata: the root of
    the sum of their variances, with Welch's degrees of freedom.

    References
    ----------
    R. A. Fisher (1935). The Design of Experiments. Oliver and Boyd, Edinburgh.

    R. M. Bell and D. F. McCaffrey (2002). Bias reduction in standard errors for linear regression
    with multi-stage samples. Survey Methodology 28, 169-181.

    Examples
    --------
    Two questions on each of six passages; the second learner is better on five of the passages:

    >>> a = [1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0]
    >>> b = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    >>> cluster_sign_flip(a, b, clusters=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]).pvalue
    0.0625
    """
    sides: Alternative = side(alternative)
    first, second = paired_losses(a, b, axes=1)
    grouping = clusters_of(clusters, first.shape[-1], strata)
    sums = grouping.totals(first), grouping.totals(second)
    flipped = permutation(*sums, alternative=sides)
    estimate = np.asarray(flipped.estimate) * (len(grouping) / first.shape[-1])

    def rule(result: PairwiseResult, level: float) -> Interval:
        moments = over_blocks(first, second, partial(cluster_moments, grouping=grouping, unit=unit))
        mean, error, df, _ = moments
        of_t = mean_result("", (), mean, error, df, sides, count=len(grouping), unit=unit)
        assert of_t.interval_rule is not None
        low, high = of_t.interval_rule(of_t, level)
        d = first - second
        return agreeing_interval(
            result, level, low, high, least=d.min(axis=-1), most=d.max(axis=-1)
        )

    return PairwiseResult(
        test="cluster-sign-flip",
        statistic=scalar_or_array(estimate),
        pvalue=flipped.pvalue,
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        note=_note(sums, len(grouping), sides, flipped.note),
        losses=(first, second),
        interval_rule=rule,
    )


def differing(a: Floats, b: Floats) -> Any:
    """Count the (..., C) sums that differ by more than rounding; shape (...)."""
    apart = np.abs(a - b) > 1e-12 * np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-300)
    return apart.sum(axis=-1)


def _note(sums: tuple[Floats, Floats], count: int, alternative: Alternative, note: str) -> str:
    """Return the note of the permutation test, or that too few clusters differ."""
    single = sums[0].ndim == sums[1].ndim == 1
    differ = int(differing(*sums)) if single else MIN_CLUSTERS_WITHOUT_NOTE
    if differ >= MIN_CLUSTERS_WITHOUT_NOTE:
        return note if count >= MIN_CLUSTERS_WITHOUT_NOTE else ""
    least = smallest_pvalue(differ, alternative)
    verb = "differs" if differ == 1 else "differ"
    return (
        f"{counted(differ, 'cluster')} of {count} {verb}: the {alternative} p-value cannot fall "
        f"below {least:.2g}."
    )
