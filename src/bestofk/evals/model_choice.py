"""What models cost, in words: beside the model to use, and against the others."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import counted, number
from bestofk._base.results import Presented, json_ready, present
from bestofk.decide.decision import Decision
from bestofk.decide.statements.statement import (
    KINDS,
    Statement,
    as_text,
    paragraph,
    statements,
)
from bestofk.decide.statements.wording import called
from bestofk.evals.item_plan import ItemPlan
from bestofk.evals.item_scores import ItemScores
from bestofk.evals.missing_bounds import MissingBounds

if TYPE_CHECKING:
    from bestofk.decide.preference import Name

A_THOUSAND = 1000.0
COST_TITLES = {
    "cost": "cost of 1,000 samples",
    "tokens": "tokens per sample",
    "latency": "seconds per sample",
}
"""What is shown of each measure; money by the thousand, as a sample costs next to nothing."""


def shown_cost(cost: float, of: str) -> float:
    """The number that is shown: for money that of a thousand samples."""
    return cost * A_THOUSAND if of == "cost" else cost


def cost_phrase(cost: float, of: str) -> str:
    """What a sample costs, in a phrase.

    Examples
    --------
    >>> cost_phrase(1.92e-05, "cost"), cost_phrase(21.0, "tokens"), cost_phrase(0.0612, "latency")
    ('0.0192 per 1,000 samples', '21 tokens per sample', '0.0612 seconds per sample')
    """
    amount = number(shown_cost(cost, of))
    words = {"cost": "per 1,000 samples", "tokens": "tokens per sample",
             "latency": "seconds per sample"}  # fmt: skip
    return f"{amount} {words[of]}"


def main_cost(costs: Mapping[str, Mapping[str, float]], preferred: str) -> str | None:
    """The measure to speak of: the one preferred by, else the first that all models have."""
    for of in (preferred, "cost", "tokens"):
        known = costs.get(of, {})
        if known and all(isfinite(cost) for cost in known.values()):
            return of
    return None


def cost_details(costs: Mapping[str, Mapping[str, float]], preferred: str) -> dict[Name, str]:
    """Return what a sample costs by model, in a phrase; empty if no measure covers all models."""
    of = main_cost(costs, preferred)
    if of is None:
        return {}
    prefix = "cost " if of == "cost" else ""
    return {name: f"{prefix}{cost_phrase(cost, of)}" for name, cost in costs[of].items()}


def cost_sentence(choice: ModelChoice) -> str:
    """Compare the cost of the recommended model with another one's; empty if unknown."""
    of = main_cost(choice.costs, choice.cost_of)
    if choice.recommended is None or of is None:
        return ""
    return _against(choice, of, choice.costs[of][str(choice.recommended)])


def _against(choice: ModelChoice, of: str, cost: float) -> str:
    """What the one with the best mean costs, or the cheapest that is not shown to be worse."""
    order, who = choice.decision, choice.recommended
    costs = choice.costs[of]
    best: Any = order.smallest_mean
    if best == who:
        close = [name for name in order.adequate if costs[str(name)] < cost]
        if not close:
            return ""
        best = min(close, key=lambda name: costs[str(name)])
    other = costs[str(best)]
    if other == cost:
        return f"{called(best)} costs the same."
    verb = {"cost": "costs", "tokens": "takes", "latency": "takes"}[of]
    times = _times(other, cost, "long" if of == "latency" else "much")
    return f"{called(best)} {verb} {cost_phrase(other, of)}, {times}."


def _times(other: float, own: float, how: str = "much") -> str:
    """How the one compares with the other, in words.

    Examples
    --------
    >>> _times(36.0, 2.0), _times(1.0, 3.0), _times(9.2, 10.0, "long"), _times(1.0, 0.0)
    ('18 times as much', '33 % as much', '92 % as long', 'more')
    """
    if own <= 0 or other <= 0:
        return "more" if other > own else "less"
    ratio = other / own
    if ratio < 1.5:
        return f"{100 * ratio:.2g} % as {how}"
    return f"{f'{ratio:.2g}' if ratio < 99.5 else f'{ratio:,.0f}'} times as {how}"


