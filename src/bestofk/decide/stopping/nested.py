"""The t test of nested cross-validation: bounds and predictions of its final statistic."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk.decide.stopping.bounds import SLACK, Bounds, PlannedT, reach_of_run, signed_bounds
from bestofk.stats.pairwise.nested_cv import RUN_NOISE, inner_means, rows_and_fits


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
    squares: Floats
    """(P, runs): mean of (n - o)^2."""
    between: Floats
    """(P, runs): variance between the folds."""
    rows: Floats
    """(P, runs): V of the test."""
    products: Floats
    """(P, runs): VT of the test about 0, which is not smaller."""


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

    def so_far(self, differences: Floats) -> tuple[Floats, Floats]:
        """Return the mean and its standard error over the complete runs of every pair."""
        cells = self._cells(differences)
        return cells.mean, np.sqrt(cells.variance)

    def t_so_far(self, differences: Floats) -> Floats:
        """Return the statistic of the complete runs."""
        mean, error = self.so_far(differences)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(mean / error, nan=0.0)

    def exact(self, differences: Floats) -> Bounds:
        """Bound the result of the full plan for any outcome of the rest.

        The remaining runs change the mean by at most their share of the span. They can add to the
        variance of the folds but not reduce its sum, and they add at most that of the largest
        possible differences.
        """
        K, R = self.outer, self.runs
        cells = self._cells(differences)
        known = np.where(np.isnan(differences[..., :K]), 0.0, differences[..., :K])
        absent = np.isnan(differences[..., :K]).sum(axis=(1, 2))
        left = R - cells.complete.sum(axis=1)
        span = np.inf if self.span is None else self.span
        total = known.sum(axis=(1, 2))
        noise = SLACK * np.abs(known).max(axis=(1, 2), initial=0.0)
        total = np.where(np.abs(total) <= noise, 0.0, total)
        reach = np.where(absent > 0, absent * span, 0.0)
        low, high = (total - reach) / (R * K), (total + reach) / (R * K)
        most = np.where(left > 0, left * np.square(span), 0.0)
        most_fits = np.maximum(cells.products.sum(axis=1) + most, 0.0)
        least = np.sqrt(cells.between.sum(axis=1) / (R * K)) * (1.0 - SLACK)
        bounds = (
            (K - 1) / K * (cells.squares.sum(axis=1) + 4.0 * most),
            (cells.between.sum(axis=1) + K / (K - 1) * most) / K,
            cells.rows.sum(axis=1) + 2.0 / K * most + (K - 2) / 2 * most_fits,
        )
        largest = np.max(bounds, axis=0)
        largest = np.sqrt(largest / R) * (1.0 + SLACK)
        with np.errstate(divide="ignore", invalid="ignore"):
            t_high = np.where(high > 0, high / least, high / largest)
            t_low = np.where(low < 0, low / least, low / largest)
            t = np.where(cells.mean == 0, 0.0, cells.mean / np.sqrt(cells.variance))
        done = left == 0
        slack = SLACK * np.where(np.isfinite(t), np.abs(t), 0.0)
        t_low = np.where(done, t - slack, np.nan_to_num(t_low, nan=0.0, neginf=-np.inf))
        t_high = np.where(done, t + slack, np.nan_to_num(t_high, nan=0.0, posinf=np.inf))
        return Bounds(t_low=t_low, t_high=t_high, mean_low=low, mean_high=high)

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
        left = np.sqrt(max(1.0 / m - 1.0 / self.runs, 0.0))
        finite = np.where(flat, 0.0, t)
        lows, highs = [], []
        for share, own in cells.parts:
            off = share - own[:, np.newaxis, np.newaxis]

            def distance(at: Floats, off: Floats = off) -> Floats:
                """Return how far the limit is, with the influence at the statistic `at`."""
                per_variance = (at / (2.0 * np.square(scale)))[:, np.newaxis, np.newaxis]
                influence = cells.off / scale[:, np.newaxis, np.newaxis] - per_variance * off
                reach, _ = reach_of_run(influence, risk, np.zeros(len(t)), np.sqrt(lowest) / scale)
                return np.asarray(left * reach)

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
        return signed_bounds(
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
        squares = np.square(within - outer)
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
            (K - 1) / K * (squares - folds - noise),
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
            squares=squares.mean(axis=2),
            between=folds.mean(axis=2),
            rows=rows.mean(axis=2),
            products=inner.prod(axis=3).mean(axis=2),
        )
