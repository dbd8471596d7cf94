"""Races: run only the learners whose results can still matter, and report how it went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk._base.formatting import counted, shortened
from bestofk._base.results import Presented, json_ready
from bestofk.decide.evidence import Family
from bestofk.decide.stopping.bounds import PlannedT, Predictions
from bestofk.decide.stopping.looks import Look, look
from bestofk.decide.stopping.rule import StopReason, StopRule, stop_sentence
from bestofk.decide.stopping.verdicts import PlannedTest
from bestofk.losses.losses import Metric

MAX_LISTED_PAIRS = 6
"""Number of open pairs that are listed by name; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RacedLearner(Presented):
    """The progress of one learner.

    Attributes
    ----------
    learner : str
    runs : int
        Number of its runs that were used.
    out_after : int or None
        The run after which it stopped; None if it completed all runs.
    mean : float
        Mean loss over those runs; not comparable with means over more runs.
    why : str
        A sentence that says why it stopped; empty if it did not.
    cause : StopReason or None
        The reason as data, so that learners with the same reason share a sentence.
    unit : {"run", "data set"}
        The unit of the race.
    course : tuple of float
        Mean loss over the first 1, 2, ... runs.
    """

    learner: str
    runs: int
    out_after: int | None
    mean: float
    why: str = ""
    cause: StopReason | None = field(default=None, repr=False)
    unit: str = field(default="run", repr=False)
    course: tuple[float, ...] = field(default=(), repr=False)

    @property
    def reason(self) -> str:
        """The reason as a clause: ``"nmc overrides it"``."""
        return "" if self.cause is None else self.cause.clause(although=False)

    def explain(self) -> str:
        """Return how far the learner ran, in a sentence."""
        on = "" if self.unit == "run" else "on "
        return self.why or f"{self.learner} ran {on}{counted(self.runs, self.unit)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Race(Presented):
    """The course of a comparison that stops as soon as it is settled.

    Attributes
    ----------
    learners : tuple of RacedLearner
        In the order of preference.
    settled : bool
        Whether the target is settled.
    exact : bool
        Whether the rest of the plan cannot change the decision, without any risk.
    target : {"best", "order"}
        What had to be settled.
    risk : float
        Largest probability, given the data, that the plan would reach another decision.
    planned_runs : int
        Number of runs of the plan.
    fits, planned_fits : int
        Number of fits used, and of the full plan.
    open_pairs : tuple of pairs of names
        Pairs on which the verdict still depends.
    ended : {"settled", "unfinished", "runs"}
        Why the race ended: settled, unfinished because of a budget, or out of runs.
    unit : {"run", "data set"}
        The unit of the race: runs of the plan on one data set, or data sets.
    """

    learners: tuple[RacedLearner, ...]
    settled: bool
    exact: bool
    target: str
    risk: float
    planned_runs: int
    fits: int
    planned_fits: int
    open_pairs: tuple[tuple[str, str], ...] = ()
    ended: str = "settled"
    metric: Metric = field(default_factory=Metric)
    unit: str = "run"

    @property
    def runs(self) -> dict[str, int]:
        """Number of runs (or data sets) used, by learner."""
        return {entry.learner: entry.runs for entry in self.learners}

    @property
    def saved(self) -> float:
        """Share of the planned fits that were not needed."""
        return 1.0 - self.fits / self.planned_fits

    def _columns(self) -> dict[str, Any]:
        """One row per learner, the mean in the user's metric."""
        return {
            "learner": [entry.learner for entry in self.learners],
            self._units(): [entry.runs for entry in self.learners],
            "out_after": [entry.out_after for entry in self.learners],
            "mean": [self.metric.shown(entry.mean) for entry in self.learners],
            "why": [entry.why for entry in self.learners],
        }

    def _units(self) -> str:
        """Return ``runs`` or ``datasets``, the name of columns and fields."""
        return "runs" if self.unit == "run" else "datasets"

    def to_dict(self) -> dict[str, Any]:
        """Return the race for strict JSON, in the user's metric."""
        columns = self._columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        result: dict[str, Any] = json_ready(
            {
                "settled": self.settled,
                "exact": self.exact,
                "ended": self.ended,
                "target": self.target,
                "risk": self.risk,
                f"planned_{self._units()}": self.planned_runs,
                "fits": self.fits,
                "planned_fits": self.planned_fits,
                "open": [list(pair) for pair in self.open_pairs],
                "learners": rows,
            }
        )
        return result

    def explain(self) -> str:
        """Return what was saved, what is open, and why learners were stopped."""
        return "\n".join([self.state(), *self.reasons()])

    def reasons(self) -> list[str]:
        """Return when and why learners stopped, one sentence per shared reason."""
        groups: dict[object, list[RacedLearner]] = {}
        for entry in self.learners:
            if entry.cause is not None:
                # exact reasons name the remaining runs, so they share a sentence run by run
                shared = replace(entry.cause, place=0)
                groups.setdefault((shared, entry.runs if shared.exact else 0), []).append(entry)
        return [
            several[0].why
            if len(several) == 1 or several[0].cause is None
            else stop_sentence(
                [(entry.learner, entry.runs) for entry in several],
                several[0].cause,
                planned=self.planned_runs,
                confidence=self.confidence(),
                unit=self.unit,
            )
            for several in groups.values()
        ]

    def state(self) -> str:
        """Return how far the race went, what it saved, and how certain the decision is."""
        fits = f"{self.fits:,} of {self.planned_fits:,} fits"
        if not self.settled:
            return f"{_ENDED[self.ended].format(fits=fits)} {self.open_words()}"
        if self.fits >= self.planned_fits:
            return f"All {self.planned_fits:,} fits of the plan were needed."
        if self.exact and self.unit != "run":
            return f"Stopped after {fits}: the remaining {self.unit}s cannot change the decision."
        if self.exact:
            return f"Stopped after {fits}: the rest of the plan cannot change the decision."
        return (
            f"Stopped after {fits}; the full plan would reach the same decision with a probability "
            f"of at least {self.confidence()}."
        )

    def open_words(self) -> str:
        """Return ``Open: nn against c4.5.``"""
        if not self.open_pairs:
            return ""
        pairs = shortened([f"{a} against {b}" for a, b in self.open_pairs], MAX_LISTED_PAIRS)
        return f"Open: {pairs}."

    def risk_words(self) -> str:
        """Return ``5 %``."""
        return f"{100 * self.risk:.4g} %"

    def confidence(self) -> str:
        """Return ``95 %``."""
        return f"{100 * (1 - self.risk):.4g} %"


