"""Test and order learners whose losses are known up to intervals.

The intervals come from a table with the columns low and high, or from repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations, compress
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, one_of, significance_level
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError, use
from bestofk._base.formatting import counted, number
from bestofk.data.tables.reading import read_table
from bestofk.decide.interval_decision import (
    TestedIntervals,
    interval_decision,
    judged_intervals,
)
from bestofk.decide.preference import PreferenceLike, arrange
from bestofk.decide.result import Result
from bestofk.losses.columns import find
from bestofk.losses.losses import Metric, Scores
from bestofk.papers.stats.interval_bootstrap import (
    BootstrapBResult,
    bootstrap_b,
    filled_ends,
    interval_convergence,
    repetition_intervals,
)
from bestofk.papers.stats.interval_tests import INTERVAL_TESTS, interval_pvalues
from bestofk.stats.adjust import CORRECTIONS

TESTS = (*INTERVAL_TESTS, "bootstrap-b")
UNIT_RANGE = (0.0, 1.0)
"""What a missing loss may be."""


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
    source: Any, *, higher_is_better: bool | None = None, missing: str = "refuse"
) -> IntervalTable | None:
    """Read a table with the columns `low` and `high`; None if it does not have them.

    - `source`: A learner column (``learner``, ``algorithm``, ``model``, ...), ``low`` and ``high``.
      The other columns, such as ``dataset`` and ``fold``, name the unit of a row. A number has
      equal ends, so learners with numbers and with intervals can be mixed.
    - `higher_is_better`: True: the numbers are scores. By default they are losses.
    - `missing` {"refuse", "drop", "allow"}: What to do with an empty cell: stop, leave out its
      unit, or replace it by 0 (low) or 1 (high).

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("net", 1, 0.2, 0.3), ("net", 2, 0.3, 0.4), ("tree", 1, 0.2, 0.2),
    ...         ("tree", 2, 0.3, 0.3)]
    >>> table = read_interval_table(pd.DataFrame(rows, columns=["learner", "set", "low", "high"]))
    >>> table.learners, table.ends.shape
    (('net', 'tree'), (2, 2, 2))
    """
    table = read_table(source)
    if not {"low", "high"} <= set(table.columns):
        return None
    learner = find(table.columns, ["learner"]).get("learner")
    if learner is None:
        raise TableError(
            f"{table.source}: a table of intervals needs a column named learner; got "
            f"{', '.join(table.columns)}."
        )
    learners = table.levels(learner)
    others = [name for name in table.columns if name not in (learner, "low", "high")]
    keys = list(zip(*(table.levels(column).codes for column in others), strict=True))
    units = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    ends = np.full((2, len(learners.names), max(len(units), 1)), np.nan)
    rows = np.array([units[key] for key in keys]) if keys else np.zeros(table.n_rows, dtype=int)
    for k, column in enumerate(("low", "high")):
        values = table.numbers(column)
        if missing == "refuse" and np.isnan(values).any():
            raise TableError(
                f"{table.location(int(np.isnan(values).argmax()), column)} has no number: ",
                use(missing="allow"),
                f" reads it as the {('smallest, 0', 'largest, 1')[k]}.",
            )
        ends[k, learners.codes, rows] = values
    filled = np.zeros(ends.shape[1:], dtype=np.int64)
    np.add.at(filled, (learners.codes, rows), 1)
    if (filled > 1).any() or (missing == "refuse" and (filled == 0).any()):
        raise TableError(
            f"{table.source}: every learner needs one row per {' and '.join(others) or 'unit'}."
        )
    names = [" ".join(map(str, key)) for key in units]
    if missing == "drop":
        complete = ~np.isnan(ends).any(axis=(0, 1))
        names, ends = list(compress(names, complete)), ends[:, :, complete]
    ends = filled_ends(ends, missing, UNIT_RANGE)
    if (ends[0] > ends[1]).any():
        raise TableError(f"{table.source}: low must not be above high.")
    if higher_is_better:
        ends = -ends[::-1]
    return IntervalTable(
        learners=learners.names,
        units=tuple(names),
        ends=ends,
        metric=SCORES if higher_is_better else Metric(),
        notes=(_SHARED_ROWS,) if {"fold", "run"} & set(others) else (),
    )


def repetition_table(
    losses: Scores, interval: Any = "central", *, missing: str = "refuse"
) -> IntervalTable:
    """Return one interval per learner and unit from the repetitions of a table of losses.

    The units are the data sets if there are several (an interval is then the mean of those of its
    splits), else the splits. See `bootstrap_b` for `interval`. With `missing` = ``"drop"``, units
    with a missing loss are left out; with ``"allow"``, a missing loss may be anything in
    `range_of_losses`.

    Examples
    --------
    >>> import bestofk as bk
    >>> table = np.arange(24.0).reshape(2, 3, 4)
    >>> losses = bk.Scores(table, dims=("learner", "fold", "repetition"), learners=["a", "b"])
    >>> repetition_table(losses, "interquartile").ends[:, 0].tolist()
    [[0.75, 4.75, 8.75], [2.25, 6.25, 10.25]]
    """
    holes = int(np.isnan(losses.losses).sum())
    if holes and missing == "refuse":
        raise ArgumentError("Intervals of repetitions need a complete table; use ",
                            use(missing="drop"), ".")  # fmt: skip
    K, D = losses.losses.shape[:2]
    cells = losses.losses.reshape(K, D, -1, losses.losses.shape[-1])
    units = list(losses.datasets) if D > 1 else [f"split {k + 1}" for k in range(cells.shape[2])]
    if missing == "drop":
        complete = ~np.asarray(np.isnan(cells).any(axis=(0, 2, 3) if D > 1 else (0, 1, 3)))
        units, holes = list(compress(units, complete)), 0
        cells = cells[:, complete] if D > 1 else cells[:, :, complete]
    span = range_of_losses(losses.metric)
    ends = repetition_intervals(cells, interval, missing=missing, loss_range=span)
    if holes:
        notes = [f"{counted(holes, 'missing value')} of the losses may be anything from "
                 f"{span[0]:g} to {span[1]:g}."]  # fmt: skip
    elif cells.shape[-1] == 1:
        notes = ["There is one repetition per split, so every interval has width 0."]
    else:
        widths = interval_convergence(cells, interval).items()
        texts = ", ".join(f"{number(width)} with {count}" for count, width in widths)
        notes = [f"Mean width of the intervals by number of repetitions: {texts}."]
    if D == 1:
        notes.append(_SHARED_ROWS)
        ends = ends[:, :, 0]
    else:
        ends = ends.mean(axis=3)
    return IntervalTable(
        learners=losses.learners, units=tuple(units), ends=ends, metric=losses.metric,
        notes=tuple(notes),
    )  # fmt: skip


def range_of_losses(metric: Metric) -> tuple[float, float]:
    """Return the losses of the metric's values 0 and 1, the range of a missing one."""
    return (metric.offset - 1, metric.offset) if metric.higher_is_better else UNIT_RANGE


