"""Statements about a choice between language models: costs, bounds, margins and items."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from bestofk._base.errors import use
from bestofk._base.formatting import (
    capitalised,
    counted,
    interval_words,
    number,
    rounded,
    shortened,
)
from bestofk.decide.preference import Name
from bestofk.decide.statements import Statement, statements, with_advice
from bestofk.decide.statements.missing import DEPENDS, verdict_depends
from bestofk.decide.statements.wording import called

SHOWN_SAMPLES = 1000.0
"""Samples whose cost is shown; one sample costs next to nothing."""
COST_TITLES = {
    "cost": "cost of 1,000 samples",
    "tokens": "tokens per sample",
    "latency": "seconds per sample",
}
"""The title of each measure."""
MAX_TIMES_ITEMS = 100
"""Do not advise more items than this many times the current number."""
MAX_AGAINST = 2
"""Models that are compared with another one in a sentence each."""
_AGAINST_TITLES = {
    "within": "Shown to be within {margin} of {other}",
    "open": "Open whether within {margin} of {other}",
    "beyond": "Shown to be worse than {other} by more than {margin}",
    "depends": f"Whether within {{margin}} of {{other}} {DEPENDS}",
}
_MARGIN_PHRASES = {
    "shown": "is shown not to be worse than the best by more than your margin",
    "not shown": "may be worse than the best by more than your margin",
    "worse": "is shown to be worse than another, perhaps by more than your margin",
}
_VERDICT_PHRASES = {"better": "better", "worse": "worse", "too close to call": "too close to call"}


def model_statements(choice: Any) -> tuple[Statement, ...]:
    """Return the statements of a `bestofk.ModelChoice` besides those of its decision."""
    bounds = [] if choice.missing_bounds is None else [choice.missing_bounds.explain()]
    notes = statements("note", [*choice.left_out, *bounds])
    if choice.recommended is None:
        return notes
    if verdict_depends(choice.decision):
        sentences = [_range_sentence(choice.missing_bounds), *_against_sentences(choice)]
        return (*statements("verdict", sentences), *notes)
    plan = () if choice.plan is None or _settled(choice) else _plan_statements(choice.plan)
    return (
        *statements("verdict", [*_against_sentences(choice), cost_sentence(choice)]),
        *statements("bound", [_bound_sentence(choice)]),
        *_margin_statements(choice),
        *_judge_statements(choice),
        *statements("more items", [] if choice.more is None else [choice.more.explain()]),
        *statements("next", _too_few_items_sentences(choice)),
        *plan,
        *notes,
    )


MAX_JUDGED = 6
"""Models whose agreement with the judge is listed."""
FEW_LABELS = 50
"""Fewest labelled items of `studies/judge_claims.py`."""
UNLIKELY_SAMPLE = 0.01
"""If the p-value is smaller, the labelled items do not look like a random sample."""
_JUDGES = ("judge", "model_graded", "llm", "geval", "g_eval")
"""Parts of the names of scores that a model gave."""


def _judge_statements(choice: Any) -> tuple[Statement, ...]:
    """State what the human labels show about the judge, or what a judge alone cannot show."""
    judge = choice.judge
    if judge is None:
        name = choice.scores.metric.lower().replace("-", "_").replace(" ", "_")
        if not any(part in name for part in _JUDGES):
            return ()
        return (
            with_advice(
                "caution",
                "The scores are those of a judge: they show which model the judge prefers, not "
                "which is better. If it favours a model, more items do not help: let people label "
                "about 100 random items, and pass ",
                use(truth="COLUMN"),
                ".",
            ),
        )
    texts = []
    if judge.labelled < min(FEW_LABELS, judge.items):
        texts.append(
            f"Only {judge.labelled} items have human labels: error rates were measured for "
            f"{FEW_LABELS} and more."
        )
    if judge.pvalue < UNLIKELY_SAMPLE:
        labelled, others = judge.means
        texts.append(
            f"The labelled items do not look like a random sample: the judge's mean score is "
            f"{number(labelled)} on them and {number(others)} on the others. The result holds only "
            "for items like the labelled ones; label random items."
        )
    opposite = [one.name for one in judge.models if one.correlation < -0.2]
    if opposite:
        texts.append(
            f"The judge gives high scores to answers of {shortened(opposite, 3)} that people rate "
            "low: check that both scores have the same direction."
        )
    return (
        *statements("caution", texts),
        Statement(kind="judge", text=judge.explain(), short=_judge_short(judge)),
        *_label_plan(judge),
    )


def _label_plan(judge: Any) -> tuple[Statement, ...]:
    """State how many labels would settle the open pair that matters most."""
    if judge.open_pair is None:
        return ()
    first, second = judge.open_pair
    if judge.labels_to_settle is None:
        short = f"labels of all {judge.items:,} items would hardly settle {first} vs {second}"
        text = (
            f"If the true difference between {first} and {second} is the observed one, even labels "
            f"of all {judge.items:,} items would hardly settle it."
        )
    else:
        short = (
            f"about {judge.labels_to_settle:,} labelled items (now {judge.labelled:,}) would "
            f"settle {first} vs {second}"
        )
        text = f"If the true difference is the observed one, {short}."
    return (Statement(kind="next", text=text, short=short),)


def _judge_short(judge: Any) -> str:
    """Return the number of labels and the largest bias in a line."""
    if judge.labelled == judge.items:
        return f"all {judge.items:,} items have human labels, so the judge does not count."
    head = f"{judge.labelled:,} of {judge.items:,} items have human labels"
    biases = [one for one in judge.models if one.bias]
    if not biases:
        return f"{head}."
    worst = max(biases, key=lambda one: abs(one.bias))
    return (
        f"{head}; they correct its bias, which is largest for {worst.name}: the judge's score "
        f"minus the label is {_bias_words(worst)} on average."
    )


def _bias_words(one: Any) -> str:
    bias = rounded([one.bias], (one.high - one.low) / 2)[0]
    return f"{bias} ({interval_words(one.low, one.high) or bias})"


def judge_text(judge: Any) -> str:
    """Return a `JudgeCheck` in sentences."""
    if judge.labelled == judge.items:
        head = f"All {judge.items:,} items have human labels, so the judge does not count."
    else:
        head = (
            f"People labelled {judge.labelled:,} of {judge.items:,} items ({judge.truth}): the "
            "means and differences are those of the labels, with the judge's scores of all items "
            "as a covariate (PPI++). This assumes that the labelled items are a random sample."
        )
    rows = judge.models
    if rows[0].agreement is None:
        shown = [
            f"{one.name} {one.correlation:.2f}" if isfinite(one.correlation)
            else f"{one.name} unknown"
            for one in rows
        ]  # fmt: skip
        return f"{head} Correlation of judge and labels: {shortened(shown, MAX_JUDGED)}."
    agreeing = [f"{one.name} {100 * one.agreement:.0f} %" for one in rows]
    biases = [f"{one.name} {_bias_words(one)}" for one in rows]
    return (
        f"{head} Judge and labels agree: {shortened(agreeing, MAX_JUDGED)}. Mean score of the "
        f"judge minus the label: {shortened(biases, MAX_JUDGED)}."
    )


def _settled(choice: Any) -> bool:
    """Return whether a difference between the models of the plan is shown already."""
    first, second = choice.plan.pair
    return choice.decision.against(second, first).verdict in ("better", "worse")


def _plan_statements(plan: Any) -> tuple[Statement, ...]:
    needed = plan.items_to_settle
    short = ""
    in_reach = needed is not None and plan.items < needed <= MAX_TIMES_ITEMS * plan.items
    if in_reach and isfinite(plan.smallest_shown):
        first, second = plan.pair
        short = f"about {needed:,} items (now {plan.items:,}) would settle {first} vs {second}"
    return (Statement(kind="next", text=plan.explain(), short=short),)


def cost_title(measure: str, currency: str = "") -> str:
    """Return the title of a measure, such as a percentile of the latency.

    Examples
    --------
    >>> cost_title("tokens"), cost_title("p95_latency"), cost_title("cost", "USD")
    ('tokens per sample', 'p95 seconds per sample', 'cost of 1,000 samples, USD')
    """
    percentile, _, kind = measure.rpartition("_")
    title = COST_TITLES[kind]
    if kind == "cost" and currency:
        title += f", {currency}"
    return f"{percentile} {title}" if percentile else title


def shown_cost(cost: float, measure: str) -> float:
    """Return the cost as it is shown: money for 1,000 samples, tokens and seconds for one."""
    return cost * SHOWN_SAMPLES if measure == "cost" else cost


def cost_phrase(cost: float, measure: str, currency: str = "") -> str:
    """Return what a sample costs.

    Examples
    --------
    >>> cost_phrase(1.92e-05, "cost"), cost_phrase(21.0, "tokens"), cost_phrase(0.0612, "latency")
    ('0.0192 per 1,000 samples', '21 tokens per sample', '0.0612 seconds per sample')
    >>> cost_phrase(2.5, "p95_latency"), cost_phrase(0.002, "cost", "USD")
    ('2.5 seconds at p95', '2 USD per 1,000 samples')
    """
    amount = number(shown_cost(cost, measure))
    if measure == "cost":
        return f"{amount} {currency} per 1,000 samples".replace("  ", " ")
    percentile, _, kind = measure.rpartition("_")
    return f"{amount} seconds at {percentile}" if percentile else f"{amount} {COST_TITLES[kind]}"


def main_cost(costs: Mapping[str, Mapping[str, float]], preferred: str) -> str | None:
    """Return the preferred measure, or else the first that is known for all models."""
    for measure in (preferred, "cost", "tokens"):
        by_model = costs.get(measure, {})
        if by_model and all(isfinite(cost) for cost in by_model.values()):
            return measure
    return None


def cost_details(
    costs: Mapping[str, Mapping[str, float]], preferred: str, currency: str = ""
) -> dict[Name, str]:
    """Return what a sample costs by model, in a phrase; empty if no measure covers all models."""
    measure = main_cost(costs, preferred)
    if measure is None:
        return {}
    prefix = "cost " if measure == "cost" else ""
    return {
        name: f"{prefix}{cost_phrase(cost, measure, currency)}"
        for name, cost in costs[measure].items()
    }


def cost_sentence(choice: Any) -> str:
    """Compare the cost of the recommended model with another one's; empty if unknown.

    The other model is the one with the best mean. If that is the recommended model, it is the
    cheapest model that is not shown to be worse.
    """
    measure = main_cost(choice.costs, choice.cost_of)
    if measure is None:
        return ""
    costs = choice.costs[measure]
    cost = costs[str(choice.recommended)]
    other = choice.decision.smallest_mean
    if other == choice.recommended:
        cheaper = [name for name in choice.decision.adequate if costs[str(name)] < cost]
        if not cheaper:
            return ""
        other = min(cheaper, key=lambda name: costs[str(name)])
    other_cost = costs[str(other)]
    if other_cost == cost:
        return f"{called(other)} costs the same."
    verb = "costs" if measure == "cost" else "takes"
    ratio = _ratio_phrase(other_cost, cost, "long" if measure.endswith("latency") else "much")
    sentence = (
        f"{called(other)} {verb} {cost_phrase(other_cost, measure, choice.currency)}, {ratio}"
    )
    if measure == "cost" and other_cost > cost:
        saved = cost_phrase(other_cost - cost, measure, choice.currency)
        return f"{sentence}: {called(choice.recommended)} saves {saved}."
    return f"{sentence}."


def _ratio_phrase(other: float, cost: float, adverb: str = "much") -> str:
    """Return how another cost compares with this one.

    Examples
    --------
    >>> _ratio_phrase(36.0, 2.0), _ratio_phrase(1.0, 3.0), _ratio_phrase(9.2, 10.0, "long")
    ('18 times as much', '33 % as much', '92 % as long')
    >>> _ratio_phrase(0.999, 1.0)
    '99.9 % as much'
    """
    if cost <= 0 or other <= 0:
        return "more" if other > cost else "less"
    ratio = other / cost
    if ratio < 1.5:
        return f"{100 * ratio:.{2 if ratio < 0.995 else 3}g} % as {adverb}"
    return f"{f'{ratio:.2g}' if ratio < 99.5 else f'{ratio:,.0f}'} times as {adverb}"


def _bound_sentence(choice: Any) -> str:
    """State how much worse than the best the recommended model may be."""
    decision, best = choice.decision, choice.recommended
    if choice.bound is None:
        return f"There is no bound on how much worse than the best model {best} may be."
    rival = "the best of the others" if len(decision.by_preference) > 2 else choice.rival
    mean = decision.metric.mean
    if len(choice.scores.tasks) > 1:
        mean += " over tasks (macro)" if choice.weights == "macro" else " over items (micro)"
    confidence = f"{100 * (1 - decision.alpha):g} % confidence"
    if choice.bound == 0.0:
        claims = set(decision.claims)
        shown = all((best, name) in claims for name in decision.by_preference if name != best)
        end = "" if shown else ", which does not show that it is better"
        return f"{best} is not worse than {rival} in {mean} ({confidence}, one-sided){end}."
    return f"{best} is worse than {rival} by at most {choice.bound:.2g} in {mean} ({confidence})."


def _margin_statements(choice: Any) -> tuple[Statement, ...]:
    """State whether the recommended model is within the margin, if there is one."""
    if choice.margin is None:
        return ()
    text = _margin_sentence(choice)
    return (Statement(kind="margin", text=text, short=f"{text.rstrip('.').split('; ')[0]}."),)


def _margin_sentence(choice: Any) -> str:
    if choice.margin_verdict == "depends":
        return (
            f"Whether {choice.recommended} is worse than the best by more than your margin of "
            f"{number(choice.margin)} {DEPENDS}."
        )
    sentence = (
        f"{choice.recommended} {_MARGIN_PHRASES[choice.margin_verdict]} of {number(choice.margin)}"
    )
    needed, items = choice.items_for_margin, len(choice.scores.items)
    if needed is not None and needed > MAX_TIMES_ITEMS * items:
        sentence += (
            f"; more than {MAX_TIMES_ITEMS} times as many items would be needed to show more"
        )
    elif needed is not None and needed > items:
        sentence += (
            f"; about {needed:,} items (now {items:,}) would show that it is not, if the means "
            "stay as they are"
        )
    return f"{sentence}."


def _against_sentences(choice: Any) -> list[str]:
    """Say which models are within the margin of the one that `against` names."""
    phrases = {
        "within": "{name} is shown to be within {margin} of {other}",
        "beyond": "{name} is shown to be worse than {other} by more than {margin}",
        "open": "It is open whether {name} is within {margin} of {other}",
        "depends": f"Whether {{name}} is within {{margin}} of {{other}} {DEPENDS}",
    }
    sentences = []
    if len(choice.against) > MAX_AGAINST:
        other, margin = choice.against[0].against, number(choice.margin)
        for verdict, title in _AGAINST_TITLES.items():
            names = [row.name for row in choice.against if row.verdict == verdict]
            if names:
                title = title.format(margin=margin, other=other)
                sentences.append(f"{title}: {shortened(names, 6)}.")
        return sentences
    for row in choice.against:
        words = phrases[row.verdict].format(
            name=row.name, other=row.against, margin=number(choice.margin)
        )
        width = abs(row.at_most + row.difference)
        difference, at_most = rounded([row.difference, row.at_most], width)
        sentences.append(f"{words} (difference {difference}, at most {at_most} worse).")
    return sentences


def _too_few_items_sentences(choice: Any) -> list[str]:
    """Name the models that these items cannot separate from the recommended one."""
    best = choice.recommended
    unit = "cluster" if choice.scores.clusters else "item"
    sentences = []
    for rival, count, smallest_pvalue in choice.unattainable:
        if count == 0:
            sentences.append(f"{best} and {rival} have the same score on every {unit}.")
        else:
            verb = "separates" if count == 1 else "separate"
            sentences.append(
                f"Only {counted(count, unit)} {verb} {best} from {rival}: the p-value cannot fall "
                f"below {smallest_pvalue:.2g}, so these items cannot decide between the two."
            )
    return sentences


def item_plan_text(plan: Any, power: float) -> str:
    """Return an `ItemPlan` in sentences."""
    a, b = plan.pair
    if not isfinite(plan.smallest_shown):
        return f"One cluster cannot show how {a} and {b} vary between clusters."
    items = counted(plan.items, "item")
    level = "" if abs(plan.level - 0.05) < 1e-12 else f" at the corrected level {plan.level:.2g}"
    if plan.smallest_shown > plan.largest:
        text = (
            f"{capitalised(items)} {'is' if plan.items == 1 else 'are'} too few to show any "
            f"difference between {a} and {b}{level} with probability {power:g}."
        )
    else:
        text = (
            f"The smallest difference between {a} and {b} that {items} would show{level} with "
            f"probability {power:g} is {number(plan.smallest_shown)}."
        )
    needed = plan.items_to_settle
    if (
        plan.settled
        or abs(plan.difference) <= 1e-12
        or (needed is not None and needed <= plan.items)
    ):
        return text
    if needed is None or needed > MAX_TIMES_ITEMS * plan.items:
        return (
            f"{text} The observed difference, {number(abs(plan.difference))}, cannot be settled in "
            f"practice: it would take more than {MAX_TIMES_ITEMS} times as many items."
        )
    text += (
        f" If the true difference is the observed {number(abs(plan.difference))}, about "
        f"{needed:,} items (now {plan.items:,}) would settle it"
    )
    if plan.epochs_to_settle is not None:
        text += f", or {plan.epochs_to_settle:,} epochs of the same items (now {plan.epochs})"
    elif isfinite(plan.within):
        text += "; more epochs of the same items would not"
    return f"{text}."


PEEKING = (
    "Fix the number of items before you look at the new scores: looks at 200 and at 1,000 items "
    "made a wrong claim about equal models in 9.5 percent instead of 5, and five looks in 14.5."
)
"""Measured by studies/evals_plans.py."""


def more_items_text(plan: Any, power: float) -> str:
    """Return a `MoreItems` in sentences."""
    first, second = plan.pair
    sentences = []
    if plan.more is not None and plan.settled:
        sentences.append(f"The difference between {first} and {second} is shown already.")
    elif plan.more is not None:
        sentences += [
            f"{plan.items:,} items are done; with {plan.more:,} more the chance to decide between "
            f"{first} and {second} is {plan.chance:.2f} ({plan.chance_if_observed:.2f} if the "
            "observed difference is the true one).",
            PEEKING,
        ]
    if plan.difference is not None:
        needed = f"about {plan.needed:,}" if plan.needed is not None else "more than two million"
        sentences.append(
            f"To show a difference of {number(plan.difference)} between {first} and {second} with "
            f"probability {power:g}, you need {needed} items (now {plan.items:,})."
        )
    return " ".join(sentences)


def _range_sentence(bounds: Any) -> str:
    """Return how far ahead the recommended model is, over all possible missing scores."""
    if bounds is None:
        return ""
    rivals = [
        f"of {rival.name} by {number(rival.low)} to {number(rival.high)}" for rival in bounds.rivals
    ]
    return (
        f"Over all possible missing scores, {bounds.recommended} is ahead {shortened(rivals, 3)}."
    )


def missing_bounds_text(bounds: Any) -> str:
    """Return `MissingBounds` in sentences."""
    best = bounds.recommended
    total = sum(bounds.missing.values())
    if not total:
        return "No score is missing: every model has one for every item."
    counts = [f"{name} {count:,}" for name, count in bounds.missing.items() if count]
    sentences = [
        f"{counted(total, 'score')} of {bounds.items:,} items "
        f"{'is' if total == 1 else 'are'} missing ({shortened(counts, 12)})."
    ]
    if bounds.at_worst == best:
        sentences.append(
            f"{best} would be recommended even if all its missing scores were wrong and all "
            "those of the others right."
        )
    else:
        sentences.append(
            f"If all missing scores of {best} were wrong and all those of the others right, "
            f"{bounds.at_worst or 'no model'} would be recommended."
        )
    rivals: dict[tuple[str, ...], list[str]] = {}
    for rival in bounds.rivals:
        rivals.setdefault(rival.could_be, []).append(
            f"{rival.name} ({number(rival.low)} to {number(rival.high)})"
        )
    sentences += [
        _verdicts_sentence(best, verdicts, shortened(names, 6))
        for verdicts, names in rivals.items()
    ]
    return " ".join(sentences)


def _verdicts_sentence(best: str, verdicts: tuple[str, ...], rivals: str) -> str:
    """State which verdicts on these rivals the missing scores allow."""
    if verdicts == ("too close to call",):
        return f"Whatever they are, {best} is too close to call against {rivals}."
    if len(verdicts) == 1:
        return f"Whatever they are, {best} is significantly {verdicts[0]} than {rivals}."
    either = " or ".join(_VERDICT_PHRASES[verdict] for verdict in verdicts)
    return f"It depends on them whether {best} is {either}, compared with {rivals}."


def rival_bounds_text(bounds: Any) -> str:
    """Return `RivalBounds` in a sentence."""
    return (
        f"{bounds.name}: ahead of it by {number(bounds.low)} to {number(bounds.high)}; "
        f"{' or '.join(bounds.could_be)}."
    )
