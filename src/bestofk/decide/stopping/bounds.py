"""Bounds and predictions of the test statistics of the full plan, from the part that is done."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk.decide.stopping.rule import FIRST_LOOK, StopRule
from bestofk.stats.tails import pvalue_of_t, t_quantile

SLACK = 1e-9
"""Relative rounding error by which bounds are widened, so that ties stay open."""
SINGLE_CELLS = 8.0
"""Divisor of the risk towards 0 if every run is one cell, such as a random split. The variance of
such runs is not overstated, and the skewed statistic falls below the t quantile more often than
the risk. Determined by simulation (``studies/stopping_band.py``)."""
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
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

    @classmethod
    def unbounded(cls, pairs: int) -> Bounds:
        """Return infinite intervals."""
        low, high = np.full(pairs, -np.inf), np.full(pairs, np.inf)
        return cls(t_low=low, t_high=high, mean_low=low, mean_high=high)

    def within(self, other: Bounds) -> Bounds:
        """Return the intersection of both intervals; `other` if they are disjoint."""
        arrays = {}
        for name in ("t", "mean"):
            low = np.maximum(getattr(self, f"{name}_low"), getattr(other, f"{name}_low"))
            high = np.minimum(getattr(self, f"{name}_high"), getattr(other, f"{name}_high"))
            apart = low > high
            arrays[f"{name}_low"] = np.where(apart, getattr(other, f"{name}_low"), low)
            arrays[f"{name}_high"] = np.where(apart, getattr(other, f"{name}_high"), high)
        return Bounds(**arrays)

    def narrowed(self, rows: Ints, part: Bounds) -> Bounds:
        """Return the bounds with some pairs intersected with `part`."""
        arrays = {field.name: getattr(self, field.name).copy() for field in fields(self)}
        both = Bounds(**{name: array[rows] for name, array in arrays.items()}).within(part)
        for name, array in arrays.items():
            array[rows] = getattr(both, name)
        return Bounds(**arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedT:
    """A t test that is planned on `runs` x `folds` differences of a pair.

    The statistic is ``mean / sqrt(factor * variance)`` over all differences, as in
    `bestofk.stats.pairwise.corrected_repeated_kfold_t`. Items of a test set and data sets are
    runs with one fold.

    Attributes
    ----------
    runs, folds : int
    df : float
        Degrees of freedom of the statistic.
    test_share : float or None
        Test rows over training rows, for the corrected tests.
    span : float or None
        Losses lie between 0 and this; None if they are unbounded.
    step : float or None
        Losses are multiples of this. The variance is at least that of one instance of each
        learner in one fold. None: not known yet.
    units : int or None
        Number of groups of rows, which bounds the degrees of freedom of the p-value.
    widened : float
        Factor of the standard error behind the p-value, as in the test.
    """

    runs: int
    folds: int
    df: float
    test_share: float | None = None
    span: float | None = None
    step: float | None = 0.0
    units: int | None = None
    widened: float = 1.0

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the p-value."""
        return self.df if self.units is None else min(self.df, self.units - 1.0)

    @property
    def n(self) -> int:
        """Number of differences of the full plan."""
        return self.runs * self.folds

    @property
    def factor(self) -> float:
        """Variance of the mean divided by the variance of one difference."""
        plain = 1.0 / (self.df + 1.0)
        return plain if self.test_share is None else plain * (1.0 + self.n * self.test_share)

    @property
    def least(self) -> float:
        """Smallest assumed variance of the differences; infinite if unknown."""
        return np.inf if self.step is None else 2.0 * self.step * self.step / self.n

    @property
    def outer(self) -> int:
        """Number of losses of a run that enter the reported means."""
        return self.folds

    def so_far(self, differences: Floats) -> tuple[Floats, Floats]:
        """Return the mean and its standard error over the known differences of every pair."""
        n = (~np.isnan(differences)).sum(axis=(1, 2))
        known = np.where(np.isnan(differences), 0.0, differences)
        mean = known.sum(axis=(1, 2)) / np.maximum(n, 1)
        off = np.where(np.isnan(differences), 0.0, differences - mean[:, np.newaxis, np.newaxis])
        variance = np.square(off).sum(axis=(1, 2)) / np.maximum(n - 1, 1)
        if self.step:
            variance = np.maximum(variance, 2.0 * self.step * self.step / np.maximum(n, 1))
        return mean, np.sqrt(self.factor * variance)

    def t_so_far(self, differences: Floats) -> Floats:
        """Return the statistic of the known differences, which only selects what to run next."""
        n = (~np.isnan(differences)).sum(axis=(1, 2))
        known = np.where(np.isnan(differences), 0.0, differences)
        mean = known.sum(axis=(1, 2)) / np.maximum(n, 1)
        squares = np.square(known).sum(axis=(1, 2)) / np.maximum(n, 1) - np.square(mean)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = mean / np.sqrt(self.factor * np.maximum(squares, 0.0))
        return np.asarray(np.nan_to_num(t, nan=0.0))

    def exact(self, differences: Floats) -> Bounds:
        """Bound the result of the full plan for any outcome of the rest.

        Parameters
        ----------
        differences : (P, runs, folds) array
            NaN for cells that are not done.

        Notes
        -----
        With S and Q the sums of the differences and of their squares over the n cells of the
        plan, the statistic grows with S / sqrt(Q). The sum of R remaining values y is at most
        sqrt(R) times the root of their sum of squares, with equality for equal y. So the largest
        ratio is sqrt(S^2 / Q + R) for S > 0, else sqrt(R). If losses are bounded by 1, it is
        reached at y = min(1, Q / S), or at y = 1 for S <= 0.
        """
        flat = differences.reshape(len(differences), -1)
        absent = np.isnan(flat)
        left = absent.sum(axis=1).astype(np.float64)
        known = np.where(absent, 0.0, flat)
        total, squares = known.sum(axis=1), np.square(known).sum(axis=1)
        span = self.span
        reach = np.where(left > 0, np.inf if span is None else left * (span or 0.0), 0.0)
        # ignore sums that rounding alone can produce
        noise = SLACK * np.abs(known).max(axis=1, initial=0.0)
        total = np.where(np.abs(total) <= noise, 0.0, total)
        low, high = (total - reach) / self.n, (total + reach) / self.n
        return Bounds(
            t_low=-self._highest(-total, squares, left, -low),
            t_high=self._highest(total, squares, left, high),
            mean_low=low,
            mean_high=high,
        )

    def _highest(self, total: Floats, squares: Floats, left: Floats, mean: Floats) -> Floats:
        """Return the largest statistic that the full plan can reach."""
        ratio = _largest_ratio(total, squares, left, self.span)
        t = self._t_of_ratio(ratio + SLACK * np.abs(ratio))
        if self.least:
            # a variance below the smallest one is raised to it, which moves t towards 0
            with np.errstate(invalid="ignore"):
                floored = np.where(mean < 0, mean / np.sqrt(self.factor * self.least), -np.inf)
            t = np.where(t < 0, np.maximum(t, np.nan_to_num(floored, nan=0.0)), t)
        return t

    def _t_of_ratio(self, ratio: Floats) -> Floats:
        """Return the statistic as a function of S / sqrt(Q)."""
        n = self.n
        square = np.minimum(np.square(ratio), n)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.sqrt((n - 1) / (self.factor * n * n) * square / (1.0 - square / n))
        return np.asarray(np.where(ratio == 0, 0.0, np.copysign(t, ratio)))

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
        themselves if that is larger. The influence of a fold is skewed towards 0, because a fold
        far from the mean raises the variance. Hall's transformation therefore moves the limit
        away from 0 inwards, by the smaller of the skewness of normal differences and the observed
        one.

        References
        ----------
        P. Hall (1992). On the removal of skewness by transformation. Journal of the Royal
        Statistical Society B 54, 221-228. doi:10.1111/j.2517-6161.1992.tb01876.x
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
        finite = np.where(flat, 0.0, t)[:, np.newaxis, np.newaxis]
        spread = np.where(flat, 1.0, variance)[:, np.newaxis, np.newaxis]
        influence = off / scale[:, np.newaxis, np.newaxis] - finite / (2.0 * spread) * (
            np.square(off) - spread
        )
        left = np.sqrt(max(1.0 / m - 1.0 / self.runs, 0.0))
        skewness = _normal_skewness(finite[:, 0, 0], self.factor)
        # differences that are all equal so far need not stay equal: use the smallest variance
        reach = reach_of_run(influence, risk, skewness, np.sqrt(lowest) / scale)
        back, away = (np.where(open_ended, np.inf, left * distance) for distance in reach)
        with np.errstate(invalid="ignore"):
            t_low = t - np.where(t > 0, back, away)
            t_high = t + np.where(t < 0, back, away)
        return signed_bounds(t_low, t_high)

    def pvalues(self, bounds: Bounds, alternative: str) -> tuple[Floats, Floats]:
        """Return the smallest and the largest p-value within the bounds."""
        low, high = bounds.t_low, bounds.t_high
        if alternative == "two-sided":
            far = np.maximum(np.abs(low), np.abs(high))
            near = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
        else:
            far, near = high, low
        smallest, largest = self.pvalue(far, alternative), self.pvalue(near, alternative)
        return smallest * (1.0 - SLACK), np.minimum(largest * (1.0 + SLACK), 1.0)

    def pvalue(self, t: Floats, alternative: str) -> Floats:
        """Return the p-value of a statistic."""
        return np.asarray(
            pvalue_of_t(t / self.widened, self.degrees, alternative)  # type: ignore[arg-type]
        )


