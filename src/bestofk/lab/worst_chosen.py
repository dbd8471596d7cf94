"""What is recommended: how often the truly worst, one that is too bad, or the cheap good one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk.checks import refuse
from bestofk.lab.estimate_truth import known_truth
from bestofk.lab.false_claims import decided, options_in_words, shown_options
from bestofk.lab.rate import Rate
from bestofk.lab.simulate import rehearse, simulate
from bestofk.lab.simulation_result import Simulation
from bestofk.lab.type1_error import rate_columns, setting
from bestofk.presenting import Presented, decided_level
from bestofk.renamed import renamed_arguments
from bestofk.wording import number

BLIND_SPOT = "many-data-sets(means=(0.27, 0.4, 0.25), sds=(0.01, 0.25, 0.01))"
"""A precise learner that is preferred, a noisy one that is the worst, a precise one, the best."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chosen(Presented):
    """How good the learner is that a decision recommends.

    Attributes
    ----------
    worst : Rate
        The recommended one has the largest expected loss of all (and not all are equal).
    beyond : Rate
        It is worse than the truly best by more than `by`.
    cheapest : Rate
        It is the most preferred of those that are worse than the truly best by at most `within`.
    best : Rate
        It has the smallest expected loss.
    nothing : Rate
        Nothing is recommended.
    regret : float
        Mean expected loss of the recommended one less that of the truly best, where one was
        recommended.
    by, within : float
        The two bounds.
    procedure : str
        What decided.
    tests : tuple of str
        The tests that it used.
    options : mapping
        What `order` was given besides the losses.
    simulation : Simulation
        The losses.
    """

    worst: Rate
    beyond: Rate
    cheapest: Rate
    best: Rate
    nothing: Rate
    regret: float
    by: float
    within: float
    procedure: str
    tests: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    simulation: Simulation

    def _columns(self) -> dict[str, Any]:
        """One row per rate."""
        what = ("worst", "beyond", "cheapest", "best", "nothing")
        return {"what": what, **rate_columns([getattr(self, name) for name in what])}

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The rates in sentences.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of theirs.
        alpha : float, optional
            The level of the decisions; another one is refused.
        """
        decided_level(alpha, float(self.options.get("alpha", 0.05)))
        lines = [
            f"What {self.procedure} ({', '.join(self.tests)}{options_in_words(self.options)}) "
            f"recommends of {len(self.simulation.learners)} learners:",
            f"- the truly worst on {self.worst.words()} of the {self.simulation.drawn}s;",
            f"- one that is worse than the truly best by more than {number(self.by)} on "
            f"{self.beyond.words()};",
            f"- the most preferred of those within {number(self.within)} of the truly best on "
            f"{self.cheapest.words()};",
            f"- the truly best on {self.best.words()}; nothing on {self.nothing.words()}.",
            f"Its expected loss is {number(self.regret)} above the smallest possible, on average.",
            f"Measured on {self.simulation.describe(names)}",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The rates for strict JSON."""
        rates = ("worst", "beyond", "cheapest", "best", "nothing")
        return {
            "measure": "chosen",
            "procedure": self.procedure,
            "tests": list(self.tests),
            "options": shown_options(self.options),
            **setting(self.simulation),
            **{name: getattr(self, name).to_dict() for name in rates},
            "regret": self.regret,
            "by": self.by,
            "within": self.within,
            "explanation": self.explain(),
        }


@renamed_arguments(jobs="n_jobs")
def worst_chosen(
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = BLIND_SPOT,
    plan: Any = "10x10",
    *,
    by: float = 0.0,
    within: float = 0.0,
    sets: int = 1000,
    loss: Any = None,
    random_state: int = 0,
    n_jobs: int = -1,
    engine: str = "auto",
    scheduler: str | None = None,
    store: Any = None,
    progress: Any = False,
    simulation: Simulation | None = None,
    **options: Any,
) -> Chosen:
    """How often `order` recommends the truly worst learner, or one that is too bad.

    Parameters
    ----------
    learners, problem, plan, sets, loss, random_state
        As for `false_claims`. By default the case that MultiTest is blind to: a precise learner
        that is preferred, a noisy one that is the worst, and a precise one that is the best.
    n_jobs, engine, scheduler, store, progress, simulation
        As for `false_claims`.
    by : float
        Count as too bad what is worse than the truly best by more than this.
    within : float
        Count as good enough what is worse than the truly best by at most this; of those the most
        preferred should be found. Preference is as listed.
    **options
        For `order`: `prior`, `procedure`, `margin`, `guard`, `test`, ...

    Returns
    -------
    Chosen

    Notes
    -----
    Error rates of tests do not tell this: a learner can be recommended for lack of evidence
    against it, no claim being false.

    Examples
    --------
    >>> found = worst_chosen(problem="many-data-sets(means=(0.5, 0.2, 0.21))", sets=20, by=0.05,
    ...                      within=0.02)
    >>> found.worst.count, found.beyond.count, found.cheapest.count >= found.best.count
    (0, 0, True)
    """
    for name, value in (("by", by), ("within", within)):
        if not (isinstance(value, int | float) and 0 <= value < np.inf):
            raise refuse(name, "a number of at least 0", value)
    if simulation is None:
        rehearsal = rehearse(learners, problem, plan, loss)
        known_truth(rehearsal)
        decided(rehearsal, options)
        simulation = simulate(
            learners, problem, plan, sets=sets, loss=loss, random_state=random_state, n_jobs=n_jobs,
            engine=engine, scheduler=scheduler, store=store, progress=progress,
        )  # fmt: skip
    means = np.array(known_truth(simulation).means)
    excess = means - means.min()
    # a bound of 0.01 is meant to hold for 0.26 against 0.25
    room = 1e-9 * max(1.0, float(np.abs(means).max()))
    cheap = int(np.flatnonzero(excess <= within + room)[0])
    many = decided(simulation, options)
    at = many.recommended
    some = at >= 0
    gap = np.where(some, excess[at], np.nan)
    differ = bool(excess.max() > 0)
    n = simulation.sets
    return Chosen(
        worst=Rate.of(int((differ & (gap == excess.max())).sum()), n),
        beyond=Rate.of(int((gap > by + room).sum()), n),
        cheapest=Rate.of(int((at == cheap).sum()), n),
        best=Rate.of(int((gap == 0).sum()), n),
        nothing=Rate.of(int((~some).sum()), n),
        regret=float(gap[some].mean()) if some.any() else 0.0,
        by=float(by),
        within=float(within),
        procedure=many.procedure,
        tests=many.tests,
        options=dict(options),
        simulation=simulation,
    )
