"""The tables of a decision: learners, pairs, data sets, steps and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestofk.adjust import CORRECTIONS
from bestofk.losses.losses import Losses
from bestofk.ordering.evidence.evidence import Evidence
from bestofk.ordering.result import Order, Standing
from bestofk.ordering.words.sentences import level_words
from bestofk.report.output_table import Column, OutputTable
from bestofk.run.conclude import OtherMetric
from bestofk.run.study import Cost, FailedCell
from bestofk.stopping.stopped_order import StoppedEvidence
from bestofk.stopping.stopped_words import NOT_SETTLED
from bestofk.wording import number


def learners_table(
    order: Order,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
) -> OutputTable:
    """Every learner: its place, its mean, how it stands to the recommended one, and its cost."""
    names = list(order.order if len(order.order) > 1 else order.prior)
    ranked = len(order.order) > 1
    metric = order.metric
    standings = {standing.name: standing for standing in order.standings}
    columns = [
        Column(key="learner", title="Learner", kind="name", cells=names),
        Column(
            key=f"mean_{metric.name.replace(' ', '_')}",
            title=f"Mean {metric.name}",
            kind="number",
            cells=[metric.shown(order.means[name]) for name in names],
        ),
    ]
    columns += [
        Column(
            key=f"mean_{other.name.replace(' ', '_')}",
            title=f"Mean {other.name}",
            kind="number",
            cells=[other.means.get(str(name)) for name in names],
        )
        for other in others
    ]
    runs = [order.runs_of(name) for name in names]
    if any(count is not None for count in runs):
        title = f"{order.run_noun.capitalize()}s"
        key = order.run_noun.replace(" ", "") + "s"
        columns.append(Column(key=key, title=title, kind="count", cells=runs))
    if ranked:
        places = list(range(1, len(names) + 1))
        columns.insert(0, Column(key="place", title="Place", kind="count", cells=places))
    if order.preference.stated:
        prior = {name: place for place, name in enumerate(order.prior, 1)}
        columns.append(
            Column(
                key="preference",
                title="Preference",
                kind="count",
                cells=[prior[name] for name in names],
            )
        )
    if order.counts is not None:
        wins = [order.counts[name] for name in names]
        columns.append(Column(key="wins", title="Wins", kind="count", cells=wins))
    if standings:
        columns += _standing_columns([standings.get(name) for name in names])
    if standings or order.recommended is not None:
        verdicts = [
            "recommended"
            if name == order.recommended
            else getattr(standings.get(name), "verdict", None)
            for name in names
        ]
        columns.append(Column(key="verdict", title="Verdict", kind="text", cells=verdicts))
    if order.margins:
        cells = [
            None if name not in order.margins else order.margins[name].verdict for name in names
        ]
        title = f"With a margin of {number(order.margin or 0.0)}"
        columns.append(Column(key="margin", title=title, kind="text", cells=cells))
    columns += _cost_columns([str(name) for name in names], costs)
    caption = f"The {order.noun}s, best first" if ranked else f"The {order.noun}s"
    if standings and any(count is not None for count in runs):
        both = f"over the {order.run_noun}s of both"
        caption += f"; worse by: how much worse than the recommended one, {both}"
    elif standings:
        several = order.evidence.family.size > 1 and CORRECTIONS[order.correction].adjusts
        caption += (
            "; worse by: how much worse than the recommended one, with "
            f"{level_words(order.alpha)} intervals"
            f"{' that hold for all pairs together' if several else ''}"
        )
    return OutputTable(name="learners", caption=caption, columns=tuple(columns))


def _standing_columns(standings: Sequence[Standing | None]) -> list[Column]:
    """Differences from the recommended one; worse is positive whatever the metric's direction."""

    def cells(field: str) -> list[Any]:
        found = [None if one is None else getattr(one, field) for one in standings]
        return [None if one is None or not np.isfinite(one) else one for one in found]

    return [
        Column(key="worse_by", title="Worse by", kind="number", cells=cells("difference")),
        Column(key="low", title="From", kind="number", cells=cells("low")),
        Column(key="high", title="To", kind="number", cells=cells("high")),
        Column(key="pvalue", title="p", kind="pvalue", cells=cells("pvalue")),
        Column(
            key="adjusted_pvalue",
            title="Adjusted p",
            kind="pvalue",
            cells=cells("adjusted_pvalue"),
        ),
    ]


