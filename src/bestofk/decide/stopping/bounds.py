"""Bounds and predictions of the test statistics of the full plan, from the part that is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isqrt
from typing import Literal, NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk.stats.pairwise.nested_cv import RUN_NOISE, inner_means, rows_and_fits
from bestofk.stats.pairwise.paired_tests import sign
from bestofk.stats.pairwise.signed_ranks import EXACT_UP_TO, doubled_midranks, untied_cdf, wilcoxon
from bestofk.stats.tails import binomial_at_most, pvalue_of_t, t_quantile

SLACK = 1e-9
"""Relative rounding error by which bounds are widened, so that ties stay open."""
FIRST_LOOK = 2
"""Number of runs before the first prediction: one run has no spread over runs."""
SINGLE_CELLS = 8.0
"""Divisor of the risk towards 0 if every run is one cell, such as a random split. The variance of
such runs is not overstated, and the skewed statistic falls below the t quantile more often than
the risk. Determined by simulation (``studies/stopping_band.py``)."""
MAX_UNITS = EXACT_UP_TO
"""Beyond this the signed rank test is approximated, and bounds do not cover the approximation."""
_TINY = float(np.finfo(np.float64).tiny)
_NOISE = 8.0 * float(np.finfo(np.float64).eps)


class Bounds(NamedTuple):
    """Intervals of the results of the full plan for P pairs, first learner minus second.

    Attributes
    ----------
    t_low, t_high : (P,) arrays
        Bounds of the statistic.
    mean_low, mean_high : (P,) arrays
        Bounds of the difference of the means.
    """

    t_low: Floats
    t_high: Floats
    mean_low: Floats
    mean_high: Floats

    def within(self, other: Bounds) -> Bounds:
        """Return the intersection of both intervals; `other` if they are disjoint."""
        ends: list[Floats] = []
        for at in (0, 2):
            low, high = np.maximum(self[at], other[at]), np.minimum(self[at + 1], other[at + 1])
            apart = low > high
            ends += [np.where(apart, other[at], low), np.where(apart, other[at + 1], high)]
        return Bounds(*ends)


class SoFar(NamedTuple):
    """The planned test on what both learners of every pair have done."""

    estimate: Floats
    """Mean loss of the first minus that of the second."""
    evidence: Floats
    """The quantity that is bounded; positive if the second seems better."""
    pvalue: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest(ABC):
    """A test that is planned on `runs` x `folds` losses of every learner.

    Attributes
    ----------
    runs, folds : int
    span : float or None
        Losses lie between 0 and this; None if they are unbounded.
    """

    runs: int
    folds: int = 1
    span: float | None = None

    @property
    def n(self) -> int:
        """Number of differences of the full plan."""
        return self.runs * self.folds

    @property
    def outer(self) -> int:
        """Number of losses of a run that enter the reported means."""
        return self.folds

    @abstractmethod
    def exact(self, first: Floats, second: Floats | float = 0.0) -> Bounds:
        """Bound the result of the full plan for any outcome of the rest.

        `first` and `second` are the losses (P, runs, folds) of both learners of every pair, NaN
        for cells that are not done.
        """

    @abstractmethod
    def so_far(
        self, first: Floats, second: Floats | float = 0.0, alternative: str = "two-sided"
    ) -> SoFar:
        """Apply the test to the losses so far."""

    @abstractmethod
    def pvalue(self, evidence: Floats, alternative: str) -> Floats:
        """Return the p-value of the bounded quantity; for one side the smallest possible one."""

    def pvalues(self, bounds: Bounds, alternative: str) -> tuple[Floats, Floats]:
        """Return the smallest and the largest p-value within the bounds."""
        low, high = bounds.t_low, bounds.t_high
        if alternative == "two-sided":
            far = np.maximum(np.abs(low), np.abs(high))
            near = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
            largest = self.pvalue(near, alternative)
        else:
            far = high
            largest = np.where(low > 0, self.pvalue(low, alternative), 1.0)
        smallest = self.pvalue(far, alternative)
        return smallest * (1.0 - SLACK), np.minimum(largest * (1.0 + SLACK), 1.0)

    def _means(self, differences: Floats) -> tuple[Floats, Floats]:
        """Return bounds of the mean (P,) over all differences of the plan."""
        left = np.isnan(differences).sum(axis=(1, 2))
        span = np.inf if self.span is None else self.span
        reach = np.where(left > 0, np.maximum(left, 1) * span, 0.0)
        total, n = _sum(differences), self.runs * self.outer
        # means that may end equal stay open
        reach += SLACK * (np.abs(total) + reach)
        return (total - reach) / n, (total + reach) / n


def _sum(differences: Floats) -> Floats:
    """Return the sum of the known differences of every pair, 0 if rounding alone can make it."""
    total = np.nansum(differences, axis=(1, 2))
    noise = SLACK * np.nanmax(np.abs(differences), axis=(1, 2), initial=0.0)
    return np.where(np.abs(total) <= noise, 0.0, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedT(PlannedTest):
    """A t test that is planned on `runs` x `folds` differences of a pair.

    The statistic is ``mean / sqrt(factor * variance)`` over all differences, as in
    `bestofk.stats.pairwise.corrected_repeated_kfold_t`. Items of a test set are runs with one
    fold.

    Attributes
    ----------
    df : float
        Degrees of freedom of the statistic.
    test_share : float or None
        Test rows over training rows, for the corrected tests.
    step : float or None
        Losses are multiples of this. The variance is at least that of one instance of each
        learner in one fold. None: not known yet.
    units : int or None
        Number of groups of rows, which bounds the degrees of freedom of the p-value.
    widened : float
        Factor of the standard error behind the p-value, as in the test.
    """

    df: float
    test_share: float | None = None
    step: float | None = 0.0
    units: int | None = None
    widened: float = 1.0

    @property
    def factor(self) -> float:
        """Variance of the mean divided by the variance of one difference."""
        plain = 1.0 / (self.df + 1.0)
        return plain if self.test_share is None else plain * (1.0 + self.n * self.test_share)

    @property
    def least(self) -> float:
        """Smallest assumed variance of the differences; infinite if unknown."""
        return np.inf if self.step is None else 2.0 * self.step * self.step / self.n

    def pvalue(self, evidence: Floats, alternative: str) -> Floats:
        """Return the p-value of a statistic."""
        degrees = self.df if self.units is None else min(self.df, self.units - 1.0)
        t = evidence / self.widened
        return np.asarray(pvalue_of_t(t, degrees, alternative))  # type: ignore[arg-type]

    def so_far(
        self, first: Floats, second: Floats | float = 0.0, alternative: str = "two-sided"
    ) -> SoFar:
        """Apply the test to the losses so far, with the degrees of freedom of the plan."""
        differences = first - second
        mean, error = self._mean_and_error(differences)
        scale = max(np.nanmax(np.abs(each), initial=0.0) for each in (first, second))
        mean = np.where(np.abs(mean) <= 1e-12 * scale, 0.0, mean)
        some = (~np.isnan(differences)).sum(axis=(1, 2)) > 1
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(some & (mean != 0), mean / error, 0.0)
        return SoFar(mean, t, self.pvalue(t, alternative))

    def _mean_and_error(self, differences: Floats) -> tuple[Floats, Floats]:
        """Return the mean and its standard error over the known differences of every pair."""
        gap = np.isnan(differences)
        n = np.maximum((~gap).sum(axis=(1, 2)), 1)
        mean = np.where(gap, 0.0, differences).sum(axis=(1, 2)) / n
        off = np.where(gap, 0.0, differences - mean[:, np.newaxis, np.newaxis])
        variance = np.square(off).sum(axis=(1, 2)) / np.maximum(n - 1, 1)
        if self.step:
            variance = np.maximum(variance, 2.0 * self.step * self.step / n)
        return mean, np.sqrt(self.factor * variance)

    def exact(self, first: Floats, second: Floats | float = 0.0) -> Bounds:
        """Bound the result of the full plan for any outcome of the rest.

        Notes
        -----
        With S and Q the sums of the differences and of their squares over the n cells of the
        plan, the statistic grows with S / sqrt(Q). The sum of R remaining values y is at most
        sqrt(R) times the root of their sum of squares, with equality for equal y. So the largest
        ratio is sqrt(S^2 / Q + R) for S > 0, else sqrt(R). If losses are bounded by 1, it is
        reached at y = min(1, Q / S), or at y = 1 for S <= 0.
        """
        differences = first - second
        left = np.isnan(differences).sum(axis=(1, 2)).astype(np.float64)
        total, squares = _sum(differences), np.nansum(np.square(differences), axis=(1, 2))
        low, high = self._means(differences)
        return Bounds(
            t_low=-self._highest(-total, squares, left, -low),
            t_high=self._highest(total, squares, left, high),
            mean_low=low,
            mean_high=high,
        )

    def _highest(self, total: Floats, squares: Floats, left: Floats, mean: Floats) -> Floats:
        """Return the largest statistic that the full plan can reach."""
        ratio = _largest_ratio(total, squares, left, self.span)
        ratio += SLACK * np.abs(ratio)
        n, square = self.n, np.minimum(np.square(ratio), self.n)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.sqrt((n - 1) / (self.factor * n * n) * square / (1.0 - square / n))
        t = np.where(ratio == 0, 0.0, np.copysign(t, ratio))
        if self.least:
            # a variance below the smallest one is raised to it, which moves t towards 0
            with np.errstate(invalid="ignore"):
                floored = np.where(mean < 0, mean / np.sqrt(self.factor * self.least), -np.inf)
            t = np.where(t < 0, np.maximum(t, np.nan_to_num(floored, nan=0.0)), t)
        return t

    def predicted(self, differences: Floats, *, risk: float, floor: float = 0.0) -> Bounds:
        """Predict the result of the full plan, with a risk of `risk` on each side.

        Parameters
        ----------
        differences : (P, m, folds) array
            Differences of the first m complete runs. Pairs with a NaN stay open.
        risk : float
            Probability that the full plan ends below an interval, and the same for above. Only
            one of the two sides can make a verdict wrong: below if the plan rejects, above if it
            does not.
        floor : float
            Smallest assumed variance of the differences, such as that of one instance in one
            fold.

        Notes
        -----
        Given the data, runs of cross-validation are independent and identically distributed, so
        the mean over `runs` of them is predicted from the first m with a variance of
        (1/m - 1/runs) times that of a run. The variance of a run is estimated from the folds as
        if they were independent, which overstates it for cross-validation, or from the runs
        themselves if that is larger.
        """
        _, m, folds = differences.shape
        if not 0 < m <= self.runs:
            raise ValueError(f"m must be from 1 to {self.runs}; got {m}.")
        open_ended = np.isnan(differences).any(axis=(1, 2)) | (m * folds < 2)
        d = np.where(np.isnan(differences), 0.0, differences)
        mean = d.mean(axis=(1, 2))
        mean = np.where(np.abs(mean) <= SLACK * np.abs(d).max(axis=(1, 2)), 0.0, mean)
        off = d - mean[:, np.newaxis, np.newaxis]
        variance = np.square(off).sum(axis=(1, 2)) / max(m * folds - 1, 1)
        lowest = max(floor, self.least if self.step else 0.0)
        variance = np.maximum(variance, lowest)
        flat = variance == 0
        # the spread is unknown if all differences are equal so far and have no step
        open_ended |= flat & (m < self.runs)
        scale = np.sqrt(self.factor * np.where(flat, 1.0, variance))
        t = np.where(flat, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)), mean / scale)
        per_variance, scales, spread = (
            each[:, np.newaxis, np.newaxis]
            for each in (np.where(flat, 0.0, t) / 2.0, scale, np.where(flat, 1.0, variance))
        )
        influence = off / scales - per_variance * (np.square(off) / spread - 1.0)
        # differences that are all equal so far need not stay equal: use the smallest variance
        least = np.sqrt(lowest) / scale
        back, away = (
            np.where(open_ended, np.inf, self._reach(influence, share, least))
            for share in (risk / SINGLE_CELLS if folds == 1 else risk, risk)
        )
        with np.errstate(invalid="ignore"):
            t_low = t - np.where(t > 0, back, away)
            t_high = t + np.where(t < 0, back, away)
        return _signed_bounds(t_low, t_high)

    def _reach(self, influence: Floats, risk: float, least: Floats) -> Floats:
        """Return how far the full plan may end from the mean of the influences (P, m, folds).

        `least` is the smallest assumed standard deviation of the influence of a fold.
        """
        _, m, folds = influence.shape
        squares = np.square(influence).sum(axis=(1, 2))
        of_cells = max(m * folds - 1, 1)
        by_folds = np.maximum(np.sqrt(squares / of_cells), least) / np.sqrt(folds)
        reach = by_folds * -t_quantile(risk, float(of_cells))
        if m > 1 and folds > 1:
            by_runs = influence.mean(axis=2).std(axis=1, ddof=1)
            of_runs = by_runs * -t_quantile(risk, float(m - 1))
            reach = np.where(by_runs > by_folds, of_runs, reach)
        return np.asarray(reach * np.sqrt(max(1.0 / m - 1.0 / self.runs, 0.0)))


def _signed_bounds(t_low: Floats, t_high: Floats) -> Bounds:
    """Return bounds of the statistic, and the sign of the mean that they imply."""
    t_low = np.where(np.isnan(t_low), -np.inf, t_low)
    t_high = np.where(np.isnan(t_high), np.inf, t_high)
    return Bounds(
        t_low=t_low,
        t_high=t_high,
        mean_low=np.where(t_low > 0, _TINY, -np.inf),
        mean_high=np.where(t_high < 0, -_TINY, np.inf),
    )


def _largest_ratio(total: Floats, squares: Floats, left: Floats, span: float | None) -> Floats:
    """Return the largest S / sqrt(Q) that the remaining cells can produce."""
    with np.errstate(divide="ignore", invalid="ignore"):
        as_is = np.where(squares > 0, total / np.sqrt(squares), 0.0)
        if span is None:
            best = np.where(total > 0, np.sqrt(np.square(total) / squares + left), np.sqrt(left))
        else:
            y = np.where(total * span > squares, squares / np.where(total > 0, total, 1.0), span)
            best = (total + left * y) / np.sqrt(squares + left * np.square(y))
    return np.asarray(np.where(left > 0, best, as_is))


class _Cells(NamedTuple):
    """Mean and variance of P pairs over their complete runs, and what every fold adds to them."""

    complete: Bools
    """(P, runs)."""
    mean: Floats
    variance: Floats
    off: Floats
    """(P, runs, K): deviations of the folds from the mean; 0 for incomplete runs."""
    parts: tuple[tuple[Floats, Floats], ...]
    """The estimates of which the largest counts: shares of the folds (P, runs, K), and their mean
    (P,). The third estimate of the test makes two, without and with VT."""
    between: Floats
    """(P,): sum over the runs of the variance between the folds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNested(PlannedT):
    """The test `bestofk.stats.pairwise.nested_cv_t`, planned on `runs` runs of nested folds.

    A run has K squared losses: K folds, then for every pair of folds the loss on either from the
    model trained on neither. `folds` is this number.
    """

    @property
    def outer(self) -> int:
        """The number of folds of a run, K."""
        return isqrt(self.folds)

    def _mean_and_error(self, differences: Floats) -> tuple[Floats, Floats]:
        """Return the mean and its standard error over the complete runs of every pair."""
        cells = self._cells(differences)
        return cells.mean, np.sqrt(cells.variance)

    def exact(self, first: Floats, second: Floats | float = 0.0) -> Bounds:
        """Bound the result of the full plan for any outcome of the rest.

        The remaining runs change the mean by at most their share of the span, and cannot reduce
        the sum of the variances between folds. How much they add to it is left open, so a claim
        is certain only at the end.
        """
        differences = first - second
        cells = self._cells(differences)
        low, high = self._means(differences[..., : self.outer])
        least = np.sqrt(cells.between / (self.runs * self.outer)) * (1.0 - SLACK)
        with np.errstate(divide="ignore", invalid="ignore"):
            t_low = np.where(low < 0, low / least, 0.0)
            t_high = np.where(high > 0, high / least, 0.0)
            t = np.where(cells.mean == 0, 0.0, cells.mean / np.sqrt(cells.variance))
        slack = SLACK * np.where(np.isfinite(t), np.abs(t), 0.0)
        done = cells.complete.all(axis=1)
        return Bounds(
            np.where(done, t - slack, t_low), np.where(done, t + slack, t_high), low, high
        )

    def predicted(self, differences: Floats, *, risk: float, floor: float = 0.0) -> Bounds:
        """Predict the result of the full plan, with a risk of `risk` on each side.

        Notes
        -----
        As for `PlannedT`, runs are independent and identically distributed given the data, and
        the folds of a run count as independent unless the runs differ more. The influence of a
        fold on the statistic t is ``(o - M) / SE - t (v - V) / (2 V)``, with o its difference and
        v what it adds to the variance V. The variance is imprecise, and t is not linear in it.
        The limit away from 0 therefore uses the influence at the limit of the linear prediction,
        and the limit towards 0 that halfway. The variance is the largest of several estimates,
        so all are predicted, and t is the smallest result.
        """
        m = differences.shape[1]
        if not 0 < m <= self.runs:
            raise ValueError(f"m must be from 1 to {self.runs}; got {m}.")
        cells = self._cells(differences)
        lowest = floor * self.outer
        variance = np.maximum(cells.variance, lowest / self.outer)
        flat = variance == 0
        open_ended = ~cells.complete.all(axis=1) | (m < 2) | (flat & (m < self.runs))
        scale = np.sqrt(np.where(flat, 1.0, variance))
        mean = cells.mean
        t = np.where(flat, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)), mean / scale)
        finite = np.where(flat, 0.0, t)
        lows, highs = [], []
        for share, own in cells.parts:
            off = share - own[:, np.newaxis, np.newaxis]

            def distance(at: Floats, off: Floats = off) -> Floats:
                """Return how far the limit is, with the influence at the statistic `at`."""
                per_variance = (at / (2.0 * np.square(scale)))[:, np.newaxis, np.newaxis]
                influence = cells.off / scale[:, np.newaxis, np.newaxis] - per_variance * off
                return self._reach(influence, risk, np.sqrt(lowest) / scale)

            first = distance(finite)
            # halfway to 0 if the variance alone is uncertain, as on a scale of logarithms
            size = np.abs(finite)
            halfway = finite * size / np.where(first > 0, size + first / 2.0, 1.0)
            beyond = finite - np.copysign(first / 2.0, finite)
            back = np.maximum(distance(halfway), distance(beyond))
            away = distance(finite + np.copysign(first, finite))
            centre = t + finite * (cells.variance - own) / (2.0 * np.square(scale))
            lows.append(centre - np.where(t < 0, away, back))
            highs.append(centre + np.where(t < 0, back, away))
        # the larger variance gives the statistic nearer to 0
        t_low = np.where(t < 0, np.max(lows, axis=0), np.min(lows, axis=0))
        t_high = np.where(t < 0, np.max(highs, axis=0), np.min(highs, axis=0))
        return _signed_bounds(
            np.where(open_ended, -np.inf, t_low), np.where(open_ended, np.inf, t_high)
        )

    def _cells(self, differences: Floats) -> _Cells:
        """Return mean, variance and shares of every pair, over its complete runs."""
        P, K = len(differences), self.outer
        complete: Bools = ~np.logical_or.reduce(np.isnan(differences), axis=2)
        known = complete[:, :, np.newaxis]
        d = np.where(known, differences, 0.0)
        outer = d[..., :K]
        pairs = np.moveaxis(d[..., K:].reshape(P, -1, 2), 0, -1)
        within = np.moveaxis(inner_means(pairs, K), -1, 0)
        count = complete.sum(axis=1)
        many = np.maximum(count, 1)[:, np.newaxis, np.newaxis]
        mean = outer.sum(axis=(1, 2)) / (many[:, 0, 0] * K)
        # ignore what rounding alone can produce
        rounding = SLACK * np.abs(d).max(axis=(1, 2), initial=0.0)
        mean = np.where(np.abs(mean) <= rounding, 0.0, mean)
        run_means = outer.mean(axis=2, keepdims=True)
        folds = np.square(outer - run_means) * (K / (K - 1))
        folds = np.where(folds <= np.square(rounding)[:, np.newaxis, np.newaxis], 0.0, folds)
        noise = RUN_NOISE * np.square(run_means - mean[:, np.newaxis, np.newaxis])
        noise *= many / np.maximum(many - 1, 1)
        inner = d[..., K:].reshape(P, -1, K * (K - 1) // 2, 2)
        centre = inner.sum(axis=(1, 2, 3)) / (many[:, 0, 0] * K * (K - 1))
        rows, fits = rows_and_fits(
            inner[..., 0], inner[..., 1], centre[:, np.newaxis, np.newaxis], K
        )

        def of_folds(of_pairs: Floats) -> Floats:
            """Return the mean of the pairs of every fold."""
            both = np.stack([of_pairs, of_pairs], axis=-1).reshape(P, -1, 2)
            return np.moveaxis(inner_means(np.moveaxis(both, 0, -1), K), -1, 0)

        parts = []
        for share in (
            (K - 1) / K * (np.square(within - outer) - folds - noise),
            folds / K,
            of_folds(rows),
            of_folds(rows + (K - 2) / 2 * fits),
        ):
            own = np.where(known, share, 0.0)
            parts.append((own, own.sum(axis=(1, 2)) / (many[:, 0, 0] * K)))
        variance = np.max([own for _, own in parts], axis=0)
        return _Cells(
            complete=complete,
            mean=mean,
            variance=np.where(variance <= np.square(rounding), 0.0, variance),
            off=np.where(known, outer - mean[:, np.newaxis, np.newaxis], 0.0),
            parts=tuple(parts),
            between=folds.mean(axis=2).sum(axis=1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedUnits(PlannedTest):
    """A signed rank test or sign test that is planned on `runs` units, such as data sets.

    The bounded quantity is the evidence: -log p of the two-sided test with the sign of its
    direction. With ties and zeros the p-value is no function of the rank sum.

    - `kind` {"ranks", "signs"}: Wilcoxon's signed rank test, or the sign test.
    """

    kind: Literal["ranks", "signs"]

    def pvalue(self, evidence: Floats, alternative: str) -> Floats:
        """Return the p-value of evidence; for one side the smallest possible one."""
        if alternative == "two-sided":
            return np.asarray(np.exp(-np.abs(evidence)))
        return np.asarray(np.exp(-np.maximum(evidence, 0.0)) / 2.0)

    def so_far(
        self, first: Floats, second: Floats | float = 0.0, alternative: str = "two-sided"
    ) -> SoFar:
        """Apply the test to the finished units."""
        a, b = (each[..., 0] for each in np.broadcast_arrays(first, second))
        gap = np.isnan(a - b)
        evidence, pvalue = np.zeros(len(a)), np.ones(len(a))
        patterns, which = np.unique(gap, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(np.reshape(which, -1) == number)
            if pattern.all():
                continue
            pair = a[rows][:, ~pattern], b[rows][:, ~pattern]
            test = wilcoxon if self.kind == "ranks" else sign
            both = test(*pair)
            one_sided = alternative != "two-sided"
            pvalue[rows] = (test(*pair, alternative=alternative) if one_sided else both).pvalue
            evidence[rows] = -np.sign(np.asarray(both.direction)) * np.log(both.pvalue)
        known = np.maximum((~gap).sum(axis=1), 1)
        estimate = np.where(gap, 0.0, a - b).sum(axis=1) / known
        scale = max(np.nanmax(np.abs(each), initial=0.0) for each in (a, b))
        estimate = np.where(np.abs(estimate) <= 1e-12 * scale, 0.0, estimate)
        return SoFar(estimate, evidence, pvalue)

    def exact(self, first: Floats, second: Floats | float = 0.0) -> Bounds:
        """Bound the result of the full plan for any outcome of the rest.

        Notes
        -----
        The evidence is extreme if all remaining units have the same sign. Ranks among all units
        are at least those among the finished units, and ties shift a rank sum by a bounded amount.
        """
        a, b = np.broadcast_arrays(first, second)
        evidence = self.so_far(a, b).evidence
        low, high = evidence.copy(), evidence
        gap = np.isnan(a - b)[..., 0]
        bounded = self._ranked if self.kind == "ranks" else self._counted
        for pair in np.flatnonzero(gap.any(axis=1)).tolist():
            known = ~gap[pair]
            low[pair], high[pair] = bounded(a[pair, known, 0], b[pair, known, 0])
        return Bounds(low, high, *self._means(a - b))

    def _counted(self, a: Floats, b: Floats) -> tuple[float, float]:
        """Return the least and the most evidence of a sign test."""
        d, differs = a - b, np.abs(a - b) > _NOISE * np.hypot(a, b)
        more, less = int((differs & (d > 0)).sum()), int((differs & (d < 0)).sum())
        left = self.runs - len(d)

        def evidence(wins: int, losses: int) -> float:
            tail = binomial_at_most(min(wins, losses), wins + losses)
            size = -np.log(min(2.0 * float(tail), 1.0))
            return float(size if wins > losses else -size)

        return evidence(more, less + left), evidence(more + left, less)

    def _ranked(self, a: Floats, b: Floats) -> tuple[float, float]:
        """Return bounds of the evidence of a signed rank test."""
        d, tolerance = a - b, _NOISE * np.hypot(a, b)
        ranks, signs = (
            each[0] for each in doubled_midranks(d[np.newaxis], np.square(tolerance)[np.newaxis])
        )
        size, ranks = np.abs(d[signs != 0]), ranks[signs != 0]
        by_size = np.argsort(size)
        gaps = np.diff(size[by_size])[np.diff(ranks[by_size]) > 0]
        if (gaps <= SLACK * np.abs([a, b]).max(initial=0.0)).any():
            # a remaining unit between two groups of ties might tie them
            return -np.inf, np.inf
        ties = np.unique(ranks, return_counts=True)[1].tolist()
        left = self.runs - len(d)
        signs = signs[signs != 0]
        against, for_it = (float(ranks[signs == side].sum()) / 2.0 for side in (-1, 1))
        return -_evidence_bound(ties, for_it, left), _evidence_bound(ties, against, left)


def _evidence_bound(ties: list[int], against: float, left: int) -> float:
    """Return an upper bound of the evidence for one side, from the certain ranks against it."""
    done = sum(ties)
    n = done + left
    least = int(np.floor(against - _largest_shift(ties, left)))
    tail = float(untied_cdf(n)[min(least, n * (n + 1) // 2)]) if least >= 0 else 0.0
    tail = max(tail, 0.5**n)
    if 2.0 * tail < 1.0:
        return float(-np.log(2.0 * tail))
    # the evidence is on the other side: return its certain part
    most = 0.0
    for added in range(left + 1):
        m = done + added
        side_sum = int(np.floor(m * (m + 1) / 2.0 - against + _largest_shift(ties, added)))
        most = max(most, float(untied_cdf(m)[min(max(side_sum, 0), m * (m + 1) // 2)]))
    return float(np.log(min(2.0 * most, 1.0)))


def _largest_shift(ties: list[int], more: int) -> float:
    """Return the largest distance of a rank sum from that with broken ties, given `more` units.

    The ranks of a group of c ties lie up to (c - 1) / 2 from their mean, and those above it add up
    to floor(c^2 / 4) / 2. That is convex in c, so the distance is largest if all new units are
    tied with the largest group.
    """
    groups = sorted(ties) or [0]
    groups[-1] += more
    return sum(count * count // 4 for count in groups) / 2.0


class PredictionBands:
    """Prediction intervals of P pairs, which shrink with every run that both learners have.

    Each interval of a pair and run has its own share of the risk, so all intervals hold
    simultaneously and their intersection is valid. The share of a look is proportional to 1 over
    its number of runs, because early stops save more.
    """

    def __init__(self, pairs: int, test: PlannedT, risk: float, floor: float) -> None:
        self.test, self.floor = test, floor
        # a look at the end of the plan needs no prediction
        last = max(test.runs - 1, FIRST_LOOK)
        self.risk = risk / (pairs * sum(1.0 / m for m in range(FIRST_LOOK, last + 1)))
        self.looked_at = np.full(pairs, FIRST_LOOK - 1)
        self.intersection = Bounds(*(np.full(pairs, end) for end in 2 * (-np.inf, np.inf)))

    def bounds(self, differences: Floats) -> Bounds:
        """Return the intersection of all intervals, given (P, runs, folds) differences so far."""
        done: Bools = ~np.logical_or.reduce(np.isnan(differences), axis=2)
        runs = np.where(done.all(axis=1), done.shape[1], done.argmin(axis=1))
        for m in range(FIRST_LOOK, int(runs.max(initial=0)) + 1):
            new = np.flatnonzero((self.looked_at < m) & (runs >= m))
            if not len(new):
                continue
            floor = self.floor / (m * self.test.folds)
            part = self.test.predicted(differences[new, :m], risk=self.risk / m, floor=floor)
            earlier = Bounds(*(end[new] for end in self.intersection))
            for end, narrowed in zip(self.intersection, earlier.within(part), strict=True):
                end[new] = narrowed
            self.looked_at[new] = m
        return self.intersection
