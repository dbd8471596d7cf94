"""The tables of a choice between models: leaderboard, items, agreement, tasks, what is missing."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.decide.statements.models import shown_cost
from bestofk.report.figures.kinds.cost_frontier import frontier_of, known_cost
from bestofk.report.tables import Column, OutputTable
from bestofk.stats.multiple.post_hoc import compact_letters

if TYPE_CHECKING:
    from bestofk.evals.model_choice import ModelChoice

MOST_ITEMS = 40
"""Items that are listed as those that decide."""
MOST_COLUMNS = 12
"""Models that have a column of their own."""
COLUMN = 18
"""Letters of a model's name above a column of its own."""
_TITLES = {"cost": "Cost of 1,000", "tokens": "Tokens", "latency": "Seconds"}


def model_tables(choice: ModelChoice) -> list[OutputTable]:
    """All that have something to say, the leaderboard first."""
    found = [leaderboard(choice), deciding_items(choice), agreement(choice), by_task(choice),
             missing_table(choice)]  # fmt: skip
    return [table for table in found if table is not None and len(table)]


def leaderboard(choice: ModelChoice) -> OutputTable:
    """Every model with its mean, interval, group, costs and verdict."""
    columns = choice._columns()
    names: list[str] = columns["learner"]
    metric = choice.decision.metric
    letters = _letters(choice)
    found = [
        Column(key="learner", title="Model", kind="name", cells=names),
        Column(key="mean", title=f"Mean {metric.name}", kind="number", cells=columns["mean"]),
        Column(key="low", title="From", kind="number", cells=_finite(columns["low"])),
        Column(key="high", title="To", kind="number", cells=_finite(columns["high"])),
    ]
    if letters:
        cells = [letters[name] for name in names]
        found.append(Column(key="group", title="Group", kind="text", cells=cells))
    for of, title in _TITLES.items():
        if of in columns:
            costs = [None if cost is None else shown_cost(cost, of) for cost in columns[of]]
            found.append(Column(key=of, title=title, kind="number", cells=costs))
    shown = known_cost(choice)
    if shown is not None:
        frontier = frontier_of(choice, shown)
        cells = ["yes" if name in frontier else "" for name in names]
        found.append(Column(key="frontier", title="On the frontier", kind="text", cells=cells))
    found.append(
        Column(key="verdict", title="Verdict", kind="text", cells=columns["verdict"])
    )  # fmt: skip
    level = f"{100 * (1 - choice.decision.alpha):g} %"
    return OutputTable(
        name="leaderboard",
        caption=f"The models, with {level} intervals of each mean alone"
        + ("; those that share a letter are not shown to differ" if letters else ""),
        columns=tuple(found),
    )


def _letters(choice: ModelChoice) -> dict[str, str]:
    """Groups of models that are not shown to differ, where all pairs were tested both ways."""
    order = choice.decision
    names = [str(name) for name in order.by_preference]
    K = len(names)
    if len(order.evidence) != K * (K - 1) // 2 or order.evidence.alternative != "two-sided":
        return {}
    different = np.zeros((K, K), dtype=bool)
    for winner, loser in order.claims:
        i, j = names.index(str(winner)), names.index(str(loser))
        different[i, j] = different[j, i] = True
    by_mean = tuple(int(k) for k in np.argsort([order.means[name] for name in order.by_preference]))
    letters = compact_letters(different, order=by_mean)
    return {name: "".join(letters.of(k)) for k, name in enumerate(names)}