_ENDED = {
    "settled": "Stopped after {fits}.",
    "unfinished": "Ended after {fits}, before it was settled.",
    "runs": "Not settled after {fits}.",
}


Fill = Callable[[Ints], Floats]
"""Function from the number of runs per learner to losses (K, runs, folds), NaN beyond."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Raced:
    """The looks and the losses of a race.

    Attributes
    ----------
    looks : tuple of Look
        One look after every round.
    runs : (K,) array of int
        Number of runs of every learner.
    losses : (K, runs, folds) array
        The losses used, NaN beyond.
    """

    looks: tuple[Look, ...]
    runs: Ints
    losses: Floats

    @property
    def settled(self) -> bool:
        """True if the last look is settled."""
        return self.looks[-1].settled


def race(
    fill: Fill,
    learners: int,
    test: PlannedTest,
    family: Family,
    rule: StopRule,
    *,
    stated: bool = True,
    floor: float = 0.0,
    ranks: Floats | None = None,
    watch: Callable[[Look, Ints], None] | None = None,
) -> Raced:
    """Run round by round, only the learners whose results can still matter.

    The choice of cells depends only on losses, never on time. So a race that is interrupted and
    resumed, or run on more processors, uses the same runs. `ranks` describes a preference with
    equal ranks.
    """
    most = test.runs
    next_runs = np.ones(learners, dtype=np.int64)
    looks: list[Look] = []
    earlier = None
    if isinstance(test, PlannedT):
        earlier = Predictions(learners * (learners - 1) // 2, test, rule, floor)
    while True:
        runs = next_runs
        losses = fill(runs)
        latest = look(
            losses, test, family, rule, stated=stated, floor=floor, ranks=ranks,
            earlier=earlier,
        )  # fmt: skip
        looks.append(latest)
        if watch is not None:
            watch(latest, runs)
        next_runs = runs.copy()
        for pair in latest.open_pairs:
            # the learner with fewer runs catches up first, by one run
            both = list(pair)
            next_runs[both] = np.maximum(next_runs[both], min(runs[both].min() + 1, most))
        if latest.settled or (next_runs == runs).all():
            return Raced(looks=tuple(looks), runs=runs, losses=losses)


def replay(
    losses: Floats,
    test: PlannedTest,
    family: Family,
    rule: StopRule,
    *,
    stated: bool = True,
    floor: float = 0.0,
    ranks: Floats | None = None,
) -> Raced:
    """Run a race on complete losses (K, runs, folds), to see how much of them the rule uses."""

    def fill(runs: Ints) -> Floats:
        known = np.arange(losses.shape[1]) < runs[:, np.newaxis]
        return np.where(known[:, :, np.newaxis], losses, np.nan)

    return race(fill, len(losses), test, family, rule, stated=stated, floor=floor, ranks=ranks)
