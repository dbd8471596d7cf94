"""Bootstrap-B: Bootstrap-A on intervals, with p-values that are intervals too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk.adjust import CORRECTIONS, adjust
from bestofk.checks import (
    Floats,
    RandomState,
    generator,
    one_of,
    probability,
    whole,
)
from bestofk.multiple.repetition_intervals import interval_cells
from bestofk.multiple.scalar_bootstrap import (
    METHODS,
    capitalised,
    chosen_pairs,
    learner_name,
    mean_of,
    origin,
)
from bestofk.rearrange.draws import drawn_tails
from bestofk.rearrange.grid import place
from bestofk.rearrange.signs import upper_tail
from bestofk.rearrange.tails import sum_tails

RULES = ("vertex", "paper")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalPairs:
    """Bootstrap-B with two learners, for several pairs.

    Attributes
    ----------
    pairs : tuple of (int, int)
        The learners compared. By the rule ``"paper"`` the first is compared with what the two
        could be, so that (i, j) and (j, i) may differ.
    pvalues, adjusted_pvalues : ndarray of shape (pairs, 2)
        Smallest and largest p-value; the latter for the number of pairs.
    verdicts : tuple of str
        ``"significant"``, ``"not significant"`` or ``"inconclusive"``, from the adjusted ones.
    alpha : float
        The level of the verdicts.
    correction, rule : str
        How the p-values were adjusted and obtained.
    error_bound : ndarray of shape (pairs, 2)
        By how much rounding to the grid may have changed a p-value; 0 where it is exact.
    """

    pairs: tuple[tuple[int, int], ...]
    pvalues: Floats
    adjusted_pvalues: Floats
    verdicts: tuple[str, ...]
    alpha: float
    correction: str
    rule: str
    error_bound: Floats

    def explain(self, names: Sequence[str] | None = None) -> str:
        """The result in sentences; `names` are those of all learners."""
        sentences = [
            f"{learner_name(i, names)} against {learner_name(j, names)}: "
            f"{_verdict_words(self.verdicts[k], self.alpha)} "
            f"({_range_words(self.pvalues[k], self.adjusted_pvalues[k])})."
            for k, (i, j) in enumerate(self.pairs)
        ]
        return " ".join(capitalised(sentence) for sentence in sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapBResult:
    """What Bootstrap-B found.

    Attributes
    ----------
    intervals : ndarray of shape (A, 2)
        Mean lower and mean upper end of every learner.
    pvalues : ndarray of shape (A, 2)
        Smallest and largest p-value of every learner against the mean of all.
    adjusted_pvalues : ndarray of shape (A, 2)
        The same adjusted for A simultaneous tests.
    verdicts : tuple of str
        ``"significant"`` where the largest adjusted p-value is below `alpha`,
        ``"not significant"`` where the smallest is above it, else ``"inconclusive"``.
    alpha : float
        The level of the verdicts.
    correction, rule : str
        How the p-values were adjusted and obtained.
    error_bound : ndarray of shape (A, 2)
        By how much rounding to the grid may have changed a p-value; 0 where it is exact.
    method : {"exact", "resample"}
        Where the rearrangement distribution comes from.
    resamples : int
        Number of random rearrangements; 0 for the exact distribution.
    cells : ndarray of shape (2, A, D)
        Lower and upper ends of every learner on every data set, averaged over folds.
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

    def posthoc(
        self,
        *,
        correction: str = "holm",
        alpha: float | None = None,
        pairs: Sequence[tuple[int, int]] | None = None,
    ) -> IntervalPairs:
        """The same test, by the same rule, with two learners at a time; always exact.

        Parameters
        ----------
        correction : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
            Adjustment for the number of pairs.
        alpha : float, optional
            Level of the verdicts; that of the result itself when not given.
        pairs : sequence of (int, int), optional
            The pairs to compare; all (i, j) with i < j when not given.
        """
        one_of(correction, "correction", tuple(CORRECTIONS))
        alpha = self.alpha if alpha is None else probability(alpha, "alpha")
        chosen = chosen_pairs(pairs, self.cells.shape[1])
        by_rule = _vertex_pairs if self.rule == "vertex" else _paper_pairs
        p, bounds = by_rule(self.cells, chosen)
        adjusted = adjust(p.T, correction).T
        return IntervalPairs(
            pairs=chosen,
            pvalues=p,
            adjusted_pvalues=adjusted,
            verdicts=_verdicts(adjusted, alpha),
            alpha=alpha,
            correction=correction,
            rule=self.rule,
            error_bound=np.abs(bounds - p).max(axis=0),
        )

    def explain(self, names: Sequence[str] | None = None) -> str:
        """The result in sentences, ready to print; `names` are those of the learners."""
        learners, datasets = self.cells.shape[1:]
        sentences = [
            f"Bootstrap-B on {learners} learners and {datasets} data "
            f"set{'s' if datasets > 1 else ''} ({origin(self.method, self.resamples)}; rule "
            f"{self.rule!r}; p-values adjusted for {learners} tests by the method "
            f"{self.correction!r}):"
        ]
        for a in range(learners):
            low, high = self.intervals[a]
            ends = f"of {low:.4g}" if low == high else f"between {low:.4g} and {high:.4g}"
            sentences.append(
                f"{learner_name(a, names)} has a mean loss {ends}; its difference from the mean "
                f"of all is {_verdict_words(self.verdicts[a], self.alpha)} "
                f"({_range_words(self.pvalues[a], self.adjusted_pvalues[a])})."
            )
        if self.error_bound.any():
            sentences.append(
                "The ends were rounded to a grid; without rounding no p-value differs by more "
                f"than {float(self.error_bound.max()):.2g}."
            )
        return " ".join(capitalised(sentence) for sentence in sentences)


