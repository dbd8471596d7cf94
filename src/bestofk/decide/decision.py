"""The decision of a procedure about K learners, with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.results import (
    Presented,
    Reported,
    json_ready,
)
from bestofk.decide.evidence import Evidence
from bestofk.decide.preference import NO_PREFERENCE, Name, Preference, without_noise
from bestofk.decide.problem import Problem
from bestofk.decide.registry import decides_by
from bestofk.decide.statements import Statement, as_text, paragraph
from bestofk.losses.losses import Metric

if TYPE_CHECKING:
    from bestofk.decide.choose_test import Choice
    from bestofk.decide.gather import MarginVerdict
    from bestofk.decide.procedures.multitest import Step
    from bestofk.decide.ranks import Ranks
    from bestofk.decide.settings import Settings
    from bestofk.losses.losses import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Presented):
    """The comparison of one learner with the recommended one, from the evidence."""

    name: Name
    mean: float
    """Its mean, in the user's metric."""
    difference: float
    """Its loss minus that of the recommended one, as the test estimates it: positive is worse."""
    low: float
    high: float
    """Simultaneous interval of the difference; infinite where an end is open or not known."""
    pvalue: float | None
    adjusted_pvalue: float | None
    verdict: str
    """``"worse"`` or ``"better"`` if that is shown, ``"too close to call"`` if neither is, and
    ``"not tested"`` if the family does not include this pair (or this direction of it)."""
    margin: MarginVerdict | None = None
    """The verdict on the margin, if there is one."""
    metric: Metric = field(default_factory=Metric)

    def _columns(self) -> dict[str, Any]:
        """One row, in the user's metric."""
        return {name: [cell] for name, cell in self.to_dict().items() if name != "margin"}

    def explain(self) -> str:
        """Return the standing in a sentence."""
        from bestofk.decide.statements.details import standing_sentence

        return standing_sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the standing for strict JSON, in the user's metric: what is infinite is null."""
        row: dict[str, Any] = {
            "name": self.name,
            "mean": self.mean,
            "worse_by": self.difference,
            "low": json_ready(self.low),
            "high": json_ready(self.high),
            "pvalue": self.pvalue,
            "adjusted_pvalue": self.adjusted_pvalue,
            "verdict": self.verdict,
        }
        if self.margin is not None:
            row["margin"] = self.margin.to_dict()
        return row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decision(Reported):
    """The decision of a procedure.

    Attributes
    ----------
    recommended : name or None
        The learner to use; None when the procedure cannot tell. `best` is the same.
    smallest_mean : name
        The learner with the smallest mean loss (the best mean of the user's metric).
    adequate : tuple of names
        The recommended one and those that are not shown to be worse than it.
    decidable : bool
        False where no data could have given an adjusted p-value of at most alpha.
    ranking : tuple of names
        Best first. A procedure that only chooses gives the recommended one alone, or nothing.
    by_preference : tuple of names
        The learners by preference, or by their means where none was stated.
    preference : Preference
        ``"none"``, ``"stated"``, ``"measured: fit_time"``, ...
    claims : tuple of pairs
        (better, worse): every claim of significance that is made anywhere in the result.
    edges : tuple of pairs
        (i, j): i is preferred, and j is shown to be better.
    steps, candidates : tuples
        For every step of the ordering, the candidates and the choice (MultiTest).
    evidence : Evidence
        The tested pairs; ``.to_frame()`` gives a data frame.
    means : mapping
        Mean by learner, in the user's metric: an accuracy stays an accuracy.
    mean_losses : mapping
        Mean loss by learner; smaller is better.
    standings : tuple of Standing
        The comparison of every other learner with the recommended one.
    ranks : Ranks or None
        Simultaneous intervals of the ranks, and the learners that may be the best.
    counts : mapping or None
        Wins by learner, for procedures that count them.
    guard : bool
        Whether candidates are passed over for a struck-out learner with a smaller mean.
    notes : tuple of str
        What a reader must know besides.
    problem, test_choice
        What was decided from: the losses in order of preference, and the pairwise test with all
        it needs but the losses (None for procedures without one).
    """

    procedure: str
    recommended: Name | None
    ranking: tuple[Name, ...]
    by_preference: tuple[Name, ...]
    mean_losses: Mapping[Name, float]
    evidence: Evidence
    test: str
    test_reason: str
    alpha: float
    correction: str
    design: str
    reasons: tuple[str, ...] = ()
    """Sentences of procedures other than MultiTest."""
    preference: Preference = NO_PREFERENCE
    guard: bool = True
    caution: str = ""
    """A sentence about the measured error rate of the test."""
    decidable: bool = True
    smallest_possible: float = 0.0
    """The smallest adjusted p-value that was possible."""
    margin: float | None = None
    margins: Mapping[Name, MarginVerdict] = field(default_factory=dict)
    counts: Mapping[Name, float] | None = None
    bootstrap: Any = None
    """Result of a test of all learners at once, if the verdict includes one."""
    notes: tuple[str, ...] = ()
    problem: Problem | None = field(default=None, repr=False)
    test_choice: Choice | None = field(default=None, repr=False)
    settings: Settings | None = field(default=None, repr=False)
    """The settings of the decision, if `bestofk.order` or `bestofk.compare` made it."""
    _cache: dict[str, tuple[Any, ...]] = field(default_factory=dict, init=False, repr=False)
    """Statements by kind, and the standings, once they were made."""

    @property
    def noun(self) -> str:
        """The noun for what is compared: ``"model"`` if each was fitted once."""
        problem = self.problem
        if problem is None:
            return "learner"
        return "model" if problem.fitted_once else problem.subject.noun

    @property
    def on_items(self) -> bool:
        """True if models are compared by the items that they answered."""
        return self.problem is not None and self.problem.subject.noun == "model"

    @property
    def details(self) -> Mapping[Name, str]:
        """Phrases about learners, such as their cost, that the verdict uses."""
        return {} if self.problem is None else self.problem.subject.details

    @property
    def best(self) -> Name | None:
        """The recommended learner."""
        return self.recommended

    @property
    def metric(self) -> Metric:
        """The user's metric."""
        return self.evidence.metric

    @property
    def means(self) -> dict[Name, float]:
        """Mean by learner, in the user's metric."""
        return {name: self.metric.shown(loss) for name, loss in self.mean_losses.items()}

    @property
    def by_mean(self) -> tuple[Name, ...]:
        """The learners by their means, best first."""
        losses = without_noise(np.array([self.mean_losses[name] for name in self.by_preference]))
        order = np.argsort(losses, kind="stable").tolist()
        return tuple(self.by_preference[k] for k in order)

    @property
    def smallest_mean(self) -> Name:
        """The learner with the smallest mean loss, the first of equal ones."""
        return self.by_mean[0]

    @property
    def adequate(self) -> tuple[Name, ...]:
        """The recommended one and those that are not shown to be worse, by their means."""
        if self.recommended is None:
            return ()
        others = [one.name for one in self.standings if one.verdict != "worse"]
        return (self.recommended, *others)

    @property
    def claims(self) -> tuple[tuple[Name, Name], ...]:
        """Every claim (better, worse) that is made anywhere in the result."""
        return self.evidence.claims()

    @property
    def ranks(self) -> Ranks | None:
        """The ranks that the data allow, and the learners that may be the best.

        None if not all pairs were tested in both directions.
        """
        from bestofk.decide.ranks import ranks_of

        return ranks_of(self)

    @property
    def edges(self) -> tuple[tuple[Name, Name], ...]:
        """Pairs in which the data override the preference."""
        return self.evidence.edges()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step of the ordering: the candidates, and the one taken."""
        if decides_by(self.procedure) != "steps" or not self.preference.stated:
            return ()
        from bestofk.decide.procedures.multitest import Step, steps_of

        names = self.by_preference
        return tuple(
            Step(
                candidates=tuple(names[i] for i in free.tolist()),
                chosen=names[taken],
                passed_over=tuple(names[i] for i in passed.tolist()),
            )
            for free, taken, passed in steps_of(self.evidence.overrides(), self.guarded_means())
        )

    @property
    def candidates(self) -> tuple[tuple[Name, ...], ...]:
        """The candidates of every step, most preferred first."""
        return tuple(step.candidates for step in self.steps)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The comparison of every other learner with the recommended one, ordered by mean."""
        if self.recommended is None or not len(self.evidence):
            return ()
        if "standings" not in self._cache:
            best = self.recommended
            # one call for all pairs
            self.evidence.intervals_of(self.evidence.rows_of(best))
            self._cache["standings"] = tuple(
                self.against(name, best) for name in self.by_mean if name != best
            )
        return self._cache["standings"]

    def guarded_means(self) -> Floats | None:
        """Return the means in order of preference if the guard is on, else None."""
        if not self.guard:
            return None
        return without_noise(np.array([self.mean_losses[name] for name in self.by_preference]))

    def against(self, name: Name, other: Name) -> Standing:
        """Return the comparison of `name` with `other`, from the evidence alone."""
        evidence = self.evidence
        row = evidence.row(name, other) if len(evidence) else None
        margin = self.margins.get(name) if other == self.recommended else None
        if row is None:
            difference = self.mean_losses[name] - self.mean_losses[other]
            noise = 1e-12 * max(map(abs, self.mean_losses.values()))
            difference = 0.0 if abs(difference) <= noise else difference
            return Standing(
                name=name, mean=self.metric.shown(self.mean_losses[name]), difference=difference,
                low=-np.inf, high=np.inf, pvalue=None, adjusted_pvalue=None, verdict="not tested",
                margin=margin, metric=self.metric,
            )  # fmt: skip
        is_first = evidence.names[evidence.first[row]] == name
        better = int(evidence.better[row]) * (1 if is_first else -1)
        difference = float(evidence.estimate[row])
        low, high = (float(end[0]) for end in evidence.intervals_of(np.array([row])))
        verdict = {-1: "better", 1: "worse", 0: "too close to call"}[better]
        if not better and evidence.alternative == "greater" and difference < 0:
            # the test only asks whether the less preferred one is better
            verdict = "not tested"
        # the p-value of the other direction does not apply to this one
        tested = verdict != "not tested"
        if not is_first:
            # not -0.0
            difference, low, high = 0.0 - difference, 0.0 - high, 0.0 - low
        return Standing(
            name=name,
            mean=self.metric.shown(self.mean_losses[name]),
            difference=difference,
            low=low,
            high=high,
            pvalue=float(evidence.pvalue[row]) if tested else None,
            adjusted_pvalue=float(evidence.adjusted_pvalue[row]) if tested else None,
            verdict=verdict,
            margin=margin,
            metric=self.metric,
        )

    @property
    def run_noun(self) -> str:
        """The unit that `runs_of` counts: ``"run"`` or ``"data set"``."""
        return "run"

    def runs_of(self, name: Name) -> int | None:  # noqa: ARG002  (for races that were stopped)
        """Return the number of runs behind the mean of a learner; None if all have the same."""
        return None

    def select(self, *kinds: str) -> tuple[Statement, ...]:
        """Return the statements of these kinds; see `bestofk.decide.statements`."""
        from bestofk.decide.statements import builders_of

        builders = builders_of(self)
        for kind in kinds:
            if kind in builders and kind not in self._cache:
                self._cache[kind] = builders[kind](self)
        return tuple(one for kind in kinds for one in self._cache.get(kind, ()))

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        from bestofk.decide.statements import builders_of

        return self.select(*builders_of(self))

    def headline(self) -> str:
        """Return the verdict: what to do, in one or two sentences."""
        return paragraph(self.select("verdict"))

    def explain(self) -> str:
        """Return all statements, the verdict first, one paragraph per line."""
        return as_text(self.statements)

    def with_text_names(self) -> Decision:
        """Return the decision with learners named by text, also those of a bare array."""
        if all(isinstance(name, str) for name in self.by_preference):
            return self

        def by_text(values: Mapping[Name, Any]) -> dict[Name, Any]:
            return {str(name): value for name, value in values.items()}

        return replace(
            self,
            recommended=None if self.recommended is None else str(self.recommended),
            ranking=tuple(map(str, self.ranking)),
            by_preference=tuple(map(str, self.by_preference)),
            mean_losses=by_text(self.mean_losses),
            evidence=replace(
                self.evidence,
                names=tuple(map(str, self.evidence.names)),
                cache={k: v for k, v in self.evidence.cache.items() if k != "positions"},
            ),
            margins=by_text(self.margins),
            counts=None if self.counts is None else by_text(self.counts),
        )

    def table(self) -> Any:
        """Return a data frame with one row per learner, best mean first, in the user's metric.

        The column ``verdict`` marks the recommended learner and says how the others compare
        with it. `to_frame` returns the same table.
        """
        return self.to_frame()

    def to_dict(self, *, pairs: str | None = None) -> dict[str, Any]:
        """Return the decision for strict JSON: no NaN, no infinity; all in the user's metric.

        `pairs` lists the pairs of the ``"recommended"`` learner or ``"all"``; None lists all if
        there are at most 500.
        """
        from bestofk.decide.statements.as_json import decision_to_dict

        return decision_to_dict(self, pairs)

    def to_json(self) -> str:
        """Return the result as one strict JSON object."""
        import json

        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return (
            f"Decision(procedure={self.procedure!r}, recommended={self.recommended!r}, "
            f"ranking={self.ranking!r})"
        )
