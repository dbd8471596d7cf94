"""The family of hypotheses of a decision, and the evidence about every pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Bools, Floats, Ints, one_of, probability
from bestofk._base.errors import ArgumentError, use
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS, adjust, pair_indices

if TYPE_CHECKING:
    from typing import Self

    from bestofk.decide.choose_test import Choice

FAMILIES = ("all", "preference", "control")
"""Families that a user can name."""
BEST = "best"
"""The family of the rule of the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The hypotheses that one error rate holds for.

    Attributes
    ----------
    name : {"best", "all", "preference", "control"}
        ``"best"``: every learner against the K - 1 others, two-sided, for the question which may
        be the best: only the comparisons of the truly best learner can be wrong.
        ``"all"``: every pair, two-sided, the direction by the sign of the statistic.
        ``"preference"``: every pair, one-sided against the preference, as Yildiz and Alpaydin
        (2006) publish it.
        ``"control"``: one learner against each of the others, two-sided.
    learners : int
        K.
    alpha : float
        Chance of any false claim in the family.
    correction : str
        A name of `bestofk.stats.adjust.CORRECTIONS`.
    control : int or None
        The index of the control.
    """

    name: str = "all"
    learners: int
    alpha: float
    correction: str
    control: int | None = None

    def __post_init__(self) -> None:
        one_of(self.name, "family", (BEST, *FAMILIES))
        probability(self.alpha, "alpha")
        one_of(self.correction, "correction", CORRECTIONS)
        if self.name != "all" and CORRECTIONS[self.correction].needs_all_pairs:
            raise ArgumentError(
                f"correction {self.correction!r} is for the two-sided tests of all pairs; ",
                use(family=self.name),
                " takes 'holm', 'hochberg' or 'bonferroni'.",
            )

    @property
    def size(self) -> int:
        """The number of hypotheses."""
        K = self.learners
        return K - 1 if self.name == "control" else K * (K - 1) // 2

    @property
    def comparisons(self) -> int:
        """The number of comparisons that share alpha."""
        return self.learners - 1 if self.of_best else self.size

    @property
    def alternative(self) -> str:
        """The alternative of every test."""
        return "greater" if self.name == "preference" else "two-sided"

    def pairs(self) -> tuple[Ints, Ints]:
        """Return (first, second) of every pair, first before second."""
        K = self.learners
        if self.name != "control":
            return pair_indices(K)
        if self.control is None:
            raise ArgumentError(
                use(family="control"), " needs a control: name it with ", use(control=...)
            )
        others = np.delete(np.arange(K), self.control)
        return np.minimum(others, self.control), np.maximum(others, self.control)

    @property
    def of_best(self) -> bool:
        """True if each learner is compared with the others to find the best."""
        return self.name == BEST

    @property
    def has_intervals(self) -> bool:
        """True if intervals agree with the adjusted p-values."""
        return CORRECTIONS[self.correction].single_step

    def adjust(self, pvalues: Floats) -> Floats:
        """Return adjusted p-values of the family."""
        if self.of_best:
            return np.minimum(float(self.comparisons) * pvalues, 1.0)
        return adjust(pvalues, self.correction, pairs=self.learners if self.name == "all" else None)

    def smallest_adjusted(self, smallest: float, alternative: str | None = None) -> float:
        """Return the smallest possible adjusted p-value; `smallest` is that of one test."""
        if (self.alternative if alternative is None else alternative) != "two-sided":
            smallest /= 2.0
        p = np.full(self.size, min(smallest, 1.0))
        return float(self.adjust(p).min())

    def interval_level(self) -> float:
        """Return the level of each interval at which all of them hold together (Bonferroni)."""
        adjusts = CORRECTIONS[self.correction].adjusts
        return 1.0 - self.alpha / (self.comparisons if adjusts else 1)


# Evidence about pairs


Signs = npt.NDArray[np.int8]
Name = int | str
_LOSSES_AT_A_TIME = 1 << 22
"""Limit on the losses of the pairs that are tested in one call."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """The pairs that were tested, as parallel arrays; `first[p]` is preferred to `second[p]`.

    The arrays of B tables that were tested together are (B, P) instead of (P,).

    Attributes
    ----------
    names : tuple of names
        Learners in the order of preference, or of their means if no preference was stated.
    first, second : (P,) arrays of int
        The pairs, by index in `names`.
    estimate : (P,) array
        Mean loss of the first minus that of the second.
    pvalue, adjusted_pvalue : (P,) arrays
        Of the family: two-sided, or one-sided against the preference in the family
        ``"preference"``.
    direction : (P,) array of int
        Which learner the statistic favours, however weakly: -1 the first, 1 the second, 0 neither.
    better : (P,) array of int
        -1: the first is shown to be better; 1: the second is; 0: no difference is shown.
    family : Family
        The hypotheses over which the p-values are adjusted.
    low, high : (P,) arrays
        Simultaneous intervals of the differences; computed at first use. They agree with the
        adjusted p-values, so there are none with a stepwise correction such as Holm's.
    """

    names: tuple[Name, ...]
    first: Ints
    second: Ints
    estimate: Floats
    pvalue: Floats
    adjusted_pvalue: Floats
    direction: Signs
    better: Signs
    family: Family
    alternative: str
    """``"two-sided"``, or ``"greater"``: H0 says that `first` has at most the loss of `second`."""
    metric: Metric = field(default_factory=Metric)
    rope: float | None = None
    values: Floats | None = field(default=None, repr=False)
    choice: Choice | None = field(default=None, repr=False)
    bayesian: Choice | None = field(default=None, repr=False)
    """The Bayesian test that gives posterior probabilities, if a rope was given."""
    also: tuple[tuple[Evidence, Ints, Signs], ...] = field(default=(), repr=False)
    """Evidence that intervals must cover as well, with the row and the sign of every pair."""
    bayesian_sample: Floats | None = field(default=None, repr=False)
    """The losses for it, if the Bayesian test needs other axes than `values` has."""
    results: Mapping[str, list[Any]] = field(default_factory=dict, repr=False)
    """Results of the test by alternative, if they were kept."""
    ends: tuple[float, Floats, Floats] | None = field(default=None, repr=False)
    """A level, and the intervals of all pairs at this level, if they were computed already."""

    @classmethod
    def of_pairs(
        cls, family: Family, *, pvalue: Floats, direction: npt.ArrayLike, **facts: Any
    ) -> Self:
        """Return the evidence about every pair of a family, adjusted over all of them."""
        first, second = family.pairs()
        adjusted, signs = family.adjust(pvalue), np.sign(direction).astype(np.int8)
        columns = {
            "first": first, "second": second, "pvalue": pvalue, "adjusted_pvalue": adjusted,
            "direction": signs, "better": signs * (adjusted <= family.alpha),
            "alternative": family.alternative,
        }  # fmt: skip
        return cls(family=family, **{**columns, **facts})

    def __len__(self) -> int:
        return len(self.first)

    @property
    def low(self) -> Floats:
        """Lower ends of the simultaneous intervals."""
        return self._intervals[0]

    @property
    def high(self) -> Floats:
        """Upper ends of the simultaneous intervals."""
        return self._intervals[1]

    @cached_property
    def posteriors(self) -> Mapping[str, Floats] | None:
        """P(first better), P(equivalent), P(second better), if a rope was given."""
        if self.bayesian is None:
            return None
        sample = self.values if self.bayesian_sample is None else self.bayesian_sample
        results = list(self._tested(self.bayesian, sample, "two-sided", np.arange(len(self))))
        return {
            name: self._joined([getattr(one, field) for one in results])
            for name, field in (("a_better", "left"), ("equivalent", "rope"), ("b_better", "right"))
        }

    @cached_property
    def _intervals(self) -> tuple[Floats, Floats]:
        """The intervals of the family; 0 is inside exactly if no difference is shown.

        A test may have a p-value and an interval that do not agree to the last digit.
        """
        if not self.family.has_intervals:
            return self._unknown_ends()
        low, high = self.intervals_at(self.family.interval_level())
        known = np.isfinite(low) | np.isfinite(high)
        ends_at_0 = np.where(self.better > 0, np.maximum(low, 0.0), np.minimum(low, 0.0))
        low = np.where(known, ends_at_0, low)
        ends_at_0 = np.where(self.better < 0, np.minimum(high, 0.0), np.maximum(high, 0.0))
        return low, np.where(known, ends_at_0, high)

    @cached_property
    def rows(self) -> npt.NDArray[np.int32]:
        """(K, K): the row of every two learners, in either order; -1 if they were not tested."""
        K = len(self.names)
        rows = np.full((K, K), -1, dtype=np.int32)
        rows[self.first, self.second] = rows[self.second, self.first] = np.arange(len(self))
        return rows

    def row(self, a: Name, b: Name) -> int | None:
        """Return the row of a pair, in either order; None if it was not tested."""
        row = int(self.rows[self.names.index(a), self.names.index(b)])
        return None if row < 0 else row

    def rows_of(self, name: Name) -> Ints:
        """Return the rows of the pairs of one learner."""
        index = self.names.index(name)
        return np.flatnonzero((self.first == index) | (self.second == index))

    def only(self, rows: Ints) -> Self:
        """Return the evidence about some pairs, with the p-values of the whole family."""
        columns: dict[str, Any] = {
            name: getattr(self, name)[rows]
            for name in ("first", "second", "estimate", "pvalue", "adjusted_pvalue",
                         "direction", "better")
        }  # fmt: skip
        part = self._result_of(rows)
        results = {} if part is None else {self.alternative: [part]}
        also = tuple((other, at[rows], sign[rows]) for other, at, sign in self.also)
        return replace(self, **columns, also=also, results=results, ends=None)

    def of_family(self, family: Family) -> Self:
        """Return the same tests, adjusted over another family of the same pairs."""
        adjusted = family.adjust(self.pvalue)
        better = (self.direction * (adjusted <= family.alpha)).astype(np.int8)
        other = replace(self, family=family, adjusted_pvalue=adjusted, better=better)
        if "posteriors" in vars(self):
            vars(other)["posteriors"] = self.posteriors
        return other

    def intervals_at(self, level: float, rows: Ints | None = None) -> tuple[Floats, Floats]:
        """Return the intervals of some pairs at a level; infinite for a test that has none."""
        at = slice(None) if rows is None else rows
        if self.ends is not None and self.ends[0] == level:
            low, high = (end[..., at] for end in self.ends[1:])
        else:
            low, high = self._test_intervals(level, rows)
        for other, other_rows, signs in self.also:
            sign, (least, most) = signs[at], other.intervals_at(level, other_rows[at])
            low = np.minimum(low, np.where(sign < 0, -most, least))
            high = np.maximum(high, np.where(sign < 0, -least, most))
        return low, high

    def overrides(self) -> Bools:
        """Return (..., K, K): j is shown to be better than i, which is preferred (i < j)."""
        K = len(self.names)
        matrix = np.zeros((*self.better.shape[:-1], K, K), dtype=bool)
        matrix[..., self.first, self.second] = self.better > 0
        return matrix

    def beaten(self) -> Bools:
        """Return (..., K, K): j is shown to be better than i."""
        matrix = self.overrides()
        matrix[..., self.second, self.first] = self.better < 0
        return matrix

    def claims(self) -> tuple[tuple[Name, Name], ...]:
        """Return (better, worse) of every significant pair."""
        rows = np.flatnonzero(self.better)
        first_better = self.better[rows] < 0
        winners = np.where(first_better, self.first[rows], self.second[rows])
        losers = np.where(first_better, self.second[rows], self.first[rows])
        return self._named(winners, losers)

    def edges(self) -> tuple[tuple[Name, Name], ...]:
        """Return (preferred, better) of every pair in which the data override the preference."""
        rows = np.flatnonzero(self.better > 0)
        return self._named(self.first[rows], self.second[rows])

    def _named(self, first: Ints, second: Ints) -> tuple[tuple[Name, Name], ...]:
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return tuple((self.names[i], self.names[j]) for i, j in pairs)

    def columns(self) -> dict[str, Any]:
        """Return one row per pair, in the user's metric: a difference is `a` minus `b`.

        Stepwise corrections have no intervals.
        """
        names: Any = np.array(self.names, dtype=object)
        better = names[np.where(self.better < 0, self.first, self.second)]
        better[self.better == 0] = None
        low, high = self.metric.interval(self.low, self.high)
        ends = {"low": low, "high": high} if self.family.has_intervals else {}
        return {
            "a": names[self.first],
            "b": names[self.second],
            "difference": self.metric.difference(self.estimate),
            **ends,
            "p": self.pvalue,
            "adjusted_p": self.adjusted_pvalue,
            "better": better,
            **(self.posteriors or {}),
        }

    def _tested(self, choice: Choice, values: Any, alternative: str, rows: Ints) -> Iterator[Any]:
        """Yield the results of a test on some pairs, as many at a time as fit into one call."""
        axis = self.pvalue.ndim - 1
        step = max(1, _LOSSES_AT_A_TIME // max(1, values.size // values.shape[axis]))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            a, b = (values.take(index[some], axis=axis) for index in (self.first, self.second))
            yield choice(a, b, alternative)

    def _results(self, alternative: str, rows: Ints | None = None) -> Iterable[Any]:
        """Return the results of the test; test the pairs only if there are no results yet."""
        if alternative in self.results:
            return self.results[alternative]
        if self.choice is None or self.values is None:
            return ()
        rows = np.arange(len(self)) if rows is None else rows
        return self._tested(self.choice, self.values, alternative, rows)

    def _result_of(self, rows: Ints) -> Any:
        """Return the part of the test's result about some pairs; None if there is none."""
        results = self.results.get(self.alternative, ())
        part = getattr(results[0], "of_pairs", None) if len(results) == 1 else None
        return None if part is None else part(rows)

    def _joined(self, parts: Sequence[Any]) -> Floats:
        """Return the values of several results as one array, of tables or of pairs."""
        if self.pvalue.ndim > 1:
            parts = [np.reshape(np.asarray(part, dtype=float), (-1, len(self))) for part in parts]
            return np.concatenate(parts)
        return np.concatenate([np.atleast_1d(np.asarray(part, dtype=float)) for part in parts])

    def _test_intervals(self, level: float, rows: Ints | None) -> tuple[Floats, Floats]:
        """Return the test's own intervals of some pairs; use its results, if there are any."""
        results: Any = self._results(self.alternative, rows)
        at: Any = slice(None)
        if rows is not None and isinstance(results, list):
            part = self._result_of(rows)
            results, at = (results, rows) if part is None else ([part], at)
        try:
            ends = [one.confidence_interval(level) for one in results]
        except (ArgumentError, AttributeError):
            ends = []
        if not ends:
            return self._unknown_ends(rows)
        low, high = (self._joined([one[side] for one in ends])[..., at] for side in (0, 1))
        return low, high

    def _unknown_ends(self, rows: Ints | None = None) -> tuple[Floats, Floats]:
        shape = (*self.pvalue.shape[:-1], len(self) if rows is None else len(rows))
        return np.full(shape, -np.inf), np.full(shape, np.inf)


