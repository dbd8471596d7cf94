"""How a race went: who ran how far, who is out and why, and what is still open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk._base.formatting import counted, shortened
from bestofk._base.results import Presented, json_ready
from bestofk.decide.evidence import Family
from bestofk.decide.stopping.bootstrap_looks import PlannedTest
from bestofk.decide.stopping.bounds import PlannedT, Predictions
from bestofk.decide.stopping.looks import Look, look
from bestofk.decide.stopping.rule import StopReason, StopRule, stop_sentence
from bestofk.losses.losses import Metric

LISTED = 6
"""So many pairs are named before the rest is only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RacedLearner(Presented):
    """How far one learner ran.

    Attributes
    ----------
    learner : str
    runs : int
        Runs that were used of it.
    out_after : int or None
        The run after which it was stopped; None: it ran as far as it could.
    mean : float
        Mean loss over those runs; not to be compared with means over more runs.
    why : str
        Why it was stopped, in a sentence; empty where it was not.
    cause : StopReason or None
        The same, as it can be said together with that of others.
    unit : {"run", "data set"}
        What is counted.
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
        """Why, in a few words: ``"nmc overrides it"``."""
        return "" if self.cause is None else self.cause.clause(although=False)

    def explain(self) -> str:
        """Return how far the learner ran, in a sentence."""
        on = "" if self.unit == "run" else "on "
        return self.why or f"{self.learner} ran {on}{counted(self.runs, self.unit)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What a look left open of the statistic of the pair that decided last."""

    runs: int
    """Runs that both learners had."""
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Race(Presented):
    """How a comparison that stops when it is settled went.

    Attributes
    ----------
    learners : tuple of RacedLearner
        In the order of preference.
    settled : bool
        Whether what was asked for is settled.
    exact : bool
        It is settled whatever the rest of the plan says, without any risk.
    target : {"best", "order"}
        What was to be settled.
    settle : {"plan", "limit"}
        For the plan, or for endless runs of the same test.
    risk : float
        The chance, given the data, that the plan (or endless runs) would have decided otherwise.
    planned_runs, max_runs : int
        Runs of the plan, and those that there could be at the most.
    fits, planned_fits : int
        Fits that were used, and those of the full plan.
    fits_per_run : int
        Fits of one learner in one run.
    open_pairs : tuple of pairs of names
        On which pairs the verdict still depends.
    ended : {"settled", "unfinished", "runs"}
        Why the race ended: a budget leaves it unfinished; there are no more runs.
    pair : pair of names or None
        The pair that was open last.
    bands : tuple of Band
        What every look left open of the statistic of that pair.
    unit : {"run", "data set"}
        What the race goes by: runs of the plan on one data set, or data sets.
    critical : pair of float
        The statistic from which a pair is claimed, where it is the only one left in the
        correction and where it is the first of all.
    """

    learners: tuple[RacedLearner, ...]
    settled: bool
    exact: bool
    target: str
    settle: str
    risk: float
    planned_runs: int
    max_runs: int
    fits: int
    planned_fits: int
    fits_per_run: int = 1
    open_pairs: tuple[tuple[str, str], ...] = ()
    ended: str = "settled"
    pair: tuple[str, str] | None = None
    bands: tuple[Band, ...] = ()
    critical: tuple[float, float] = (0.0, 0.0)
    metric: Metric = field(default_factory=Metric)
    unit: str = "run"

    @property
    def runs(self) -> dict[str, int]:
        """Runs (or data sets) used, by learner."""
        return {one.learner: one.runs for one in self.learners}

    @property
    def saved(self) -> float:
        """The share of the plan's fits that were not needed."""
        return 1.0 - self.fits / self.planned_fits

    def _columns(self) -> dict[str, Any]:
        """One row per learner, the mean in the user's metric."""
        return {
            "learner": [one.learner for one in self.learners],
            self._units(): [one.runs for one in self.learners],
            "out_after": [one.out_after for one in self.learners],
            "mean": [self.metric.shown(one.mean) for one in self.learners],
            "why": [one.why for one in self.learners],
        }

    def _units(self) -> str:
        """``runs`` or ``datasets``, as columns and fields are named."""
        return "runs" if self.unit == "run" else "datasets"

    def to_dict(self) -> dict[str, Any]:
        """The race for strict JSON, in the user's metric."""
        columns = self._columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        found: dict[str, Any] = json_ready(
            {
                "settled": self.settled,
                "exact": self.exact,
                "ended": self.ended,
                "target": self.target,
                "settle": self.settle,
                "risk": self.risk,
                f"planned_{self._units()}": self.planned_runs,
                f"max_{self._units()}": self.max_runs,
                "fits": self.fits,
                "planned_fits": self.planned_fits,
                "open": [list(pair) for pair in self.open_pairs],
                "learners": rows,
            }
        )
        return found

    def explain(self) -> str:
        """Return what was saved, what is open, and why learners were stopped."""
        return "\n".join([self.state(), *self.reasons()])

    def reasons(self) -> list[str]:
        """Who was stopped when, and why: one sentence for all that share a reason."""
        groups: dict[object, list[RacedLearner]] = {}
        for one in self.learners:
            if one.cause is not None:
                # what is left to bring anything differs from run to run
                shared = replace(one.cause, place=0)
                groups.setdefault((shared, one.runs if shared.exact else 0), []).append(one)
        return [
            several[0].why
            if len(several) == 1 or several[0].cause is None
            else stop_sentence(
                [(one.learner, one.runs) for one in several],
                several[0].cause,
                planned=self.planned_runs,
                limit=self.settle == "limit",
                risk=self.risk_words(),
                unit=self.unit,
            )
            for several in groups.values()
        ]

    def state(self) -> str:
        """How far the race came, what it saved, and what may be claimed of it."""
        fits = f"{self.fits:,} of {self.planned_fits:,} fits"
        if self.settle == "limit":
            most = max(one.runs for one in self.learners)
            fits = f"{self.fits:,} fits, up to {counted(most, 'run')} of a learner"
        if not self.settled:
            return f"{_ENDED[self.ended].format(fits=fits)} {self.open_words()}"
        if self.settle == "limit":
            return (
                f"Stopped after {fits}: infinitely many runs of the same test would reach the same "
                f"decision with a probability of at least {self.confidence()}."
            )
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
        """``Open: nn against c4.5.``"""
        if not self.open_pairs:
            return ""
        pairs = shortened([f"{a} against {b}" for a, b in self.open_pairs], LISTED)
        if self.ended == "runs":
            return f"It depends on the splits: {pairs}."
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