def bootstrap_b(
    losses: Any = None,
    *,
    intervals: Any = None,
    rule: str = "vertex",
    method: str = "exact",
    resamples: int = 100_000,
    random_state: RandomState = None,
    interval: Any = "central",
    missing: str | None = None,
    loss_range: tuple[float, float] = (0.0, 1.0),
    correction: str = "bonferroni",
    alpha: float = 0.05,
) -> BootstrapBResult:
    """Bootstrap-B of Otero et al.: Bootstrap-A where losses are known up to intervals.

    Tests the hypothesis that the expected loss does not depend on the learner, for everything
    that the losses could be inside their intervals at once: the p-value is an interval.

    Parameters
    ----------
    losses : array_like, shape (A, D, F, R), (A, D, F) or (A, D)
        Losses of A learners on D data sets, F folds and R repetitions.
    intervals : array_like, shape (2, A, D, F) or (2, A, D)
        Lower and upper ends, instead of `losses`.
    rule : {"vertex", "paper"}
        ``"vertex"``: the smallest and largest p-value of Bootstrap-A inside the intervals.
        ``"paper"``: the printed rule, which compares resampled intervals with the observed one;
        wider, and not symmetric between two learners.
    method : {"exact", "resample"}
        The rearrangement distribution itself, or random rearrangements.
    resamples : int
        Number of random rearrangements.
    random_state : int, numpy.random.Generator or None
        Source of the random rearrangements.
    interval : str, tuple or callable
        How the repetitions of a fold become an interval; it matters more than anything else.
        ``"central"``: from the 0.45 to the 0.55 quantile. ``"interquartile"``. ``(q, r)``: from
        the quantile q to r. ``("median-radius", 0.1)``: the median, plus and minus the radius
        that covers that share. A function that takes the losses, repetitions last, and returns
        lower and upper ends. One repetition has width 0 by all but the last.
    missing : {None, "span"}
        ``"span"``: a NaN stands for a missing loss, which could be anything in `loss_range`.
    loss_range : (float, float)
        Lowest and highest possible loss.
    correction : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
        Adjustment for A simultaneous tests, of both ends alike.
    alpha : float
        Level of the verdicts.

    Returns
    -------
    BootstrapBResult

    Notes
    -----
    With s the mean of learner a and S* the same after rearrangement, c = P(S* <= s) grows with
    every loss of a and falls with every loss of another learner; P(S* >= s) does the opposite.
    So by the rule ``"vertex"`` both are extreme at two corners: the lower ends of a with the
    upper ends of the others, and the reverse. p- is the smaller of the two p-values; p+ is the
    larger, or 1 where the two corners lie on different sides of the middle, since some point
    between them then has both tails at 1/2 or more. Both ends are attained.

    By the rule ``"paper"``, with L* and U* the lower and upper means of a resample and
    [q-, q+] the observed interval of a, p+ = min(1, 2 min(P(L* <= q+), P(U* >= q-))) and
    p- = min(1, 2 min(P(U* <= q-), P(L* >= q+))). Here p- may be 0.

    Intervals of width 0 give Bootstrap-A, p- = p+. For the exact distribution, its grid and
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
    if missing is not None:
        one_of(missing, "missing", ("span",))
    rng = generator(random_state)
    cells = interval_cells(losses, intervals, interval, missing, loss_range)
    lower, upper = _tails(cells, rule, method, resamples, rng)
    p, bounds = (_vertex_ends if rule == "vertex" else _paper_ends)(lower, upper)
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
    )


def _tails(
    cells: Floats, rule: str, method: str, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Lower and upper tails, shape (3, 2, A): themselves and their bounds, of two tables a learner.

    By the rule "vertex" these are the two corners of the learner; by the rule "paper" the lower
    ends at the observed upper end and the upper ends at the observed lower end.
    """
    learners = cells.shape[1]
    low, high = np.arange(learners), np.arange(learners) + learners
    if rule == "vertex":
        own = np.eye(learners, dtype=np.bool_)
        members = np.concatenate([np.where(own, low, high), np.where(own, high, low)])
        queries = np.concatenate([low, high])[:, None]
    else:
        members, queries = np.stack([low, high]), np.stack([high, low])
    ends = cells.reshape(2 * learners, -1)
    if method == "resample":
        drawn = drawn_tails(ends, members, queries, resamples=resamples, generator=rng)
    elif (cells[0] == cells[1]).all():
        # without width all tables are one
        drawn = [sum_tails(place(ends, choices=learners, queries=learners), low, low)] * 2
    else:
        placed = place(ends, choices=learners, queries=learners)
        drawn = [sum_tails(placed, m, q) for m, q in zip(members, queries, strict=True)]
    lower = np.stack([_with_bounds(t.lower, t.lower_bounds) for t in drawn], axis=1)
    upper = np.stack([_with_bounds(t.upper, t.upper_bounds) for t in drawn], axis=1)
    return lower.reshape(3, 2, learners), upper.reshape(3, 2, learners)


