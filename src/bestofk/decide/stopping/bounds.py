"""Where units that are left may come among the ranks of those that are done, ties and all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk.decide.stopping.rule import FIRST_LOOK, StopRule
from bestofk.stats.tails import pvalue_of_t, t_quantile


class TiePatterns(NamedTuple):
    """All ways in which some more units can be ranked among those that are done.

    Attributes
    ----------
    ranks : (ways, groups) array
        Twice the midrank of every group of tied units that are done.
    alike : (ways,) array
        Which row of `tails` a way has.
    tails : (kinds, sums) array
        P(W <= w), w = 0, 1, ... in halves of a rank, under random signs of all units.
    """

    ranks: Ints
    alike: Ints
    tails: Floats


def pattern_count(groups: int, left: int) -> int:
    """The number of ways to rank up to `left` more units among `groups` groups of ties.

    Examples
    --------
    One more unit among two that differ: none (it makes no difference), tied with either, or in
    one of the three places beside them.

    >>> pattern_count(2, 1)
    6
    """
    return comb(left + groups, groups) << left


@lru_cache(maxsize=16)
def tie_patterns(sizes: tuple[int, ...], more: int) -> TiePatterns:
    """Every way to rank `more` units among groups of `sizes` tied units, smallest first."""
    ranks, rows = [], []
    for ordered in _orderings(sizes, more):
        below, own, row = 0, [], []
        for done, added in ordered:
            count = done + added
            rank = 2 * below + count + 1
            if done:
                own.append(rank)
            row += [rank] * count
            below += count
        ranks.append(own)
        rows.append(row)
    n = sum(sizes) + more
    kinds, alike = np.unique(
        np.array(rows, dtype=np.int64).reshape(len(rows), n), axis=0, return_inverse=True
    )
    return TiePatterns(
        ranks=np.array(ranks, dtype=np.int64).reshape(len(rows), len(sizes)),
        alike=np.asarray(alike).reshape(-1),
        tails=_tails(kinds),
    )


def _tails(ranks: Ints) -> Floats:
    """P(W <= w) for all w, of every row of doubled ranks."""
    n = ranks.shape[1]
    sums = np.arange(n * (n + 1) + 1)
    chance = np.zeros((len(ranks), len(sums)))
    chance[:, 0] = 1.0
    for rank in ranks.T[:, :, np.newaxis]:
        before = sums - rank
        with_it = np.take_along_axis(chance, np.maximum(before, 0), axis=1)
        chance = (chance + np.where(before < 0, 0.0, with_it)) / 2.0
    return np.cumsum(chance, axis=1)


def _orderings(sizes: tuple[int, ...], more: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Groups of ties in ascending order: units that are done, and units that are left."""
    if not sizes:
        for new in _compositions(more):
            yield tuple((0, count) for count in new)
        return
    for before in range(more + 1):
        for tied in range(more - before + 1):
            for rest in _orderings(sizes[1:], more - before - tied):
                for new in _compositions(before):
                    yield (*((0, count) for count in new), (sizes[0], tied), *rest)


@lru_cache(maxsize=64)
def _compositions(total: int) -> tuple[tuple[int, ...], ...]:
    """All sequences of positive whole numbers with this sum."""
    if total == 0:
        return ((),)
    return tuple(
        (first, *rest) for first in range(1, total + 1) for rest in _compositions(total - first)
    )