def signed_bounds(t_low: Floats, t_high: Floats) -> Bounds:
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


def reach_of_run(
    influence: Floats, risk: float, skewness: Floats, least: Floats
) -> tuple[Floats, Floats]:
    """Return how far the limit may be from the mean of one run, towards 0 and away from it.

    `least` is the smallest assumed standard deviation of the influence of a fold.
    """
    _, m, folds = influence.shape
    cells = m * folds
    squares = np.square(influence).sum(axis=(1, 2))
    by_folds = np.maximum(np.sqrt(squares / max(cells - 1, 1)), least) / np.sqrt(folds)
    quantile = -t_quantile(risk, float(max(cells - 1, 1)))
    observed = _skewness(influence.reshape(len(influence), -1))
    smaller = np.minimum(np.abs(observed), np.abs(skewness))
    less = np.where(observed * skewness > 0, smaller, 0.0)
    away = by_folds * _unskewed(quantile, less / np.sqrt(cells))
    if folds == 1:
        # the variance is not overstated here
        quantile = -t_quantile(risk / SINGLE_CELLS, float(max(cells - 1, 1)))
    back = by_folds * quantile
    if m > 1 and folds > 1:
        runs = influence.mean(axis=2)
        by_runs = runs.std(axis=1, ddof=1)
        reach = by_runs * -t_quantile(risk, float(m - 1))
        back, away = (np.where(by_runs > by_folds, reach, side) for side in (back, away))
    return np.asarray(back), np.asarray(away)


