"""The card of a page: the main facts in a few short rows."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import NamedTuple

from markupsafe import Markup

from bestofk._base.formatting import counted
from bestofk.decide.decision import Decision
from bestofk.decide.preference import Name
from bestofk.decide.statements.wording import level_words, shown_means, worse_than_best
from bestofk.decide.stopping.result import Race
from bestofk.evals.costs import cost_phrase, main_cost
from bestofk.evals.model_choice import ModelChoice
from bestofk.report.names import html_name, html_sentence
from bestofk.report.provenance import left_out_of
from bestofk.report.subject import UNNAMED, ReportSubject


class Row(NamedTuple):
    """A label, a value in bold, and sentences below it."""

    label: str
    value: Markup | str = ""
    notes: tuple[Markup | str, ...] = ()
    tone: str = ""
    """Classes of the style sheet: ``whole`` for a row of its own, ``alert`` for a failure."""


def card_of(subject: ReportSubject) -> list[Row]:
    """Return the rows of the card: use, bound and basis, then cost and what was left out."""
    decision, study = subject.decision, subject.study

    def sentences(*texts: str) -> tuple[Markup, ...]:
        return tuple(html_sentence(text, subject.names) for text in texts if text)

    rows, cost = [Row("Use", f"no {subject.noun}")], ""
    if hasattr(subject.record, "parts"):
        rows = [Row("Use", "by data set")]
    if decision is not None and decision.recommended is not None:
        rows = _use(decision, decision.recommended)
        if subject.choice is not None:
            cost = _cost(subject.choice)
        elif study is not None and decision.preference.kind == "measured":
            cost = study.costs[str(decision.recommended)].explain()
    saved = "" if subject.race is None else _saved(subject.race)
    failed = study is not None and (study.failures or study.dropped)
    rows += [
        Row("Based on", notes=sentences(_basis(subject), saved)),
        Row("Cost", notes=sentences(cost)),
        Row("Left out", "", sentences(*left_out_of(subject)), "whole alert" if failed else "whole"),
    ]
    return [row for row in rows if row.value or row.notes]


def _use(decision: Decision, best: Name) -> list[Row]:
    """Return the recommended learner, and how much worse than the best it is."""
    runs = decision.runs_of(best)
    over = "" if runs is None else f" over {counted(runs, decision.run_noun)}"
    notes = [f"{decision.metric.mean} {shown_means(decision)[best]}{over}"]
    if not decision.decidable:
        notes.append("only if you must choose now")
    rows = [Row("Use", html_name(best), tuple(notes))]
    standing = next(row for row in decision.standings if row.name == best)
    if standing.at_most is not None:
        worse = worse_than_best(decision, standing)
        worse = "0: no other may be the best" if worse == "0" else worse
        confidence = f"{level_words(decision.alpha)} confidence"
        rows.append(Row("Worse than the best by", notes=(worse, confidence)))
    return rows


def _saved(race: Race) -> str:
    """Return how many planned fits a race saved, or its state if it saved none."""
    rest = race.planned_fits - race.fits
    if not race.settled or rest <= 0:
        return race.state()
    return f"Saved: {rest:,} of {counted(race.planned_fits, 'planned fit')}."


def _cost(choice: ModelChoice) -> str:
    """Return the cost of the recommended model; empty if it is not known."""
    measure = main_cost(choice.costs, choice.cost_of)
    if measure is None:
        return ""
    cost = choice.costs[measure][str(choice.decision.recommended)]
    return cost_phrase(cost, measure, choice.currency)


def _basis(subject: ReportSubject) -> str:
    """Return what the decision is based on: items, battles, or the design of the table."""
    decision, scores, choice = subject.decision, subject.scores, subject.choice
    if hasattr(subject.record, "basis"):
        return str(subject.record.basis())
    if choice is not None:
        counts = {"task": len(choice.scores.tasks), "cluster": len(choice.scores.clusters)}
        more = [counted(n, noun) for noun, n in counts.items() if n > (noun == "task")]
        items = " in ".join([counted(len(choice.scores.items), "item"), *more])
        if choice.judge is not None:
            return f"{items}, {choice.judge.labelled:,} of them with human labels"
        return f"{items}, scored by {choice.decision.metric.name}"
    design = scores.design.describe() if scores is not None else ""
    if decision is not None:
        design = decision.design
    if scores is None or len(scores.datasets) > 1 or scores.datasets[0] in UNNAMED:
        return design
    return ", ".join(filter(None, [str(scores.datasets[0]), design]))


def today() -> str:
    """Return today's date, or that of SOURCE_DATE_EPOCH if it is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = (
        datetime.fromtimestamp(int(epoch), UTC)
        if epoch.isdecimal()
        else datetime.now().astimezone()
    )
    return f"{now.day} {now:%B %Y}"