def deciding_items(choice: ModelChoice) -> OutputTable | None:
    """The items that tell the recommended model from its nearest rival, the most telling first."""
    if choice.plan is None:
        return None
    scores = choice.scores
    who, rival = choice.plan.pair
    rows = [scores.learners.index(name) for name in (who, rival)]
    mine, other = scores.mean[rows]
    gap = mine - other if scores.higher_is_better else other - mine
    apart = np.flatnonzero(np.abs(gap) > 1e-12)
    at = apart[np.argsort(-np.abs(gap[apart]), kind="stable")][:MOST_ITEMS]
    if not at.size:
        return None
    columns = [Column(key="item", title="Item", kind="name", cells=[scores.items[i] for i in at])]
    if len(scores.tasks) > 1:
        tasks = [scores.tasks[scores.task[i]] for i in at]
        columns.append(Column(key="task", title="Task", kind="name", cells=tasks))
    if scores.clusters:
        clusters = [scores.clusters[scores.cluster[i]] for i in at]
        columns.append(Column(key="cluster", title="Cluster", kind="name", cells=clusters))
    columns += [
        Column(key="recommended", title=f"{_short(who)}", kind="number", cells=mine[at].tolist()),
        Column(key="rival", title=f"{_short(rival)}", kind="number", cells=other[at].tolist()),
        Column(
            key="mean",
            title="Mean of all models",
            kind="number",
            cells=scores.mean[:, at].mean(axis=0).tolist(),
        ),
    ]
    ahead, behind = int((gap > 1e-12).sum()), int((gap < -1e-12).sum())
    listed = "" if apart.size <= MOST_ITEMS else f"; the first {MOST_ITEMS} of {apart.size:,}"
    return OutputTable(
        name="items",
        caption=f"The items that decide: {_short(who)} is ahead of {_short(rival)} on {ahead:,} "
        f"and behind on {behind:,} of {len(scores.items):,}{listed}",
        columns=tuple(columns),
    )


def agreement(choice: ModelChoice) -> OutputTable | None:
    """The share of items on which two models have the same score."""
    scores = choice.scores
    names = list(scores.learners)[:MOST_COLUMNS]
    if len(names) < 2:
        return None
    mean = scores.mean[: len(names)]
    same = [[float((np.abs(a - b) <= 1e-12).mean()) for b in mean] for a in mean]
    columns = [Column(key="learner", title="Model", kind="name", cells=names)]
    for k, name in enumerate(names):
        cells: list[Any] = [same[row][k] if row != k else None for row in range(len(names))]
        columns.append(
            Column(key=f"same_as_{k + 1}", title=_short(name, COLUMN), kind="number", cells=cells)
        )
    more = len(scores.learners) - len(names)
    return OutputTable(
        name="agreement",
        caption="The share of items on which two models have the same score"
        + (f" (the first {len(names)} of {len(scores.learners)} models)" if more else ""),
        columns=tuple(columns),
    )


def by_task(choice: ModelChoice) -> OutputTable | None:
    """The mean of every model on every task."""
    scores = choice.scores
    if len(scores.tasks) < 2:
        return None
    means = scores.by_task()
    counts = np.bincount(scores.task, minlength=len(scores.tasks))
    names = list(scores.learners)[:MOST_COLUMNS]
    best = (means.argmax if scores.higher_is_better else means.argmin)(axis=0)
    columns = [
        Column(key="task", title="Task", kind="name", cells=list(scores.tasks)),
        Column(key="items", title="Items", kind="count", cells=counts.tolist()),
        *(
            Column(
                key=f"mean_{k + 1}",
                title=_short(name, COLUMN),
                kind="number",
                cells=_finite(means[k]),
            )
            for k, name in enumerate(names)
        ),
        Column(
            key="best",
            title="Best mean",
            kind="name",
            cells=[scores.learners[int(k)] for k in best],
        ),
    ]  # fmt: skip
    return OutputTable(
        name="tasks",
        caption="Means by task; no claim is made about a task alone",
        columns=tuple(columns),
    )


def missing_table(choice: ModelChoice) -> OutputTable | None:
    """How many samples of each model have which status."""
    if not choice.counts:
        return None
    names = list(choice.counts)
    statuses = list(next(iter(choice.counts.values())))
    return OutputTable(
        name="samples",
        caption="What is missing: samples of every model by their status",
        columns=(
            Column(key="learner", title="Model", kind="name", cells=names),
            *(
                Column(
                    key=status,
                    title=status.capitalize(),
                    kind="count",
                    cells=[choice.counts[name][status] for name in names],
                )
                for status in statuses
            ),
        ),
    )


def _finite(values: Any) -> list[float | None]:
    return [float(value) if isfinite(value) else None for value in values]


def _short(name: str, most: int = 40) -> str:
    from bestofk.report.names import elided

    return elided(name, most)
