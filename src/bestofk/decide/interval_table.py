"""Test and order learners whose losses are known up to intervals.

The intervals come from a table with the columns low and high, or from repetitions.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, one_of, probability
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError, use
from bestofk._base.formatting import joined, number
from bestofk._base.results import Presented, Reported, json_ready, row_dicts
from bestofk.data.frames import as_pandas
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Table
from bestofk.decide.preference import PreferenceLike, arrange
from bestofk.decide.procedures.multitest import sort_by_overrides
from bestofk.losses.losses import Losses, Metric
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.interval_tests import INTERVAL_TESTS, interval_test, interval_words
from bestofk.stats.multiple.interval_bootstrap import (
    BootstrapBResult,
    bootstrap_b,
    interval_convergence,
    repetition_intervals,
)

LEARNER_COLUMNS = ("learner", "algorithm", "model", "classifier", "method")
TESTS = (*INTERVAL_TESTS, "bootstrap-b")
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Shares of repetitions in nested intervals."""
FUZZY = "fuzzy"
MAX_LISTED_PAIRS = 15
"""An explanation of more pairs lists only those of the recommended learner."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalTable:
    """Intervals of losses: `ends` has the shape (2, learners, units)."""

    learners: tuple[str, ...]
    units: tuple[str, ...]
    ends: Floats
    metric: Metric = field(default_factory=Metric)
    notes: tuple[str, ...] = ()
    """Sentences about the intervals, such as their width by the number of repetitions."""


def read_interval_table(
    source: Any, *, higher_is_better: bool | None = None
) -> IntervalTable | None:
    """Read a table with the columns `low` and `high`; None if it does not have them.

    - `source`: A learner column (``learner``, ``algorithm``, ``model``, ...), ``low`` and ``high``.
      The other columns, such as ``dataset`` and ``fold``, name the unit of a row. A number has
      equal ends, so learners with numbers and with intervals can be mixed.
    - `higher_is_better`: True: the numbers are scores. By default they are losses.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("net", 1, 0.2, 0.3), ("net", 2, 0.3, 0.4), ("tree", 1, 0.2, 0.2),
    ...         ("tree", 2, 0.3, 0.3)]
    >>> table = read_interval_table(pd.DataFrame(rows, columns=["learner", "set", "low", "high"]))
    >>> table.learners, table.ends.shape
    (('net', 'tree'), (2, 2, 2))
    """
    table = table_of(source)
    if table is None or not {"low", "high"} <= set(table.columns):
        return None
    named = [name for name in LEARNER_COLUMNS if name in table.columns]
    if not named:
        raise TableError(
            f"{table.source}: a table of intervals needs a learner column, named "
            f"{', '.join(LEARNER_COLUMNS)}; got {', '.join(table.columns)}."
        )
    learners = table.levels(named[0])
    others = [c for c in table.columns if c not in (named[0], "low", "high")]
    keys = list(zip(*(table.levels(column).codes for column in others), strict=True))
    units = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    ends = np.full((2, len(learners.names), max(len(units), 1)), np.nan)
    rows = np.array([units[key] for key in keys]) if keys else np.zeros(table.n_rows, dtype=int)
    for k, column in enumerate(("low", "high")):
        ends[k, learners.codes, rows] = table.numbers(column)
    filled = np.zeros(ends.shape[1:], dtype=np.int64)
    np.add.at(filled, (learners.codes, rows), 1)
    if (filled != 1).any() or np.isnan(ends).any():
        raise TableError(
            f"{table.source}: every learner needs one row per {' and '.join(others) or 'unit'}."
        )
    if (ends[0] > ends[1]).any():
        raise TableError(f"{table.source}: low must not be above high.")
    if higher_is_better:
        ends = -ends[::-1]
    names = [" ".join(map(str, key)) for key in units]
    return IntervalTable(
        learners=learners.names,
        units=tuple(names),
        ends=ends,
        metric=SCORES if higher_is_better else Metric(),
        notes=(_SHARED_ROWS,) if {"fold", "run"} & set(others) else (),
    )


def repetition_table(losses: Losses, interval: Any = "central") -> IntervalTable:
    """Return one interval per learner and unit from the repetitions of a table of losses.

    The units are the data sets if there are several (an interval is then the mean of those of its
    splits), else the splits. See `bootstrap_b` for `interval`.

    Examples
    --------
    >>> import bestofk as bk
    >>> table = np.arange(24.0).reshape(2, 3, 4)
    >>> losses = bk.Losses(table, dims=("algorithm", "fold", "repetition"), algorithms=["a", "b"])
    >>> repetition_table(losses, "interquartile").ends[:, 0].tolist()
    [[0.75, 4.75, 8.75], [2.25, 6.25, 10.25]]
    """
    if not losses.complete:
        raise ArgumentError("Intervals of repetitions need a complete table; use ",
                            use(missing="drop"), ".")  # fmt: skip
    K, D = losses.values.shape[:2]
    cells = losses.values.reshape(K, D, -1, losses.values.shape[-1])
    ends = repetition_intervals(cells, interval)
    if cells.shape[-1] == 1:
        notes = ["There is one repetition per split, so every interval has width 0."]
    else:
        widths = interval_convergence(cells, interval).items()
        texts = ", ".join(f"{number(width)} with {count}" for count, width in widths)
        notes = [f"Mean width of the intervals by number of repetitions: {texts}."]
    if D == 1:
        notes.append(_SHARED_ROWS)
        units = [f"split {k + 1}" for k in range(ends.shape[3])]
        ends = ends[:, :, 0]
    else:
        units, ends = list(losses.datasets), ends.mean(axis=3)
    return IntervalTable(
        learners=losses.algorithms, units=tuple(units), ends=ends, metric=losses.metric,
        notes=tuple(notes),
    )  # fmt: skip


_SHARED_ROWS = (
    "The units are splits of the same rows, whose training sets overlap; these tests treat them as "
    "independent, so their p-values are too small."
)
SCORES = Metric(name="score", higher_is_better=True)


_PRINTED_WORDS = {
    "significant": "significant whatever the items were",
    "not significant": "cannot be significant",
    "inconclusive": "needs the items",
}
"""Verdicts on pairs of a printed table."""


def table_of(source: Any) -> Table | None:
    source = as_pandas(source, "table")
    if hasattr(source, "columns") and hasattr(source, "to_dict"):
        columns = {str(name): source[name].tolist() for name in source.columns}
        return Table.from_columns(columns, source="the data frame")
    if isinstance(source, str | os.PathLike) and Path(source).is_file():
        return read_table(source)
    return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestedIntervals(Presented):
    """One paired test on intervals for all pairs of learners.

    `pvalues` and `adjusted_pvalues` (pairs, 2) hold the smallest and largest p-value.
    """

    __test__ = False

    test: str
    pairs: tuple[tuple[str, str], ...]
    pvalues: Floats
    adjusted_pvalues: Floats
    estimates: Floats
    verdicts: tuple[str, ...]
    correction: str
    alpha: float
    metric: Metric = field(default_factory=Metric)
    notes: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    """The share of repetitions in the intervals of each row, if they are nested."""
    items: int | None = None
    """The number of items of a printed table, which does not say how they were answered."""

    @property
    def pvalue(self) -> Floats:
        """The largest p-value of each pair."""
        return self.pvalues[:, 1]

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair (and share)."""
        low, high = self.metric.interval(*self.estimates.T)
        return {
            "a": [a for a, _ in self.pairs],
            "b": [b for _, b in self.pairs],
            **({"share": list(self.shares)} if self.shares else {}),
            "difference_low": low,
            "difference_high": high,
            "pvalue_low": self.pvalues[:, 0],
            "pvalue_high": self.pvalues[:, 1],
            "adjusted_pvalue_low": self.adjusted_pvalues[:, 0],
            "adjusted_pvalue_high": self.adjusted_pvalues[:, 1],
            "verdict": self.verdicts,
        }

    def method(self) -> str:
        """Return the test, the level and the correction in a sentence."""
        source = "intervals of losses" if self.items is None else "all answers that fit the table"
        return (
            f"{self.test} on {source}, alpha = {self.alpha:g}, adjusted with "
            f"{CORRECTIONS[self.correction].words}."
        )

    def explain(self) -> str:
        """Describe every pair in a sentence."""
        lines = [self.method()]
        words = {} if self.items is None else _PRINTED_WORDS
        shares = [f", intervals of {100 * share:g} %" for share in self.shares]
        lines += [
            f"{a} and {b}{share}: {words.get(verdict, verdict)} ({interval_words(p)}, "
            f"adjusted {interval_words(q)})."
            for (a, b), share, verdict, p, q in zip(
                self.pairs, shares or [""] * len(self.pairs), self.verdicts, self.pvalues,
                self.adjusted_pvalues, strict=True,
            )
        ]  # fmt: skip
        return "\n".join([*lines, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs for strict JSON."""
        return {
            "test": self.test, "alpha": self.alpha, "correction": self.correction,
            "pairs": row_dicts(self._columns()),
        }  # fmt: skip


def run_interval_test(
    table: IntervalTable,
    test: str = "wilcoxon",
    *,
    pair: tuple[str, str] | None = None,
    alternative: str = "two-sided",
    correction: str = "holm",
    alpha: float = 0.05,
) -> TestedIntervals | BootstrapBResult:
    """Run one test on a table of intervals: a paired test on all pairs, or Bootstrap-B.

    Both ends of the p-values are adjusted. A pair is significant if the largest adjusted p-value
    is at most `alpha`, not significant if the smallest is above it, else inconclusive.
    """
    one_of(test, "test on intervals", TESTS)
    one_of(correction, "correction", tuple(CORRECTIONS))
    alpha = probability(alpha, "alpha")
    if test not in INTERVAL_TESTS:
        return bootstrap_b(intervals=table.ends, alpha=alpha, names=table.learners)
    for name in pair or ():
        if name not in table.learners:
            raise UnknownNameError("learner", name, list(table.learners))
    pairs = tuple(combinations(table.learners, 2)) if pair is None else (pair,)
    i, j = (np.array([table.learners.index(one[k]) for one in pairs]) for k in (0, 1))
    result = interval_test(
        table.ends[:, i], table.ends[:, j], test=test, alternative=alternative, alpha=alpha
    )
    return judged_intervals(
        test, pairs, result.pvalues, result.estimates, correction=correction, alpha=alpha,
        metric=table.metric, notes=table.notes,
    )  # fmt: skip


def judged_intervals(
    test: str,
    pairs: tuple[tuple[str, str], ...],
    pvalues: Floats,
    estimates: Floats,
    *,
    correction: str,
    alpha: float,
    metric: Metric,
    notes: tuple[str, ...] = (),
    items: int | None = None,
) -> TestedIntervals:
    """Adjust both ends of the p-values (pairs, 2), and say which pairs are significant."""
    adjusted = adjust(pvalues.T, correction).T
    low, high = adjusted.T
    words = np.where(high <= alpha, "significant", "inconclusive")
    return TestedIntervals(
        test=test,
        pairs=pairs,
        pvalues=pvalues,
        adjusted_pvalues=adjusted,
        estimates=estimates,
        verdicts=tuple(np.where(low > alpha, "not significant", words).tolist()),
        correction=correction,
        alpha=alpha,
        metric=metric,
        notes=notes,
        items=items,
    )


def run_fuzzy_test(
    losses: Any, test: str = "wilcoxon", *, shares: tuple[float, ...] = SHARES, **options: Any
) -> TestedIntervals:
    """Run a paired test on nested central intervals of the repetitions: a fuzzy p-value.

    A share of 0.5 is the interquartile range. The intervals of p are nested too, so you need not
    choose one width. `options` are those of `run_interval_test`.
    """
    one_of(test, "test on intervals", INTERVAL_TESTS)
    if not isinstance(losses, Losses):
        raise ArgumentError("Nested intervals need Losses with repetitions.")
    parts = []
    for share in shares:
        table = repetition_table(losses, ((1 - share) / 2, (1 + share) / 2))
        part = run_interval_test(table, test, **options)
        assert isinstance(part, TestedIntervals)
        parts.append(part)
    # one block per pair, the shares ascending
    rows = np.arange(len(parts) * len(parts[0].pairs)).reshape(len(parts), -1).T.ravel().tolist()
    pairs, verdicts = ([x for part in parts for x in getattr(part, name)]
                       for name in ("pairs", "verdicts"))  # fmt: skip
    p, q, estimates = (
        np.concatenate([getattr(part, name) for part in parts])[rows]
        for name in ("pvalues", "adjusted_pvalues", "estimates")
    )
    return replace(
        parts[0],
        pairs=tuple(pairs[row] for row in rows),
        verdicts=tuple(verdicts[row] for row in rows),
        pvalues=p,
        adjusted_pvalues=q,
        estimates=estimates,
        shares=shares * len(parts[0].pairs),
        notes=(),
    )


# The order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalDecision(Reported):
    """The order of learners whose losses are known up to intervals.

    Attributes
    ----------
    recommended : str
        The most preferred learner (without a preference, that with the best mean) that no other
        one is significantly better than.
    ranking : tuple of str
        All learners, by taking the recommended one of the rest again and again.
    verdict : str
        ``"decided"`` if every other learner is significantly worse than the recommended one,
        ``"inconclusive"`` if the intervals are too wide to tell for at least one, else
        ``"undecided"``: some are not shown to differ, whatever the losses inside the intervals.
    means : mapping of name to (float, float)
        Mean lower and upper end, in the metric of the table.
    tested : TestedIntervals
        The pairs, with intervals of p-values.
    """

    recommended: str
    ranking: tuple[str, ...]
    verdict: str
    means: Mapping[str, tuple[float, float]]
    metric: Metric
    tested: TestedIntervals

    @property
    def pvalue(self) -> Floats:
        """The largest p-value of each pair."""
        return self.tested.pvalue

    to_frame = Presented.to_frame
    title = "The pairs"

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return self.tested._columns()

    def _tables(self) -> dict[str, dict[str, Any]]:
        """Return the columns of the tables of a report by title."""
        ends = np.array([self.means[name] for name in self.ranking])
        columns = {"low": ends[:, 0], "high": ends[:, 1]}
        if (ends[:, 0] == ends[:, 1]).all():
            columns = {self.metric.mean: ends[:, 0]}
        means = {"learner": list(self.ranking), **columns}
        return {"The order": means, "The pairs": self._columns()}

    def against(self, verdict: str) -> tuple[str, ...]:
        """Return the learners whose pair with the recommended one has this verdict."""
        return tuple(
            (set(pair) - {self.recommended}).pop()
            for pair, one in zip(self.tested.pairs, self.tested.verdicts, strict=True)
            if self.recommended in pair and one == verdict
        )

    def sentences(self) -> list[str]:
        """Return the verdict, the method, and the notes."""
        return [self._verdict(), self.tested.method(), *self.tested.notes]

    def _verdict(self) -> str:
        low, high = (number(end) for end in self.means[self.recommended])
        mean = low if low == high else f"{low} to {high}"
        own = self.means[self.recommended]
        equal = [name for name in self.ranking[1:] if self.means[name] == own]
        same = f"; {joined(equal)} {'has' if len(equal) == 1 else 'have'} the same" if equal else ""
        lines = [f"Use {self.recommended} ({self.metric.mean} {mean}{same})."]
        it = self.recommended if equal else "It"
        certain = "" if self.tested.items is None else ", whatever the items were"
        if worse := self.against("significant"):
            lines.append(f"{it} is significantly better than {joined(list(worse))}{certain}.")
        if others := self.against("not significant"):
            differs = "cannot be shown" if certain else "is not shown"
            lines.append(f"{it} {differs} to differ from {joined(list(others))}.")
        others = self.against("inconclusive")
        if others and certain:
            lines.append(
                f"Whether it differs from {joined(list(others))} needs the answers to the "
                f"{self.tested.items} items: 'bestofk evals' reads them."
            )
        elif others:
            lines.append(
                f"Inconclusive: whether it differs from {joined(list(others))} depends on the "
                "losses inside the intervals. Narrower intervals or more units can decide this."
            )
        return " ".join(lines)

    def explain(self) -> str:
        """Describe the recommendation and every pair in sentences."""
        tested = self.tested
        if len(tested.pairs) > MAX_LISTED_PAIRS and not tested.shares:
            rows = [k for k, pair in enumerate(tested.pairs) if self.recommended in pair]
            tested = replace(
                tested,
                pairs=tuple(tested.pairs[k] for k in rows),
                verdicts=tuple(tested.verdicts[k] for k in rows),
                pvalues=tested.pvalues[rows],
                adjusted_pvalues=tested.adjusted_pvalues[rows],
                estimates=tested.estimates[rows],
                notes=(*tested.notes, f"The other pairs of {len(tested.pairs)} are in the JSON."),
            )
        return f"{self._verdict()}\n{tested.explain()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the decision for strict JSON."""
        return {
            "recommended": self.recommended, "ranking": list(self.ranking),
            "verdict": self.verdict, "means": json_ready(dict(self.means)), **self.tested.to_dict(),
        }  # fmt: skip


def order_intervals(
    losses: Any,
    *,
    interval: Any = None,
    test: str = "wilcoxon",
    prefer: PreferenceLike = None,
    correction: str = "holm",
    alpha: float = 0.05,
    higher_is_better: bool | None = None,
) -> IntervalDecision:
    """Order learners whose losses are intervals; a comparison can be inconclusive.

    Parameters
    ----------
    losses : path, data frame, Losses or Study
        A table with the columns ``low`` and ``high`` (see `read_interval_table`), or losses with
        repetitions.
    interval : str, tuple or callable, optional
        How repetitions become an interval, as for `bootstrap_b`; ``"central"`` by default.
    test : {"wilcoxon", "paired-t", "sign"}
        The paired test.
    prefer : sequence of names, mapping of name to price, or "listed", optional
        As for `bestofk.order`.
    correction, alpha
        For all pairs.
    higher_is_better : bool, optional
        The ends of a file or data frame are scores. By default they are losses.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(name, d, d / 20 + shift, d / 20 + shift + width) for d in range(8)
    ...         for name, shift, width in (("net", 0.10, 0.08), ("tree", 0.15, 0.0),
    ...                                    ("max", 0.40, 0.0))]
    >>> frame = pd.DataFrame(rows, columns=["learner", "dataset", "low", "high"])
    >>> decision = order_intervals(frame)
    >>> decision.recommended, decision.verdict, decision.against("inconclusive")
    ('net', 'inconclusive', ('tree',))
    """
    one_of(test, "test on intervals", INTERVAL_TESTS)
    table = interval_table(losses, interval, higher_is_better=higher_is_better)
    if len(table.learners) < 2:
        raise ArgumentError(f"losses must hold at least 2 learners; got {len(table.learners)}.")
    tested = run_interval_test(table, test, correction=correction, alpha=alpha)
    assert isinstance(tested, TestedIntervals)
    return interval_decision(table.learners, table.ends.mean(axis=2), tested, prefer)


def interval_decision(
    learners: tuple[str, ...], means: Floats, tested: TestedIntervals, prefer: PreferenceLike
) -> IntervalDecision:
    """Return the decision from the tested pairs and the ends (2, learners) of the mean losses."""
    by_preference = arrange(learners, prefer, means.mean(axis=0))[0]
    rank = {learners[k]: at for at, k in enumerate(by_preference)}
    overrides = np.zeros((len(rank), len(rank)), dtype=np.bool_)
    for (a, b), verdict, ends in zip(tested.pairs, tested.verdicts, tested.estimates, strict=True):
        better, worse = (a, b) if ends.sum() < 0 else (b, a)
        if verdict == "significant" and rank[better] > rank[worse]:
            overrides[rank[worse], rank[better]] = True
    ranking = tuple(learners[by_preference[k]] for k in sort_by_overrides(overrides))
    verdicts = {
        one for pair, one in zip(tested.pairs, tested.verdicts, strict=True) if ranking[0] in pair
    }
    shown = np.sort(tested.metric.shown(means), axis=0).T.tolist()
    return IntervalDecision(
        recommended=ranking[0],
        ranking=ranking,
        verdict="inconclusive" if "inconclusive" in verdicts
        else "decided" if verdicts == {"significant"} else "undecided",
        means={name: (low, high) for name, (low, high) in zip(learners, shown, strict=True)},
        metric=tested.metric,
        tested=tested,
    )  # fmt: skip


def interval_table(
    losses: Any, interval: Any = None, *, higher_is_better: bool | None = None
) -> IntervalTable:
    """Return the intervals of a file, data frame, Losses or Study."""
    table = getattr(losses, "losses", losses)
    if isinstance(table, Losses):
        return repetition_table(table, "central" if interval is None else interval)
    if interval is not None:
        raise ArgumentError(
            "interval turns repetitions into intervals; a table with low and high has them."
        )
    if not isinstance(losses, IntervalTable):
        losses = read_interval_table(losses, higher_is_better=higher_is_better)
    if not isinstance(losses, IntervalTable):
        raise ArgumentError(
            "losses must be a table with a learner column, low and high, or Losses with "
            "repetitions."
        )
    return losses