# Which language model to use: the decision, how sure it is, and what was left out.


MARGIN_WORDS = {
    "shown": "is shown not to be worse than the best by more than your margin",
    "not shown": "may be worse than the best by more than your margin",
    "worse": "is shown to be worse than another, perhaps by more than your margin",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelChoice(Presented):
    """What was decided about K models from the logs of their evaluation.

    Attributes
    ----------
    decision : Decision
        The recommended model, the ranking and the evidence.
    scores : ItemScores
        What it was decided from: one score per model and item.
    weights : {"micro", "macro"}
        Whether every item counts the same, or every task.
    costs : mapping
        Mean cost, tokens and latency of a sample by model; NaN where unknown.
    cost_of : str
        Which of them was preferred by.
    bound : float or None
        How much worse than the best of them the recommended one may be, with confidence
        1 - alpha; None where nothing bounds it.
    rival : str or None
        The model against which that bound is largest.
    plan : ItemPlan or None
        What these items could show of the recommended one and its nearest rival.
    margin, margin_verdict
        A difference that does not matter, and whether the recommended one is ``"shown"`` not to be
        worse by more than that, ``"not shown"``, or ``"worse"``.
    items_for_margin : int or None
        Items at which that would be shown with a chance of 0.8, if the means stay as they are.
    unattainable : tuple
        (model, clusters that differ, smallest p-value possible): so few clusters tell these from
        the recommended one that no p-value could have been small enough.
    intervals : mapping
        The interval of each model's own mean, in the user's metric.
    counts : mapping
        By model, how many samples have which status.
    account, left_out : tuple of str
        What was read, and what of it does not count.
    missing_bounds : MissingBounds or None
        What the verdict could be whatever the missing scores are, where that was asked for.
    """

    decision: Decision
    scores: ItemScores = field(repr=False)
    weights: str
    costs: Mapping[str, Mapping[str, float]] = field(repr=False)
    cost_of: str
    bound: float | None
    rival: str | None
    plan: ItemPlan | None
    margin: float | None
    margin_verdict: str | None
    items_for_margin: int | None
    unattainable: tuple[tuple[str, int, float], ...]
    intervals: Mapping[str, tuple[float, float]] = field(repr=False)
    counts: Mapping[str, Mapping[str, int]] = field(repr=False)
    account: tuple[str, ...] = field(repr=False)
    left_out: tuple[str, ...] = field(repr=False)
    missing_bounds: MissingBounds | None = field(default=None, repr=False)

    @property
    def recommended(self) -> Name | None:
        """The model to use; None where the procedure cannot tell."""
        return self.decision.recommended

    def select(self, *kinds: str) -> tuple[Statement, ...]:
        """Return the statements of these kinds; see `bestofk.decide.statements`."""
        more = self._statements()
        return tuple(
            one
            for kind in kinds
            for one in (*self.decision.select(kind), *(one for one in more if one.kind == kind))
        )

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        return self.select(*KINDS)

    def _statements(self) -> tuple[Statement, ...]:
        """Return what is said of models besides the decision."""
        best = self.recommended
        bounds = () if self.missing_bounds is None else (self.missing_bounds.explain(),)
        notes = statements("note", (*self.left_out, *bounds))
        if best is None:
            return notes
        few = [_few_sentence(str(best), *one, self._unit_words()) for one in self.unattainable]
        plan = "" if self.plan is None else self.plan.explain()
        margin = "" if self.margin is None else self._margin_sentence()
        return (
            *statements("verdict", [cost_sentence(self)]),
            *statements("bound", [self._bound_sentence()]),
            *statements("margin", [margin]),
            *statements("next", [*few, plan]),
            *notes,
        )

    def headline(self) -> str:
        """Return which model to use, its score, what it costs, and why."""
        return paragraph(self.select("verdict"))

    def _bound_sentence(self) -> str:
        sure = f"{100 * (1 - self.decision.alpha):g} % confidence"
        if self.bound is None:
            return f"How much worse than the best of them {self.recommended} may be is not bounded."
        than = "the best of the others" if len(self.decision.by_preference) > 2 else self.rival
        if self.bound == 0.0:
            return (
                f"{self.recommended} is not worse than {than} in "
                f"{self.decision.metric.mean}{self._weight_words()} ({sure})."
            )
        return (
            f"{self.recommended} is worse than {than} by at most {number(self.bound)} in "
            f"{self.decision.metric.mean}{self._weight_words()} ({sure})."
        )

    def _margin_sentence(self) -> str:
        assert self.margin is not None
        assert self.margin_verdict is not None
        words = MARGIN_WORDS[self.margin_verdict]
        said = f"{self.recommended} {words} of {number(self.margin)}"
        if self.items_for_margin is not None and self.items_for_margin > len(self.scores.items):
            said += (
                f"; about {self.items_for_margin:,} items (now {len(self.scores.items):,}) would "
                "show that it is not, if the means stay as they are"
            )
        return said + "."

    def _weight_words(self) -> str:
        tasks = len(self.scores.tasks)
        if tasks < 2:
            return ""
        return " over tasks (macro)" if self.weights == "macro" else " over items (micro)"

    def _unit_words(self) -> str:
        return "cluster" if self.scores.clusters else "item"

    def explain(self) -> str:
        """Return all statements, the verdict first, one paragraph per line."""
        return as_text(self.statements)

    def _columns(self) -> dict[str, Any]:
        """The leaderboard: one row per model."""
        names = [str(name) for name in self.decision.ranking] or list(self.scores.learners)
        if len(names) < len(self.scores.learners):
            names = [str(name) for name in self.decision.by_preference]
        standings = {str(one.name): one.verdict for one in self.decision.standings}
        metric = self.decision.metric
        return {
            "learner": names,
            "mean": [metric.shown(self.decision.means[name]) for name in names],
            "low": [self.intervals[name][0] for name in names],
            "high": [self.intervals[name][1] for name in names],
            **{
                of: [_known(costs[name]) for name in names]
                for of, costs in self.costs.items()
                if any(isfinite(cost) for cost in costs.values())
            },
            "verdict": [
                "recommended" if name == self.recommended else standings.get(name, "")
                for name in names
            ],
        }

    def to_dict(self) -> dict[str, Any]:
        """The decision for strict JSON, with what stands beside it."""
        plan = None if self.plan is None else self.plan.to_dict()
        columns = self._columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        found: dict[str, Any] = json_ready(
            {
                "weights": self.weights,
                "tasks": len(self.scores.tasks),
                "items": len(self.scores.items),
                "clusters": len(self.scores.clusters) or None,
                "leaderboard": rows,
                "worse_by_at_most": self.bound,
                "worse_than": self.rival,
                "plan": plan,
                "margin": self.margin,
                "margin_verdict": self.margin_verdict,
                "items_for_margin": self.items_for_margin,
                "unattainable": [
                    {"learner": name, "differ": count, "smallest_pvalue": least}
                    for name, count, least in self.unattainable
                ],
                "left_out": list(self.left_out),
                "missing_bounds": None
                if self.missing_bounds is None
                else self.missing_bounds.to_dict(),
            }
        )
        held = self.decision.to_dict()
        said = [one.to_dict() for one in self.statements]
        return {
            **held,
            "headline": self.headline(),
            "explanation": self.explain(),
            "statements": said,
            "choice": found,
        }

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        command: Sequence[str] = (),
    ) -> Path:
        """Write one self-contained HTML file, and return its path; see `Decision.report`."""
        written: Path = present("report", self, path, title=title, command=command)
        return written

    def __repr__(self) -> str:
        return f"ModelChoice(recommended={self.recommended!r}, ranking={self.decision.ranking!r})"


def _known(cost: float) -> float | None:
    return cost if isfinite(cost) else None


def _few_sentence(who: str, rival: str, count: int, least: float, unit: str) -> str:
    if count == 0:
        return f"{who} and {rival} have the same score on every {unit}: nothing tells them apart."
    verb = "tells" if count == 1 else "tell"
    return (
        f"Only {counted(count, unit)} {verb} {who} from {rival}: no p-value below {least:.2g} "
        "could come out, whatever they say, so that these items cannot decide between the two."
    )
