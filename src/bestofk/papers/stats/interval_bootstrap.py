"""Bootstrap-B: Bootstrap-A for losses that are known up to intervals.

Two rules turn intervals of losses into an interval of p-values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk._base.checks import (
    Floats,
    RandomState,
    generator,
    missing_word,
    one_of,
    probability,
    refuse,
    refuse_named_table,
    whole,
)
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import capitalised, counted, joined, number
from bestofk._base.results import decided_level
from bestofk.decide.interval_decision import interval_words
from bestofk.papers.stats.bootstrap import (
    MAX_LISTED,
    METHODS,
    check_shape,
    checked_pairs,
    distribution_text,
    mean_of,
)
from bestofk.papers.stats.draws import drawn_tails
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.multiple.result import MultipleResult, learner_names
from bestofk.stats.null_distributions.sign_flips import both_tails
from bestofk.stats.null_distributions.sums import Rows, Tails, step_grid, sum_tails

RULES = ("vertex", "paper")


def tails_by_rule(
    cells: Floats, rule: str, method: str, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return lower and upper tails with bounds for two tables per learner, of shape (3, 2, A).

    For the rule "vertex" the tables are the two corners of the learner. For the rule "paper" they
    are the lower ends at the observed upper end and the upper ends at the observed lower end.
    """
    learners = cells.shape[1]
    low, high = np.arange(learners), np.arange(learners) + learners
    if rule == "vertex":
        itself = np.eye(learners, dtype=np.bool_)
        members = np.concatenate([np.where(itself, low, high), np.where(itself, high, low)])
        queries = np.concatenate([low, high])[:, None]
    else:
        members, queries = np.stack([low, high]), np.stack([high, low])
    ends = cells.reshape(2 * learners, -1)
    if method == "resample":
        return _drawn(ends, members, queries, resamples, rng)
    if (cells[0] == cells[1]).all():
        # without width all tables are the same
        drawn = [sum_tails(step_grid(ends, choices=learners, queries=learners), low, low)] * 2
    else:
        grid = step_grid(ends, choices=learners, queries=learners, tables=len(members))
        drawn = [sum_tails(grid, m, q) for m, q in zip(members, queries, strict=True)]
    return _two_tables(drawn)


