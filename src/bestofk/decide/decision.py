"""An order of K learners: what was decided, on which evidence, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.results import (
    Presented,
    Reported,
    decided_level,
    json_ready,
    open_level,
    renamed,
    renamed_text,
)
from bestofk.decide.evidence import Evidence
from bestofk.decide.preference import NO_PREFERENCE, Name, Preference, without_noise
from bestofk.decide.problem import Problem
from bestofk.decide.procedures.graph import Step, steps_of
from bestofk.decide.registry import decides_by
from bestofk.losses.losses import Metric

if TYPE_CHECKING:
    from bestofk.decide.choose_test import Choice
    from bestofk.decide.gather import MarginVerdict
    from bestofk.decide.settings import Decision
    from bestofk.losses.losses import Metric

VERDICTS = ("worse", "better", "no evidence", "not tested")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Presented):
    """How one learner stands to the recommended one; all numbers are those of the evidence."""

    name: Name
    mean: float
    difference: float
    """Its mean loss minus that of the recommended one."""
    low: float
    high: float
    """Simultaneous interval of the difference; infinite where an end is open or not known."""
    pvalue: float | None
    adjusted_pvalue: float | None
    verdict: str
    """``"worse"`` or ``"better"`` where that is shown, ``"no evidence"`` where nothing is, and
    ``"not tested"`` where the family does not hold this pair (or this direction of it)."""
    margin: MarginVerdict | None = None
    """Against the margin, where one was given."""
    metric: Metric = field(default_factory=Metric)

    def _columns(self) -> dict[str, Any]:
        """One row, in the user's metric."""
        return {name: [cell] for name, cell in self.to_dict().items() if name != "margin"}

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The standing in a sentence; `names` may hold its name and the recommended learner's."""
        from bestofk.decide.statements.explain import standing_sentence

        open_level(alpha)
        return standing_sentence(self, names)

    def to_dict(self) -> dict[str, Any]:
        """The standing for strict JSON, in the user's metric: what is infinite is null."""
        row: dict[str, Any] = {
            "name": self.name,
            "mean": self.metric.shown(self.mean),
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
class Order(Reported):
    """What a procedure decided.

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
    order : tuple of names
        Best first. A procedure that only chooses gives the recommended one alone, or nothing.
    prior : tuple of names
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
        Mean loss by learner; what is printed is in the user's metric.
    standings : tuple of Standing
        How every other learner stands to the recommended one.
    counts : mapping or None
        Wins by learner, for procedures that count them.
    guard : bool
        Whether candidates are passed over for a struck-out learner with a smaller mean.
    notes : tuple of str
        What a reader must know besides.
    problem, choice
        What was decided from: the losses in order of preference, and the pairwise test with all
        it needs but the losses (None for procedures without one).
    """

    procedure: str
    recommended: Name | None
    order: tuple[Name, ...]
    prior: tuple[Name, ...]
    means: Mapping[Name, float]
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
    """What is known of the test's error rate beyond its assumptions, in a sentence."""
    decidable: bool = True
    smallest_possible: float = 0.0
    """The smallest adjusted p-value that could have come out."""
    margin: float | None = None
    margins: Mapping[Name, MarginVerdict] = field(default_factory=dict)
    counts: Mapping[Name, float] | None = None
    bootstrap: Any = None
    """Result of a test of all learners at once, where one belongs to the verdict."""
    notes: tuple[str, ...] = ()
    problem: Problem | None = field(default=None, repr=False)
    choice: Choice | None = field(default=None, repr=False)
    options: Decision | None = field(default=None, repr=False)
    noun: str = field(default="learner", repr=False)
    """What is compared, in a word."""
    n_clusters: int | None = field(default=None, repr=False)
    """Where clusters of items are the units of the test: how many there are."""
    """What was asked of the decision, where it was made by `bestofk.order`."""

    @property
    def best(self) -> Name | None:
        """The recommended learner."""
        return self.recommended

    @property
    def metric(self) -> Metric:
        """What the numbers are for the user."""
        return self.evidence.metric

    @property
    def smallest_mean(self) -> Name:
        """The learner with the smallest mean loss, the first of equal ones."""
        means = without_noise(np.array([self.means[name] for name in self.prior]))
        return self.prior[int(np.argmin(means))]

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
    def edges(self) -> tuple[tuple[Name, Name], ...]:
        """Pairs in which the data override the preference."""
        rows = np.flatnonzero(self.evidence.better > 0)
        first, second = self.evidence.first[rows], self.evidence.second[rows]
        names = self.prior
        return tuple(
            (names[i], names[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)
        )

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step of the ordering: the candidates, and the one taken."""
        if decides_by(self.procedure) != "steps" or not self.preference.stated:
            return ()
        names = self.prior
        return tuple(
            Step(
                candidates=tuple(names[i] for i in found.tolist()),
                chosen=names[taken],
                passed_over=tuple(names[i] for i in passed.tolist()),
            )
            for found, taken, passed in steps_of(self.evidence.overrides(), self.guarded_means())
        )

    @property
    def candidates(self) -> tuple[tuple[Name, ...], ...]:
        """The candidates of every step, most preferred first."""
        return tuple(step.candidates for step in self.steps)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """How every other learner stands to the recommended one, in the order of their means."""
        if self.recommended is None or not len(self.evidence):
            return ()
        means = without_noise(np.array([self.means[name] for name in self.prior]))
        by_mean = (self.prior[k] for k in np.argsort(means, kind="stable").tolist())
        return tuple(self.against(name, self.recommended) for name in by_mean
                     if name != self.recommended)  # fmt: skip

    def guarded_means(self) -> Floats | None:
        """The means in order of preference where the guard is on, else None."""
        if not self.guard:
            return None
        return without_noise(np.array([self.means[name] for name in self.prior]))

    def against(self, name: Name, other: Name) -> Standing:
        """How `name` stands to `other`, from the evidence alone."""
        evidence = self.evidence
        row = evidence.row(name, other) if len(evidence) else None
        margin = self.margins.get(name) if other == self.recommended else None
        if row is None:
            difference = self.means[name] - self.means[other]
            noise = 1e-12 * max(map(abs, self.means.values()))
            difference = 0.0 if abs(difference) <= noise else difference
            return Standing(
                name=name, mean=self.means[name], difference=difference, low=-np.inf, high=np.inf,
                pvalue=None, adjusted_pvalue=None, verdict="not tested", margin=margin,
                metric=self.metric,
            )  # fmt: skip
        is_first = evidence.names[evidence.first[row]] == name
        better = int(evidence.better[row]) * (1 if is_first else -1)
        difference = float(evidence.estimate[row])
        low, high = float(evidence.low[row]), float(evidence.high[row])
        verdict = {-1: "better", 1: "worse", 0: "no evidence"}[better]
        if not better and evidence.alternative == "greater" and difference < 0:
            # only whether the less preferred one is better was asked
            verdict = "not tested"
        # the p-value of the other direction says nothing of this one
        tested = verdict != "not tested"
        if not is_first:
            # not -0.0
            difference, low, high = 0.0 - difference, 0.0 - high, 0.0 - low
        return Standing(
            name=name,
            mean=self.means[name],
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
        """What `runs_of` counts: ``"run"``, or ``"data set"``."""
        return "run"

    def runs_of(self, name: Name) -> int | None:  # noqa: ARG002  (for races that were stopped)
        """Runs that the mean of a learner is taken over, where not all have the same."""
        return None

    def headline(self) -> str:
        """What to do, in the first one or two sentences."""
        from bestofk.decide.statements.headline import headline_of

        return headline_of(self)

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The verdict in sentences.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners: by number where they are numbers, else in the order of `prior`.
        alpha : float, optional
            The level at which it was decided; another one is refused.
        """
        from bestofk.decide.statements.explain import explain_order

        decided_level(alpha, self.alpha)
        return explain_order(self if names is None else self.renamed(names))

    def renamed(self, names: Sequence[str]) -> Order:
        """The same decision with the learners called otherwise; `names` as for `explain`."""
        called = renamed(names, self.prior)

        def keys(values: Mapping[Name, Any]) -> dict[Name, Any]:
            return {called[name]: value for name, value in values.items()}

        best = self.recommended
        return replace(
            self,
            recommended=None if best is None else called[best],
            order=tuple(called[name] for name in self.order),
            prior=tuple(called[name] for name in self.prior),
            means=keys(self.means),
            evidence=replace(
                self.evidence, names=tuple(called[name] for name in self.evidence.names)
            ),
            margins=keys(self.margins),
            counts=None if self.counts is None else keys(self.counts),
            reasons=tuple(renamed_text(reason, called) for reason in self.reasons),
            notes=tuple(renamed_text(note, called) for note in self.notes),
        )

    def to_dict(self) -> dict[str, Any]:
        """The decision for strict JSON: no NaN, no infinity; all in the user's metric."""
        from bestofk.decide.statements.as_json import order_to_dict

        return order_to_dict(self)

    def to_json(self) -> str:
        """The result as one strict JSON object."""
        import json

        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return (
            f"Order(procedure={self.procedure!r}, recommended={self.recommended!r}, "
            f"order={self.order!r})"
        )
