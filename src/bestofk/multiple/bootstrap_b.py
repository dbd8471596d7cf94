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
    missing_word,
    one_of,
    probability,
    whole,
)
from bestofk.multiple.bootstrap_a import (
    LISTED,
    METHODS,
    chosen_pairs,
    mean_of,
    origin,
)
from bestofk.multiple.interval_pvalues import (
    RULES,
    ends_by_rule,
    pairs_by_rule,
    tails_by_rule,
)
from bestofk.multiple.repetition_intervals import interval_cells
from bestofk.multiple.result import MultipleResult
from bestofk.multiple.sentences import learner_names
from bestofk.presenting import decided_level
from bestofk.spoken_metric import spoken
from bestofk.wording import capitalised, counted, joined, number, pvalue_words


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalPairs(MultipleResult):
    """Bootstrap-B with two learners, for several pairs.

    Attributes
    ----------
    pairs : tuple of (int, int)
        The learners compared. By the rule ``"paper"`` the first is compared with what the two
        could be, so that (i, j) and (j, i) may differ.
    estimates : ndarray of shape (pairs, 2)
        Smallest and largest mean loss of the first less that of the second.
    pvalues, adjusted_pvalues : ndarray of shape (pairs, 2)
        Smallest and largest p-value; the latter for the number of pairs.
    verdicts : tuple of str
        ``"significant"``, ``"not significant"`` or ``"inconclusive"``, from the adjusted ones.
    alpha : float
        The level of the verdicts.
    correction, rule : str
        How the p-values were adjusted and obtained.
    error_bound : ndarray of shape (pairs, 2)
        By how much a p-value may be off; 0 where it was counted out.
    names : tuple of str
        What the learners are called in sentences.
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
        """The smallest adjusted p-value, each at the larger end of what it may be."""
        return float(self.adjusted_pvalues.max(axis=-1).min())

    def _columns(self) -> dict[str, Any]:
        """One row per pair."""
        return {
            "a": [self.names[i] for i, _ in self.pairs],
            "b": [self.names[j] for _, j in self.pairs],
            **_ends(estimate=self.estimates),
            **_ends(pvalue=self.pvalues, adjusted_pvalue=self.adjusted_pvalues),
            "verdict": self.verdicts,
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The result in sentences; beyond a dozen pairs only those that differ are listed.

        Parameters
        ----------
        names : sequence of str, optional
            Names of all learners, instead of those given to the test.
        alpha : float, optional
            The level of the verdicts; another one is refused.
        """
        decided_level(alpha, self.alpha)
        named = learner_names(self.names if names is None else names, len(self.names))
        sentences = [
            f"The differences within {counted(len(self.pairs), 'pair')} are "
            f"{_tally(self.verdicts)} at level {self.alpha:g} (rule {self.rule!r}, adjusted by "
            f"the method {self.correction!r})."
        ]
        sentences += [
            f"{_pair_words(named[i], named[j], self.estimates[k])}: {self.verdicts[k]} "
            f"({_range_words(self.pvalues[k], self.adjusted_pvalues[k])})."
            for k, (i, j) in enumerate(self.pairs)
            if len(self.pairs) <= LISTED or self.verdicts[k] == "significant"
        ]
        return " ".join(capitalised(sentence) for sentence in sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapBResult(MultipleResult):
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
        By how much a p-value may be off; 0 where it was counted out.
    method : {"exact", "resample"}
        Where the rearrangement distribution comes from.
    resamples : int
        Number of random rearrangements; 0 for the exact distribution.
    cells : ndarray of shape (2, A, D)
        Lower and upper ends of every learner on every data set, averaged over folds.
    names : tuple of str
        What the learners are called in sentences.
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
        """The smallest adjusted p-value, each at the larger end of what it may be."""
        return float(self.adjusted_pvalues.max(axis=-1).min())

    def _columns(self) -> dict[str, Any]:
        """One row per learner."""
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
        """The same test, by the same rule, with two learners at a time.

        Parameters
        ----------
        correction : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
            Adjustment for the number of pairs.
        alpha : float, optional
            Level of the verdicts; that of the result itself when not given.
        pairs : sequence of (int, int), optional
            The pairs to compare; all (i, j) with i < j when not given.
        method, resamples, random_state
            As for `bootstrap_b`; whatever the method was there, the default is exact.
        """
        one_of(correction, "correction", tuple(CORRECTIONS))
        one_of(method, "method", METHODS)
        whole(resamples, "resamples", at_least=1)
        alpha = self.alpha if alpha is None else probability(alpha, "alpha")
        chosen = chosen_pairs(pairs, self.cells.shape[1])
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
        """The result in sentences; beyond a dozen learners only those that differ are listed.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of those given to the test.
        alpha : float, optional
            The level of the verdicts; another one is refused.
        """
        decided_level(alpha, self.alpha)
        learners, datasets = self.cells.shape[1:]
        named = learner_names(self.names if names is None else names, learners)
        sentences = [
            f"Bootstrap-B on {learners} learners and {counted(datasets, 'data set')} "
            f"({origin(self.method, self.resamples)}; rule {self.rule!r}; p-values adjusted for "
            f"{learners} tests with {CORRECTIONS[self.correction].words}): the differences from "
            f"the mean of all learners are {_tally(self.verdicts)} at level {self.alpha:g}."
        ]
        for a in range(learners):
            if learners > LISTED and self.verdicts[a] != "significant":
                continue
            shown = sorted(spoken().value(float(end)) for end in self.intervals[a])
            low, high = map(number, shown)
            ends = f"of {low}" if low == high else f"between {low} and {high}"
            sentences.append(
                f"{named[a]} has a {spoken().mean} {ends}, {_side_words(self.intervals, a)}: "
                f"{self.verdicts[a]} "
                f"({_range_words(self.pvalues[a], self.adjusted_pvalues[a])})."
            )
        if self.error_bound.any():
            sentences.append(f"No p-value is off by more than {float(self.error_bound.max()):.2g}.")
        return " ".join(capitalised(sentence) for sentence in sentences)


def _ends(**columns: Floats) -> dict[str, Floats]:
    """Two columns for each: the smallest and the largest that it may be."""
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
    missing : {"refuse", "allow"}
        ``"allow"``: a NaN stands for a missing loss, which could be anything in `loss_range`.
    loss_range : (float, float)
        Lowest and highest possible loss.
    correction : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
        Adjustment for A simultaneous tests, of both ends alike.
    alpha : float
        Level of the verdicts.
    names : sequence of str, optional
        Names of the learners, for sentences.

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

    Intervals of width 0 give Bootstrap-A, p- = p+. For the exact distribution and
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
    """``significant for 1, not significant for 3 and inconclusive for 1``."""
    kinds = ("significant", "not significant", "inconclusive")
    return joined([f"{kind} for {verdicts.count(kind)}" for kind in kinds if kind in verdicts])


def _pair_words(a: str, b: str, difference: Floats) -> str:
    low, high = float(difference[0]), float(difference[1])
    if low == high == 0:
        return f"{a} and {b} have the same {spoken().mean}"
    if low < 0 < high or low == 0 or high == 0:
        if spoken().higher_is_better:
            low, high = -high, -low
        return (
            f"{a} has a {spoken().mean} from {number(abs(low))} {'below' if low < 0 else 'above'} "
            f"to {number(abs(high))} {'below' if high < 0 else 'above'} that of {b}"
        )
    better, worse = (a, b) if high < 0 else (b, a)
    least, most = sorted((number(abs(low)), number(abs(high))), key=float)
    by = f"by {least}" if least == most else f"by {least} to {most}"
    return f"{better} has a {spoken().smaller} {spoken().mean} than {worse}, {by}"


def _side_words(intervals: Floats, a: int) -> str:
    """Where a learner stands to the mean of all, itself included, wherever the losses lie."""
    others = np.delete(intervals, a, axis=0).mean(axis=0)
    low, high = float(intervals[a, 0] - others[1]), float(intervals[a, 1] - others[0])
    noise = 1e-12 * float(np.abs(intervals).max())
    if high < -noise:
        return f"{spoken().side(below=True)} the mean of all learners"
    if low > noise:
        return f"{spoken().side(below=False)} the mean of all learners"
    if high - low <= 2 * noise:
        return "the mean of all learners"
    return "which may lie on either side of the mean of all learners"


def _range_words(p: Floats, adjusted: Floats) -> str:
    return f"{_ends_words(p)}, adjusted {_ends_words(adjusted)}"


def _ends_words(p: Floats) -> str:
    """``p = 0.012``, or ``p from 0.0032 to 0.0050``."""
    low, high = (pvalue_words(float(end)) for end in p)
    if low == high:
        return low
    low, high = (end.removeprefix("p = ").replace("p <", "below") for end in (low, high))
    return f"p from {low} to {high}"
