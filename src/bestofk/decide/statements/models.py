"""Statements about a choice between language models: costs, judges and items."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from bestofk._base.errors import use
from bestofk._base.formatting import counted, interval_words, number, rounded, shortened
from bestofk.decide.preference import Name
from bestofk.decide.statements import Statement, statements, with_advice
from bestofk.decide.statements.wording import at_most_text, called

SHOWN_SAMPLES = 1000.0
"""Samples whose cost is shown; one sample costs next to nothing."""
COST_TITLES = {
    "cost": "cost of 1,000 samples",
    "tokens": "tokens per sample",
    "latency": "seconds per sample",
}
"""The title of each measure."""
MAX_AGAINST = 6
"""Models that a sentence compares with another one."""
_AGAINST = {
    "within": "within the margin",
    "open": "not shown to be within the margin",
    "beyond": "worse by more than the margin",
}


def model_statements(choice: Any) -> tuple[Statement, ...]:
    """Return the statements of a `bestofk.ModelChoice` besides those of its decision."""
    notes = statements("note", [_weight_sentence(choice), *choice.left_out])
    if choice.recommended is None:
        return notes
    return (
        *statements("verdict", [*_against_sentences(choice), cost_sentence(choice)]),
        *_judge_statements(choice),
        *statements("more items", [] if choice.more is None else [choice.more.explain()]),
        *notes,
    )


def _weight_sentence(choice: Any) -> str:
    """Say whether items or tasks count the same; empty for one task."""
    tasks = len(choice.scores.tasks)
    if tasks == 1:
        return ""
    each = f"Each of {counted(tasks, 'task')} has"
    if choice.weights == "micro":
        each = f"Each item of {counted(tasks, 'task')} has"
    return f"{each} the same weight ({choice.weights})."


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
    )


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
    cheapest model that may be the best.
    """
    measure = main_cost(choice.costs, choice.cost_of)
    if measure is None:
        return ""
    costs = choice.costs[measure]
    cost = costs[str(choice.recommended)]
    other = choice.decision.smallest_mean
    if other == choice.recommended:
        cheaper = [name for name in choice.decision.candidates if costs[str(name)] < cost]
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


def _against_sentences(choice: Any) -> list[str]:
    """Say which models are within the margin of the one that `against` names."""
    sentences = []
    for verdict, words in _AGAINST.items():
        names = [
            row.name
            if row.at_most is None
            else f"{row.name} (at most {at_most_text(choice.decision, row)} worse)"
            for row in choice.against
            if row.verdict == verdict
        ]
        if names:
            other, margin = choice.against[0].against, number(choice.decision.margin)
            sentences.append(
                f"Compared with {other}, {words} of {margin}: {shortened(names, MAX_AGAINST)}."
            )
    return sentences


def against_text(row: Any) -> str:
    """Return an `AgainstModel` in a sentence."""
    bound = "" if row.at_most is None else f" (at most {number(row.at_most)} worse)"
    return f"Compared with {row.against}, {row.name} is {_AGAINST[row.verdict]}{bound}."


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
