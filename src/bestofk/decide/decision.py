"""The decision of a rule about K learners, with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bestofk._base.checks import Ints
from bestofk.decide.evidence import Evidence
from bestofk.decide.preference import NO_PREFERENCE, Name, Preference, without_rounding
from bestofk.decide.problem import Problem
from bestofk.decide.registry import decides_by
from bestofk.decide.statements import Stated, Statement
from bestofk.losses.losses import Metric, Scores

if TYPE_CHECKING:
    from bestofk.decide.best import Best
    from bestofk.decide.choose_test import Choice
    from bestofk.decide.multitest_order import Step
    from bestofk.decide.settings import Settings


RECOMMENDED = "recommended"
WITHIN_MARGIN = "within the margin"
MAY_BE_BEST = "may be the best"
RULED_OUT = "ruled out"
NOT_SHOWN = "no difference shown"
"""The verdict of other rules on a learner that does not differ from the recommended one."""


NO_LEARNER = -1
"""Marks a position without a learner."""


class Ruled(NamedTuple):
    """What a rule says of one table, or on B tables (with a first axis).

    - `recommended`: The position of the recommended learner, or `NO_LEARNER`.
    - `order`: (K,) positions, best first; `NO_LEARNER` where the rule leaves them open.
    - `best`: The statement about the best, if the rule makes one.
    """

    recommended: Ints
    order: Ints
    best: Best | None = None

    def named(self, names: Sequence[Name]) -> dict[str, Any]:
        """Return the ruling on one table as fields of a `Decision`."""
        recommended = int(self.recommended)
        return {
            "recommended": None if recommended == NO_LEARNER else names[recommended],
            "ranking": tuple(names[i] for i in self.order.tolist() if i != NO_LEARNER),
            "best": self.best,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One learner of a decision."""

    name: Name
    mean: float
    """Its mean, in the user's metric."""
    difference: float
    """How much worse its mean is than the best mean of those that may be the best."""
    at_least: float | None
    at_most: float | None
    """How much worse than the best it is; None without a bound."""
    verdict: str
    """``"recommended"``, ``"within the margin"``, ``"may be the best"`` or ``"ruled out"``: one of
    the candidates is at least as good. Other rules compare with the recommended learner:
    ``"better"``, ``"worse"``, ``"no difference shown"`` or ``"not tested"``."""
    metric: Metric = field(default_factory=Metric)

    def to_dict(self) -> dict[str, Any]:
        """Return the row for strict JSON, in the user's metric."""
        names = ("name", "mean", "at_least", "at_most", "verdict")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision(Stated):
    """The decision of a rule.

    Attributes
    ----------
    recommended : name or None
        The learner to use; None when the rule cannot tell.
    smallest_mean : name
        The learner with the smallest mean loss (the best mean of the user's metric).
    candidates : tuple of names
        The learners that may be the best, best mean first.
    decidable : bool
        False where no data could have given an adjusted p-value of at most alpha.
    ranking : tuple of names
        Best first. A rule that only chooses gives the recommended one alone, or nothing.
    by_preference : tuple of names
        The learners by preference, or by their means where none was stated.
    preference : Preference
        ``"none"``, ``"stated"``, ``"measured: fit_time"``, ...
    standings : tuple of Standing
        One row per learner: mean, how much worse than the best it is, verdict.
    best : Best or None
        The candidates and bounds as arrays, in the order of `by_preference`.
    claims : tuple of pairs
        (better, worse): the pairs that are shown to differ, with one family over all of them.
    edges : tuple of pairs
        (i, j): i is preferred, and j is shown to be better.
    steps : tuple of Step
        For every step of the ordering, the candidates and the choice (MultiTest).
    evidence : Evidence
        The tests behind the decision.
    means : mapping
        Mean by learner, in the user's metric: an accuracy stays an accuracy.
    mean_losses : mapping
        Mean loss by learner; smaller is better.
    ranks : mapping or None
        Simultaneous intervals of the ranks, from the pairs.
    counts : mapping or None
        Wins by learner, for rules that count them.
    notes : tuple of str
        What a reader must know besides.
    problem, test_choice
        What was decided from: the losses in order of preference, and the pairwise test with all
        it needs but the losses (None for rules without one).
    """

    rule: str
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
    """Sentences of rules that state their own reasons."""
    preference: Preference = NO_PREFERENCE
    caution: str = ""
    """A sentence about the measured error rate of the test."""
    smallest_possible: float = 0.0
    """The smallest adjusted p-value that was possible."""
    margin: float | None = None
    best: Best | None = field(default=None, repr=False)
    compared: str = ""
    """The noun for what is compared, if there is no table of losses."""
    counts: Mapping[Name, float] | None = None
    notes: tuple[str, ...] = ()
    problem: Problem | None = field(default=None, repr=False)
    test_choice: Choice | None = field(default=None, repr=False)
    settings: Settings | None = field(default=None, repr=False)
    """The settings of the decision, if `bestofk.compare_scores` or `bestofk.compare` made it."""

    @property
    def decision(self) -> Decision:
        """The decision itself."""
        return self

    @property
    def noun(self) -> str:
        """The noun for what is compared: ``"model"`` if each was fitted once."""
        problem = self.problem
        if problem is None:
            return self.compared or "learner"
        return "model" if problem.fitted_once else problem.subject.noun

    @property
    def decidable(self) -> bool:
        """False if no data could have given an adjusted p-value of at most alpha."""
        return self.smallest_possible <= self.alpha

    @property
    def on_items(self) -> bool:
        """True if models are compared by the items that they answered."""
        return self.problem is not None and self.problem.subject.noun == "model"

    @property
    def details(self) -> Mapping[Name, str]:
        """Phrases about learners, such as their cost, that the verdict uses."""
        return {} if self.problem is None else self.problem.subject.details

    @property
    def metric(self) -> Metric:
        """The user's metric."""
        return self.evidence.metric

    @property
    def means(self) -> dict[Name, float]:
        """Mean by learner, in the user's metric."""
        return {name: self.metric.shown(loss) for name, loss in self.mean_losses.items()}

    @cached_property
    def by_mean(self) -> tuple[Name, ...]:
        """The learners by their means, best first."""
        losses = without_rounding(np.array([self.mean_losses[name] for name in self.by_preference]))
        order = np.argsort(losses, kind="stable").tolist()
        return tuple(self.by_preference[k] for k in order)

    @property
    def smallest_mean(self) -> Name:
        """The learner with the smallest mean loss, the first of equal ones."""
        return self.by_mean[0]

    @cached_property
    def candidates(self) -> tuple[Name, ...]:
        """The learners that may be the best, best mean first; empty for other rules."""
        if self.best is None:
            return ()
        may_be = dict(zip(self.by_preference, self.best.candidates.tolist(), strict=True))
        return tuple(name for name in self.by_mean if may_be[name])

    @cached_property
    def pair_evidence(self) -> Evidence:
        """The pairs with one family over all of them; that of the decision, if it has one."""
        evidence = self.evidence
        if not evidence.family.of_best:
            return evidence
        return evidence.of_family(replace(evidence.family, name="all", correction=self.correction))

    def _pair_columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return self.pair_evidence.columns()

    def _measured(self) -> dict[str, Mapping[Name, Any]]:
        """Return the counts of a rule that counts, and the runs of a race."""
        runs = {name: self.runs_of(name) for name in self.by_preference}
        return {"wins": self.counts or {}, "runs": runs}

    def _scores(self) -> Scores | None:
        """Return the losses that were compared, if they were a table."""
        return None if self.problem is None else self.problem.losses

    @property
    def claims(self) -> tuple[tuple[Name, Name], ...]:
        """The pairs (better, worse) that are shown to differ, with one family over all pairs."""
        return self.pair_evidence.claims()

    @property
    def ranks(self) -> dict[str, Any] | None:
        """The columns `name`, `from` and `to`: the best and worst rank that the pairs allow.

        All intervals hold together with confidence 1 - alpha. A learner ranks below those that are
        shown to be better, and above those that are shown to be worse. None if not all pairs were
        tested in both directions.
        """
        evidence, names = self.pair_evidence, self.by_mean
        K = len(names)
        complete = len(evidence) == K * (K - 1) // 2 and self.runs_of(names[0]) is None
        if not complete or evidence.alternative != "two-sided":
            return None
        order = [evidence.names.index(name) for name in names]
        beaten = evidence.beaten()[np.ix_(order, order)]
        return {"name": names, "from": 1 + beaten.sum(axis=1), "to": K - beaten.sum(axis=0)}

    @property
    def edges(self) -> tuple[tuple[Name, Name], ...]:
        """Pairs in which the data override the preference."""
        return self.evidence.edges()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step of the ordering: the candidates, and the one taken."""
        if decides_by(self.rule) != "steps" or not self.preference.stated:
            return ()
        from bestofk.decide.multitest_order import Step, steps_of

        names = self.by_preference
        return tuple(
            Step(candidates=tuple(names[i] for i in free.tolist()), chosen=names[taken])
            for free, taken in steps_of(self.evidence.overrides())
        )

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """One row per learner: by `ranking` if a preference ranks all of them, else by mean."""
        complete = self.preference.stated and len(self.ranking) == len(self.by_preference)
        names = self.ranking if complete else self.by_mean
        places = {name: place for place, name in enumerate(self.by_preference)}
        reference = next(iter(self.candidates), self.recommended)
        return tuple(self._standing(name, places[name], reference) for name in names)

    def _standing(self, name: Name, place: int, reference: Name | None) -> Standing:
        losses = self.mean_losses
        difference = 0.0 if reference is None else losses[name] - losses[reference]
        if abs(difference) <= 1e-12 * max(abs(losses[name]), abs(losses[name] - difference)):
            difference = 0.0
        at_least = at_most = None
        if self.best is not None:
            bounds = (float(self.best.at_least[place]), float(self.best.at_most[place]))
            at_least, at_most = (bound if np.isfinite(bound) else None for bound in bounds)
        return Standing(
            name=name,
            mean=self.metric.shown(losses[name]),
            difference=difference,
            at_least=at_least,
            at_most=at_most,
            verdict=self._verdict(name, place),
            metric=self.metric,
        )

    def _verdict(self, name: Name, place: int) -> str:
        if name == self.recommended:
            return RECOMMENDED
        if self.best is not None:
            if self.best.within[place]:
                return WITHIN_MARGIN
            return MAY_BE_BEST if self.best.candidates[place] else RULED_OUT
        evidence = self.evidence
        row = None
        if self.recommended is not None and len(evidence):
            row = evidence.row(name, self.recommended)
        if row is None:
            return "not tested"
        is_first = evidence.names[evidence.first[row]] == name
        better = int(evidence.better[row]) * (1 if is_first else -1)
        if better or evidence.alternative == "two-sided":
            return {-1: "better", 1: "worse", 0: NOT_SHOWN}[better]
        # a one-sided test asks only whether the less preferred one is better
        return NOT_SHOWN if float(evidence.estimate[row]) >= 0 else "not tested"

    @property
    def run_noun(self) -> str:
        """The unit that `runs_of` counts: ``"run"`` or ``"data set"``."""
        return "run"

    def runs_of(self, name: Name) -> int | None:  # noqa: ARG002  (for races that were stopped)
        """Return the number of runs behind the mean of a learner; None if all have the same."""
        return None

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        from bestofk.decide.statements.details import decision_statements

        return decision_statements(self)

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
            evidence=replace(self.evidence, names=tuple(map(str, self.evidence.names))),
            counts=None if self.counts is None else by_text(self.counts),
        )

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return (
            f"Decision(rule={self.rule!r}, recommended={self.recommended!r}, "
            f"ranking={self.ranking!r})"
        )
