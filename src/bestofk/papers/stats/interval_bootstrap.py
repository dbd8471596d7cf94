"""Bootstrap-B: Bootstrap-A for losses that are known up to intervals.

Two rules turn intervals of losses into an interval of p-values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from bestofk._base.checks import (
    Floats,
    RandomState,
    missing_word,
    one_of,
    probability,
    refuse,
)
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import joined, number
from bestofk._base.results import decided_level, row_dicts
from bestofk.decide.interval_decision import interval_words
from bestofk.papers.stats.bootstrap import (
    MAX_LISTED,
    BootstrapResult,
    check_shape,
    mean_of,
    numbers,
    rearranged,
)
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.multiple.result import learner_names
from bestofk.stats.null_distributions.sums import Rows

RULES = ("vertex", "paper")


def _pvalues(cells: Floats, rule: str, groups: Rows, tested: Rows, *how: Any) -> Floats:
    """Return [p-, p+] of shape (tests, 2) of learners within groups.

    Each row of `groups` is one table of learners, and the same row of `tested` are the learners in
    it that are tested. For the rule "vertex" each table becomes the two corners of one learner.
    For the rule "paper" it becomes the lower ends at the observed upper end and the upper ends at
    the observed lower end.
    """
    learners = cells.shape[1]
    if rule == "vertex":
        itself = groups == tested
        members = [groups + learners * ~itself, groups + learners * itself]
        queries = [tested, tested + learners]
    else:
        members, queries = [groups, groups + learners], [tested + learners, tested]
    ends = cells.reshape(2 * learners, -1)
    tails = rearranged(ends, np.concatenate(members), np.concatenate(queries), *how)
    lower = np.stack([tail.lower for tail in tails]).reshape(2, -1)
    upper = np.stack([tail.upper for tail in tails]).reshape(2, -1)
    if rule == "vertex":
        p = np.minimum(2 * np.minimum(lower, upper), 1.0)
        # the corners are on different sides of the middle if c < 1/2 at the first (lower ends of
        # a) and P(S* >= s) < 1/2 at the second
        apart = (lower[0] < 0.5) & (upper[1] < 0.5)
        return np.stack([p.min(axis=0), np.where(apart, 1.0, p.max(axis=0))], axis=-1)
    # equations (22), (23), (26) and (27) of the paper: P(S* > s) has no equality. Without mass at
    # s it is the upper tail, with all its digits.
    beyond = np.where(lower + upper - 1.0 < 1e-14, upper, np.maximum(1.0 - lower, 0.0))
    both: Floats = np.minimum(2 * np.minimum(lower[::-1], beyond), 1.0)
    return both.T


# Intervals from repetitions and missing losses

QUANTILES = {"central": (0.45, 0.55), "interquartile": (0.25, 0.75)}
INTERVAL_OPTIONS = (
    "'central', 'interquartile', 'mean', 'median', 'mode', 'censored-mean', a pair of quantiles, "
    "('median-radius', share), ('shortest', share), or the same pairs as text such as "
    "'shortest:0.1'"
)
CENSORED_SHARE = 0.25
"""The share of repetitions that the censored mean leaves out at each end."""

Ends = tuple[Floats, Floats]


def interval_cells(
    losses: Any, intervals: Any, interval: Any, missing: str, loss_range: tuple[float, float]
) -> Floats:
    """Return lower and upper ends by learner and data set, of shape (2, A, D)."""
    if (losses is None) == (intervals is None):
        raise ArgumentError("bootstrap_b requires either losses or intervals.")
    if losses is not None:
        table = numbers(losses, "losses")
        check_shape(table)
        table = table.reshape(table.shape + (1,) * (4 - table.ndim))
        ends = repetition_intervals(table, interval, missing=missing, loss_range=loss_range)
    else:
        ends = numbers(intervals, "intervals")
        if ends.ndim not in (3, 4) or ends.shape[0] != 2 or ends.shape[1] < 2 or ends.size == 0:
            raise ArgumentError(
                "intervals must have the axes (2, learners, data sets) or (2, learners, data "
                f"sets, folds), with at least 2 learners; got an array of shape {ends.shape}."
            )
        ends = filled_ends(ends, missing, loss_range)
        if (ends[0] > ends[1]).any():
            raise ArgumentError("intervals must not have lower ends above the upper ones.")
    return mean_of(ends.reshape(*ends.shape[:3], -1), 3)


def filled_ends(ends: Floats, missing: str, loss_range: tuple[float, float]) -> Floats:
    """Replace a missing lower end by the lowest loss, and a missing upper end by the highest."""
    holes = np.isnan(ends)
    if not holes.any():
        return ends
    low, high = _range(ends, missing, loss_range)
    return np.stack([np.where(holes[0], low, ends[0]), np.where(holes[1], high, ends[1])])


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
    ends = _rule(interval)
    holes = np.isnan(losses)
    if not holes.any():
        return np.stack(ends(losses))
    low, high = _range(losses, missing, loss_range)
    lower, upper = ends(np.where(holes, low, losses))[0], ends(np.where(holes, high, losses))[1]
    if ends.func is not _between:
        incomplete = holes.any(axis=-1)
        lower, upper = np.where(incomplete, low, lower), np.where(incomplete, high, upper)
    return np.stack([lower, upper])


def interval_convergence(losses: Any, interval: Any = "central") -> dict[int, float]:
    """Return the mean width of the intervals from the first 2, 4, 8, ... repetitions.

    Use the number of repetitions from which the width hardly changes. Quantiles that are far apart
    need more repetitions.

    Parameters
    ----------
    losses : array_like, shape (..., R)
        Losses with repetitions last.
    interval : str or tuple
        As for `bootstrap_b`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> widths = interval_convergence(rng.normal(size=(200, 32)), "interquartile")
    >>> {r: round(width, 2) for r, width in widths.items()}
    {2: 0.54, 4: 0.93, 8: 1.11, 16: 1.23, 32: 1.29}
    """
    table = numbers(losses, "losses")
    total = table.shape[-1]
    counts = [2**k for k in range(1, total.bit_length()) if 2**k <= total]
    widths = {}
    for count in dict.fromkeys([*counts, total]):
        low, high = repetition_intervals(table[..., :count], interval)
        widths[count] = float((high - low).mean())
    return widths


def _rule(interval: Any) -> partial[Ends]:
    """Return the function of losses that a rule such as 'shortest:0.1' stands for."""
    if isinstance(interval, str):
        interval = QUANTILES.get(interval, interval.split(":"))
    try:
        first, *more = interval
        if not more and first in _TYPICAL:
            return partial(_typical, number_of=_TYPICAL[first])
        (second,) = map(float, more)
        if first in _SHARES:
            share = probability(second, f"the share of interval=({first!r}, share)")
            return partial(_SHARES[first], share=share)
        q = (float(first), second)
    except (TypeError, ValueError):
        raise refuse("interval", INTERVAL_OPTIONS, interval) from None
    if not 0.0 <= q[0] <= q[1] <= 1.0:
        raise refuse("interval", INTERVAL_OPTIONS, interval)
    return partial(_between, quantiles=q)


def _between(losses: Floats, quantiles: tuple[float, float]) -> Ends:
    low, high = np.quantile(losses, quantiles, axis=-1)
    return low, high


def _typical(losses: Floats, number_of: Callable[[Floats], Floats]) -> Ends:
    typical = number_of(losses)
    return typical, typical


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
    "mean": lambda losses: np.asarray(losses.mean(axis=-1)),
    "median": partial(np.median, axis=-1),
    "mode": _mode,
    "censored-mean": _censored_mean,
}
"""Numbers for a typical repetition: intervals of width 0."""


def _shortest(losses: Floats, share: float) -> Ends:
    """Return the shortest interval that contains that share of the repetitions."""
    ordered = np.sort(losses, axis=-1)
    n = losses.shape[-1]
    size = max(int(np.ceil(share * n - 1e-9)), 1)
    widths = ordered[..., size - 1 :] - ordered[..., : n - size + 1]
    start = widths.argmin(axis=-1)[..., np.newaxis]
    ends = np.take_along_axis(ordered, np.concatenate([start, start + size - 1], axis=-1), axis=-1)
    return ends[..., 0], ends[..., 1]


def _median_radius(losses: Floats, share: float) -> Ends:
    """Return the median -+ the smallest radius that covers that share of the repetitions."""
    median = np.median(losses, axis=-1)
    distances = np.sort(np.abs(losses - median[..., None]), axis=-1)
    # a share such as 0.1 of 30 is 3, whatever the rounding of the product
    covered = max(int(np.ceil(share * losses.shape[-1] - 1e-9)), 1)
    radius = distances[..., covered - 1]
    return median - radius, median + radius


_SHARES = {"median-radius": _median_radius, "shortest": _shortest}


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
class BootstrapBResult(BootstrapResult):
    """Result of Bootstrap-B.

    Attributes
    ----------
    intervals : ndarray of shape (A, 2)
        Mean lower and mean upper end of each learner.
    pvalues, adjusted_pvalues : ndarray of shape (A, 2)
        Smallest and largest p-value of each learner against the mean of all, before and after
        adjustment for A simultaneous tests.
    verdicts : tuple of str
        ``"significant"`` if the largest adjusted p-value is below `alpha`, ``"not significant"``
        if the smallest is above it, else ``"inconclusive"``.
    alpha : float
        The level of the verdicts.
    rule : str
        The rule of the p-values.
    correction, method, resamples, cells, names
        As in `BootstrapResult`; `cells` are lower and upper ends of shape (2, A, D), averaged over
        folds.
    """

    intervals: Floats
    verdicts: tuple[str, ...]
    alpha: float
    rule: str

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, taking the upper end of each."""
        return float(self.adjusted_pvalues.max(axis=-1).min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per learner."""
        columns = {
            "mean": self.intervals,
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
        }
        ends = {
            f"{name}_{end}": values[:, k]
            for name, values in columns.items()
            for k, end in enumerate(("low", "high"))
        }
        return {"learner": self.names, **ends, "verdict": self.verdicts}

    def posthoc(
        self,
        *,
        pairs: Sequence[tuple[int, int]] | None = None,
        method: str = "exact",
        resamples: int = 100_000,
        random_state: RandomState = 0,
    ) -> Floats:
        """Return [p-, p+] of shape (pairs, 2) by the same rule with two learners, not adjusted.

        Parameters
        ----------
        pairs : sequence of (int, int), optional
            The pairs to compare; by default all (i, j) with i < j. The rule ``"paper"`` compares
            the first with the intervals of both, so (i, j) and (j, i) may differ.
        method, resamples, random_state
            As for `bootstrap_b`. The default is exact, whatever the method of this result.
        """
        chosen = list(combinations(range(len(self.names)), 2)) if pairs is None else pairs
        two = np.asarray(chosen, dtype=np.intp)
        return _pvalues(self.cells, self.rule, two, two[:, :1], method, resamples, random_state)

    def pairs(self) -> dict[str, Any]:
        """Return the post-hoc test of every pair: its p-values, adjusted for all pairs."""
        a, b = zip(*combinations(self.names, 2), strict=True)
        p = self.posthoc()
        adjusted = adjust(p.T, self.correction).T
        return {
            "a": a, "b": b, "pvalue_low": p[:, 0], "pvalue_high": p[:, 1],
            "adjusted_pvalue_low": adjusted[:, 0], "adjusted_pvalue_high": adjusted[:, 1],
            "verdict": _verdicts(adjusted, self.alpha),
        }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the result for strict JSON, with the post-hoc test of every pair."""
        return {**BootstrapResult.to_dict(self), "pairs": row_dicts(self.pairs())}

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
        named = learner_names(self.names if names is None else names, len(self.names))
        kinds = ("significant", "not significant", "inconclusive")
        tally = [f"{kind} for {count}" for kind in kinds if (count := self.verdicts.count(kind))]
        lines = []
        for a, name in enumerate(named):
            if len(named) > MAX_LISTED and self.verdicts[a] != "significant":
                continue
            low, high = map(number, self.intervals[a].tolist())
            ends = f"of {low}" if low == high else f"between {low} and {high}"
            lines.append(
                f"{name} has a mean loss {ends}, {_side_words(self.intervals, a)}: "
                f"{self.verdicts[a]} ({interval_words(self.pvalues[a])}, adjusted "
                f"{interval_words(self.adjusted_pvalues[a])})."
            )
        if "significant" in self.verdicts:
            verdicts = zip(combinations(named, 2), self.pairs()["verdict"], strict=True)
            differ = [f"{a} and {b}" for (a, b), verdict in verdicts if verdict == "significant"]
            lines.append(f"Post-hoc, these pairs differ: {'; '.join(differ) or 'none'}.")
        if (self.cells[0] == self.cells[1]).all():
            lines.append(
                "All intervals have width 0 (a single repetition, or a rule that gives a number): "
                "this is Bootstrap-A, which ignores the spread between repetitions."
            )
        verdict = (
            f"the differences from the mean of all learners are {joined(tally)} at level "
            f"{self.alpha:g}."
        )
        return self._explained("Bootstrap-B", verdict, lines, f"rule {self.rule!r}; ")


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
    interval : str or tuple
        How the repetitions of a fold become an interval; no other argument matters as much.
        ``"central"``: from the 0.45 to the 0.55 quantile. ``"interquartile"``: from the 0.25 to
        the 0.75 quantile. ``(q, r)``: from the quantile q to r. ``("median-radius", 0.1)``: the
        median plus and minus the radius that covers that share. ``("shortest", 0.1)``: the
        shortest interval that contains that share. ``"mean"``, ``"median"``, ``"mode"``
        (half-sample mode) and ``"censored-mean"`` (without a quarter at each end) are numbers, so
        p- = p+. The interval of a single repetition has width 0; `explain` says so.
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
    [q-, q+] the observed interval of a, p+ = min(1, 2 min(P(L* <= q+), P(U* > q-))) and
    p- = min(1, 2 min(P(U* <= q-), P(L* > q+))). The second tails have no equality (equations 22
    and 26), so that reversed signs of all losses may give other p-values, and both may be 0.

    Intervals of width 0 give Bootstrap-A with p- = p+ by the rule ``"vertex"``. For the exact
    distribution see `bootstrap_a`.

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
    one_of(correction, "correction", CORRECTIONS)
    alpha = probability(alpha, "alpha")
    missing = missing_word(missing, ("refuse", "allow"))
    cells = interval_cells(losses, intervals, interval, missing, loss_range)
    everyone = np.arange(cells.shape[1])
    groups, tested = everyone[None], everyone[None]
    if rule == "vertex":
        groups, tested = np.tile(everyone, (len(everyone), 1)), everyone[:, None]
    p = _pvalues(cells, rule, groups, tested, method, resamples, random_state)
    adjusted = adjust(p.T, correction).T
    return BootstrapBResult(
        intervals=mean_of(cells, 2).T,
        pvalues=p,
        adjusted_pvalues=adjusted,
        verdicts=_verdicts(adjusted, alpha),
        alpha=alpha,
        correction=correction,
        rule=rule,
        method=method,
        resamples=resamples if method == "resample" else 0,
        cells=cells,
        names=tuple(learner_names(names, len(everyone))),
    )


def _verdicts(adjusted: Floats, alpha: float) -> tuple[str, ...]:
    return tuple(
        "significant" if high < alpha else "not significant" if low > alpha else "inconclusive"
        for low, high in adjusted
    )


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