def _with_bounds(tail: Floats, bounds: Floats) -> Floats:
    return np.stack([tail, bounds[:, 0], bounds[:, 1]])


def _vertex_ends(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """[p-, p+], shape (A, 2), and their bounds, (2, A, 2), from the tails at the two corners."""
    p = np.minimum(2 * np.minimum(lower, upper), 1.0)
    # the corners lie on different sides of the middle when c < 1/2 at the one (lower ends of a)
    # and P(S* >= s) < 1/2 at the other; small tails make a large p+ here, so the bounds swap
    apart = ((lower[:, 0] < 0.5) & (upper[:, 1] < 0.5))[[0, 2, 1]]
    largest = np.where(apart, 1.0, p.max(axis=1))
    ends = np.stack([p.min(axis=1), largest], axis=-1)
    return ends[0], ends[1:]


def _paper_ends(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """The same by equations (22), (23), (26) and (27) of the paper."""
    largest = np.minimum(2 * np.minimum(lower[:, 0], upper[:, 1]), 1.0)
    smallest = np.minimum(2 * np.minimum(lower[:, 1], upper[:, 0]), 1.0)
    ends = np.stack([smallest, largest], axis=-1)
    return ends[0], ends[1:]


def _vertex_pairs(cells: Floats, pairs: tuple[tuple[int, int], ...]) -> tuple[Floats, Floats]:
    i, j = np.asarray(pairs, dtype=np.intp).T
    low, high = cells
    corners = ((low[i], high[j]), (high[i], low[j]))
    lower = np.stack([_with_bounds(*upper_tail(b, a)) for a, b in corners], axis=1)
    upper = np.stack([_with_bounds(*upper_tail(a, b)) for a, b in corners], axis=1)
    return _vertex_ends(lower, upper)


def _paper_pairs(cells: Floats, pairs: tuple[tuple[int, int], ...]) -> tuple[Floats, Floats]:
    lower, upper = np.empty((3, 2, len(pairs))), np.empty((3, 2, len(pairs)))
    for k, pair in enumerate(pairs):
        two = cells[:, pair]
        tails = _tails(two, "paper", "exact", 1, np.random.default_rng(0))
        lower[..., k], upper[..., k] = (tail[..., 0] for tail in tails)
    return _paper_ends(lower, upper)


def _verdicts(adjusted: Floats, alpha: float) -> tuple[str, ...]:
    return tuple(
        "significant" if high < alpha else "not significant" if low > alpha else "inconclusive"
        for low, high in adjusted
    )


def _verdict_words(verdict: str, alpha: float) -> str:
    return f"{verdict} at level {alpha:g}"


def _range_words(p: Floats, adjusted: Floats) -> str:
    return (
        f"p from {p[0]:.4g} to {p[1]:.4g}, adjusted from {adjusted[0]:.4g} to {adjusted[1]:.4g}"
        if p[0] < p[1]
        else f"p = {p[0]:.4g}, adjusted {adjusted[0]:.4g}"
    )
