"""An order of K learners: what was decided, on which evidence, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.ordering.evidence import Evidence
from bestofk.ordering.graph import Step, candidates_of_steps, sort_by_overrides
from bestofk.ordering.problem import Name, Problem
from bestofk.presenting import Reported

if TYPE_CHECKING:
    from bestofk.ordering.selection import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one learner stands to the best."""

    name: Name
    mean: float
    difference: float
    """Its mean loss minus that of the best."""
    pvalue: float
    """Of H0: the best has no smaller loss than it."""
    adjusted_pvalue: float
    verdict: str
    """``"worse"`` when that is rejected, else ``"tie"``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Order(Reported):
    """What a procedure decided.

    Attributes
    ----------
    best : name or None
        The learner to use; None when the procedure cannot tell.
    order : tuple of names
        Best first. A procedure that only chooses gives the best alone, or nothing.
    prior : tuple of names
        The learners as they were preferred before the data, most preferred first.
    edges : tuple of pairs
        (i, j): i is preferred, and j has significantly smaller loss.
    steps, candidates : tuples
        For every step of the ordering, who could be taken and who was (MultiTest).
    evidence : Evidence
        The tested pairs; ``.frame()`` gives a data frame.
    means : mapping
        Mean loss by learner.
    standings : tuple of Standing
        How every other learner stands to the best.
    counts : mapping or None
        Wins by learner, for procedures that count them.
    notes : tuple of str
        What a reader must know besides.
    problem, choice
        What was decided from: the losses in prior order, and the pairwise test with all it needs
        but the losses (None for procedures without one).
    """

    procedure: str
    best: Name | None
    order: tuple[Name, ...]
    prior: tuple[Name, ...]
    means: Mapping[Name, float]
    evidence: Evidence
    test: str
    test_reason: str
    alpha: float
    correction: str
    design: str
    reasons: tuple[str, ...]
    standings: tuple[Standing, ...] = ()
    counts: Mapping[Name, float] | None = None
    beside: Any = None
    """Result of a test of all learners at once, where one belongs to the verdict."""
    notes: tuple[str, ...] = ()
    problem: Problem | None = field(default=None, repr=False)
    choice: Choice | None = field(default=None, repr=False)

    @property
    def edges(self) -> tuple[tuple[Name, Name], ...]:
        """Pairs in which the data override the prior."""
        rows = np.flatnonzero(self.evidence.rejected)
        first, second = self.evidence.first[rows], self.evidence.second[rows]
        if self.evidence.alternative != "greater":
            # Two-sided evidence overrides the prior where the less preferred is the better.
            better = self.evidence.estimate[rows] > 0
            first, second = first[better], second[better]
        names = self.prior
        return tuple(
            (names[i], names[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)
        )

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step of the ordering: the candidates, and the one taken."""
        if self.procedure != "multitest":
            return ()
        overrides = self.evidence.overrides()
        order = sort_by_overrides(overrides)
        names = self.prior
        return tuple(
            Step(candidates=tuple(names[i] for i in found.tolist()), chosen=names[taken])
            for found, taken in zip(
                candidates_of_steps(overrides, order), order.tolist(), strict=True
            )
        )

    @property
    def candidates(self) -> tuple[tuple[Name, ...], ...]:
        """The candidates of every step, most preferred first."""
        return tuple(step.candidates for step in self.steps)

    def explain(self) -> str:
        """The verdict in sentences."""
        from bestofk.ordering.sentences import explain_order

        return explain_order(self)

    def as_json(self) -> dict[str, Any]:
        """What a strict JSON writer takes: no NaN, no infinity."""
        from bestofk.version import __version__

        return {
            "best": self.best,
            "order": list(self.order),
            "prior": list(self.prior),
            "procedure": self.procedure,
            "test": self.test,
            "test_reason": self.test_reason,
            "alpha": self.alpha,
            "correction": self.correction,
            "design": self.design,
            "edges": [list(edge) for edge in self.edges],
            "evidence": [pair.as_json() for pair in self.evidence],
            "means": {str(name): mean for name, mean in self.means.items()},
            "standings": [
                {
                    "name": standing.name,
                    "mean": standing.mean,
                    "difference": standing.difference,
                    "pvalue": standing.pvalue,
                    "adjusted_pvalue": standing.adjusted_pvalue,
                    "verdict": standing.verdict,
                }
                for standing in self.standings
            ],
            "counts": None
            if self.counts is None
            else {str(name): count for name, count in self.counts.items()},
            "failures": [],
            "notes": list(self.notes),
            "explanation": self.explain(),
            "version": __version__,
        }

    def to_json(self) -> str:
        """The result as one strict JSON object."""
        import json

        return json.dumps(self.as_json(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Order(procedure={self.procedure!r}, best={self.best!r}, order={self.order!r})"