def costs_table(costs: Mapping[str, Cost]) -> OutputTable:
    """What a fit costs, where nothing was decided."""
    names = list(costs)
    first = Column(key="learner", title="Learner", kind="name", cells=names)
    return OutputTable(
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


def pairs_table(evidence: Evidence) -> OutputTable:
    """Every pair that was tested, in the user's metric."""
    names, metric = evidence.names, evidence.metric
    sides = "one-sided" if evidence.alternative != "two-sided" else "two-sided"
    low, high = metric.interval(evidence.low, evidence.high)
    verdicts = [
        "no evidence" if not better else "A better" if better < 0 else "B better"
        for better in evidence.better.tolist()
    ]
    if isinstance(evidence, StoppedEvidence):
        open_pairs = evidence.unsettled.tolist()
        verdicts = [
            NOT_SETTLED if is_open else verdict
            for verdict, is_open in zip(verdicts, open_pairs, strict=True)
        ]
    columns = [
        Column(key="a", title="A", kind="name", cells=[names[i] for i in evidence.first.tolist()]),
        Column(key="b", title="B", kind="name", cells=[names[j] for j in evidence.second.tolist()]),
        Column(
            key="estimate",
            title="A - B",
            kind="number",
            cells=metric.difference(evidence.estimate).tolist(),
        ),
        Column(key="low", title="From", kind="number", cells=_finite(low)),
        Column(key="high", title="To", kind="number", cells=_finite(high)),
        Column(
            key="statistic",
            title="Statistic",
            kind="number",
            cells=evidence.shown_statistic.tolist(),
        ),
        Column(key="pvalue", title="p", kind="pvalue", cells=evidence.pvalue.tolist()),
        Column(
            key="adjusted_pvalue",
            title="Adjusted p",
            kind="pvalue",
            cells=evidence.adjusted_pvalue.tolist(),
        ),
        Column(key="verdict", title="Verdict", kind="text", cells=verdicts),
    ]
    posteriors = evidence.posteriors
    if posteriors is not None:
        for key, title in (
            ("a_better", "P(A better)"),
            ("equivalent", "P(equivalent)"),
            ("b_better", "P(B better)"),
        ):
            cells = posteriors[key].tolist()
            columns.append(Column(key=key, title=title, kind="number", cells=cells))
    caption = f"The pairs: {metric.mean} of A minus that of B, {sides} p-values"
    if evidence.alternative != "two-sided":
        caption += "; only whether B is better was tested"
    if isinstance(evidence, StoppedEvidence):
        caption += "; so far, over the runs that both have"
    return OutputTable(name="pairs", caption=caption, columns=tuple(columns))


def _finite(values: Any) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def datasets_table(losses: Losses) -> OutputTable | None:
    """Mean loss of every learner on every data set, where there are several."""
    if len(losses.datasets) < 2:
        return None
    means = losses.by_dataset(missing="allow") if losses.complete else None
    if means is None:
        return None
    return OutputTable(
        name="datasets",
        caption=f"Mean {losses.metric.name} by data set",
        columns=(
            Column(key="dataset", title="Data set", kind="name", cells=losses.datasets),
            *(
                Column(key=name, title=name, kind="number", cells=losses.metric.shown(row).tolist())
                for name, row in zip(losses.algorithms, means, strict=True)
            ),
        ),
    )


def failures_table(failures: Sequence[FailedCell]) -> OutputTable | None:
    """Cells without a loss, counted by learner, data set and reason."""
    if not failures:
        return None
    counts = Counter((cell.learner, cell.dataset, cell.kind, cell.reason) for cell in failures)
    rows = counts.most_common()
    learner, dataset, kind, reason = zip(*(row for row, _ in rows), strict=True)
    return OutputTable(
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
