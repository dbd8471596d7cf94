"""The decision card of a report: the main facts in a few short rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from bestofk._base.formatting import counted, interval_words, number, pvalue_words
from bestofk.decide.battles import BattleDecision
from bestofk.decide.decision import Decision, Standing
from bestofk.decide.interval_table import IntervalDecision
from bestofk.decide.preference import Name
from bestofk.decide.statements.models import cost_phrase, cost_sentence, main_cost
from bestofk.decide.statements.stopped import NOT_SETTLED, mean_and_runs
from bestofk.decide.statements.wording import (
    difference_text,
    difference_texts,
    difference_words,
    level_words,
    shown_means,
    uncertainty_of,
)
from bestofk.decide.stopping.races import Race
from bestofk.decide.stopping.stopped_decision import StoppedDecision
from bestofk.evals.model_choice import ModelChoice
from bestofk.losses.losses import Losses
from bestofk.report.figures.comparisons import minus
from bestofk.report.names import html_name, html_sentence
from bestofk.report.verdict_groups import two_digits
from bestofk.run.study import Study
from bestofk.stats.interval_tests import interval_words as interval_of_p

_VERDICTS = {
    "worse": "it is significantly worse",
    "better": "it is significantly better",
    "too close to call": "too close to call",
    "not tested": "not tested",
    NOT_SETTLED: "not settled",
}


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
    losses: Losses | None,
    study: Study | None,
    models: ModelChoice | None,
    *,
    left_out: Sequence[str],
    names: Iterable[object],
) -> tuple[Row, ...]:
    """Return the rows of the card: use, gap and basis, then cost, margin and what was left out."""
    names = set(names)
    rows = [Row(label="Use", value="no learner")] if order is None else _decision(order)
    basis = _based_on(order, losses, models)
    saved = "" if study is None or study.race is None else _saved(study.race)
    if basis:
        notes = tuple(html_sentence(text, names) for text in (basis, saved) if text)
        rows.append(Row(label="Based on", notes=notes))
    if models is not None:
        rows += _cost(models, names)
    elif study is not None and order is not None and order.preference.kind == "measured":
        rows += [
            Row(label="Cost", notes=(cost.explain(),))
            for name, cost in study.costs.items()
            if name == order.recommended
        ]
    margins = (models or order).select("margin") if order is not None else ()
    if margins:
        texts = tuple(html_sentence(one.short or one.text, names) for one in margins)
        rows.append(Row(label="Margin", notes=texts))
    if left_out:
        failed = study is not None and (study.failures or study.dropped)
        texts = tuple(html_sentence(line, names) for line in left_out)
        rows.append(Row(label="Left out", notes=texts, tone="whole alert" if failed else "whole"))
    return tuple(rows)


def _saved(race: Race) -> str:
    """Return how many planned fits a race saved, or its state if it saved none."""
    rest = race.planned_fits - race.fits
    if not race.settled or race.settle == "limit" or rest <= 0:
        return race.state()
    return f"Saved: {rest:,} of {counted(race.planned_fits, 'planned fit')}."


def _cost(models: ModelChoice, names: set[object]) -> list[Row]:
    """Return the cost of the recommended model, if it is known."""
    measure = main_cost(models.costs, models.cost_of)
    if measure is None or models.recommended is None:
        return []
    phrase = cost_phrase(models.costs[measure][str(models.recommended)], measure, models.currency)
    if str(models.recommended) in models.cost_intervals:
        ends = interval_words(*models.cost_intervals[str(models.recommended)])
        phrase += f" ({level_words(models.decision.alpha)} interval {ends})"
    notes = tuple(html_sentence(text, names) for text in [cost_sentence(models)] if text)
    return [Row(label="Cost", notes=(phrase, *notes))]


def _decision(order: Decision) -> list[Row]:
    """Return the recommended learner, and its gap to another one."""
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
    return [Row(label="Use", value=html_name(best), notes=tuple(notes)), *_gap(order, best)]


def _gap(order: Decision, best: Name) -> list[Row]:
    """Return the gap from the recommended learner to the best mean, or else to the next one."""
    others = [name for name in order.by_preference if name != best]
    if not others:
        return []
    metric = order.metric
    # Means over different numbers of runs cannot be ranked.
    ranked = not isinstance(order, StoppedDecision) or len(set(order.race.runs.values())) == 1
    other = order.smallest_mean
    if not ranked and order.standings:
        other = order.standings[0].name
    elif other == best:
        other = min(others, key=lambda name: order.mean_losses[name])
    standing = next((one for one in order.standings if one.name == other), None)
    difference = (
        order.mean_losses[other] - order.mean_losses[best]
        if standing is None
        else standing.difference
    )
    if difference == 0:
        value = Markup("none: {} has the same mean").format(html_name(other))
    else:
        which = ""
        if not ranked:
            which = f", on the {order.run_noun}s that both completed"
        elif best != order.smallest_mean:
            which = f", which has the {metric.smallest} {metric.mean}"
        than = ""
        if not which:
            than = "the other, " if len(others) == 1 else "the next, "
        size = difference_text(abs(difference), uncertainty_of(order))
        if standing is not None:
            size = difference_texts(standing, uncertainty_of(order))[0].lstrip("-")
        value = Markup("{} to {}{}{}").format(size, than, html_name(other), which)
    sure = "not tested" if standing is None else _how_sure(order, standing)
    return [Row(label="Gap", notes=(value, sure))]


def _how_sure(order: Decision, standing: Standing) -> str:
    """Return ``95 % interval -0.06 to 0.07, p = 0.71: too close to call``."""
    if standing.verdict == "not tested":
        return "not tested"
    parts = [text] if (text := difference_words(order, standing)) else []
    if standing.adjusted_pvalue is not None:
        parts.append(pvalue_words(standing.adjusted_pvalue, order.alpha))
    numbers = [", ".join(parts)] if parts else []
    text = ": ".join([*numbers, _VERDICTS[standing.verdict]])
    return minus(text).replace("p = ", "p\u00a0=\u00a0")


def _based_on(order: Decision | None, losses: Losses | None, models: ModelChoice | None) -> str:
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


def result_card(value: BattleDecision | IntervalDecision) -> tuple[Row, ...]:
    """Return the rows of a decision about battles, intervals or a printed table."""
    best, other = value.ranking[:2]
    if isinstance(value, BattleDecision):
        mean = f"{value.points[0]:.0f} points"
        gap = Markup("{:.0f} points to the next, {}").format(value.difference[0], html_name(other))
        p = pvalue_words(float(value.adjusted_pvalues[0]), value.alpha)
        verdict = "worse" if value.adjusted_pvalues[0] <= value.alpha else "too close to call"
        sure = f"{p}: {_VERDICTS[verdict]}"
        basis = counted(value.n_battles, "battle")
        if value.n_clusters is not None:
            basis += f" in {counted(value.n_clusters, 'cluster')}"
    else:
        tested = value.tested
        row = next(k for k, pair in enumerate(tested.pairs) if set(pair) == {best, other})
        low, high = tested.estimates[row].tolist()
        if tested.pairs[row][0] == best:
            low, high = 0.0 - high, 0.0 - low
        worse_by = minus(interval_words(low, high) or two_digits(low))
        gap = Markup("{}, the next, is worse by {}").format(html_name(other), worse_by)
        sure = f"{interval_of_p(tested.adjusted_pvalues[row])}: {tested.verdicts[row]}"
        ends = dict.fromkeys(number(end) for end in value.means[best])
        mean = f"{value.metric.mean} {' to '.join(ends)}"
        basis = f"intervals of losses, compared by {tested.test}"
        if tested.items is not None:
            basis = f"{counted(tested.items, 'item')}, one printed score per model"
    return (
        Row(label="Use", value=html_name(best), notes=(mean,)),
        Row(label="Gap", notes=(gap, sure)),
        Row(label="Based on", notes=(basis,)),
    )


def today() -> str:
    """Return today's date, or that of SOURCE_DATE_EPOCH if it is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = (
        datetime.fromtimestamp(int(epoch), UTC)
        if epoch.isdecimal()
        else datetime.now().astimezone()
    )
    return f"{now.day} {now:%B %Y}"
