"""The decision card of a report: the main facts in a few short rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from bestofk._base.formatting import counted
from bestofk.decide.decision import Decision
from bestofk.decide.from_pairs import StatedDecision
from bestofk.decide.preference import Name
from bestofk.decide.statements.stopped import mean_and_runs
from bestofk.decide.statements.wording import level_words, shown_means, worse_than_best
from bestofk.decide.stopping.result import Race, StoppedDecision
from bestofk.evals.costs import cost_phrase, main_cost
from bestofk.evals.model_choice import ModelChoice
from bestofk.losses.losses import Scores
from bestofk.report.names import html_name, html_sentence
from bestofk.run.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A label, a value in bold, and sentences below it."""

    label: str
    value: Markup | str = ""
    notes: tuple[Markup | str, ...] = ()
    tone: str = ""
    """Classes of the style sheet: ``whole`` for a row of its own, ``alert`` for a failure."""


def card_of(
    order: Decision | None,
    losses: Scores | None,
    study: Study | None,
    models: ModelChoice | None,
    *,
    left_out: Sequence[str],
    names: Iterable[object],
) -> tuple[Row, ...]:
    """Return the rows of the card: use, bound and basis, then cost and what was left out."""
    names = set(names)
    rows = [Row(label="Use", value="no learner")] if order is None else _decision(order)
    basis = _based_on(order, losses, models)
    saved = "" if study is None or study.race is None else _saved(study.race)
    if basis:
        notes = tuple(html_sentence(text, names) for text in (basis, saved) if text)
        rows.append(Row(label="Based on", notes=notes))
    if models is not None:
        rows += _cost(models)
    elif study is not None and order is not None and order.preference.kind == "measured":
        rows += [
            Row(label="Cost", notes=(cost.explain(),))
            for name, cost in study.costs.items()
            if name == order.recommended
        ]
    if left_out:
        failed = study is not None and (study.failures or study.dropped)
        texts = tuple(html_sentence(line, names) for line in left_out)
        rows.append(Row(label="Left out", notes=texts, tone="whole alert" if failed else "whole"))
    return tuple(rows)


def _saved(race: Race) -> str:
    """Return how many planned fits a race saved, or its state if it saved none."""
    rest = race.planned_fits - race.fits
    if not race.settled or rest <= 0:
        return race.state()
    return f"Saved: {rest:,} of {counted(race.planned_fits, 'planned fit')}."


def _cost(models: ModelChoice) -> list[Row]:
    """Return the cost of the recommended model, if it is known."""
    measure = main_cost(models.costs, models.cost_of)
    if measure is None or models.recommended is None:
        return []
    phrase = cost_phrase(models.costs[measure][str(models.recommended)], measure, models.currency)
    return [Row(label="Cost", notes=(phrase,))]


def _decision(order: Decision) -> list[Row]:
    """Return the recommended learner, and how much worse than the best it is."""
    best = order.recommended
    if best is None:
        return [Row(label="Use", value=f"no {order.noun}")]
    shown = (
        mean_and_runs(order, best)
        if isinstance(order, StoppedDecision)
        else shown_means(order)[best]
    )
    notes = [f"{order.metric.mean} {shown}"]
    if not order.decidable:
        notes.append("only if you must choose now")
    return [Row(label="Use", value=html_name(best), notes=tuple(notes)), *_bound(order, best)]


def _bound(order: Decision, best: Name) -> list[Row]:
    """Return how much worse than the best the recommended learner is, if that is known."""
    row = next(row for row in order.standings if row.name == best)
    if row.at_most is None:
        return []
    worse = "0: no other may be the best" if row.at_most == 0 else worse_than_best(order, row)
    sure = f"{level_words(order.alpha)} confidence"
    return [Row(label="Worse than the best by", notes=(worse, sure))]


def _based_on(order: Decision | None, losses: Scores | None, models: ModelChoice | None) -> str:
    if models is not None:
        scores = models.scores
        parts = [counted(len(scores.items), "item")]
        if len(scores.tasks) > 1:
            parts.append(counted(len(scores.tasks), "task"))
        if scores.clusters:
            parts.append(counted(len(scores.clusters), "cluster"))
        if models.judge is not None:
            return f"{' in '.join(parts)}, {models.judge.labelled:,} of them with human labels"
        return f"{' in '.join(parts)}, scored by {models.decision.metric.name}"
    design = order.design if order is not None else losses.design.describe() if losses else ""
    if losses is None or len(losses.datasets) > 1 or losses.datasets == ("data",):
        return design
    return f"{losses.datasets[0]}, {design}" if design else str(losses.datasets[0])


def result_card(value: StatedDecision) -> tuple[Row, ...]:
    """Return the rows of a decision about battles, intervals or a printed table."""
    return (*_decision(value.decision), Row(label="Based on", notes=(value.basis(),)))


def today() -> str:
    """Return today's date, or that of SOURCE_DATE_EPOCH if it is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = (
        datetime.fromtimestamp(int(epoch), UTC)
        if epoch.isdecimal()
        else datetime.now().astimezone()
    )
    return f"{now.day} {now:%B %Y}"
