"""Tables of a choice between models: leaderboard, items, agreement, tasks, missing samples."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.evals.costs import shown_cost
from bestofk.report.figures.kinds.cost_frontier import frontier_of, known_cost
from bestofk.report.names import elided
from bestofk.report.tables import Column, OutputTable, learners_table

if TYPE_CHECKING:
    from bestofk.evals.model_choice import ModelChoice

MAX_ITEMS = 40
"""Rows of the table of deciding items."""
MAX_MODEL_COLUMNS = 12
"""Models that have a column each."""
MAX_COLUMN_TITLE = 18
"""Characters of a model's name above its column."""
MAX_NAME = 40
"""Characters of a model's name in a title or note."""
_TITLES = {"cost": "Cost of 1,000", "tokens": "Tokens", "latency": "Seconds"}


def model_tables(choice: ModelChoice) -> list[OutputTable]:
    """Return all tables that have rows, the leaderboard first."""
    tables = (
        leaderboard(choice),
        deciding_items(choice),
        agreement(choice),
        by_task(choice),
        missing_table(choice),
    )
    return [table for table in tables if table is not None and len(table)]


def leaderboard(choice: ModelChoice) -> OutputTable:
    """Return every model with its mean, bounds, verdict and costs."""
    table = learners_table(choice.decision)
    names = [str(row.name) for row in choice.decision.standings]
    columns = list(table.columns)
    for of, costs in choice.costs.items():
        percentile, _, kind = of.rpartition("_")
        title = f"{percentile} {_TITLES[kind]}".strip()
        known = [shown_cost(costs[name], of) if isfinite(costs[name]) else None for name in names]
        if any(cost is not None for cost in known):
            columns.append(Column(of, title, "number", known))
    shown = known_cost(choice)
    if shown is not None:
        frontier = frontier_of(choice, shown)
        cells = ["yes" if name in frontier else "" for name in names]
        columns.append(Column("frontier", "On the frontier", "text", cells))
    return replace(table, columns=tuple(columns))


def deciding_items(choice: ModelChoice) -> OutputTable | None:
    """Return the items on which the recommended model and its nearest rival differ most."""
    scores, decision = choice.scores, choice.decision
    if decision.recommended is None or scores.truth is not None:
        return None
    best = str(decision.recommended)
    rival = next(str(name) for name in decision.by_mean if name != best)
    names = [elided(name, MAX_NAME) for name in (best, rival)]
    first, second = scores.mean[[scores.learners.index(name) for name in (best, rival)]]
    gap = first - second if scores.higher_is_better else second - first
    apart = np.flatnonzero(np.abs(gap) > 1e-12)
    items = apart[np.argsort(-np.abs(gap[apart]), kind="stable")][:MAX_ITEMS]
    if not items.size:
        return None
    columns = [Column("item", "Item", "name", [scores.items[i] for i in items])]
    if len(scores.tasks) > 1:
        tasks = [scores.tasks[scores.task[i]] for i in items]
        columns.append(Column("task", "Task", "name", tasks))
    if scores.clusters:
        clusters = [scores.clusters[scores.cluster[i]] for i in items]
        columns.append(Column("cluster", "Cluster", "name", clusters))
    means = np.nanmean(scores.mean[:, items], axis=0)
    columns += [
        Column("recommended", names[0], "number", first[items].tolist()),
        Column("rival", names[1], "number", second[items].tolist()),
        Column(
            "mean",
            "Mean of all models",
            "number",
            means.tolist(),
        ),
    ]
    ahead, behind = int((gap > 1e-12).sum()), int((gap < -1e-12).sum())
    cut = f" These are the first {MAX_ITEMS} of {apart.size:,}." if apart.size > MAX_ITEMS else ""
    return OutputTable(
        name="items",
        title="The items that decide",
        columns=tuple(columns),
        note=f"Of {len(scores.items):,} items, {names[0]} is ahead of {names[1]} on {ahead:,} and "
        f"behind on {behind:,}.{cut}",
    )


def agreement(choice: ModelChoice) -> OutputTable | None:
    """Return the share of items on which two models have the same score."""
    scores = choice.scores
    names = list(scores.learners)[:MAX_MODEL_COLUMNS]
    if len(names) < 2 or scores.truth is not None:
        # the scores of a judge are not those that were compared
        return None
    mean = scores.mean[: len(names)]
    same = [[_same(a, b) for b in mean] for a in mean]
    columns = [Column("learner", "Model", "name", names)]
    for k, name in enumerate(names):
        cells: list[Any] = [same[row][k] if row != k else None for row in range(len(names))]
        columns.append(Column(f"same_as_{k + 1}", elided(name, MAX_COLUMN_TITLE), "number", cells))
    more = len(scores.learners) - len(names)
    return OutputTable(
        name="agreement",
        title="The share of items on which two models have the same score",
        columns=tuple(columns),
        note=f"These are the first {len(names)} of {len(scores.learners)} models." if more else "",
    )


def _same(a: Any, b: Any) -> float | None:
    """Return the share of the items of two models on which they have the same score."""
    shared = np.isfinite(a) & np.isfinite(b)
    return float((np.abs(a - b)[shared] <= 1e-12).mean()) if shared.any() else None


def by_task(choice: ModelChoice) -> OutputTable | None:
    """Return the mean of every model on every task."""
    scores = choice.scores
    if len(scores.tasks) < 2 or scores.truth is not None:
        return None
    means = scores.by_task()
    counts = np.bincount(scores.task, minlength=len(scores.tasks))
    names = list(scores.learners)[:MAX_MODEL_COLUMNS]
    best = (means.argmax if scores.higher_is_better else means.argmin)(axis=0)
    columns = [
        Column("task", "Task", "name", list(scores.tasks)),
        Column("items", "Items", "count", counts.tolist()),
        *(
            Column(f"mean_{k + 1}", elided(name, MAX_COLUMN_TITLE), "number", _finite(means[k]))
            for k, name in enumerate(names)
        ),
        Column("best", "Best mean", "name", [scores.learners[int(k)] for k in best]),
    ]
    return OutputTable(
        name="tasks",
        title="Means by task",
        columns=tuple(columns),
        note="The decision makes no claim about a single task.",
    )


def missing_table(choice: ModelChoice) -> OutputTable | None:
    """Return the number of samples of each model by status."""
    if not choice.counts:
        return None
    names = list(choice.counts)
    statuses = list(next(iter(choice.counts.values())))
    return OutputTable(
        name="samples",
        title="Samples of every model by status",
        columns=(
            Column("learner", "Model", "name", names),
            *(
                Column(
                    status,
                    status.capitalize(),
                    "count",
                    [choice.counts[name][status] for name in names],
                )
                for status in statuses
            ),
        ),
    )


def _finite(values: Any) -> list[float | None]:
    return [float(value) if isfinite(value) else None for value in values]
