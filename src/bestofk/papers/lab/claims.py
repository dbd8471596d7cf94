"""Quality of decisions: how often they make a false claim."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bestofk._base.formatting import counted
from bestofk._base.results import Presented
from bestofk.decide.order_tables import ManyDecisions
from bestofk.papers.lab.rates import Rate, rate_columns
from bestofk.papers.lab.simulation import Simulation, rehearse, simulate
from bestofk.papers.lab.truth import known_truth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FalseClaims(Presented):
    """The rate of decisions that make a false claim.

    Attributes
    ----------
    rate : Rate
        Share of data sets (or tables) whose decision makes at least one false claim.
    reversed_rate : Rate
        Share on which a learner that is truly worse is called better.
    found : float or None
        Mean share of the truly different pairs that are claimed in the right direction; None if
        no two learners differ.
    equal_pairs, different_pairs : int
        Number of pairs of learners that are truly equal, and truly different.
    tests : tuple of str
        The tests that the decisions used.
    alpha : float
        The allowed error rate.
    options : mapping
        The arguments of `compare_scores`.
    simulation : Simulation
        The losses.
    """

    rate: Rate
    reversed_rate: Rate
    found: float | None
    equal_pairs: int
    different_pairs: int
    tests: tuple[str, ...]
    alpha: float
    options: Mapping[str, Any] = field(default_factory=dict)
    simulation: Simulation

    def _columns(self) -> dict[str, Any]:
        """One row per rate."""
        rates = {"false claims": self.rate, "reversed": self.reversed_rate}
        return {"what": list(rates), **rate_columns(list(rates.values()))}

    def explain(self) -> str:
        """State the rates in sentences."""
        K, drawn = len(self.simulation.learners), f"{self.simulation.drawn}s"
        options = [f"{name} {value}" for name, value in _json_options(self.options).items()]
        sentences = [
            f"The decision ({', '.join([*self.tests, *options])}) makes a false claim about "
            f"{K} learners on {self.rate.percent()} of the {drawn}; {100 * self.alpha:g} % are "
            f"allowed ({100 * self.rate.level:g} % intervals).\n"
        ]
        if self.rate.low > self.alpha:
            sentences.append("It makes false claims too often.")
        elif self.rate.high < self.alpha:
            sentences.append("It keeps its error rate, and is conservative.")
        else:
            sentences.append("Its error rate agrees with the allowed one.")
        if self.found is not None:
            sentences.append(
                f" {counted(self.different_pairs, 'pair')} of learners truly "
                f"{'differs' if self.different_pairs == 1 else 'differ'}: "
                f"{100 * self.found:.1f} % of these differences are detected, and the wrong "
                f"learner is called better on {self.reversed_rate.percent()} of the {drawn}."
            )
        return f"{''.join(sentences)}\nMeasured on {self.simulation.explain()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        return {
            "measure": "claims",
            "tests": list(self.tests),
            "options": _json_options(self.options),
            **self.simulation.facts(),
            "alpha": self.alpha,
            "rate": asdict(self.rate),
            "reversed": asdict(self.reversed_rate),
            "found": self.found,
            "equal_pairs": self.equal_pairs,
            "different_pairs": self.different_pairs,
            "explanation": self.explain(),
        }


def false_claims(
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "many-data-sets",
    cv: Any = "10x10",
    *,
    sets: int = 1000,
    simulation: Simulation | None = None,
    **options: Any,
) -> FalseClaims:
    """Measure how often `compare_scores` makes a false claim, anywhere in its result.

    Parameters
    ----------
    learners, problem, cv, sets
        The simulation; see `simulate`. The problem must have a known best learner: *blocks*,
        *degraded*, *binary*, or a problem that draws losses.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **options
        For `compare_scores`: `prefer`, `procedure`, `test`, `family`, `correction`, `alpha`, ...,
        with the defaults of `compare_scores`. For `simulate`: `scoring`, `random_state`, `n_jobs`,
        `engine`, `scheduler`, `store`, `progress`.

    Returns
    -------
    FalseClaims
        With `rate`, and its exact interval.

    Notes
    -----
    A claim says that one learner of a pair is significantly better than the other. It is false
    unless the expected loss of that learner is truly smaller. So claims about equal learners are
    false, and so are claims in the wrong direction. The rate counts decisions with at least one
    false claim (the family-wise error), whether all learners are equal or only some.

    Examples
    --------
    >>> result = false_claims(problem="many-data-sets(means=(0.3, 0.2, 0.2))", sets=20)
    >>> result.rate.n, result.equal_pairs, result.different_pairs
    (20, 1, 2)
    """
    names = ("scoring", "random_state", "n_jobs", "engine", "scheduler", "store", "progress")
    running = {name: options.pop(name) for name in names if name in options}
    if simulation is None:
        # refuse problems without a known truth and impossible options before simulating
        rehearsal = rehearse(learners, problem, cv, running.get("scoring"))
        known_truth(rehearsal)
        _decided(rehearsal, options)
        simulation = simulate(learners, problem, cv, sets=sets, **running)
    many = _decided(simulation, options)
    means = np.array(known_truth(simulation).means)
    # claims[i, j] says that i is better, which is true if this is negative
    gap = means[:, np.newaxis] - means
    different = int((gap < 0).sum())
    wrong = (many.claims & (gap >= 0)).any(axis=(1, 2)).sum()
    opposite = (many.claims & (gap > 0)).any(axis=(1, 2)).sum()
    right = (many.claims & (gap < 0)).sum()
    n = simulation.sets
    return FalseClaims(
        rate=Rate.of(int(wrong), n),
        reversed_rate=Rate.of(int(opposite), n),
        found=int(right) / (n * different) if different else None,
        equal_pairs=len(means) * (len(means) - 1) // 2 - different,
        different_pairs=different,
        tests=many.tests,
        alpha=many.alpha,
        options=dict(options),
        simulation=simulation,
    )


def _decided(simulation: Simulation, options: Mapping[str, Any]) -> ManyDecisions:
    """Return the decisions on every table, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulation.decided(repeats=1, **options)


def _json_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of `compare_scores` for JSON."""
    plain = (bool, int, float, str, type(None))
    return {name: value if isinstance(value, plain) else str(value)
            for name, value in options.items()}  # fmt: skip
