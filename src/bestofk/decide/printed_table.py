"""Decide from a printed table: one score per model, and the number of items.

The table does not say on which items two models disagree. A p-value is therefore an interval over
all joint outcomes that fit the printed scores.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, one_of, significance_level, whole
from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.formatting import joined, number
from bestofk._base.missing_files import no_such_file
from bestofk.data.tables.table import Table
from bestofk.decide.interval_decision import (
    LEARNER_COLUMNS,
    IntervalDecision,
    interval_decision,
    judged_intervals,
    table_of,
)
from bestofk.decide.preference import PreferenceLike
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.printed import (
    mcnemar_bounds,
    mcnemar_interval,
    paired_t_bounds,
    paired_t_interval,
    wrong_counts,
)

DEVIATION_COLUMNS = ("sd", "std", "standard deviation", "standard_deviation")
LOSS_WORDS = ("error", "loss")
MAX_MODELS = 200
_MAX_DECIMALS = 6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrintedScores:
    """Scores of one table; all numbers are shares, 0 to 1, unless there are deviations."""

    models: tuple[str, ...]
    scores: Floats
    half_unit: float
    """Half of the last printed digit."""
    deviations: Floats | None
    deviation_half_unit: float
    metric: Metric


def order_printed(
    table: Any,
    items: int,
    *,
    prefer: PreferenceLike = None,
    correction: str = "holm",
    alpha: float = 0.05,
    higher_is_better: bool | None = None,
) -> IntervalDecision:
    """Say what a printed table can show, from one score per model and the number of items.

    Parameters
    ----------
    table : path or data frame
        One row per model: its name, its accuracy or error rate (a share or percent), and
        optionally the standard deviation over the items (column ``sd``) of any score.
    items : int
        Number of items that every model was scored on.
    prefer : sequence of names, mapping of name to price, or "listed", optional
        As for `bestofk.order`.
    correction : str
        Of the pairs; it does not change the recommendation.
    alpha : float
        Chance that the statement is wrong.
    higher_is_better : bool, optional
        By default True, unless the name of the column contains ``error`` or ``loss``.

    Returns
    -------
    IntervalDecision
        A model is ruled out if it is so whatever the items were.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"model": ["A", "B", "C"], "accuracy": [71.3, 70.9, 55.0]})
    >>> decision = order_printed(table, 1319)
    >>> decision.candidates, decision.undecided()
    (('A', 'B'), ())
    """
    n = whole(items, "items", at_least=2)
    one_of(correction, "correction", tuple(CORRECTIONS))
    alpha = significance_level(alpha)
    printed = _read(table, higher_is_better)
    pairs = list(combinations(range(len(printed.models)), 2))
    test = "mcnemar" if printed.deviations is None else "paired-t"
    bounds, interval = (_mcnemar if printed.deviations is None else _paired_t)(printed, n, pairs)
    losses = -printed.scores if printed.metric.higher_is_better else printed.scores
    half = printed.half_unit
    ends = np.stack([losses - half, losses + half])
    i, j = np.array(pairs).T
    tested = judged_intervals(
        test,
        tuple((printed.models[a], printed.models[b]) for a, b in pairs),
        np.array(bounds),
        np.stack([ends[0, i] - ends[1, j], ends[1, i] - ends[0, j]], axis=1),
        correction=correction,
        alpha=alpha,
        metric=printed.metric,
        items=n,
        interval=interval,
    )
    return interval_decision(printed.models, np.stack([losses, losses]), tested, prefer)


def _read(source: Any, higher_is_better: bool | None) -> PrintedScores:
    table = table_of(source)
    if table is None and isinstance(source, str | os.PathLike):
        raise TableError(no_such_file(Path(source), "file"))
    if table is None:
        raise ArgumentError("table must be a path or a data frame with one row per model.")
    named = [name for name in table.columns if name.lower() in (*LEARNER_COLUMNS, "name")]
    texts = [name for name in table.columns if not _is_number(table, name)]
    names = named[0] if named else texts[0] if texts else None
    others = [name for name in table.columns if name != names]
    spread = [name for name in others if name.lower() in DEVIATION_COLUMNS]
    scores = [name for name in others if name not in spread]
    if names is None or len(scores) != 1 or len(spread) > 1:
        raise TableError(
            f"{table.source}: with items, a table needs one column of model names, one of scores, "
            f"and at most one of standard deviations (sd); got {', '.join(table.columns)}."
        )
    levels = table.levels(names)
    models = tuple(levels.names[code] for code in levels.codes)
    if len(set(models)) != len(models):
        twice = next(name for name in models if models.count(name) > 1)
        raise TableError(
            f"{table.source}: with items, every model needs one row; got {twice} twice."
        )
    if not 2 <= len(models) <= MAX_MODELS:
        raise TableError(
            f"{table.source}: with items, a table needs 2 to {MAX_MODELS} models; got "
            f"{len(models)}."
        )
    values = np.asarray(table.numbers(scores[0]), dtype=float)
    if np.isnan(values).any():
        missing = models[int(np.isnan(values).argmax())]
        raise TableError(f"{table.source}: {missing} has no {scores[0]}.")
    unit = _unit(table, scores[0])
    deviations = np.asarray(table.numbers(spread[0]), dtype=float) if spread else None
    if higher_is_better is None:
        higher_is_better = not any(word in scores[0].lower() for word in LOSS_WORDS)
    if deviations is None and values.max() > 1.0:
        values, unit = values / 100.0, unit / 100.0
    if deviations is None and (values.min() < 0.0 or values.max() > 1.0):
        raise TableError(
            f"{table.source}: {scores[0]} must hold shares or percent of right or wrong items; for "
            "other scores add their standard deviation over the items as column sd."
        )
    if deviations is not None and not (deviations >= 0).all():
        raise TableError(f"{table.source}: {spread[0]} must hold numbers of 0 or more.")
    metric = Metric(name=scores[0], higher_is_better=higher_is_better)
    return PrintedScores(
        models=models,
        scores=values,
        half_unit=unit / 2,
        deviations=deviations,
        deviation_half_unit=0.0 if deviations is None else _unit(table, spread[0]) / 2,
        metric=metric,
    )


def _is_number(table: Table, name: str) -> bool:
    try:
        table.numbers(name)
    except TableError:
        return False
    return True


def _unit(table: Table, column: str) -> float:
    """Return the unit of the last printed digit of a column."""
    decimals = map(_typed_decimals, table.numbers(column).tolist())
    texts = [] if table.is_typed_number(column) else table.text(column).tolist()
    if texts and all(text and "e" not in text.lower() for text in texts):
        decimals = map(_printed_decimals, texts)
    return float(10.0 ** -max(decimals))


def _typed_decimals(value: float) -> int:
    """Return the decimals of a number as it is usually printed.

    Examples
    --------
    >>> _typed_decimals(71.3), _typed_decimals(0.70000000001), _typed_decimals(3.0)
    (1, 1, 0)
    """
    return _printed_decimals(f"{value:.{_MAX_DECIMALS}f}".rstrip("0"))


def _printed_decimals(text: str) -> int:
    """Return the decimals of a number in a text, which may be in percent.

    Examples
    --------
    >>> _printed_decimals("0.80"), _printed_decimals("71,3"), _printed_decimals("80 %")
    (2, 1, 2)
    """
    digits = text.replace(",", ".").rstrip(" %").partition(".")[2]
    return len(digits) + 2 * ("%" in text)


_Bounds = tuple[list[tuple[float, float]], Callable[[float], Floats]]
"""The p-values of the pairs, and a function of the level that returns their intervals."""


def _mcnemar(printed: PrintedScores, n: int, pairs: list[tuple[int, int]]) -> _Bounds:
    rates = 1.0 - printed.scores if printed.metric.higher_is_better else printed.scores
    counts = [wrong_counts(float(rate), n, printed.half_unit) for rate in rates]
    impossible = [name for name, one in zip(printed.models, counts, strict=True) if not len(one)]
    if impossible:
        k = printed.models.index(impossible[0])
        raise TableError(
            f"No number of right answers to {n} items gives the {printed.metric.name} "
            f"{number(float(printed.scores[k]))} of {joined(impossible[:3])}: check the number of "
            "items, or whether the score is a mean of several benchmarks."
        )
    return [mcnemar_bounds(counts[i], counts[j], n) for i, j in pairs], lambda level: np.array(
        [mcnemar_interval(counts[i], counts[j], n, level) for i, j in pairs]
    )


def _paired_t(printed: PrintedScores, n: int, pairs: list[tuple[int, int]]) -> _Bounds:
    assert printed.deviations is not None
    slack, half_unit = 2 * printed.half_unit, printed.deviation_half_unit
    losses = -printed.scores if printed.metric.higher_is_better else printed.scores
    gaps = [float(losses[i] - losses[j]) for i, j in pairs]
    spreads = [(float(printed.deviations[i]), float(printed.deviations[j])) for i, j in pairs]
    known = [((gap - slack, gap + slack), spread, n)
             for gap, spread in zip(gaps, spreads, strict=True)]  # fmt: skip
    return [paired_t_bounds(*one, half_unit=half_unit) for one in known], lambda level: np.array(
        [paired_t_interval(*one, level, half_unit=half_unit) for one in known]
    )