_SHARED_ROWS = (
    "The units are splits of the same rows, whose training sets overlap; these tests treat them as "
    "independent, so their p-values are too small."
)
SCORES = Metric(name="score", higher_is_better=True)


def run_interval_test(
    table: IntervalTable,
    test: str = "wilcoxon",
    *,
    pair: tuple[str, str] | None = None,
    alternative: str = "two-sided",
    correction: str = "holm",
    alpha: float = 0.05,
    rule: str | None = None,
) -> TestedIntervals | BootstrapBResult:
    """Run one test on a table of intervals: a paired test on all pairs, or Bootstrap-B.

    Both ends of the p-values are adjusted. A pair is significant if the largest adjusted p-value
    is at most `alpha`, not significant if the smallest is above it, else inconclusive. `rule` is
    that of Bootstrap-B.
    """
    one_of(test, "test on intervals", TESTS)
    one_of(correction, "correction", CORRECTIONS)
    alpha = significance_level(alpha)
    if test not in INTERVAL_TESTS:
        return bootstrap_b(
            intervals=table.ends, rule=rule or "vertex", alpha=alpha, names=table.learners
        )
    if rule is not None:
        raise ArgumentError(f"rule does not apply to {test!r}, but to 'bootstrap-b'.")
    for name in pair or ():
        if name not in table.learners:
            raise UnknownNameError("learner", name, list(table.learners))
    pairs = tuple(combinations(table.learners, 2)) if pair is None else (pair,)
    i, j = (np.array([table.learners.index(one[k]) for one in pairs]) for k in (0, 1))
    p, estimates = interval_pvalues(
        table.ends[:, i], table.ends[:, j], test=test, alternative=alternative
    )
    return judged_intervals(
        test, pairs, p, estimates, correction=correction, alpha=alpha, metric=table.metric,
        notes=table.notes,
    )  # fmt: skip


