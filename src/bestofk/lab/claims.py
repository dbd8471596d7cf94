"""False claims: how often anything that a decision says of two learners is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk._base.checks import refuse
from bestofk._base.formatting import counted, number
from bestofk._base.results import Presented, decided_level
from bestofk.decide.decision import Order
from bestofk.decide.order import order
from bestofk.decide.order_tables import OrderMany
from bestofk.lab.error_rates import rate_columns, setting
from bestofk.lab.rates import Rate
from bestofk.lab.simulation import Simulation, rehearse, simulate
from bestofk.lab.truth import known_truth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FalseClaims(Presented):
    """How often a decision claims something that is not so.

    Attributes
    ----------
    rate : Rate
        Share of data sets (or tables) whose decision holds at least one false claim.
    reversed_rate : Rate
        Share of those on which a learner that is truly worse is called better.
    found : float or None
        Of the pairs of learners that truly differ, the mean share claimed the right way round;
        None where no two differ.
    missed : Rate or None
        Share of those on which an interval of the evidence misses the true difference; None where
        intervals were not looked at.
    equal_pairs, different_pairs : int
        Pairs of learners that are truly equal, and that differ.
    tests : tuple of str
        The tests that the decisions used.
    alpha : float
        The error that was allowed.
    options : mapping
        What `order` was given besides the losses.
    simulation : Simulation
        The losses.
    """

    rate: Rate
    reversed_rate: Rate
    found: float | None
    missed: Rate | None
    equal_pairs: int
    different_pairs: int
    tests: tuple[str, ...]
    alpha: float
    options: Mapping[str, Any] = field(default_factory=dict)
    simulation: Simulation

    def _columns(self) -> dict[str, Any]:
        """One row per rate."""
        held = {"false claims": self.rate, "reversed": self.reversed_rate, "missed": self.missed}
        found = {name: rate for name, rate in held.items() if rate is not None}
        return {"what": list(found), **rate_columns(list(found.values()))}

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The rates in sentences.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of theirs.
        alpha : float, optional
            The level of the decisions; another one is refused.
        """
        decided_level(alpha, self.alpha)
        K, drawn = len(self.simulation.learners), f"{self.simulation.drawn}s"
        said = (
            f"The decision ({', '.join(self.tests)}{options_in_words(self.options)}) makes a false "
            f"claim about {K} learners on {self.rate.words()} of the {drawn}; "
            f"{100 * self.alpha:g} % are allowed ({100 * self.rate.level:g} % intervals)."
        )
        if self.rate.low > self.alpha:
            verdict = "It claims too much."
        elif self.rate.high < self.alpha:
            verdict = "It keeps its promise, with room to spare."
        else:
            verdict = f"It keeps its promise, as far as so many {drawn} can tell."
        if self.found is not None:
            verdict += (
                f" {counted(self.different_pairs, 'pair')} of learners truly "
                f"{'differs' if self.different_pairs == 1 else 'differ'}: "
                f"{100 * self.found:.1f} % of these differences are found, and the wrong one is "
                f"called better on {self.reversed_rate.words()} of the {drawn}."
            )
        if self.missed is not None:
            verdict += (
                f" At least one interval misses the true difference on {self.missed.words()} of "
                f"the {drawn}."
            )
        return f"{said}\n{verdict}\nMeasured on {self.simulation.describe(names)}"

    def to_dict(self) -> dict[str, Any]:
        """The rates for strict JSON."""
        return {
            "measure": "claims",
            "tests": list(self.tests),
            "options": shown_options(self.options),
            **setting(self.simulation),
            "alpha": self.alpha,
            "rate": self.rate.to_dict(),
            "reversed": self.reversed_rate.to_dict(),
            "found": self.found,
            "missed": None if self.missed is None else self.missed.to_dict(),
            "equal_pairs": self.equal_pairs,
            "different_pairs": self.different_pairs,
            "explanation": self.explain(),
        }


def misses(decision: Order, true: Mapping[Any, float]) -> bool:
    """Whether any interval of the evidence misses the true difference of its two learners."""
    evidence = decision.evidence
    means = np.array([true[str(name)] for name in evidence.names])
    difference = means[evidence.first] - means[evidence.second]
    # differences of means that are not exact in binary
    room = 1e-12
    missed = (evidence.low > difference + room) | (evidence.high < difference - room)
    return bool(missed.any())


