"""The result of choosing a language model: the decision, its costs and its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import use
from bestofk._base.formatting import counted, joined, number, shortened
from bestofk._base.results import json_ready
from bestofk.decide.decision import Decision
from bestofk.decide.slices import Slice
from bestofk.decide.statements import Stated, Statement, in_order, statements, with_advice
from bestofk.decide.statements.wording import called
from bestofk.evals.costs import cost_phrase, cost_title, main_cost, ratio_phrase, shown_cost
from bestofk.evals.evals import Evals
from bestofk.evals.item_scores import ItemScores
from bestofk.evals.judge import JudgeCheck
from bestofk.evals.noise import Noise
from bestofk.evals.rows import STATUSES

if TYPE_CHECKING:
    from bestofk.decide.preference import Name
    from bestofk.losses.losses import Scores

_JUDGES = ("judge", "model_graded", "llm", "geval", "g_eval")
"""Parts of the names of scores that a model gave."""


def unmet(
    name: Name, by_metric: Mapping[str, Decision], required: Mapping[str, float | None]
) -> str:
    """Return the first required metric in which a model is not good enough, or an empty text."""
    for metric, margin in required.items():
        decision = by_metric[metric]
        row = Slice(name=metric, decision=decision).standing(name)
        met = row is not None and name in decision.candidates
        if margin is not None and row is not None:
            met = row.at_most is not None and row.at_most <= margin
        if not met:
            return metric
    return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelChoice(Stated):
    """A choice between K language models, made from their evaluation logs.

    Attributes
    ----------
    decision : Decision
        The recommended model, the ranking and the evidence.
    scores : ItemScores
        The scores behind the decision: one per model and item.
    evals : Evals
        The logs.
    weights : {"micro", "macro"}
        Whether every item counts the same, or every task.
    costs : mapping
        Mean cost, tokens and latency of a sample by model; NaN if unknown.
    cost_of : str
        The measure of the preference: ``"cost"``, ``"tokens"``, ``"latency"`` or a percentile such
        as ``"p95_latency"``.
    judge : JudgeCheck or None
        What the human labels show about the judge, if there are labels.
    noise : Noise or None
        How much the scores vary between runs, if there are several epochs.
    by_metric : mapping of str to Decision
        The decisions by the other metrics.
    unnamed : tuple of str
        Those of the logs that the user did not name.
    require : mapping of str to float or None
        The required metrics, each with the difference that does not matter.
    """

    command = "evals"
    decision: Decision
    scores: ItemScores = field(repr=False)
    evals: Evals = field(repr=False)
    weights: str
    costs: Mapping[str, Mapping[str, float]] = field(repr=False)
    cost_of: str
    judge: JudgeCheck | None = field(default=None, repr=False)
    noise: Noise | None = field(default=None, repr=False)
    by_metric: Mapping[str, Decision] = field(default_factory=dict, repr=False)
    unnamed: tuple[str, ...] = ()
    require: Mapping[str, float | None] = field(default_factory=dict, repr=False)

    @property
    def recommended(self) -> Name | None:
        """The model to use; None if the rule cannot decide."""
        return self.decision.recommended

    @property
    def currency(self) -> str:
        """The currency of the costs, if the log states it."""
        return self.evals.currency

    @property
    def account(self) -> tuple[str, ...]:
        """What was read."""
        return tuple(one for one in self.scores.notes if one not in self.scores.left_out)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Which part of what was read does not count."""
        return self.scores.left_out

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The number of samples of each status, by model."""
        by_status = {status: self.evals.count(status).tolist() for status in STATUSES}
        return {
            name: {status: count[k] for status, count in by_status.items()}
            for k, name in enumerate(self.evals.models)
        }

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements, the verdict first."""
        # views show the first caution: that about a judge matters more than that about a test
        listed = [*self._about_judge()]
        if self.require and self.recommended is None:
            needs = joined([
                f"may be the best in {name}" if most is None
                else f"is shown to be at most {number(most)} worse than the best in {name}"
                for name, most in self.require.items()
            ])  # fmt: skip
            listed += statements("verdict", [f"No model {needs}."])
            listed += [one for one in self.decision.statements if one.kind != "verdict"]
        else:
            listed += self.decision.statements
        listed += statements("verdict", [self._unmet_sentence(), self._cost_sentence()])
        listed += statements("also", [
            Slice(name=f"By {name}", decision=one).explain()
            for name, one in self.by_metric.items() if name not in self.unnamed
        ])  # fmt: skip
        if self.noise is not None:
            listed += statements("also", [f"Noise: {self.noise.explain()}"])
        shared, metrics = "", len(self.by_metric) - len(self.unnamed) + 1
        if metrics > 1:
            shared = f"Alpha is shared by {metrics} metrics, so that all of this holds at once."
        unnamed = f"Also compared, at a further alpha: {shortened(self.unnamed, 6)}."
        listed += statements("note", [
            self._weight_sentence(), shared, unnamed * bool(self.unnamed),
            *self.evals.assumptions, *self.left_out,
        ])  # fmt: skip
        if self.evals.repeated is not None:
            key, groups = self.evals.repeated
            listed.append(
                with_advice(
                    "note",
                    f"The {len(self.evals.items):,} items have {groups:,} different values of "
                    f"{key!r}: pass ",
                    use(cluster=key),
                    " if items that share one are related.",
                )
            )
        return in_order(listed)

    def _unmet_sentence(self) -> str:
        """Name the models with a better mean that are not good enough in another metric."""
        if self.recommended is None or not self.require:
            return ""
        for name in self.decision.by_mean[: self.decision.by_mean.index(self.recommended)]:
            if metric := unmet(name, self.by_metric, self.require):
                return (
                    f"{called(name)} has a better mean {self.decision.metric.name}, but does not "
                    f"meet your requirement for {metric}."
                )
        return ""

    def _weight_sentence(self) -> str:
        """Say whether items or tasks count the same; empty for one task."""
        tasks = len(self.scores.tasks)
        if tasks == 1:
            return ""
        each = f"Each of {counted(tasks, 'task')} has"
        if self.weights == "micro":
            each = f"Each item of {counted(tasks, 'task')} has"
        return f"{each} the same weight ({self.weights})."

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
        cells = {name: number(shown_cost(cost, of)) for name, cost in self.costs[of].items()}
        return {cost_title(of, self.currency): cells}

    def _measured(self) -> dict[str, Mapping[str, float]]:
        """Return the known costs of a sample, by measure and model."""
        return dict(self.costs)

    def _scores(self) -> Scores:
        return self.scores.losses()

    def _by_metric(self) -> Mapping[str, Decision]:
        return self.by_metric

    def _json(self) -> dict[str, Any]:
        """Return the number of items and the noise of runs, for strict JSON."""
        return {"items": len(self.scores.items), "noise": json_ready(self.noise)}