def _drawn(
    ends: Floats, members: Rows, queries: Rows, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    return _two_tables(drawn_tails(ends, members, queries, resamples=resamples, generator=rng))


def _two_tables(tails: list[Tails]) -> tuple[Floats, Floats]:
    """Stack the tails of all first tables, then of all second ones: shape (3, 2, tests)."""
    lower = np.stack([_with_bounds(t.lower, t.lower_bounds) for t in tails], axis=1)
    upper = np.stack([_with_bounds(t.upper, t.upper_bounds) for t in tails], axis=1)
    return lower.reshape(3, 2, -1), upper.reshape(3, 2, -1)


def _with_bounds(tail: Floats, bounds: Floats) -> Floats:
    return np.stack([tail, bounds[:, 0], bounds[:, 1]])


def _vertex_ends(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return [p-, p+] of shape (A, 2) and bounds (2, A, 2) from the tails at the two corners."""
    p = np.minimum(2 * np.minimum(lower, upper), 1.0)
    # the corners are on different sides of the middle if c < 1/2 at the first (lower ends of a)
    # and P(S* >= s) < 1/2 at the second; small tails give a large p+ here, so the bounds swap
    apart = ((lower[:, 0] < 0.5) & (upper[:, 1] < 0.5))[[0, 2, 1]]
    largest = np.where(apart, 1.0, p.max(axis=1))
    ends = np.stack([p.min(axis=1), largest], axis=-1)
    return ends[0], ends[1:]


def _paper_ends(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return the same by equations (22), (23), (26) and (27) of the paper."""
    largest = np.minimum(2 * np.minimum(lower[:, 0], upper[:, 1]), 1.0)
    smallest = np.minimum(2 * np.minimum(lower[:, 1], upper[:, 0]), 1.0)
    ends = np.stack([smallest, largest], axis=-1)
    return ends[0], ends[1:]


def _vertex_pairs(cells: Floats, pairs: tuple[tuple[int, int], ...]) -> tuple[Floats, Floats]:
    i, j = np.asarray(pairs, dtype=np.intp).T
    low, high = cells
    return _vertex_ends(*_two_tables([both_tails(low[i], high[j]), both_tails(high[i], low[j])]))


def _paper_pairs(cells: Floats, pairs: tuple[tuple[int, int], ...]) -> tuple[Floats, Floats]:
    lower, upper = np.empty((3, 2, len(pairs))), np.empty((3, 2, len(pairs)))
    for k, pair in enumerate(pairs):
        two = cells[:, pair]
        tails = tails_by_rule(two, "paper", "exact", 1, np.random.default_rng(0))
        lower[..., k], upper[..., k] = (tail[..., 0] for tail in tails)
    return _paper_ends(lower, upper)


def ends_by_rule(rule: str, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return [p-, p+] of shape (tests, 2), and bounds of both of shape (2, tests, 2)."""
    return (_vertex_ends if rule == "vertex" else _paper_ends)(lower, upper)


def pairs_by_rule(
    rule: str,
    cells: Floats,
    pairs: tuple[tuple[int, int], ...],
    method: str,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return [p-, p+] and their bounds for pairs of learners."""
    if method == "exact":
        return (_vertex_pairs if rule == "vertex" else _paper_pairs)(cells, pairs)
    learners = cells.shape[1]
    low = np.asarray(pairs, dtype=np.intp)
    high = low + learners
    if rule == "vertex":
        corners = [(low[:, 0], high[:, 1]), (high[:, 0], low[:, 1])]
        members = np.concatenate([np.stack(corner, axis=1) for corner in corners])
        queries = np.concatenate([low[:, :1], high[:, :1]])
    else:
        members = np.concatenate([low, high])
        queries = np.concatenate([high[:, :1], low[:, :1]])
    tails = _drawn(cells.reshape(2 * learners, -1), members, queries, resamples, rng)
    return ends_by_rule(rule, *tails)


# Intervals from repetitions and missing losses

QUANTILES = {"central": (0.45, 0.55), "interquartile": (0.25, 0.75)}
INTERVAL_OPTIONS = (
    "'central', 'interquartile', 'median', 'mode', 'censored-mean', a pair of quantiles, "
    "('median-radius', share), ('shortest', share), the same pairs as text such as 'shortest:0.1', "
    "or a function of the losses that returns lower and upper ends"
)
CENSORED_SHARE = 0.25
"""The share of repetitions that the censored mean leaves out at each end."""

Ends = Callable[[Floats], tuple[Floats, Floats]]


def interval_cells(
    losses: Any,
    intervals: Any,
    interval: Any,
    missing: str,
    loss_range: tuple[float, float],
) -> Floats:
    """Return lower and upper ends by learner and data set, of shape (2, A, D)."""
    if (losses is None) == (intervals is None):
        raise ArgumentError("bootstrap_b requires either losses or intervals.")
    if losses is not None:
        table = _numbers(losses, "losses")
        check_shape(table, (2, 3, 4))
        table = table.reshape(table.shape + (1,) * (4 - table.ndim))
        ends = repetition_intervals(table, interval, missing=missing, loss_range=loss_range)
    else:
        ends = _numbers(intervals, "intervals")
        if ends.ndim not in (3, 4) or ends.shape[0] != 2 or ends.shape[1] < 2 or ends.size == 0:
            raise ArgumentError(
                "intervals must have the axes (2, learners, data sets) or (2, learners, data "
                f"sets, folds), with at least 2 learners; got an array of shape {ends.shape}."
            )
        ends = with_missing_ends(ends, missing=missing, loss_range=loss_range)
    return mean_of(ends.reshape(*ends.shape[:3], -1), 3)


def _numbers(value: Any, where: str) -> Floats:
    """Return `value` as an array without infinities; NaN marks missing values."""
    refuse_named_table(value, where)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(where, "an array of numbers", value) from None
    if np.isinf(array).any():
        raise refuse(where, "finite", float(array[np.isinf(array)][0]))
    return array


def repetition_intervals(
    losses: Floats,
    interval: Any = "central",
    *,
    missing: str = "refuse",
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> Floats:
    """Return lower and upper ends of shape (2, A, D, F) from losses of shape (A, D, F, R).

    A missing repetition (NaN) may be anything in `loss_range`. For quantiles, the smallest loss
    replaces it in the lower end and the largest loss in the upper end. Any other interval becomes
    the whole range. A cell without repetitions spans the whole range.
    """
    quantiles, ends = _rule(interval)
    holes = np.isnan(losses)
    if not holes.any():
        return _ordered(*_pair(ends(losses), losses.shape[:-1]))
    low, high = _range(losses, missing, loss_range)
    if quantiles is not None:
        q = np.asarray(quantiles)
        lower = np.quantile(np.where(holes, low, losses), q[0], axis=-1)
        upper = np.quantile(np.where(holes, high, losses), q[1], axis=-1)
        return _ordered(lower, upper)
    incomplete = holes.any(axis=-1)
    lower, upper = _pair(ends(np.where(holes, low, losses)), losses.shape[:-1])
    return _ordered(np.where(incomplete, low, lower), np.where(incomplete, high, upper))


def interval_convergence(losses: Any, interval: Any = "central") -> dict[int, float]:
    """Return the mean width of the intervals from the first 2, 4, 8, ... repetitions.

    Use the number of repetitions from which the width hardly changes. Quantiles that are far apart
    need more repetitions.

    Parameters
    ----------
    losses : array_like, shape (..., R)
        Losses with repetitions last.
    interval : str, tuple or callable
        As for `bootstrap_b`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> widths = interval_convergence(rng.normal(size=(200, 32)), "interquartile")
    >>> {r: round(width, 2) for r, width in widths.items()}
    {2: 0.54, 4: 0.93, 8: 1.11, 16: 1.23, 32: 1.29}
    """
    table = _numbers(losses, "losses")
    total = table.shape[-1]
    counts = [2**k for k in range(1, total.bit_length()) if 2**k <= total]
    widths = {}
    for count in dict.fromkeys([*counts, total]):
        low, high = repetition_intervals(table[..., :count], interval)
        widths[count] = float((high - low).mean())
    return widths


def with_missing_ends(
    intervals: Floats, *, missing: str, loss_range: tuple[float, float]
) -> Floats:
    """Replace missing ends of intervals of shape (2, ...) by that end of the range."""
    holes = np.isnan(intervals)
    if holes.any():
        low, high = _range(intervals, missing, loss_range)
        intervals = np.stack(
            [np.where(holes[0], low, intervals[0]), np.where(holes[1], high, intervals[1])]
        )
    if (intervals[0] > intervals[1]).any():
        at = tuple(int(i) for i in np.argwhere(intervals[0] > intervals[1])[0])
        raise ArgumentError(
            "intervals must not have lower ends above the upper ones; got "
            f"[{intervals[0][at]}, {intervals[1][at]}] at position {at}."
        )
    return intervals


def _rule(interval: Any) -> tuple[tuple[float, float] | None, Ends]:
    if callable(interval):
        return None, interval
    if isinstance(interval, str) and interval in QUANTILES:
        interval = QUANTILES[interval]
    if isinstance(interval, str) and interval.count(":") == 1:
        interval = tuple(interval.split(":"))
    if isinstance(interval, str) and interval in _TYPICAL:
        typical = _TYPICAL[interval]
        return None, lambda losses: (typical(losses), typical(losses))
    if isinstance(interval, tuple | list) and len(interval) == 2:
        first, second = interval
        if first == "median-radius":
            share = _share(second, first)
            return None, lambda losses: _median_radius(losses, share)
        if first == "shortest":
            share = _share(second, first)
            return None, lambda losses: _shortest(losses, share)
        try:
            q = (float(first), float(second))
        except (TypeError, ValueError):
            raise refuse("interval", INTERVAL_OPTIONS, interval) from None
        if 0.0 <= q[0] <= q[1] <= 1.0:
            return q, lambda losses: tuple(np.quantile(losses, q, axis=-1))
    raise refuse("interval", INTERVAL_OPTIONS, interval)


def _share(value: Any, rule: str) -> float:
    """Return the share of a rule such as ('shortest', 0.1), also written 'shortest:0.1'."""
    try:
        value = float(value) if isinstance(value, str) else value
    except ValueError:
        raise refuse("interval", INTERVAL_OPTIONS, f"{rule}:{value}") from None
    return probability(value, f"the share of interval=({rule!r}, share)")


def _median(losses: Floats) -> Floats:
    return np.asarray(np.median(losses, axis=-1))


def _mode(losses: Floats) -> Floats:
    """Return the half-sample mode (Bickel and Fruehwirth 2006): halve the densest half again."""
    ordered = np.sort(losses, axis=-1)
    while ordered.shape[-1] > 2:
        size = (ordered.shape[-1] + 1) // 2
        widths = ordered[..., size - 1 :] - ordered[..., : ordered.shape[-1] - size + 1]
        start = widths.argmin(axis=-1)[..., np.newaxis]
        ordered = np.take_along_axis(ordered, start + np.arange(size), axis=-1)
    return np.asarray(ordered.mean(axis=-1))


def _censored_mean(losses: Floats) -> Floats:
    """Return the mean without a quarter of the repetitions at each end."""
    ordered = np.sort(losses, axis=-1)
    cut = int(CENSORED_SHARE * losses.shape[-1] + 1e-9)
    return np.asarray(ordered[..., cut : losses.shape[-1] - cut].mean(axis=-1))


_TYPICAL: dict[str, Callable[[Floats], Floats]] = {
    "median": _median, "mode": _mode, "censored-mean": _censored_mean,
}  # fmt: skip
"""Robust numbers for a typical repetition: intervals of width 0."""


def _shortest(losses: Floats, share: float) -> tuple[Floats, Floats]:
    """Return the shortest interval that contains that share of the repetitions."""
    ordered = np.sort(losses, axis=-1)
    n = losses.shape[-1]
    size = max(int(np.ceil(share * n - 1e-9)), 1)
    widths = ordered[..., size - 1 :] - ordered[..., : n - size + 1]
    start = widths.argmin(axis=-1)[..., np.newaxis]
    ends = np.take_along_axis(ordered, np.concatenate([start, start + size - 1], axis=-1), axis=-1)
    return ends[..., 0], ends[..., 1]


def _median_radius(losses: Floats, share: float) -> tuple[Floats, Floats]:
    """Return the median -+ the smallest radius that covers that share of the repetitions."""
    median = np.median(losses, axis=-1)
    distances = np.sort(np.abs(losses - median[..., None]), axis=-1)
    # a share such as 0.1 of 30 is 3, whatever the rounding of the product
    covered = max(int(np.ceil(share * losses.shape[-1] - 1e-9)), 1)
    radius = distances[..., covered - 1]
    return median - radius, median + radius


def _pair(ends: Any, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    try:
        lower, upper = (np.asarray(end, dtype=np.float64) for end in ends)
    except (TypeError, ValueError):
        raise refuse("the result of interval", "a pair of arrays", ends) from None
    for end in (lower, upper):
        if end.shape != shape or not np.isfinite(end).all():
            raise ArgumentError(
                f"interval must return two arrays of finite numbers of shape {shape} (the losses "
                f"without their last axis); got shape {end.shape}."
            )
    return lower, upper


def _ordered(lower: Floats, upper: Floats) -> Floats:
    return np.stack([np.minimum(lower, upper), np.maximum(lower, upper)])


def _range(values: Floats, missing: str, loss_range: tuple[float, float]) -> tuple[float, float]:
    if missing == "refuse":
        at = tuple(int(i) for i in np.argwhere(np.isnan(values))[0])
        raise ArgumentError(
            f"losses must be complete; got a missing one at position {at}: use ",
            use(missing="allow"),
            " with ",
            use(loss_range=...),
            ", the lowest and the highest loss, to replace it by that range.",
        )
    try:
        low, high = (float(end) for end in loss_range)
    except (TypeError, ValueError):
        raise refuse("loss_range", "a pair (lowest, highest)", loss_range) from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise refuse("loss_range", "a finite pair (lowest, highest)", loss_range)
    if np.nanmin(values, initial=low) < low or np.nanmax(values, initial=high) > high:
        raise ArgumentError(
            f"loss_range must contain all losses; got ({low:g}, {high:g}) for losses from "
            f"{np.nanmin(values):g} to {np.nanmax(values):g}."
        )
    return low, high


# Bootstrap-B


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalPairs(MultipleResult):
    """Result of Bootstrap-B with two learners, for several pairs.

    - `pairs`: The learners compared. The rule ``"paper"`` compares the first with the intervals of
      both, so (i, j) and (j, i) may differ.
    - `estimates` (pairs, 2): Smallest and largest mean loss of the first minus that of the second.
    - `pvalues`, `adjusted_pvalues` (pairs, 2): Smallest and largest p-value, before and after
      adjustment for the number of pairs.
    - `verdicts`: ``"significant"``, ``"not significant"`` or ``"inconclusive"``, from the adjusted
      p-values.
    - `alpha`: The level of the verdicts.
    - `correction`, `rule`: The correction and the rule of the p-values.
    - `error_bound` (pairs, 2): Largest error of each p-value; 0 if it was counted exactly.
    - `names`: Names of the learners in sentences.
    """

    pairs: tuple[tuple[int, int], ...]
    estimates: Floats
    pvalues: Floats
    adjusted_pvalues: Floats
    verdicts: tuple[str, ...]
    alpha: float
    correction: str
    rule: str
    error_bound: Floats
    names: tuple[str, ...]

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, taking the upper end of each."""
        return float(self.adjusted_pvalues.max(axis=-1).min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return {
            "a": [self.names[i] for i, _ in self.pairs],
            "b": [self.names[j] for _, j in self.pairs],
            **_ends(estimate=self.estimates),
            **_ends(pvalue=self.pvalues, adjusted_pvalue=self.adjusted_pvalues),
            "verdict": self.verdicts,
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences; of more than 12 pairs list only those that differ.

        Parameters
        ----------
        names : sequence of str, optional
            Names of all learners, instead of those of the result.
        alpha : float, optional
            The level of the verdicts; any other level raises an error.
        """
        decided_level(alpha, self.alpha)
        named = learner_names(self.names if names is None else names, len(self.names))
        sentences = [
            f"The differences within {counted(len(self.pairs), 'pair')} are "
            f"{_tally(self.verdicts)} at level {self.alpha:g} (rule {self.rule!r}, adjusted with "
            f"{CORRECTIONS[self.correction].words})."
        ]
        sentences += [
            f"{_pair_words(named[i], named[j], self.estimates[k])}: {self.verdicts[k]} "
            f"({_range_words(self.pvalues[k], self.adjusted_pvalues[k])})."
            for k, (i, j) in enumerate(self.pairs)
            if len(self.pairs) <= MAX_LISTED or self.verdicts[k] == "significant"
        ]
        return " ".join(capitalised(sentence) for sentence in sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapBResult(MultipleResult):
    """Result of Bootstrap-B.

    Attributes
    ----------
    intervals : ndarray of shape (A, 2)
        Mean lower and mean upper end of each learner.
    pvalues : ndarray of shape (A, 2)
        Smallest and largest p-value of each learner against the mean of all.
    adjusted_pvalues : ndarray of shape (A, 2)
        P-values adjusted for A simultaneous tests.
    verdicts : tuple of str
        ``"significant"`` if the largest adjusted p-value is below `alpha`, ``"not significant"``
        if the smallest is above it, else ``"inconclusive"``.
    alpha : float
        The level of the verdicts.
    correction, rule : str
        The correction and the rule of the p-values.
    error_bound : ndarray of shape (A, 2)
        Largest error of each p-value; 0 if it was counted exactly.
    method : {"exact", "resample"}
        Exact rearrangement distribution, or random rearrangements.
    resamples : int
        Number of random rearrangements; 0 for the exact distribution.
    cells : ndarray of shape (2, A, D)
        Lower and upper ends of each learner on each data set, averaged over folds.
    names : tuple of str
        Names of the learners in sentences.
    """

    intervals: Floats
    pvalues: Floats
    adjusted_pvalues: Floats
    verdicts: tuple[str, ...]
    alpha: float
    correction: str
    rule: str
    error_bound: Floats
    method: str
    resamples: int
    cells: Floats = field(repr=False, compare=False)
    names: tuple[str, ...]

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, taking the upper end of each."""
        return float(self.adjusted_pvalues.max(axis=-1).min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per learner."""
        return {
            "learner": self.names,
            **_ends(mean=self.intervals),
            **_ends(pvalue=self.pvalues, adjusted_pvalue=self.adjusted_pvalues),
            "verdict": self.verdicts,
        }

    def posthoc(
        self,
        *,
        correction: str = "holm",
        alpha: float | None = None,
        pairs: Sequence[tuple[int, int]] | None = None,
        method: str = "exact",
        resamples: int = 100_000,
        random_state: RandomState = 0,
    ) -> IntervalPairs:
        """Run the test by the same rule with two learners at a time.

        Parameters
        ----------
        correction : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
            Adjustment for the number of pairs.
        alpha : float, optional
            Level of the verdicts; by default that of this result.
        pairs : sequence of (int, int), optional
            The pairs to compare; by default all (i, j) with i < j.
        method, resamples, random_state
            As for `bootstrap_b`. The default is exact, whatever the method of this result.
        """
        one_of(correction, "correction", tuple(CORRECTIONS))
        one_of(method, "method", METHODS)
        whole(resamples, "resamples", at_least=1)
        alpha = self.alpha if alpha is None else probability(alpha, "alpha")
        chosen = checked_pairs(pairs, self.cells.shape[1])
        rng = generator(random_state)
        p, bounds = pairs_by_rule(self.rule, self.cells, chosen, method, resamples, rng)
        adjusted = adjust(p.T, correction).T
        (low, high), (i, j) = self.intervals.T, np.asarray(chosen, dtype=np.intp).T
        return IntervalPairs(
            pairs=chosen,
            estimates=np.stack([low[i] - high[j], high[i] - low[j]], axis=1),
            pvalues=p,
            adjusted_pvalues=adjusted,
            verdicts=_verdicts(adjusted, alpha),
            alpha=alpha,
            correction=correction,
            rule=self.rule,
            error_bound=np.abs(bounds - p).max(axis=0),
            names=self.names,
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences; of more than 12 learners list only those that differ.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of those of the result.
        alpha : float, optional
            The level of the verdicts; any other level raises an error.
        """
        decided_level(alpha, self.alpha)
        learners, datasets = self.cells.shape[1:]
        named = learner_names(self.names if names is None else names, learners)
        sentences = [
            f"Bootstrap-B on {learners} learners and {counted(datasets, 'data set')} "
            f"({distribution_text(self.method, self.resamples)}; rule {self.rule!r}; p-values "
            f"adjusted for {learners} tests with {CORRECTIONS[self.correction].words}): the "
            f"differences from the mean of all learners are {_tally(self.verdicts)} at level "
            f"{self.alpha:g}."
        ]
        for a in range(learners):
            if learners > MAX_LISTED and self.verdicts[a] != "significant":
                continue
            low, high = map(number, self.intervals[a].tolist())
            ends = f"of {low}" if low == high else f"between {low} and {high}"
            sentences.append(
                f"{named[a]} has a mean loss {ends}, {_side_words(self.intervals, a)}: "
                f"{self.verdicts[a]} "
                f"({_range_words(self.pvalues[a], self.adjusted_pvalues[a])})."
            )
        if (self.cells[0] == self.cells[1]).all():
            sentences.append(
                "All intervals have width 0 (a single repetition, or a rule that gives a number): "
                "this is Bootstrap-A, which ignores the spread between repetitions."
            )
        if self.error_bound.any():
            largest = float(self.error_bound.max())
            sentences.append(f"The error of the p-values is at most {largest:.2g}.")
        return " ".join(capitalised(sentence) for sentence in sentences)


def _ends(**columns: Floats) -> dict[str, Floats]:
    """Return two columns for each array of intervals: the lower and the upper ends."""
    return {
        f"{name}_{end}": values[:, k]
        for name, values in columns.items()
        for k, end in enumerate(("low", "high"))
    }


def bootstrap_b(
    losses: Any = None,
    *,
    intervals: Any = None,
    rule: str = "vertex",
    method: str = "exact",
    resamples: int = 100_000,
    random_state: RandomState = 0,
    interval: Any = "central",
    missing: str = "refuse",
    loss_range: tuple[float, float] = (0.0, 1.0),
    correction: str = "bonferroni",
    alpha: float = 0.05,
    names: Sequence[Any] | None = None,
) -> BootstrapBResult:
    """Bootstrap-B of Otero et al.: Bootstrap-A for losses that are known up to intervals.

    Test the null hypothesis that the expected loss does not depend on the learner, for all
    possible losses inside the intervals at once: the p-value is an interval.

    Parameters
    ----------
    losses : array_like, shape (A, D, F, R), (A, D, F) or (A, D)
        Losses of A learners on D data sets, F folds and R repetitions.
    intervals : array_like, shape (2, A, D, F) or (2, A, D)
        Lower and upper ends, instead of `losses`.
    rule : {"vertex", "paper"}
        ``"vertex"``: the smallest and largest p-value of Bootstrap-A inside the intervals.
        ``"paper"``: the published rule, which compares resampled intervals with the observed one;
        it is wider, and not symmetric between two learners.
    method : {"exact", "resample"}
        Use the exact rearrangement distribution, or random rearrangements.
    resamples : int
        Number of random rearrangements.
    random_state : int, numpy.random.Generator or None
        Source of the random rearrangements.
    interval : str, tuple or callable
        How the repetitions of a fold become an interval; no other argument matters as much.
        ``"central"``: from the 0.45 to the 0.55 quantile. ``"interquartile"``: from the 0.25 to
        the 0.75 quantile. ``(q, r)``: from the quantile q to r. ``("median-radius", 0.1)``: the
        median plus and minus the radius that covers that share. ``("shortest", 0.1)``: the
        shortest interval that contains that share. ``"median"``, ``"mode"`` (half-sample mode)
        and ``"censored-mean"`` (without a quarter at each end) are numbers, so p- = p+. A function
        takes the losses, repetitions last, and returns lower and upper ends. Except for functions,
        the interval of a single repetition has width 0; `explain` says so.
    missing : {"refuse", "allow"}
        ``"allow"``: NaN marks a missing loss, which may be anything in `loss_range`.
    loss_range : (float, float)
        Lowest and highest possible loss.
    correction : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
        Adjustment of both ends for A simultaneous tests.
    alpha : float
        Level of the verdicts.
    names : sequence of str, optional
        Names of the learners, for sentences.

    Returns
    -------
    BootstrapBResult

    Notes
    -----
    Let s be the mean of learner a and S* its mean after rearrangement. c = P(S* <= s) increases
    with every loss of a and decreases with every loss of another learner; P(S* >= s) does the
    opposite. So for the rule ``"vertex"`` both are extreme at two corners: the lower ends of a
    with the upper ends of the others, and the reverse. p- is the smaller of the two p-values. p+ is
    the larger, or 1 if the two corners are on different sides of the middle, because some point
    between them then has both tails at 1/2 or more. Both ends are attained.

    For the rule ``"paper"``, with L* and U* the lower and upper means of a resample and
    [q-, q+] the observed interval of a, p+ = min(1, 2 min(P(L* <= q+), P(U* >= q-))) and
    p- = min(1, 2 min(P(U* <= q-), P(L* >= q+))). Here p- may be 0.

    Intervals of width 0 give Bootstrap-A with p- = p+. For the exact distribution and
    `error_bound` see `bootstrap_a`.

    References
    ----------
    J. Otero, L. Sanchez, I. Couso and A. Palacios (2013). Bootstrap analysis of multiple
    repetitions of experiments using an interval-valued multiple comparison procedure. Journal
    of Computer and System Sciences 80, 88-100. doi:10.1016/j.jcss.2013.03.009

    Examples
    --------
    >>> lower = [[1, 2, 3, 4], [2, 2, 5, 4], [3, 4, 5, 6]]
    >>> upper = [[2, 2, 3, 4], [2, 2, 5, 4], [3, 4, 5, 6]]
    >>> r = bootstrap_b(intervals=[lower, upper], alpha=0.2)
    >>> [[round(float(p) * 81, 9) for p in ends] for ends in r.pvalues]
    [[8.0, 16.0], [72.0, 72.0], [4.0, 4.0]]
    >>> r.verdicts
    ('not significant', 'not significant', 'significant')
    """
    one_of(rule, "rule", RULES)
    one_of(method, "method", METHODS)
    one_of(correction, "correction", tuple(CORRECTIONS))
    whole(resamples, "resamples", at_least=1)
    alpha = probability(alpha, "alpha")
    missing = missing_word(missing, ("refuse", "allow"))
    rng = generator(random_state)
    cells = interval_cells(losses, intervals, interval, missing, loss_range)
    lower, upper = tails_by_rule(cells, rule, method, resamples, rng)
    p, bounds = ends_by_rule(rule, lower, upper)
    adjusted = adjust(p.T, correction).T
    return BootstrapBResult(
        intervals=mean_of(cells, 2).T,
        pvalues=p,
        adjusted_pvalues=adjusted,
        verdicts=_verdicts(adjusted, alpha),
        alpha=alpha,
        correction=correction,
        rule=rule,
        error_bound=np.abs(bounds - p).max(axis=0),
        method=method,
        resamples=resamples if method == "resample" else 0,
        cells=cells,
        names=tuple(learner_names(names, cells.shape[1])),
    )


def _verdicts(adjusted: Floats, alpha: float) -> tuple[str, ...]:
    return tuple(
        "significant" if high < alpha else "not significant" if low > alpha else "inconclusive"
        for low, high in adjusted
    )


def _tally(verdicts: tuple[str, ...]) -> str:
    """Return text such as ``significant for 1, not significant for 3 and inconclusive for 1``."""
    kinds = ("significant", "not significant", "inconclusive")
    return joined([f"{kind} for {verdicts.count(kind)}" for kind in kinds if kind in verdicts])


def _pair_words(a: str, b: str, difference: Floats) -> str:
    low, high = float(difference[0]), float(difference[1])
    if low == high == 0:
        return f"{a} and {b} have the same mean loss"
    if low < 0 < high or low == 0 or high == 0:
        return (
            f"{a} has a mean loss from {number(abs(low))} {'below' if low < 0 else 'above'} "
            f"to {number(abs(high))} {'below' if high < 0 else 'above'} that of {b}"
        )
    better, worse = (a, b) if high < 0 else (b, a)
    least, most = sorted((number(abs(low)), number(abs(high))), key=float)
    by = f"by {least}" if least == most else f"by {least} to {most}"
    return f"{better} has a smaller mean loss than {worse}, {by}"


def _side_words(intervals: Floats, a: int) -> str:
    """Describe on which side of the mean of all learners a learner is, for all possible losses."""
    others = np.delete(intervals, a, axis=0).mean(axis=0)
    low, high = float(intervals[a, 0] - others[1]), float(intervals[a, 1] - others[0])
    noise = 1e-12 * float(np.abs(intervals).max())
    if high < -noise:
        return "below the mean of all learners"
    if low > noise:
        return "above the mean of all learners"
    if high - low <= 2 * noise:
        return "the mean of all learners"
    return "which may lie on either side of the mean of all learners"


def _range_words(p: Floats, adjusted: Floats) -> str:
    return f"{interval_words(p)}, adjusted {interval_words(adjusted)}"
