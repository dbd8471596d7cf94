"""Test and order learners whose losses are known up to intervals.

The intervals come from a table with the columns low and high, or from repetitions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, one_of, significance_level
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError, use
from bestofk._base.formatting import number, shortened
from bestofk._base.results import Presented, Reported, row_dicts
from bestofk.data.frames import as_pandas
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Table
from bestofk.decide.decision import Decision
from bestofk.decide.from_pairs import decide_from_pairs, shown_columns, standing_lines
from bestofk.decide.preference import Name, PreferenceLike, arrange
from bestofk.decide.statements.wording import MAX_NAMED
from bestofk.losses.losses import Losses, Metric
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.interval_tests import INTERVAL_TESTS, interval_test, interval_words
from bestofk.stats.multiple.interval_bootstrap import (
    BootstrapBResult,
    bootstrap_b,
    interval_convergence,
    repetition_intervals,
)
from bestofk.stats.pairwise.result import Interval, PairwiseResult

LEARNER_COLUMNS = ("learner", "algorithm", "model", "classifier", "method")
TESTS = (*INTERVAL_TESTS, "bootstrap-b")
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Shares of repetitions in nested intervals."""
FUZZY = "fuzzy"


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
    interval: Callable[[float], Floats] | None = field(default=None, repr=False)
    """Returns the intervals (pairs, 2) of the differences at a level; None if there are none."""

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

    def basis(self) -> str:
        """Return the test, what it was applied to, and the level."""
        source = "intervals of losses" if self.items is None else "all answers that fit the table"
        return f"{self.test} on {source}, alpha = {self.alpha:g}"

    def method(self) -> str:
        """Return the test, the level and the correction in a sentence."""
        return f"{self.basis()}, adjusted with {CORRECTIONS[self.correction].words}."

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
    alpha = significance_level(alpha)
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
    interval: Callable[[float], Floats] | None = None,
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
        interval=interval,
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