# Missing losses: claim only what also holds with them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MissingLosses:
    """The losses that some learners lack, and the evidence if each of them is the worst.

    - `counts`: The number of units that each learner lacks; learners that lack none have no entry.
    - `units`: All units, including those that some learner lacks.
    - `unit`: ``"item"``, ``"instance"``, ``"data set"``, ``"run"`` or ``"fold"``.
    - `as_worst`: The evidence about all units, with the worst loss for each missing one.
    - `as_best`: The same with the best loss for each missing one, if it may be that; None if
      missing losses are failures.
    """

    counts: Mapping[Name, int]
    units: int
    unit: str
    as_worst: Evidence | None = field(default=None, repr=False)
    as_best: Evidence | None = field(default=None, repr=False)

    def revised(self, evidence: Evidence) -> Evidence:
        """Return the evidence that also holds with the missing losses."""
        for other in (self.as_worst, self.as_best):
            if other is not None:
                evidence = agreeing(evidence, other)
        return evidence


def filled_with_worst(values: Floats) -> Floats:
    """Replace each missing loss (K, ...) by the largest loss of the other learners there.

    A missing answer that may be right or wrong counts as wrong. A cell that every learner lacks
    stays missing.
    """
    missing = np.isnan(values)
    known = np.where(missing, -np.inf, values).max(axis=0)
    if np.isin(values[~missing], (0.0, 1.0)).all():
        known = np.where(np.isfinite(known), 1.0, known)
    worst = np.where(np.isfinite(known), known, np.nan)
    filled: Floats = np.where(missing, worst, values)
    return filled


def agreeing(evidence: Evidence, other: Evidence) -> Evidence:
    """Return the evidence that both hold: a pair differs only if both say so.

    Each p-value is the larger of the two, or 1 if the two favour different learners. Each interval
    covers both. A claim is then wrong only if both analyses are.
    """
    place = np.array([other.names.index(name) for name in evidence.names])
    first, second = place[evidence.first], place[evidence.second]
    at = other.rows[first, second]
    if not len(at) or (at < 0).any():
        return evidence
    sign = np.where(other.first[at] == first, 1, -1).astype(np.int8)
    same = evidence.direction == sign * other.direction[at]
    merged = replace(
        evidence,
        pvalue=np.where(same, np.maximum(evidence.pvalue, other.pvalue[at]), 1.0),
        also=(*evidence.also, (other, at, sign)),
    )
    return merged.of_family(evidence.family)
