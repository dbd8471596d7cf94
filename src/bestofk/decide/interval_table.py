"""Test learners whose losses are known up to intervals, from a table with columns low and high."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, one_of, probability
from bestofk._base.errors import TableError, UnknownNameError
from bestofk._base.results import Presented, json_ready
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Table
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.interval_tests import INTERVAL_TESTS, interval_test, interval_words
from bestofk.stats.multiple.interval_bootstrap import BootstrapBResult, bootstrap_b

LEARNER_COLUMNS = ("learner", "algorithm", "model", "classifier", "method")
TESTS = (*INTERVAL_TESTS, "bootstrap-b")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalTable:
    """Intervals of losses: `ends` has the shape (2, learners, units)."""

    learners: tuple[str, ...]
    units: tuple[str, ...]
    ends: Floats


def read_interval_table(
    source: Any, *, higher_is_better: bool | None = None
) -> IntervalTable | None:
    """Read a table with the columns `low` and `high`; None if it does not have them.

    Parameters
    ----------
    source : path or data frame
        A learner column (``learner``, ``algorithm``, ``model``, ...), ``low`` and ``high``. The
        other columns, such as ``dataset`` and ``fold``, name the unit of a row. A number has equal
        ends, so learners with numbers and with intervals can be mixed.
    higher_is_better : bool, optional
        True: the numbers are scores. By default they are losses.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("net", 1, 0.2, 0.3), ("net", 2, 0.3, 0.4), ("tree", 1, 0.2, 0.2),
    ...         ("tree", 2, 0.3, 0.3)]
    >>> table = read_interval_table(pd.DataFrame(rows, columns=["learner", "set", "low", "high"]))
    >>> table.learners, table.ends.shape
    (('net', 'tree'), (2, 2, 2))
    """
    table = _table(source)
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
    return IntervalTable(learners=learners.names, units=tuple(names), ends=ends)


def _table(source: Any) -> Table | None:
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

    @property
    def pvalue(self) -> Floats:
        """The largest p-value of each pair."""
        return self.pvalues[:, 1]

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return {
            "a": [a for a, _ in self.pairs],
            "b": [b for _, b in self.pairs],
            "difference_low": self.estimates[:, 0],
            "difference_high": self.estimates[:, 1],
            "pvalue_low": self.pvalues[:, 0],
            "pvalue_high": self.pvalues[:, 1],
            "adjusted_pvalue_low": self.adjusted_pvalues[:, 0],
            "adjusted_pvalue_high": self.adjusted_pvalues[:, 1],
            "verdict": self.verdicts,
        }

    def explain(self) -> str:
        """Describe every pair in a sentence."""
        lines = [
            f"{self.test} on intervals of losses, alpha = {self.alpha:g}, adjusted with "
            f"{CORRECTIONS[self.correction].words}."
        ]
        lines += [
            f"{a} and {b}: {verdict} ({interval_words(p)}, adjusted {interval_words(q)})."
            for (a, b), verdict, p, q in zip(
                self.pairs, self.verdicts, self.pvalues, self.adjusted_pvalues, strict=True
            )
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs for strict JSON."""
        columns = {name: json_ready(values) for name, values in self._columns().items()}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {
            "test": self.test, "alpha": self.alpha, "correction": self.correction, "pairs": rows
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
    adjusted = adjust(result.pvalues.T, correction).T
    low, high = adjusted.T
    words = np.where(high <= alpha, "significant", "inconclusive")
    return TestedIntervals(
        test=test,
        pairs=pairs,
        pvalues=result.pvalues,
        adjusted_pvalues=adjusted,
        estimates=result.estimates,
        verdicts=tuple(np.where(low > alpha, "not significant", words).tolist()),
        correction=correction,
        alpha=alpha,
    )