def _normal_skewness(t: Floats, factor: float) -> Floats:
    """Return the skewness of the influence z / sqrt(factor) - t (z^2 - 1) / 2 of a normal z."""
    a, b = 1.0 / factor, -t / 2.0
    return np.asarray((6.0 * a * b + 8.0 * b**3) / (a + 2.0 * b * b) ** 1.5)


def _skewness(values: Floats) -> Floats:
    """Return the skewness of every row; 0 for constant rows."""
    off = values - values.mean(axis=1, keepdims=True)
    variance = np.square(off).mean(axis=1)
    known = variance > 0
    return np.where(known, (off**3).mean(axis=1) / np.where(known, variance, 1.0) ** 1.5, 0.0)


def _unskewed(quantile: float, skewness: Floats) -> Floats:
    """Return the quantile on the short side by Hall's transformation, given the mean's skewness."""
    c = np.maximum(skewness, 1e-8)
    shorter = 3.0 / c * (np.cbrt(1.0 + c * (quantile - c / 6.0)) - 1.0)
    return np.where(skewness < 1e-6, quantile, np.clip(shorter, 0.0, quantile))


def common_runs(done: Bools) -> int:
    """Return how many leading runs are complete; `done` is (runs, folds)."""
    complete: Bools = np.logical_and.reduce(done, axis=1)
    return int(len(complete) if complete.all() else np.argmin(complete))


class Predictions:
    """Prediction intervals of P pairs, which shrink with every run that both learners have.

    Each interval of a pair and run has its own share of the risk, so all intervals hold
    simultaneously and their intersection is valid. The share of a look is proportional to 1 over
    its number of runs, because early stops save more.
    """

    def __init__(self, pairs: int, test: PlannedT, rule: StopRule, floor: float) -> None:
        self.test, self.floor = test, floor
        # a look at the end of the plan needs no prediction
        last = max(test.runs - 1, FIRST_LOOK)
        shares = sum(1.0 / m for m in range(FIRST_LOOK, last + 1))
        self.risk = rule.risk / (pairs * shares)
        self.looked_at = np.full(pairs, FIRST_LOOK - 1)
        self.intersection = Bounds.unbounded(pairs)

    def bounds(self, differences: Floats) -> Bounds:
        """Return the intersection of all intervals, given (P, runs, folds) differences so far."""
        if not self.risk:
            return self.intersection
        runs = np.array([common_runs(~np.isnan(pair)) for pair in differences])
        for m in range(FIRST_LOOK, int(runs.max(initial=0)) + 1):
            new = np.flatnonzero((self.looked_at < m) & (runs >= m))
            if not len(new):
                continue
            part = self.test.predicted(
                differences[new, :m],
                risk=self.risk / m,
                floor=self.floor / (m * self.test.folds),
            )
            self.intersection = self.intersection.narrowed(new, part)
            self.looked_at[new] = m
        return self.intersection
