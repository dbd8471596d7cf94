"""The decision card of a report: the main facts in a few short rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from bestofk._base.formatting import counted, interval_words, pvalue_words
from bestofk.decide.decision import Decision, Standing
from bestofk.decide.registry import decides_by
from bestofk.decide.statements.stopped import NOT_SETTLED, mean_and_runs
from bestofk.decide.statements.wording import MAX_NAMED, chain, level_words, shown_means
from bestofk.decide.stopping.stopped_decision import StoppedDecision
from bestofk.evals.model_choice import ModelChoice
from bestofk.losses.losses import Losses
from bestofk.report.figures.comparisons import minus
from bestofk.report.names import html_name, html_sentence
from bestofk.report.verdict_groups import two_digits
from bestofk.run.study import Study

_VERDICTS = {
    "worse": "it is significantly worse",
    "better": "it is significantly better",
    "too close to call": "too close to call",
    "not tested": "not tested",
    NOT_SETTLED: "not settled",
}
_MEASURED = {
    "fit_time": "fit time, the quickest first",
    "predict_time": "predict time, the quickest first",
    "size": "size, the smallest first",
    "complexity": "complexity, the simplest first",
    "latency": "latency, the fastest first",
    "tokens": "tokens, the fewest first",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A label, a value in bold, and sentences below it."""

    label: str
    value: Markup | str = ""
    notes: tuple[Markup | str, ...] = ()
    tone: str = ""
    """``"alert"`` for what a reader must not miss."""


def card_of(
    order: Decision | None,
    losses: Losses | None,
    study: Study | None,
    models: ModelChoice | None,
    *,
    left_out: Sequence[str],
    names: Iterable[object],
) -> tuple[Row, ...]:
    """Return the rows of the card, the decision first and the date last."""
    names = set(names)
    rows = [] if order is None else _decision(order)
    if order is None:
        rows.append(Row(label="Recommended", value="no learner"))
    rows.append(
        Row(
            label="Left out",
            notes=tuple(html_sentence(line, names) for line in left_out),
            tone="alert" if study is not None and (study.failures or study.dropped) else "",
        )
    )
    basis = _based_on(order, losses, models)
    if basis:
        rows.append(Row(label="Based on", notes=(html_sentence(basis, names),)))
    rows.append(Row(label="Date", notes=(today(),)))
    return tuple(rows)


def _decision(order: Decision) -> list[Row]:
    metric, best = order.metric, order.recommended
    rows = []
    if best is None:
        rows.append(Row(label="Recommended", value=f"no {order.noun}"))
    else:
        shown = (
            mean_and_runs(order, best)
            if isinstance(order, StoppedDecision)
            else shown_means(order)[best]
        )
        notes = [f"{metric.mean} {shown}"]
        if not order.decidable:
            notes.append("only if you must choose now")
        rows.append(Row(label="Recommended", value=html_name(best), notes=tuple(notes)))
    if not (isinstance(order, StoppedDecision) and len(set(order.race.runs.values())) > 1):
        # Means over different numbers of runs cannot be ranked.
        rows += _means(order)
    preferred = tuple(html_sentence(line, order.by_preference) for line in _preference(order))
    rows.append(Row(label="Preference", notes=preferred))
    return rows


def _means(order: Decision) -> list[Row]:
    """Return the learner with the best mean, and its gap to the recommended one."""
    metric, smallest = order.metric, order.smallest_mean
    learner: Markup | str = "the recommended one"
    if order.recommended != smallest:
        shown = shown_means(order)[smallest]
        learner = Markup("{} ({})").format(html_name(smallest), shown)
    rows = [Row(label=f"{metric.smallest} {metric.mean}".capitalize(), notes=(learner,))]
    gap = _gap(order)
    return rows if gap is None else [*rows, gap]


def _gap(order: Decision) -> Row | None:
    """Return the gap from the recommended learner to the best mean, or else to the next one."""
    if order.recommended is None or not order.standings:
        return None
    smallest = order.smallest_mean
    is_smallest = order.recommended == smallest
    other = order.standings[0]
    if not is_smallest:
        other = next(standing for standing in order.standings if standing.name == smallest)
    name = html_name(other.name)
    if other.difference == 0:
        value = Markup("none: {} has the same mean").format(name)
    elif is_smallest:
        than = "the other" if len(order.by_preference) == 2 else "the next"
        value = Markup("{} to {}, {}").format(two_digits(abs(other.difference)), than, name)
    else:
        value = Markup("{} to {}").format(two_digits(abs(other.difference)), name)
    return Row(label="Gap", notes=(value, _how_sure(order, other)))


def _how_sure(order: Decision, standing: Standing) -> str:
    """Return ``95 % interval -0.06 to 0.07, p = 0.71: too close to call``."""
    if standing.verdict == "not tested":
        return "not tested"
    low, high = standing.low, standing.high
    if standing.difference < 0:
        low, high = 0.0 - high, 0.0 - low
    ends = interval_words(low, high)
    parts = [f"{level_words(order.alpha)} interval {ends}"] if ends else []
    if standing.adjusted_pvalue is not None:
        parts.append(pvalue_words(standing.adjusted_pvalue, order.alpha))
    numbers = [", ".join(parts)] if parts else []
    return minus(": ".join([*numbers, _VERDICTS[standing.verdict]]))


def _preference(order: Decision) -> tuple[str, ...]:
    preference = order.preference
    if not preference.stated:
        by = "wins" if decides_by(order.procedure) == "wins" else "mean"
        return (f"none: the {by} {'decide' if by == 'wins' else 'decides'}",)
    listed = chain(order.by_preference[:MAX_NAMED])
    if len(order.by_preference) > MAX_NAMED:
        listed += f", ... ({len(order.by_preference)} in all)"
    if preference.kind == "measured":
        what = _MEASURED.get(preference.words, f"{preference.words}, the cheapest first")
        return (f"measured: {what}", listed)
    if preference.words == "prices":
        return ("stated: the cheapest first", listed)
    if preference.words == "part of a list":
        return ("stated for some, the others by their means", listed)
    return ("stated, the most preferred first", listed)


def _based_on(order: Decision | None, losses: Losses | None, models: ModelChoice | None) -> str:
    if models is not None:
        scores = models.scores
        parts = [counted(len(scores.items), "item")]
        if len(scores.tasks) > 1:
            parts.append(counted(len(scores.tasks), "task"))
        if scores.clusters:
            parts.append(counted(len(scores.clusters), "cluster"))
        return f"{' in '.join(parts)}, scored by {models.decision.metric.name}"
    design = order.design if order is not None else losses.design.describe() if losses else ""
    if losses is None or len(losses.datasets) > 1 or losses.datasets == ("data",):
        return design
    return f"{losses.datasets[0]}, {design}" if design else str(losses.datasets[0])


def today() -> str:
    """Return today's date, or that of SOURCE_DATE_EPOCH if it is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = (
        datetime.fromtimestamp(int(epoch), UTC)
        if epoch.isdecimal()
        else datetime.now().astimezone()
    )
    return f"{now.day} {now:%B %Y}"