def order_intervals(
    losses: Any,
    *,
    interval: Any = None,
    test: str = "wilcoxon",
    prefer: PreferenceLike = None,
    correction: str = "holm",
    alpha: float = 0.05,
    higher_is_better: bool | None = None,
    missing: str = "refuse",
) -> Result:
    """Say which learners may be the best if their losses are intervals.

    Parameters
    ----------
    losses : path, data frame, Scores or Result
        A table with the columns ``low`` and ``high`` (see `read_interval_table`), or losses with
        repetitions.
    interval : str, tuple or callable, optional
        How repetitions become an interval, as for `bootstrap_b`; ``"central"`` by default.
    test : {"wilcoxon", "paired-t", "kfold-t", "sign", "permutation"}
        The paired test.
    prefer : sequence of names, mapping of name to price, or "listed", optional
        As for `bestofk.compare_scores`.
    correction : str
        Of the pairs; it does not change the recommendation.
    alpha : float
        Chance that the statement is wrong.
    higher_is_better : bool, optional
        The ends of a file or data frame are scores. By default they are losses.
    missing : {"refuse", "drop", "allow"}
        As for `read_interval_table`.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(name, d, d / 20 + shift, d / 20 + shift + width) for d in range(8)
    ...         for name, shift, width in (("net", 0.10, 0.08), ("tree", 0.15, 0.0),
    ...                                    ("max", 0.40, 0.0))]
    >>> frame = pd.DataFrame(rows, columns=["learner", "dataset", "low", "high"])
    >>> decision = order_intervals(frame)
    >>> decision.recommended, decision.candidates, decision.outcome.undecided()
    ('net', ('net', 'tree'), ('net', 'tree'))
    """
    one_of(test, "test on intervals", INTERVAL_TESTS)
    table = interval_table(losses, interval, higher_is_better=higher_is_better, missing=missing)
    if len(table.learners) < 2:
        raise ArgumentError(f"losses must hold at least 2 learners; got {len(table.learners)}.")
    order, preference, _ = arrange(table.learners, prefer, table.ends.mean(axis=(0, 2)))
    names, ends = tuple(table.learners[k] for k in order), table.ends[:, order]
    table = replace(table, learners=names, ends=ends)
    tested = run_interval_test(table, test, correction=correction, alpha=alpha)
    assert isinstance(tested, TestedIntervals)
    return Result(interval_decision(names, ends.mean(axis=2), tested, preference))


def interval_table(
    losses: Any,
    interval: Any = None,
    *,
    higher_is_better: bool | None = None,
    missing: str = "refuse",
) -> IntervalTable:
    """Return the intervals of a file, data frame, Scores or Result."""
    table = losses.scores if isinstance(losses, Result) else losses
    if isinstance(table, Scores):
        return repetition_table(table, "central" if interval is None else interval, missing=missing)
    if interval is not None:
        raise ArgumentError(
            "interval turns repetitions into intervals; a table with low and high has them."
        )
    if not isinstance(losses, IntervalTable):
        losses = read_interval_table(losses, higher_is_better=higher_is_better, missing=missing)
    if not isinstance(losses, IntervalTable):
        raise ArgumentError(
            "losses must be a table with a learner column, low and high, or Scores with "
            "repetitions."
        )
    return losses
