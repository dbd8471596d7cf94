"""The family of hypotheses of a decision, and the evidence about every pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Bools, Floats, Ints, one_of, probability
from bestofk._base.errors import ArgumentError, use
from bestofk._base.results import (
    Presented,
    json_ready,
)
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS, adjust, pair_indices

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

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
        one_of(self.correction, "correction", tuple(CORRECTIONS))
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
_COLUMNS_IN_CACHE = ("standard_error", "greater", "less", "shown_statistic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior(Presented):
    """Probabilities about a pair, given the data and a region of practical equivalence."""

    a_better: float
    equivalent: float
    b_better: float

    def explain(self) -> str:
        """Return the probabilities in a sentence; `alpha` has no effect."""
        from bestofk.decide.statements.details import posterior_sentence

        return posterior_sentence(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Presented):
    """One row of the evidence; differences are of losses, `a` minus `b`."""

    a: Name
    b: Name
    estimate: float
    """Mean loss of `a` minus mean loss of `b`."""
    low: float
    high: float
    """Simultaneous interval of that difference; infinite if an end is open or unknown."""
    standard_error: float | None
    statistic: float
    pvalue_greater: float
    """One-sided, of H0: the loss of `a` is at most that of `b`."""
    pvalue_less: float
    pvalue: float
    """The alternative of the family: two-sided, or one-sided along the preference."""
    adjusted_pvalue: float
    better: Name | None
    """The learner that is shown to be better; None if no difference is shown."""
    posterior: Posterior | None = None
    metric: Metric = field(default_factory=Metric)
    shown_statistic: float | None = None
    """The statistic with the sign of the user's values; None: that of the losses."""

    @property
    def rejected(self) -> bool:
        """True if a claim is made about this pair."""
        return self.better is not None

    @property
    def verdict(self) -> str:
        """The claim in words."""
        return "no difference shown" if self.better is None else f"{self.better} is better"

    def explain(self) -> str:
        """Return the pair in a sentence, in the user's metric; `alpha` has no effect."""
        from bestofk.decide.statements.details import pair_sentence

        return pair_sentence(self)

    def _columns(self) -> dict[str, Any]:
        """Return one row, in the user's metric."""
        return {name: [cell] for name, cell in self.to_dict().items() if name != "posterior"}

    def to_dict(self) -> dict[str, Any]:
        """Return the row for strict JSON, in the user's metric; infinite values become null."""
        low, high = self.metric.interval(self.low, self.high)
        # "greater" refers to the user's values
        greater, less = self.pvalue_greater, self.pvalue_less
        if self.metric.higher_is_better:
            greater, less = less, greater
        row: dict[str, Any] = {
            "a": self.a,
            "b": self.b,
            "estimate": self.metric.difference(self.estimate),
            "low": _finite(low),
            "high": _finite(high),
            "standard_error": self.standard_error,
            "statistic": _finite(
                self.statistic if self.shown_statistic is None else self.shown_statistic
            ),
            "pvalue_greater": greater,
            "pvalue_less": less,
            "pvalue": self.pvalue,
            "adjusted_pvalue": self.adjusted_pvalue,
            "rejected": self.rejected,
            "better": self.better,
        }
        if not np.isfinite(self.statistic):
            row["degenerate"] = True
        if self.posterior is not None:
            row["posterior"] = self.posterior.to_dict()
        return row


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence(Presented):
    """The pairs that were tested, as parallel arrays; `first[p]` is preferred to `second[p]`.

    Attributes
    ----------
    names : tuple of names
        Learners in the order of preference, or of their means if no preference was stated.
    first, second : (P,) arrays of int
        The pairs, by index in `names`.
    estimate, statistic : (P,) arrays
        Mean loss of the first minus that of the second, and the statistic.
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
    standard_error, pvalue_greater, pvalue_less : (P,) arrays
        Computed at first use.
    """

    names: tuple[Name, ...]
    first: Ints
    second: Ints
    estimate: Floats
    statistic: Floats
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
    cache: dict[str, Any] = field(default_factory=dict, repr=False)
    """Values that are computed once."""

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[Pair]:
        return (self.pair(row) for row in range(len(self)))

    @property
    def rejected(self) -> Bools:
        """True if a claim is made about each pair."""
        return np.asarray(self.better != 0)

    @property
    def low(self) -> Floats:
        """Lower ends of the simultaneous intervals."""
        return self._intervals()[0]

    @property
    def high(self) -> Floats:
        """Upper ends of the simultaneous intervals."""
        return self._intervals()[1]

    @property
    def standard_error(self) -> Floats:
        """Standard errors of the differences; NaN for tests that have none."""
        values: Floats = self._once("standard_error", self._standard_errors)
        return values

    @property
    def pvalue_greater(self) -> Floats:
        """One-sided p-values of H0: the first has at most the loss of the second."""
        return self._one_sided("greater")

    @property
    def pvalue_less(self) -> Floats:
        """One-sided p-values of H0: the first has at least the loss of the second."""
        return self._one_sided("less")

    @property
    def shown_statistic(self) -> Floats:
        """The statistics, with the sign of the user's values if these are scores.

        Counts, rank sums and squares have no sign and do not change.
        """
        values: Floats = self._once("shown_statistic", self._shown_statistic)
        return values

    @property
    def posteriors(self) -> Mapping[str, Floats] | None:
        """P(first better), P(equivalent), P(second better), if a rope was given."""
        values: Mapping[str, Floats] | None = self._once("posteriors", self._posteriors)
        return values

    def row(self, a: Name, b: Name) -> int | None:
        """Return the row of a pair, in either order; None if it was not tested."""
        positions: dict[Name, int] = self._once("positions", self._positions)
        i, j = sorted((positions[a], positions[b]))
        order, keys = self._once("keys", self._keys)
        at = int(np.searchsorted(keys, i * len(self.names) + j))
        is_tested = at < len(keys) and keys[at] == i * len(self.names) + j
        return int(order[at]) if is_tested else None

    def rows_of(self, name: Name) -> Ints:
        """Return the rows of the pairs of one learner."""
        index = self.names.index(name)
        return np.flatnonzero((self.first == index) | (self.second == index))

    def only(self, rows: Ints) -> Self:
        """Return the evidence about some pairs, with the p-values of the whole family."""
        cache: dict[str, Any] = {
            name: value[rows] for name, value in self.cache.items() if name in _COLUMNS_IN_CACHE
        }
        if "intervals" in self.cache:
            cache["intervals"] = tuple(end[rows] for end in self.cache["intervals"])
        if "bayesian sample" in self.cache:
            cache["bayesian sample"] = self.cache["bayesian sample"]
        results = f"results {self.alternative}"
        if len(self.cache.get(results, ())) == 1:
            part = getattr(self.cache[results][0], "of_pairs", lambda _: None)(rows)
            # without the part, the pairs are tested again
            cache |= {} if part is None else {results: [part]}
        columns: dict[str, Any] = {
            one.name: value[rows]
            for one in fields(self)
            if one.name != "values" and isinstance(value := getattr(self, one.name), np.ndarray)
        }
        also = tuple((other, at[rows], sign[rows]) for other, at, sign in self.also)
        return replace(self, **columns, also=also, cache=cache)

    def of_family(self, family: Family) -> Self:
        """Return the same tests, adjusted over another family of the same pairs."""
        adjusted = family.adjust(self.pvalue)
        better = (self.direction * (adjusted <= family.alpha)).astype(np.int8)
        cache = {name: value for name, value in self.cache.items() if name != "intervals"}
        changes: dict[str, Any] = {"adjusted_pvalue": adjusted, "better": better}
        return replace(self, family=family, cache=cache, **changes)

    def intervals_at(self, level: float, rows: Ints) -> tuple[Floats, Floats]:
        """Return the intervals of some pairs at a level; infinite for a test that has none."""
        part = self if len(rows) == len(self) else self.only(rows)
        known = self.cache.get("ends")
        if known is not None and known[0] == level:
            low, high = known[1][rows], known[2][rows]
        elif (results := f"results {self.alternative}") in self.cache and results not in part.cache:
            # do not test the pairs again
            low, high = (end[rows] for end in self._test_intervals(level))
        else:
            low, high = part._test_intervals(level)
        for other, at, sign in part.also:
            ends = other.intervals_at(level, at)
            low = np.minimum(low, np.where(sign < 0, -ends[1], ends[0]))
            high = np.maximum(high, np.where(sign < 0, -ends[0], ends[1]))
        return low, high

    def pair(self, row: int) -> Pair:
        """Return the pair of one row."""
        better = int(self.better[row])
        a, b = self.names[self.first[row]], self.names[self.second[row]]
        error = float(self.standard_error[row])
        posteriors = self.posteriors
        return Pair(
            a=a,
            b=b,
            estimate=float(self.estimate[row]),
            low=float(self.low[row]),
            high=float(self.high[row]),
            standard_error=error if np.isfinite(error) else None,
            statistic=float(self.statistic[row]),
            pvalue_greater=float(self.pvalue_greater[row]),
            pvalue_less=float(self.pvalue_less[row]),
            pvalue=float(self.pvalue[row]),
            adjusted_pvalue=float(self.adjusted_pvalue[row]),
            better=None if not better else a if better < 0 else b,
            posterior=None
            if posteriors is None
            else Posterior(**{name: float(p[row]) for name, p in posteriors.items()}),
            metric=self.metric,
            shown_statistic=float(self.shown_statistic[row]),
        )

    def overrides(self) -> Bools:
        """Return (K, K): the data override the preference between i and j (i < j)."""
        matrix = np.zeros((len(self.names),) * 2, dtype=bool)
        rows = self.better > 0
        matrix[self.first[rows], self.second[rows]] = True
        return matrix

    def shown(self) -> Bools:
        """Return (K, K): i is shown to be better than j."""
        matrix = self.overrides().T
        rows = self.better < 0
        matrix[self.first[rows], self.second[rows]] = True
        return matrix

    def claims(self) -> tuple[tuple[Name, Name], ...]:
        """Return (better, worse) of every significant pair."""
        rows = np.flatnonzero(self.better)
        first_better = self.better[rows] < 0
        winners = np.where(first_better, self.first[rows], self.second[rows])
        losers = np.where(first_better, self.second[rows], self.first[rows])
        names = self.names
        return tuple(
            (names[i], names[j]) for i, j in zip(winners.tolist(), losers.tolist(), strict=True)
        )

    def edges(self) -> tuple[tuple[Name, Name], ...]:
        """Return (preferred, better) of every pair in which the data override the preference."""
        rows, names = np.flatnonzero(self.better > 0), self.names
        pairs = zip(self.first[rows].tolist(), self.second[rows].tolist(), strict=True)
        return tuple((names[i], names[j]) for i, j in pairs)

    def explain(self) -> str:
        """Return which pairs are shown to differ, in sentences."""
        from bestofk.decide.statements.details import evidence_sentences

        return evidence_sentences(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence for strict JSON, in the user's metric: one object per pair."""
        return {
            "learners": list(self.names),
            "family": self.family.name,
            "correction": self.family.correction,
            "alpha": self.family.alpha,
            "alternative": self.alternative,
            "metric": json_ready({"name": self.metric.name,
                                  "higher_is_better": self.metric.higher_is_better}),
            "rope": self.rope,
            "pairs": [pair.to_dict() for pair in self],
        }  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per pair, in the user's metric."""
        import pandas as pd

        names: npt.NDArray[np.object_] = np.array(self.names, dtype=object)
        low, high = self.metric.interval(self.low, self.high)
        winner = np.where(self.better < 0, self.first, self.second)
        columns = {
            "a": names[self.first],
            "b": names[self.second],
            "estimate": self.metric.difference(self.estimate),
            "low": low,
            "high": high,
            "statistic": self.shown_statistic,
            "pvalue": self.pvalue,
            "adjusted_pvalue": self.adjusted_pvalue,
            "rejected": self.rejected,
            # object dtype, so that None is kept
            "better": pd.Series(
                [
                    None if not better else names[k]
                    for better, k in zip(self.better, winner, strict=True)
                ],
                dtype=object,
            ),
        }
        posteriors = self.posteriors
        return pd.DataFrame(columns if posteriors is None else {**columns, **posteriors})

    def _once(self, name: str, make: Any) -> Any:
        if name not in self.cache:
            self.cache[name] = make()
        return self.cache[name]

    def _positions(self) -> dict[Name, int]:
        return {name: position for position, name in enumerate(self.names)}

    def _keys(self) -> tuple[Ints, Ints]:
        """Return the rows in the order of their keys, and these keys: first * K + second."""
        keys = self.first * len(self.names) + self.second
        order = np.arange(len(keys))
        if (np.diff(keys) <= 0).any():
            order = np.argsort(keys)
        return order, keys[order]

    def _blocks(self, values: Floats) -> Iterator[slice]:
        """Yield the rows of pairs that fit into one call."""
        step = max(1, _LOSSES_AT_A_TIME // max(1, values[0].size))
        return (slice(start, start + step) for start in range(0, len(self), step))

    def _results(self, alternative: str) -> Iterator[Any]:
        """Yield the results of the test, some pairs at a time; use cached results if any."""
        choice, values = self.choice, self.values
        results = self.cache.get(f"results {alternative}")
        if results is not None:
            yield from results
            return
        if choice is None or values is None:
            return
        for rows in self._blocks(values):
            yield choice(values[self.first[rows]], values[self.second[rows]], alternative)

    def _one_sided(self, alternative: str) -> Floats:
        if alternative == self.alternative:
            return self.pvalue
        values: Floats = self._once(alternative, lambda: self._one_sided_pvalues(alternative))
        return values

    def _one_sided_pvalues(self, alternative: str) -> Floats:
        merged = self.also and self.alternative == "two-sided"
        if self.choice is None or self.choice.two_sided_only or merged:
            # the favoured side gets half of the two-sided p-value, the other side the rest
            side = self.direction * (1 if alternative == "greater" else -1)
            half = self.pvalue / 2.0
            return np.where(side > 0, half, np.where(side < 0, 1.0 - half, 1.0))
        parts = [np.asarray(one.pvalue, dtype=float) for one in self._results(alternative)]
        pvalues = np.concatenate(parts) if parts else np.zeros(0)
        opposite = "less" if alternative == "greater" else "greater"
        for other, at, sign in self.also:
            same, reverse = (other._one_sided(side)[at] for side in (alternative, opposite))
            pvalues = np.maximum(pvalues, np.where(sign < 0, reverse, same))
        return pvalues

    def _standard_errors(self) -> Floats:
        parts = []
        for one in self._results(self.alternative):
            error = getattr(one, "standard_error", None)
            if error is None:
                return np.full(len(self), np.nan)
            parts.append(np.atleast_1d(np.asarray(error, dtype=float)))
        return np.concatenate(parts) if parts else np.full(len(self), np.nan)

    def _shown_statistic(self) -> Floats:
        if not self.metric.higher_is_better or not len(self):
            return self.statistic
        negated: Floats = 0.0 - self.statistic
        if self.choice is None or self.values is None:
            return negated if (self.statistic < 0).any() else self.statistic
        # swap one pair to see whether the statistic has a sign
        row = int(np.abs(self.statistic).argmax())
        opposite = {"greater": "less", "less": "greater"}.get(self.alternative, self.alternative)
        a, b = self.values[self.second[row]], self.values[self.first[row]]
        swapped = float(np.asarray(self.choice(a, b, opposite).statistic))
        expected = negated[row]
        signed = swapped == expected or abs(swapped - expected) <= 1e-9 * abs(swapped)
        return negated if signed else self.statistic

    def _posteriors(self) -> Mapping[str, Floats] | None:
        if self.bayesian is None:
            return None
        sample: Any = self.cache.get("bayesian sample", self.values)
        choice = self.bayesian
        parts = [
            choice(sample[self.first[rows]], sample[self.second[rows]], "two-sided")
            for rows in self._blocks(sample)
        ]
        return {
            name: np.concatenate([np.atleast_1d(getattr(one, field)) for one in parts])
            for name, field in (("a_better", "left"), ("equivalent", "rope"), ("b_better", "right"))
        }

    def _intervals(self) -> tuple[Floats, Floats]:
        values: tuple[Floats, Floats] = self._once("intervals", self._make_intervals)
        return values

    def _make_intervals(self) -> tuple[Floats, Floats]:
        """Return the intervals of the family; 0 is inside exactly if no difference is shown.

        A test may have a p-value and an interval that do not agree to the last digit.
        """
        if not self.family.has_intervals:
            return np.full(len(self), -np.inf), np.full(len(self), np.inf)
        low, high = self.intervals_at(self.family.interval_level(), np.arange(len(self)))
        known = np.isfinite(low) | np.isfinite(high)
        ends_at_0 = np.where(self.better > 0, np.maximum(low, 0.0), np.minimum(low, 0.0))
        low = np.where(known, ends_at_0, low)
        ends_at_0 = np.where(self.better < 0, np.minimum(high, 0.0), np.maximum(high, 0.0))
        return low, np.where(known, ends_at_0, high)

    def _test_intervals(self, level: float) -> tuple[Floats, Floats]:
        lows, highs = [], []
        try:
            for one in self._results(self.alternative):
                low, high = one.confidence_interval(level)
                lows.append(np.atleast_1d(np.asarray(low, dtype=float)))
                highs.append(np.atleast_1d(np.asarray(high, dtype=float)))
        except (ArgumentError, AttributeError):
            lows = []
        if not lows:
            return np.full(len(self), -np.inf), np.full(len(self), np.inf)
        return np.concatenate(lows), np.concatenate(highs)
