"""The tables of a decision: learners, pairs, data sets, steps and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bestofk.losses.losses import Losses
from bestofk.ordering.evidence import Evidence
from bestofk.ordering.result import Order
from bestofk.report.table import Column, Table
from bestofk.run.study import Cost, FailedCell


def learners_table(order: Order, costs: Mapping[str, Cost] | None = None) -> Table:
    """Every learner: its place, its mean, how it stands to the best, and what a fit costs."""
    names = list(order.order if len(order.order) > 1 else order.prior)
    ranked = len(order.order) > 1
    standings = {standing.name: standing for standing in order.standings}
    prior = {name: place for place, name in enumerate(order.prior, 1)}

    def standing(field: str) -> list[Any]:
        return [getattr(standings[name], field) if name in standings else None for name in names]

    verdicts = [
        "best" if name == order.best else getattr(standings.get(name), "verdict", None)
        for name in names
    ]
    columns = [
        Column(key="learner", title="Learner", kind="name", cells=names),
        Column(
            key="mean_loss",
            title="Mean loss",
            kind="number",
            cells=[order.means[name] for name in names],
        ),
        Column(key="prior", title="Prior", kind="count", cells=[prior[name] for name in names]),
    ]
    if ranked:
        places = list(range(1, len(names) + 1))
        columns.insert(0, Column(key="place", title="Place", kind="count", cells=places))
    if order.counts is not None:
        wins = [order.counts[name] for name in names]
        columns.append(Column(key="wins", title="Wins", kind="count", cells=wins))
    if standings:
        columns += [
            Column(
                key="difference",
                title="Worse by",
                kind="number",
                cells=standing("difference"),
            ),
            Column(key="pvalue", title="p", kind="pvalue", cells=standing("pvalue")),
            Column(
                key="adjusted_pvalue",
                title="Adjusted p",
                kind="pvalue",
                cells=standing("adjusted_pvalue"),
            ),
        ]
    if standings or order.best is not None:
        columns.append(Column(key="verdict", title="Against the best", kind="text", cells=verdicts))
    columns += _cost_columns([str(name) for name in names], costs)
    return Table(
        name="learners",
        caption="The learners, best first" if ranked else "The learners in prior order",
        columns=tuple(columns),
    )


def costs_table(costs: Mapping[str, Cost]) -> Table:
    """What a fit costs, where nothing was decided."""
    names = list(costs)
    first = Column(key="learner", title="Learner", kind="name", cells=names)
    return Table(
        name="learners", caption="The learners", columns=(first, *_cost_columns(names, costs))
    )


def _cost_columns(names: Sequence[str], costs: Mapping[str, Cost] | None) -> list[Column]:
    if costs is None:
        return []
    found: list[Column] = []
    for field, title, kind in (
        ("fit_time", "Fit", "seconds"),
        ("predict_time", "Predict", "seconds"),
        ("size", "Size", "bytes"),
    ):
        cells = [getattr(costs.get(name), field, None) for name in names]
        if any(cell is not None for cell in cells):
            found.append(Column(key=field, title=title, kind=kind, cells=cells))  # type: ignore[arg-type]
    return found


def pairs_table(evidence: Evidence) -> Table:
    """Every pair that was tested."""
    names = evidence.names
    sides = "one-sided" if evidence.alternative != "two-sided" else "two-sided"
    if evidence.alternative == "two-sided":
        verdicts = [
            "not told apart" if not rejected else "A better" if estimate < 0 else "B better"
            for estimate, rejected in zip(
                evidence.estimate.tolist(), evidence.rejected.tolist(), strict=True
            )
        ]
    else:
        # A may well be the better one: that was not asked.
        shown = "B better" if evidence.alternative == "greater" else "A better"
        verdicts = [shown if rejected else "not shown" for rejected in evidence.rejected.tolist()]
    return Table(
        name="pairs",
        caption=f"The pairs: mean loss of A minus that of B, {sides} p-values",
        columns=(
            Column(
                key="a", title="A", kind="name", cells=[names[i] for i in evidence.first.tolist()]
            ),
            Column(
                key="b", title="B", kind="name", cells=[names[i] for i in evidence.second.tolist()]
            ),
            Column(
                key="estimate",
                title="Difference",
                kind="number",
                cells=evidence.estimate.tolist(),
            ),
            Column(
                key="statistic",
                title="Statistic",
                kind="number",
                cells=evidence.statistic.tolist(),
            ),
            Column(key="pvalue", title="p", kind="pvalue", cells=evidence.pvalue.tolist()),
            Column(
                key="adjusted_pvalue",
                title="Adjusted p",
                kind="pvalue",
                cells=evidence.adjusted_pvalue.tolist(),
            ),
            Column(key="verdict", title="Verdict", kind="text", cells=verdicts),
        ),
    )


def datasets_table(losses: Losses) -> Table | None:
    """Mean loss of every learner on every data set, where there are several."""
    if len(losses.datasets) < 2:
        return None
    means = losses.by_dataset(missing="available") if losses.complete else None
    if means is None:
        return None
    return Table(
        name="datasets",
        caption="Mean loss by data set",
        columns=(
            Column(key="dataset", title="Data set", kind="name", cells=losses.datasets),
            *(
                Column(key=name, title=name, kind="number", cells=row.tolist())
                for name, row in zip(losses.algorithms, means, strict=True)
            ),
        ),
    )


def failures_table(failures: Sequence[FailedCell]) -> Table | None:
    """Cells without a loss, counted by learner, data set and reason."""
    if not failures:
        return None
    counts = Counter((cell.learner, cell.dataset, cell.kind, cell.reason) for cell in failures)
    rows = counts.most_common()
    learner, dataset, kind, reason = zip(*(row for row, _ in rows), strict=True)
    return Table(
        name="failures",
        caption="Fits that gave no loss",
        columns=(
            Column(key="learner", title="Learner", kind="name", cells=learner),
            Column(key="dataset", title="Data set", kind="name", cells=dataset),
            Column(key="count", title="Fits", kind="count", cells=[count for _, count in rows]),
            Column(key="kind", title="Kind", kind="text", cells=kind),
            Column(key="reason", title="Reason", kind="text", cells=reason),
        ),
    )