def largest_shift(sizes: tuple[int, ...], more: int) -> float:
    """How far a sum of ranks can be from that with all ties broken, `more` units being added.

    A group of c ties holds ranks up to (c - 1) / 2 from their mean, of which those above it add
    up to floor(c^2 / 4) / 2; that is convex in c, so that all new units are best tied with the
    largest group.
    """
    groups = sorted(sizes) or [0]
    groups[-1] += more
    return sum(count * count // 4 for count in groups) / 2.0


# Intervals that hold what the full plan will say of every pair, from the part that is done.


SLACK = 1e-9
"""Rounding, in shares: bounds are widened by it, so that equality decides nothing."""
SINGLE_CELLS = 8.0
"""Random splits are as independent as they are taken to be, so that the limit towards 0, beyond
which the skewed statistic falls more often than a t quantile says, gets this part of its chance.
Found by simulation (``studies/stopping_band.py``)."""
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """Of P pairs, the first less the second: intervals of what the full plan will give.

    Attributes
    ----------
    t_low, t_high : (P,) arrays
        The statistic.
    mean_low, mean_high : (P,) arrays
        The difference of the means.
    """

    t_low: Floats
    t_high: Floats
    mean_low: Floats
    mean_high: Floats

    def within(self, other: Bounds) -> Bounds:
        """The part that both leave open; where they contradict each other, `other` holds."""
        found = {}
        for what in ("t", "mean"):
            low = np.maximum(getattr(self, f"{what}_low"), getattr(other, f"{what}_low"))
            high = np.minimum(getattr(self, f"{what}_high"), getattr(other, f"{what}_high"))
            apart = low > high
            found[f"{what}_low"] = np.where(apart, getattr(other, f"{what}_low"), low)
            found[f"{what}_high"] = np.where(apart, getattr(other, f"{what}_high"), high)
        return Bounds(**found)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedT:
    """A t test that is planned on `runs` x `folds` differences of a pair.

    The statistic is ``mean / sqrt(factor * variance)`` over all of them, as in
    `bestofk.stats.pairwise.corrected_repeated_kfold_t`; items of a test set and data sets are runs
    of
    one fold.

    Attributes
    ----------
    runs, folds : int
    df : float
        Degrees of freedom of the statistic.
    test_share : float or None
        Test rows over training rows, for the corrected tests.
    span : float or None
        Losses lie between 0 and this; None: they may be any number.
    step : float or None
        Losses are multiples of it, at the finest; a variance is at least what one instance of
        each learner makes in one fold. None: not known yet.
    units : int or None
        Groups of rows, which bound the degrees of freedom of the p-value.
    """

    runs: int
    folds: int
    df: float
    test_share: float | None = None
    span: float | None = None
    step: float | None = 0.0
    units: int | None = None

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the p-value."""
        return self.df if self.units is None else min(self.df, self.units - 1.0)

    @property
    def n(self) -> int:
        """Differences of the full plan."""
        return self.runs * self.folds

    @property
    def factor(self) -> float:
        """The variance of the mean over that of a difference."""
        plain = 1.0 / (self.df + 1.0)
        return plain if self.test_share is None else plain * (1.0 + self.n * self.test_share)

    @property
    def least(self) -> float:
        """The smallest variance that the differences are taken to have; infinite if unknown."""
        return np.inf if self.step is None else 2.0 * self.step * self.step / self.n

    def exact(self, differences: Floats) -> Bounds:
        """What the rest of the plan cannot change, whatever it brings.

        Parameters
        ----------
        differences : (P, runs, folds) array
            NaN where a cell is not done.

        Notes
        -----
        With S and Q the sums of the differences and of their squares over the n cells of the
        plan, the statistic grows with S / sqrt(Q). Of R cells that are left with values y the
        sum is at most sqrt(R) times the root of their squares, and equality needs equal y. So
        the largest ratio is sqrt(S^2 / Q + R) for S > 0, else sqrt(R); where losses are bounded
        by 1, that at y = min(1, Q / S), or at y = 1 for S <= 0.
        """
        flat = differences.reshape(len(differences), -1)
        absent = np.isnan(flat)
        left = absent.sum(axis=1).astype(np.float64)
        known = np.where(absent, 0.0, flat)
        total, squares = known.sum(axis=1), np.square(known).sum(axis=1)
        span = self.span
        reach = np.where(left > 0, np.inf if span is None else left * (span or 0.0), 0.0)
        # what rounding alone can make is no difference
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
        """The largest statistic that the full plan can have."""
        ratio = _largest_ratio(total, squares, left, self.span)
        t = self._t_of_ratio(ratio + SLACK * np.abs(ratio))
        if self.least:
            # a variance below the smallest one is raised to it, which brings t nearer to 0
            with np.errstate(invalid="ignore"):
                floored = np.where(mean < 0, mean / np.sqrt(self.factor * self.least), -np.inf)
            t = np.where(t < 0, np.maximum(t, np.nan_to_num(floored, nan=0.0)), t)
        return t

    def _t_of_ratio(self, ratio: Floats) -> Floats:
        """The statistic as a function of S / sqrt(Q)."""
        n = self.n
        square = np.minimum(np.square(ratio), n)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.sqrt((n - 1) / (self.factor * n * n) * square / (1.0 - square / n))
        return np.asarray(np.where(ratio == 0, 0.0, np.copysign(t, ratio)))

    def predicted(
        self, differences: Floats, *, risk: float, floor: float = 0.0, limit: bool = False
    ) -> Bounds:
        """Where the full plan will end, but for a chance of `risk` on each side of an interval.

        Parameters
        ----------
        differences : (P, m, folds) array
            Of the first m runs, complete; NaN: a pair with a gap stays open.
        risk : float
            The chance that the full plan ends below an interval, and that it ends above. Only
            one of the two can make a verdict wrong: what the plan rejects is at fault where
            the interval lies below it, what the plan does not reject where it lies above.
        floor : float
            The smallest variance that differences are taken to have, such as that of one
            instance in one fold.
        limit : bool
            Where endless runs would end, under the same test, in place of the full plan.

        Notes
        -----
        Given the data, runs of cross-validation are independent and of one distribution, so that
        the mean over `runs` of them is predicted from the first m with a variance of
        (1/m - 1/runs) times that of a run. That of a run is taken from the folds as if they were
        independent, which overstates it for cross-validation, or from the runs themselves where
        that is larger. The influence of a fold is skewed towards 0, since a fold far from the
        mean raises the variance: the limit away from 0 is brought nearer by as much as that
        skewness asks for (Hall's transformation), as it is among normal differences or as it is
        seen, whichever is less.

        References
        ----------
        P. Hall (1992). On the removal of skewness by transformation. Journal of the Royal
        Statistical Society B 54, 221-228. doi:10.1111/j.2517-6161.1992.tb01876.x
        """
        _, m, folds = differences.shape
        if not (m > 0 and (limit or m <= self.runs)):
            raise ValueError(f"m must be from 1 to {self.runs}; got {m}.")
        open_ended = np.isnan(differences).any(axis=(1, 2)) | (m * folds < 2)
        d = np.where(np.isnan(differences), 0.0, differences)
        mean = d.mean(axis=(1, 2))
        mean = np.where(np.abs(mean) <= SLACK * np.abs(d).max(axis=(1, 2)), 0.0, mean)
        off = d - mean[:, np.newaxis, np.newaxis]
        variance = np.square(off).sum(axis=(1, 2)) / max(m * folds - 1, 1)
        lowest = max(floor, self.least if self.step else 0.0)
        variance = np.maximum(variance, lowest)
        sure = variance == 0
        # nothing tells by how much differences without a step may differ that are alike so far
        open_ended |= sure & (m < self.runs)
        scale = np.sqrt(self.factor * np.where(sure, 1.0, variance))
        t = np.where(sure, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)), mean / scale)
        finite = np.where(sure, 0.0, t)[:, np.newaxis, np.newaxis]
        spread = np.where(sure, 1.0, variance)[:, np.newaxis, np.newaxis]
        influence = off / scale[:, np.newaxis, np.newaxis] - finite / (2.0 * spread) * (
            np.square(off) - spread
        )
        left = np.sqrt(max(1.0 / m - (0.0 if limit else 1.0 / self.runs), 0.0))
        skewness = _normal_skewness(finite[:, 0, 0], self.factor)
        back, away = (
            np.where(open_ended, np.inf, left * one)
            # differences that are all alike so far need not remain so
            for one in _reach_of_run(influence, risk, skewness, np.sqrt(lowest) / scale)
        )
        with np.errstate(invalid="ignore"):
            t_low = t - np.where(t > 0, back, away)
            t_high = t + np.where(t < 0, back, away)
        t_low = np.where(np.isnan(t_low), -np.inf, t_low)
        t_high = np.where(np.isnan(t_high), np.inf, t_high)
        # the statistic has the sign of the mean, and no more is asked of the mean: one interval
        return Bounds(
            t_low=t_low,
            t_high=t_high,
            mean_low=np.where(t_low > 0, _TINY, -np.inf),
            mean_high=np.where(t_high < 0, -_TINY, np.inf),
        )

    def pvalues(self, bounds: Bounds, alternative: str) -> tuple[Floats, Floats]:
        """The smallest and the largest p-value that the bounds leave open."""
        low, high = bounds.t_low, bounds.t_high
        if alternative == "two-sided":
            far = np.maximum(np.abs(low), np.abs(high))
            near = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
        else:
            far, near = high, low
        smallest, largest = self.pvalue(far, alternative), self.pvalue(near, alternative)
        return smallest * (1.0 - SLACK), np.minimum(largest * (1.0 + SLACK), 1.0)

    def pvalue(self, t: Floats, alternative: str) -> Floats:
        """The p-value of a statistic."""
        return np.asarray(pvalue_of_t(t, self.degrees, alternative))  # type: ignore[arg-type]


def _largest_ratio(total: Floats, squares: Floats, left: Floats, span: float | None) -> Floats:
    """The largest S / sqrt(Q) that the cells that are left can bring about."""
    with np.errstate(divide="ignore", invalid="ignore"):
        as_is = np.where(squares > 0, total / np.sqrt(squares), 0.0)
        if span is None:
            best = np.where(total > 0, np.sqrt(np.square(total) / squares + left), np.sqrt(left))
        else:
            y = np.where(total * span > squares, squares / np.where(total > 0, total, 1.0), span)
            best = (total + left * y) / np.sqrt(squares + left * np.square(y))
    return np.asarray(np.where(left > 0, best, as_is))


def _reach_of_run(
    influence: Floats, risk: float, skewness: Floats, least: Floats
) -> tuple[Floats, Floats]:
    """How far the limit may be from the mean of one run: towards 0, and away from it.

    `least` is the smallest standard deviation that the influence of a fold is taken to have.
    """
    _, m, folds = influence.shape
    cells = m * folds
    squares = np.square(influence).sum(axis=(1, 2))
    by_folds = np.maximum(np.sqrt(squares / max(cells - 1, 1)), least) / np.sqrt(folds)
    quantile = -t_quantile(risk, float(max(cells - 1, 1)))
    seen = _skewness(influence.reshape(len(influence), -1))
    less = np.where(seen * skewness > 0, np.minimum(np.abs(seen), np.abs(skewness)), 0.0)
    away = by_folds * _unskewed(quantile, less / np.sqrt(cells))
    if folds == 1:
        # nothing is overstated here
        quantile = -t_quantile(risk / SINGLE_CELLS, float(max(cells - 1, 1)))
    back = by_folds * quantile
    if m > 1 and folds > 1:
        runs = influence.mean(axis=2)
        by_runs = runs.std(axis=1, ddof=1)
        guarded = by_runs * -t_quantile(risk, float(m - 1))
        back, away = (np.where(by_runs > by_folds, guarded, one) for one in (back, away))
    return np.asarray(back), np.asarray(away)


def _normal_skewness(t: Floats, factor: float) -> Floats:
    """That of the influence z / sqrt(factor) - t (z^2 - 1) / 2 of a normal z."""
    a, b = 1.0 / factor, -t / 2.0
    return np.asarray((6.0 * a * b + 8.0 * b**3) / (a + 2.0 * b * b) ** 1.5)


def _skewness(values: Floats) -> Floats:
    """Of every row; 0 where nothing varies."""
    off = values - values.mean(axis=1, keepdims=True)
    variance = np.square(off).mean(axis=1)
    known = variance > 0
    return np.where(known, (off**3).mean(axis=1) / np.where(known, variance, 1.0) ** 1.5, 0.0)


def _unskewed(quantile: float, skewness: Floats) -> Floats:
    """The quantile on the short side, by Hall's transformation; skewness is that of the mean."""
    c = np.maximum(skewness, 1e-8)
    found = 3.0 / c * (np.cbrt(1.0 + c * (quantile - c / 6.0)) - 1.0)
    return np.where(skewness < 1e-6, quantile, np.clip(found, 0.0, quantile))


def common_runs(done: Bools) -> int:
    """How many runs from the first on are complete; `done` is (runs, folds)."""
    whole: Bools = np.logical_and.reduce(done, axis=1)
    return int(len(whole) if whole.all() else np.argmin(whole))


# Where the full plan will end, from all looks so far: each has its risk, and all hold together.


_NAMES = ("t_low", "t_high", "mean_low", "mean_high")


class Predictions:
    """Intervals of P pairs, which shrink with every run that both learners have.

    Each interval has its share of the risk, one for every pair and run, so that all of them hold
    together and what is left open is what all of them leave open. Looks have shares as 1 to their
    runs: the earlier a pair is settled, the more is saved.
    """

    def __init__(self, pairs: int, test: PlannedT, rule: StopRule, floor: float) -> None:
        self.test, self.floor, self.limit = test, floor, rule.settle == "limit"
        # a look at the end of the plan predicts nothing
        last = rule.max_runs if self.limit else max(test.runs - 1, FIRST_LOOK)
        shares = sum(1.0 / m for m in range(FIRST_LOOK, last + 1))
        self.risk = rule.risk / (pairs * shares)
        self.seen = np.full(pairs, FIRST_LOOK - 1)
        least, most = np.full(pairs, -np.inf), np.full(pairs, np.inf)
        self.found = Bounds(t_low=least, t_high=most, mean_low=least, mean_high=most)

    def bounds(self, differences: Floats) -> Bounds:
        """What is left open by (P, runs, folds) differences, those of earlier looks among them."""
        if not self.risk:
            return self.found
        runs = np.array([common_runs(~np.isnan(one)) for one in differences])
        for m in range(FIRST_LOOK, int(runs.max(initial=0)) + 1):
            new = np.flatnonzero((self.seen < m) & (runs >= m))
            if not len(new):
                continue
            part = self.test.predicted(
                differences[new, :m],
                risk=self.risk / m,
                floor=self.floor / (m * self.test.folds),
                limit=self.limit,
            )
            before = Bounds(**{name: getattr(self.found, name)[new] for name in _NAMES})
            both = before.within(part)
            arrays = {name: getattr(self.found, name).copy() for name in _NAMES}
            for name, array in arrays.items():
                array[new] = getattr(both, name)
            self.found = Bounds(**arrays)
            self.seen[new] = m
        return self.found