# A race: round by round, those learners alone whose results can still matter.


Fill = Callable[[Ints], Floats]
"""Given how many runs every learner must have, the losses (K, runs, folds), NaN beyond."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Raced:
    """How a race went.

    Attributes
    ----------
    looks : tuple of Look
        One after every round.
    runs : (K,) array of int
        Runs that every learner was given.
    losses : (K, runs, folds) array
        What was used, NaN beyond.
    """

    looks: tuple[Look, ...]
    runs: Ints
    losses: Floats

    @property
    def settled(self) -> bool:
        """Whether the last look left nothing open."""
        return self.looks[-1].settled


def race(
    fill: Fill,
    learners: int,
    test: PlannedTest,
    family: Family,
    rule: StopRule,
    *,
    guard: bool = True,
    stated: bool = True,
    floor: float = 0.0,
    ranks: Floats | None = None,
    watch: Callable[[Look, Ints], None] | None = None,
) -> Raced:
    """Run round by round, those learners alone whose results can still matter.

    Which cells are asked for depends on losses alone, never on time, so that a race that is
    broken off and taken up again, or run on more processors, uses the same runs. `ranks` are what
    a preference says that leaves some learners alike.
    """
    most = rule.max_runs if rule.settle == "limit" else test.runs
    wanted = np.ones(learners, dtype=np.int64)
    looks: list[Look] = []
    earlier = None
    if isinstance(test, PlannedT):
        earlier = Predictions(learners * (learners - 1) // 2, test, rule, floor)
    while True:
        runs = wanted
        losses = fill(runs)
        seen = look(
            losses, test, family, rule, guard=guard, stated=stated, floor=floor, ranks=ranks,
            earlier=earlier,
        )  # fmt: skip
        looks.append(seen)
        if watch is not None:
            watch(seen, runs)
        wanted = runs.copy()
        for pair in seen.open_pairs:
            # the one that is behind catches up first, and only as far as it must
            places = list(pair)
            wanted[places] = np.maximum(wanted[places], min(runs[places].min() + 1, most))
        if seen.settled or (wanted == runs).all():
            return Raced(looks=tuple(looks), runs=runs, losses=losses)


# What a rule would have done on losses that are all known: how much of the plan it uses.


def replay(
    losses: Floats,
    test: PlannedTest,
    family: Family,
    rule: StopRule,
    *,
    guard: bool = True,
    stated: bool = True,
    floor: float = 0.0,
    ranks: Floats | None = None,
) -> Raced:
    """Race on losses (K, runs, folds) that are all known."""

    def fill(runs: Ints) -> Floats:
        known = np.arange(losses.shape[1]) < runs[:, np.newaxis]
        return np.where(known[:, :, np.newaxis], losses, np.nan)

    return race(
        fill, len(losses), test, family, rule, guard=guard, stated=stated, floor=floor, ranks=ranks
    )