# The decision


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalDecision(Reported):
    """The learners that may be the best if losses are known up to intervals.

    Attributes
    ----------
    decision : Decision
        The statement about the best. A learner is ruled out only if it is so for all losses inside
        the intervals.
    means : mapping of name to (float, float)
        Mean lower and upper end, in the metric of the table.
    tested : TestedIntervals
        The pairs, with intervals of p-values: the second view.
    """

    decision: Decision
    means: Mapping[str, tuple[float, float]]
    tested: TestedIntervals

    @property
    def recommended(self) -> Name | None:
        """The most preferred learner that may be the best; without a preference, by its mean."""
        return self.decision.recommended

    @property
    def ranking(self) -> tuple[Name, ...]:
        """All learners, the recommended one first."""
        return self.decision.ranking

    @property
    def candidates(self) -> tuple[Name, ...]:
        """The learners that may be the best, best mean first."""
        return self.decision.candidates

    @property
    def metric(self) -> Metric:
        """The metric of the table."""
        return self.tested.metric

    @property
    def pvalue(self) -> Floats:
        """The largest p-value of each pair."""
        return self.tested.pvalue

    title = "The learners"

    def _columns(self) -> dict[str, Any]:
        """Return one row per learner."""
        rows = self.decision.standings
        ends = np.array([self.means[str(row.name)] for row in rows])
        columns = {"low": ends[:, 0], "high": ends[:, 1]}
        if (ends[:, 0] == ends[:, 1]).all():
            columns = {"mean": ends[:, 0]}
        return {
            "name": [row.name for row in rows],
            **columns,
            "at_least": [row.at_least for row in rows],
            "at_most": [row.at_most for row in rows],
            "verdict": [row.verdict for row in rows],
        }

    def _tables(self) -> dict[str, dict[str, Any]]:
        """Return the columns of the tables of a report by title."""
        rows = shown_columns(self.decision, self._columns())
        return {f"The {self.decision.noun}s": rows, "The pairs": self.tested._columns()}

    def cells(self) -> dict[str, dict[str, str]]:
        """Return the intervals of the means, by title and learner, for the printed table."""
        if all(low == high for low, high in self.means.values()):
            return {}
        texts = {name: " to ".join(map(number, ends)) for name, ends in self.means.items()}
        return {"from low to high": texts}

    def undecided(self) -> tuple[Name, ...]:
        """Return the candidates of which some losses inside the intervals rule out one."""
        allowed = self.decision.alpha / (len(self.means) - 1)
        names = {
            name
            for pair, (low, _) in zip(self.tested.pairs, self.tested.pvalues, strict=True)
            for name in pair
            if low <= allowed and set(pair) <= set(self.candidates)
        }
        return tuple(name for name in self.candidates if name in names)

    def sentences(self) -> list[str]:
        """Return the verdict, what would decide more, the method, and the notes."""
        more = []
        if names := self.undecided():
            listed = shortened(list(map(str, names)), MAX_NAMED)
            more = [f"Narrower intervals may rule out some of {listed}."]
            if self.tested.items is not None:
                more = [
                    f"The answers to the {self.tested.items:,} items may rule out some of "
                    f"{listed}: 'bestofk evals' reads them."
                ]
        return [
            self.decision.headline(),
            *more,
            f"Evidence: {self.tested.basis()}.",
            *self.tested.notes,
        ]

    def explain(self) -> str:
        """State which learner to use, and the verdict on each."""
        first, *rest = self.sentences()
        means = {
            name: f"{self.metric.mean} {' to '.join(dict.fromkeys(map(number, ends)))}"
            for name, ends in self.means.items()
        }
        lines = [f"{line}." for line in standing_lines(self.decision, means)]
        return "\n".join([first, *lines, *rest])

    def to_dict(self) -> dict[str, Any]:
        """Return the decision for strict JSON."""
        return {
            "recommended": self.recommended, "candidates": list(self.candidates),
            "ranking": list(self.ranking), "headline": self.decision.headline(),
            "table": row_dicts(self._columns()), **self.tested.to_dict(),
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
    """Say which learners may be the best if their losses are intervals.

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
    correction : str
        Of the pairs; it does not change the recommendation.
    alpha : float
        Chance that the statement is wrong.
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
    >>> decision.recommended, decision.candidates, decision.undecided()
    ('net', ('net', 'tree'), ('net', 'tree'))
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
    order, preference, _ = arrange(learners, prefer, means.mean(axis=0))
    names = tuple(learners[k] for k in order)
    row = {pair: k for k, pair in enumerate(tested.pairs)}
    pairs = list(combinations(names, 2))
    rows = [row[pair] if pair in row else row[pair[::-1]] for pair in pairs]
    turned = np.array([pair not in row for pair in pairs])
    estimate = np.where(turned, -1.0, 1.0) * tested.estimates[rows].mean(axis=1)

    def interval(_: PairwiseResult, level: float) -> Interval:
        assert tested.interval is not None
        low, high = tested.interval(level)[rows].T
        return Interval(np.where(turned, -high, low), np.where(turned, -low, high))

    decision = decide_from_pairs(
        names,
        means.mean(axis=0)[order],
        PairwiseResult(
            test=tested.test,
            statistic=estimate,
            pvalue=tested.pvalues[rows, 1],
            df=None,
            estimate=estimate,
            alternative="two-sided",
            interval_rule=None if tested.interval is None else interval,
        ),
        alpha=tested.alpha,
        metric=tested.metric,
        design=tested.basis(),
        noun="learner" if tested.items is None else "model",
        preference=preference,
    )
    shown = np.sort(tested.metric.shown(means), axis=0).T.tolist()
    return IntervalDecision(
        decision=decision,
        means={name: (low, high) for name, (low, high) in zip(learners, shown, strict=True)},
        tested=tested,
    )


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