def false_claims(
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "many-data-sets",
    plan: Any = "10x10",
    *,
    sets: int = 1000,
    loss: Any = None,
    random_state: int = 0,
    n_jobs: int = -1,
    engine: str = "auto",
    scheduler: str | None = None,
    store: Any = None,
    progress: Any = False,
    intervals: bool = False,
    simulation: Simulation | None = None,
    **options: Any,
) -> FalseClaims:
    """How often `order` claims, anywhere in its result, what is not true.

    Parameters
    ----------
    learners, problem, plan, sets, loss, random_state, n_jobs, engine, scheduler, store, progress
        What is simulated; see `simulate`. It must be known who is better on the problem: *blocks*,
        *degraded*, *binary*, or one that draws losses.
    intervals : bool
        Look at the simultaneous intervals of the differences as well.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **options
        For `order`: `prior`, `procedure`, `test`, `family`, `correction`, `alpha`, ... Its
        defaults hold for what is left out.

    Returns
    -------
    FalseClaims
        With `rate`, and its exact interval.

    Notes
    -----
    A claim is a pair of which a decision says that the one is significantly better than the other:
    in its edges, its standings or its evidence. It is false unless the expected loss of the one is
    truly the smaller. That covers equal learners, and a difference claimed the wrong way round.
    Counted are decisions with at least one false claim (the family-wise error), whether all
    learners are equal or only some.

    Examples
    --------
    >>> found = false_claims(problem="many-data-sets(means=(0.3, 0.2, 0.2))", sets=20)
    >>> found.rate.n, found.equal_pairs, found.different_pairs
    (20, 1, 2)
    """
    if simulation is None:
        rehearsal = rehearse(learners, problem, plan, loss)
        known_truth(rehearsal)
        decided(rehearsal, options)
        simulation = simulate(
            learners, problem, plan, sets=sets, loss=loss, random_state=random_state, n_jobs=n_jobs,
            engine=engine, scheduler=scheduler, store=store, progress=progress,
        )  # fmt: skip
    means = np.array(known_truth(simulation).means)
    # claims[i, j] says that i is better: true where this is negative
    gap = means[:, np.newaxis] - means
    different = int((gap < 0).sum())
    equal = len(means) * (len(means) - 1) // 2 - different
    many = decided(simulation, options)
    wrong = (many.claims & (gap >= 0)).any(axis=(1, 2)).sum()
    turned = (many.claims & (gap > 0)).any(axis=(1, 2)).sum()
    right = (many.claims & (gap < 0)).sum()
    missed = 0
    if intervals:
        true = dict(zip(simulation.learners, means.tolist(), strict=True))
        missed = sum(misses(decision, true) for decision in decisions(simulation, options))
    n = simulation.sets
    return FalseClaims(
        rate=Rate.of(int(wrong), n),
        reversed_rate=Rate.of(int(turned), n),
        found=int(right) / (n * different) if different else None,
        missed=Rate.of(missed, n) if intervals else None,
        equal_pairs=equal,
        different_pairs=different,
        tests=many.tests,
        alpha=many.alpha,
        options=dict(options),
        simulation=simulation,
    )


def decided(simulation: Simulation, options: Mapping[str, Any]) -> OrderMany:
    """What `order` decides on every table of a simulation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulation.first_repeat().decided(**options)


def decisions(simulation: Simulation, options: Mapping[str, Any]) -> Iterator[Order]:
    """The same one by one, with intervals."""
    arguments = {"random_state": simulation.random_state, **options}
    for one in range(simulation.sets):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            decision = order(simulation.table(one), **arguments)
        yield decision


def shown_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `order` for JSON."""
    plain = (bool, int, float, str, type(None))
    return {name: value if isinstance(value, plain) else str(value)
            for name, value in options.items()}  # fmt: skip


def options_in_words(options: Mapping[str, Any]) -> str:
    """Options of `order` in words, after a comma."""
    return "".join(f", {name} {value}" for name, value in shown_options(options).items())


# What is recommended: how often the truly worst, one that is too bad, or the cheap good one.


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
