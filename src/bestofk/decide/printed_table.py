"""Decide from a printed table: one score per model, and the number of items.

The table does not say on which items two models disagree. A p-value is therefore an interval over
all joint outcomes that fit the printed scores.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from bestofk._base.checks import Floats, Ints, one_of, significance_level, whole
from bestofk._base.errors import TableError
from bestofk._base.formatting import joined, number
from bestofk.data.tables.reading import read_table
from bestofk.data.tables.table import Table
from bestofk.decide.interval_decision import (
    interval_decision,
    judged_intervals,
)
from bestofk.decide.preference import PreferenceLike, arrange
from bestofk.decide.result import Result
from bestofk.losses.columns import PRINTED_ROLES, direction_of, direction_within, find
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.printed import (
    mcnemar_bounds,
    mcnemar_interval,
    paired_t_bounds,
    paired_t_interval,
    wrong_counts,
)

MAX_MODELS = 200
_MAX_DECIMALS = 6


class _Printed(NamedTuple):
    """Scores of one table; they are shares, 0 to 1, unless there are deviations."""

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
) -> Result:
    """Say what a printed table can show, from one score per model and the number of items.

    Parameters
    ----------
    table : path or data frame
        One row per model: its name, its accuracy or error rate (a share or percent), and
        optionally the standard deviation over the items (column ``sd``) of any score.
    items : int
        Number of items that every model was scored on.
    prefer : sequence of names, mapping of name to price, or "listed", optional
        As for `bestofk.compare_scores`.
    correction : str
        Of the pairs; it does not change the recommendation.
    alpha : float
        Chance that the statement is wrong.
    higher_is_better : bool, optional
        By default True, unless the name of the column is that of a loss, such as ``error``.

    Returns
    -------
    Result
        A model is ruled out if it is so whatever the items were.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"model": ["A", "B", "C"], "accuracy": [71.3, 70.9, 55.0]})
    >>> order_printed(table, 1319).candidates
    ('A', 'B')
    """
    n = whole(items, "items", at_least=2)
    one_of(correction, "correction", CORRECTIONS)
    alpha = significance_level(alpha)
    printed = _read(read_table(table), higher_is_better)
    metric, half = printed.metric, printed.half_unit
    losses = -printed.scores if metric.higher_is_better else printed.scores
    order, preference, _ = arrange(printed.models, prefer, losses)
    models, losses = tuple(printed.models[k] for k in order), losses[order]
    pairs = list(combinations(range(len(models)), 2))
    gaps = np.array([losses[i] - losses[j] for i, j in pairs])
    ends = np.stack([gaps - 2 * half, gaps + 2 * half], axis=1)
    if printed.deviations is None:
        counts = _counts(printed, n)
        wrong = [(counts[order[i]], counts[order[j]]) for i, j in pairs]
        test, pvalues = "mcnemar", [mcnemar_bounds(a, b, n) for a, b in wrong]

        def interval(level: float) -> Floats:
            return np.array([mcnemar_interval(a, b, n, level) for a, b in wrong])

    else:
        sd, unit = printed.deviations[order], printed.deviation_half_unit
        known = [((low, high), (sd[i], sd[j]), n)
                 for (low, high), (i, j) in zip(ends, pairs, strict=True)]  # fmt: skip
        test, pvalues = "paired-t", [paired_t_bounds(*one, half_unit=unit) for one in known]

        def interval(level: float) -> Floats:
            return np.array([paired_t_interval(*one, level, half_unit=unit) for one in known])

    tested = judged_intervals(
        test,
        tuple((models[i], models[j]) for i, j in pairs),
        np.array(pvalues),
        ends,
        correction=correction,
        alpha=alpha,
        metric=metric,
        items=n,
        interval=interval,
    )
    return Result(interval_decision(models, np.stack([losses, losses]), tested, preference))


def _counts(printed: _Printed, n: int) -> list[Ints]:
    """Return the possible numbers of wrong answers of each model."""
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
    return counts


def _read(table: Table, higher_is_better: bool | None) -> _Printed:
    roles = find(table.columns, PRINTED_ROLES)
    texts = [name for name in table.columns if not table.is_numeric(name)]
    names, spread = roles.get("learner") or next(iter(texts), None), roles.get("sd")
    scores = [name for name in table.columns if name not in (names, spread)]
    if names is None or len(scores) != 1:
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
    deviations = np.asarray(table.numbers(spread), dtype=float) if spread else None
    if higher_is_better is None:
        direction, _ = direction_within(scores[0]) or (direction_of(scores[0]), "")
        higher_is_better = direction != "loss"
    if deviations is None and values.max() > 1.0:
        values, unit = values / 100.0, unit / 100.0
    if deviations is None and (values.min() < 0.0 or values.max() > 1.0):
        raise TableError(
            f"{table.source}: {scores[0]} must hold shares or percent of right or wrong items; for "
            "other scores add their standard deviation over the items as column sd."
        )
    if deviations is not None and not (deviations >= 0).all():
        raise TableError(f"{table.source}: {spread} must hold numbers of 0 or more.")
    return _Printed(
        models=models,
        scores=values,
        half_unit=unit / 2,
        deviations=deviations,
        deviation_half_unit=0.0 if spread is None else _unit(table, spread) / 2,
        metric=Metric(name=scores[0], higher_is_better=higher_is_better),
    )


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
