"""The result of choosing a language model: the decision, its costs and its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import use
from bestofk._base.formatting import counted, interval_words, number, shortened
from bestofk._base.results import Presented, Reported, json_ready
from bestofk.decide.decision import Decision
from bestofk.decide.statements import Stated, Statement, in_order, statements, with_advice
from bestofk.decide.statements.wording import at_most_text, called
from bestofk.evals.costs import cost_phrase, cost_title, main_cost, ratio_phrase, shown_cost
from bestofk.evals.item_plan import MoreItems
from bestofk.evals.item_scores import ItemScores
from bestofk.evals.judge import JudgeCheck

if TYPE_CHECKING:
    from bestofk.decide.preference import Name

MAX_COSTS = 12
"""Models whose costs are printed."""
MAX_AGAINST = 6
"""Models that a sentence compares with another one."""
_AGAINST = {
    "within": "within the margin",
    "open": "not shown to be within the margin",
    "beyond": "worse by more than the margin",
}
_JUDGES = ("judge", "model_graded", "llm", "geval", "g_eval")
"""Parts of the names of scores that a model gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstModel(Presented):
    """The comparison of a model with the one that `against` names.

    - `name`, `against`: The two models.
    - `difference`: The mean of `name` minus that of `against`, in the user's metric.
    - `at_most`: How much worse `name` may be, with confidence 1 - alpha for all models together;
      None without a bound.
    - `verdict` {"within", "beyond", "open"}: Shown to be worse by at most the margin; shown to be
      worse by more; neither.
    """

    name: str
    against: str
    difference: float
    at_most: float | None
    verdict: str

    def explain(self) -> str:
        """Return the comparison in a sentence."""
        bound = "" if self.at_most is None else f" (at most {number(self.at_most)} worse)"
        return f"Compared with {self.against}, {self.name} is {_AGAINST[self.verdict]}{bound}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelChoice(Stated, Reported):
    """A choice between K language models, made from their evaluation logs.

    Attributes
    ----------
    decision : Decision
        The recommended model, the ranking and the evidence.
    scores : ItemScores
        The scores behind the decision: one per model and item.
    weights : {"micro", "macro"}
        Whether every item counts the same, or every task.
    costs : mapping
        Mean cost, tokens and latency of a sample by model; NaN if unknown.
    cost_of : str
        The measure of the preference: ``"cost"``, ``"tokens"``, ``"latency"`` or a percentile such
        as ``"p95_latency"``.
    more : MoreItems or None
        The chance that more items decide, if `more` or `difference` was stated.
    cost_intervals : mapping
        The interval of that percentile by model; empty for means.
    currency : str
        The currency of the costs, if the log states it.
    intervals : mapping
        The interval of each model's mean, in the user's metric.
    counts : mapping
        The number of samples of each status, by model.
    account, left_out : tuple of str
        What was read, and which part of it does not count.
    against : tuple of AgainstModel
        How each other model compares with the one named by `against`, given the margin.
    judge : JudgeCheck or None
        What the human labels show about the judge, if there are labels.
    """

    decision: Decision
    scores: ItemScores = field(repr=False)
    weights: str
    costs: Mapping[str, Mapping[str, float]] = field(repr=False)
    cost_of: str
    intervals: Mapping[str, tuple[float, float]] = field(repr=False)
    counts: Mapping[str, Mapping[str, int]] = field(repr=False)
    account: tuple[str, ...] = field(repr=False)
    left_out: tuple[str, ...] = field(repr=False)
    against: tuple[AgainstModel, ...] = field(default=(), repr=False)
    judge: JudgeCheck | None = field(default=None, repr=False)
    more: MoreItems | None = field(default=None, repr=False)
    cost_intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    currency: str = ""

    @property
    def recommended(self) -> Name | None:
        """The model to use; None if the procedure cannot decide."""
        return self.decision.recommended

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements, the verdict first."""
        # views show the first caution: that about a judge matters more than that about a test
        listed = [*self._about_judge(), *self.decision.statements]
        if self.recommended is not None:
            listed += statements("verdict", [*self._against_sentences(), self._cost_sentence()])
        if self.more is not None:
            listed += statements("also", [f"More items: {self.more.explain()}"])
        listed += statements("note", [self._weight_sentence(), *self.left_out])
        listed += statements("run", self._cost_lines())
        return in_order(listed)

    def _weight_sentence(self) -> str:
        """Say whether items or tasks count the same; empty for one task."""
        tasks = len(self.scores.tasks)
        if tasks == 1:
            return ""
        each = f"Each of {counted(tasks, 'task')} has"
        if self.weights == "micro":
            each = f"Each item of {counted(tasks, 'task')} has"
        return f"{each} the same weight ({self.weights})."

    def _against_sentences(self) -> list[str]:
        """Say which models are within the margin of the one that `against` names."""
        sentences = []
        for verdict, words in _AGAINST.items():
            names = [
                row.name
                if row.at_most is None
                else f"{row.name} (at most {at_most_text(self.decision, row.at_most)} worse)"
                for row in self.against
                if row.verdict == verdict
            ]
            if names:
                other, margin = self.against[0].against, number(self.decision.margin or 0.0)
                sentences.append(
                    f"Compared with {other}, {words} of {margin}: {shortened(names, MAX_AGAINST)}."
                )
        return sentences

    def _cost_sentence(self) -> str:
        """Compare the cost of the recommended model with another one's; empty if unknown.

        The other model is the one with the best mean. If that is the recommended model, it is the
        cheapest model that may be the best.
        """
        measure = main_cost(self.costs, self.cost_of)
        if measure is None or self.recommended is None:
            return ""
        costs = self.costs[measure]
        cost = costs[str(self.recommended)]
        other = self.decision.smallest_mean
        if other == self.recommended:
            cheaper = [name for name in self.decision.candidates if costs[str(name)] < cost]
            if not cheaper:
                return ""
            other = min(cheaper, key=lambda name: costs[str(name)])
        other_cost = costs[str(other)]
        if other_cost == cost:
            return f"{called(other)} costs the same."
        verb = "costs" if measure == "cost" else "takes"
        ratio = ratio_phrase(other_cost, cost, "long" if measure.endswith("latency") else "much")
        phrase = cost_phrase(other_cost, measure, self.currency)
        sentence = f"{called(other)} {verb} {phrase}, {ratio}"
        if measure == "cost" and other_cost > cost:
            saved = cost_phrase(other_cost - cost, measure, self.currency)
            return f"{sentence}: {called(self.recommended)} saves {saved}."
        return f"{sentence}."

    def _about_judge(self) -> tuple[Statement, ...]:
        """State what human labels show about the judge, or what a judge alone cannot show."""
        if self.recommended is None:
            return ()
        if self.judge is not None:
            cautions = [f"Caution: {one}" for one in self.judge.cautions()]
            shown = statements("also", [f"Judge: {self.judge.explain()}"])
            return (*statements("caution", cautions), *shown)
        name = self.scores.metric.lower().replace("-", "_").replace(" ", "_")
        if not any(part in name for part in _JUDGES):
            return ()
        return (
            with_advice(
                "caution",
                "Caution: The scores are those of a judge: they show which model the judge "
                "prefers, not which is better. If it favours a model, more items do not help: let "
                "people label about 100 random items, and pass ",
                use(truth="COLUMN"),
                ".",
            ),
        )

    def _cells(self) -> dict[str, dict[str, str]]:
        """Return the cost of each model by the measure of the verdict, under its title."""
        of = main_cost(self.costs, self.cost_of)
        if of is None:
            return {}
        cells = {name: f"{shown_cost(cost, of):.3g}" for name, cost in self.costs[of].items()}
        for name, (low, high) in self.cost_intervals.items():
            cells[name] += f" ({interval_words(low, high)})"
        return {cost_title(of, self.currency): cells}

    def _cost_lines(self) -> list[str]:
        """Return the known costs of a sample, by model."""
        lines = []
        for of, costs in self.costs.items():
            known = [f"{name} {shown_cost(cost, of):.3g}"
                     for name, cost in costs.items() if isfinite(cost)]  # fmt: skip
            if known:
                title = cost_title(of, self.currency)
                title = f"Mean {title}" if title[0] != "p" else title
                lines.append(f"{title}: {shortened(known, MAX_COSTS)}.")
        return lines

    def _columns(self) -> dict[str, Any]:
        """Return one row per model: its mean, bounds, costs and verdict."""
        rows = {str(row.name): row for row in self.decision.standings}
        names = [str(name) for name in self.decision.by_mean]
        return {
            "learner": names,
            "mean": [rows[name].mean for name in names],
            "low": [self.intervals[name][0] for name in names],
            "high": [self.intervals[name][1] for name in names],
            "at_least": [rows[name].at_least for name in names],
            "at_most": [rows[name].at_most for name in names],
            **{
                measure: [costs[name] if isfinite(costs[name]) else None for name in names]
                for measure, costs in self.costs.items()
                if any(isfinite(cost) for cost in costs.values())
            },
            "verdict": [rows[name].verdict for name in names],
        }

    def to_dict(self, *, pairs: bool = False) -> dict[str, Any]:
        """Return the decision for strict JSON, with the numbers about the models.

        `pairs` is that of `Decision.to_dict`.
        """
        columns = self._columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        choice = {
            "weights": self.weights,
            "tasks": len(self.scores.tasks),
            "items": len(self.scores.items),
            "clusters": len(self.scores.clusters) or None,
            "leaderboard": rows,
            "left_out": self.left_out,
            "against": [row.to_dict() for row in self.against],
            "judge": self.judge,
            "more_items": self.more,
            "currency": self.currency or None,
            "cost_intervals": {name: list(ends) for name, ends in self.cost_intervals.items()},
        }
        return {
            **self.decision.to_dict(pairs=pairs),
            "headline": self.headline(),
            "statements": [statement.to_dict() for statement in self.statements],
            "choice": json_ready(choice),
        }

    def __repr__(self) -> str:
        return f"ModelChoice(recommended={self.recommended!r}, ranking={self.decision.ranking!r})"
