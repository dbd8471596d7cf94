"""Tables of a comparison of models by their logs: items, agreement, tasks, samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bestofk._base.checks import Floats
from bestofk.report.names import elided
from bestofk.report.tables import Column, OutputTable, cells_of, rows_table

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


def model_tables(choice: ModelChoice) -> list[OutputTable]:
    """Return all tables that have rows."""
    tables = []
    # the scores of a judge are not those that were compared
    if choice.scores.truth is None:
        tables = [deciding_items(choice), agreement(choice), by_task(choice)]
    if choice.counts:
        statuses = next(iter(choice.counts.values()))
        counts = {one: [of[one] for of in choice.counts.values()] for one in statuses}
        columns = {"model": list(choice.counts), **counts}
        tables.append(rows_table("samples", "Samples of every model by status", columns))
    return [table for table in tables if len(table)]


def deciding_items(choice: ModelChoice) -> OutputTable:
    """Return the items on which the recommended model and its nearest rival differ most."""
    scores, decision = choice.scores, choice.decision
    if decision.recommended is None:
        return rows_table("items", "", {})
    best = str(decision.recommended)
    rival = next(str(name) for name in decision.by_mean if name != best)
    names = [elided(name, MAX_NAME) for name in (best, rival)]
    first, second = scores.mean[[scores.models.index(name) for name in (best, rival)]]
    gap = first - second if scores.higher_is_better else second - first
    apart = np.flatnonzero(np.abs(gap) > 1e-12)
    items = apart[np.argsort(-np.abs(gap[apart]), kind="stable")][:MAX_ITEMS]
    columns = [Column("item", "Item", "name", [scores.items[i] for i in items])]
    if len(scores.tasks) > 1:
        tasks = [scores.tasks[scores.task[i]] for i in items]
        columns.append(Column("task", "Task", "name", tasks))
    if scores.clusters:
        clusters = [scores.clusters[scores.cluster[i]] for i in items]
        columns.append(Column("cluster", "Cluster", "name", clusters))
    columns += [
        Column("recommended", names[0], "number", first[items].tolist()),
        Column("rival", names[1], "number", second[items].tolist()),
        Column(
            "mean",
            "Mean of all models",
            "number",
            np.nanmean(scores.mean[:, items], axis=0).tolist(),
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


def agreement(choice: ModelChoice) -> OutputTable:
    """Return the share of items on which two models have the same score."""
    models = choice.scores.models
    names = models[:MAX_MODEL_COLUMNS]
    mean = choice.scores.mean[: len(names)]
    same = [[_same(a, b) for b in mean] for a in mean]
    columns = [
        Column(
            f"same_as_{k + 1}",
            elided(name, MAX_COLUMN_TITLE),
            "number",
            [share if row != k else None for row, share in enumerate(same[k])],
        )
        for k, name in enumerate(names)
    ]
    cut = f"These are the first {len(names)} of {len(models)} models."
    return OutputTable(
        name="agreement",
        title="The share of items on which two models have the same score",
        columns=(Column("learner", "Model", "name", names), *columns),
        note=cut if len(names) < len(models) else "",
    )


def _same(a: Floats, b: Floats) -> float | None:
    """Return the share of the items of two models on which they have the same score."""
    shared = np.isfinite(a) & np.isfinite(b)
    return float((np.abs(a - b)[shared] <= 1e-12).mean()) if shared.any() else None


def by_task(choice: ModelChoice) -> OutputTable:
    """Return the mean of every model on every task."""
    scores = choice.scores
    if len(scores.tasks) < 2:
        return rows_table("tasks", "", {})
    means = scores.by_task()
    best = (means.argmax if scores.higher_is_better else means.argmin)(axis=0)
    counts = np.bincount(scores.task, minlength=len(scores.tasks)).tolist()
    return OutputTable(
        name="tasks",
        title="Means by task",
        columns=(
            Column("task", "Task", "name", scores.tasks),
            Column("items", "Items", "count", counts),
            *(
                Column(
                    f"mean_{k + 1}", elided(name, MAX_COLUMN_TITLE), "number", cells_of(means[k])
                )
                for k, name in enumerate(scores.models[:MAX_MODEL_COLUMNS])
            ),
            Column("best", "Best mean", "name", [scores.models[int(k)] for k in best]),
        ),
        note="The decision makes no claim about a single task.",
    )
