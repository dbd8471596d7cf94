"""Type I error: how often a test rejects when the learners are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.results import Presented
from bestofk.papers.lab.collect_outcomes import ALPHAS, Outcomes, Test, levels, run_test
from bestofk.papers.lab.rates import Curve, Rate, level_index, rate_columns, rate_rows
from bestofk.papers.lab.simulation import Simulation
from bestofk.stats.tails import t_quantile

DFS = np.arange(2, 101)
"""The degrees of freedom that are tried, as in the paper."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TypeOneError(Presented):
    """The rate at which a test rejects equality of equal learners.

    Attributes
    ----------
    test : str
        The test or procedure.
    alphas, rates : tuples
        Levels, and the share of data sets on which it rejects, with exact intervals.
    outcomes : Outcomes
        The p-values and verdicts.
    simulation : Simulation
        The losses.
    """

    test: str
    alphas: tuple[float, ...]
    rates: tuple[Rate, ...]
    outcomes: Outcomes
    simulation: Simulation

    def rate(self, alpha: float = 0.05) -> Rate:
        """Return the Type I error at a level; any level for tests with p-values."""
        if alpha in self.alphas or self.outcomes.pvalue is None:
            return self.rates[level_index(self.alphas, alpha)]
        (alpha,) = levels(alpha)
        return Rate.of(int((self.outcomes.pvalue[:, 0] <= alpha).sum()), self.simulation.sets)

    def curve(self, alphas: Any = None) -> Curve:
        """Return the Type I error over the level, with its band."""
        if alphas is None:
            alphas = np.linspace(0.005, 0.2, 40)
        return Curve.of(
            alphas, [self.rate(float(alpha)).count for alpha in alphas], self.simulation.sets,
            x_name="level", name=self.test,
        )  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        """One row per level."""
        return {"alpha": self.alphas, **rate_columns(self.rates)}

    def explain(self) -> str:
        """State the rates in sentences."""
        listed = "; ".join(
            f"{rate.percent()} at level {100 * alpha:g} %"
            for alpha, rate in zip(self.alphas, self.rates, strict=True)
        )
        return (
            f"Type I error of {self.test}: it rejects on {listed} "
            f"({100 * self.rates[0].level:g} % intervals).\n"
            f"{_level_sentence(self.alphas, self.rates)}\n"
            f"Measured on {self.simulation.explain()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        return {
            "measure": "type1",
            "test": self.test,
            **self.simulation.facts(),
            "rates": rate_rows(self.alphas, self.rates),
            "explanation": self.explain(),
        }


def _level_sentence(alphas: Sequence[float], rates: Sequence[Rate]) -> str:
    """State whether the test keeps its level."""
    pairs = list(zip(alphas, rates, strict=True))
    above = [f"{100 * alpha:g} %" for alpha, rate in pairs if rate.low > alpha]
    below = [f"{100 * alpha:g} %" for alpha, rate in pairs if rate.high < alpha]
    if above:
        return f"It rejects too often at {', '.join(above)}."
    if below:
        return f"It keeps its level, and is conservative at {', '.join(below)}."
    return "Its rejection rates agree with its levels."


def type1_error(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    cv: Any = "10x10",
    *,
    sets: int = 1000,
    alpha: Any = ALPHAS,
    alternative: str = "two-sided",
    df: Any = None,
    procedure: str | None = None,
    correction: str | None = None,
    options: Mapping[str, Any] | None = None,
    simulation: Simulation | None = None,
    **running: Any,
) -> TypeOneError:
    """Measure how often a test claims a difference between equal learners.

    Parameters
    ----------
    test : str or callable
        A pairwise test, a test of K learners, or a function ``test(a, b)`` that returns a p-value.
    learners, problem, cv, sets
        The simulation; see `simulate`. The learners should be equal on the problem.
    alpha : float or sequence of float
        Levels.
    alternative, df
        As for the test.
    procedure, correction : str, optional
        Measure a procedure that uses the test: how often it does not recommend the most
        preferred (first) of equal learners.
    options : mapping, optional
        More arguments for `order`, with a procedure: `family`, `margin`, `prefer`, ...
        By default the listing order is the preference.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **running
        `random_state`, `n_jobs`, `engine`, `scheduler`, `store`, `progress`, `scoring`: see
        `simulate`.

    Returns
    -------
    TypeOneError

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised
    classification learning algorithms. Neural Computation 10, 1895-1923.
    doi:10.1162/089976698300017197

    Examples
    --------
    The k-fold t test assumes independent normal losses:

    >>> error = type1_error("kfold-t", problem="normal(cv='kfold:10')", sets=4000)
    >>> error.rate(0.05).low < 0.05 < error.rate(0.05).high
    True
    """
    alphas = levels(alpha)
    simulation, result = run_test(
        test, learners, problem, cv, simulation=simulation, running={"sets": sets, **running},
        procedure=procedure, alpha=alphas, alternative=alternative, df=df, correction=correction,
        **(options or {}),
    )  # fmt: skip
    counts = result.rejected[:, 0].sum(axis=0)
    return TypeOneError(
        test=result.name,
        alphas=alphas,
        rates=tuple(Rate.of(int(count), simulation.sets) for count in counts),
        outcomes=result,
        simulation=simulation,
    )


def unscaled_statistics(result: Outcomes, alternative: str) -> Floats:
    """Return the sorted u of the first repeat; large values are evidence against equality."""
    assert result.statistic is not None
    assert result.df is not None
    u = result.statistic[:, 0] / np.sqrt(result.df + 1.0)
    # 0/0 is no evidence for either side: its statistic is 0
    if alternative == "two-sided":
        return np.sort(np.abs(u))
    return np.sort(u if alternative == "greater" else -u)


def counts_by_df(u: Floats, alpha: float, alternative: str) -> Any:
    """Return how many of the sorted `u` are rejected at every df of `DFS`."""
    tail = alpha / 2 if alternative == "two-sided" else alpha
    critical = np.array([-t_quantile(tail, float(df)) / np.sqrt(df + 1.0) for df in DFS])
    # reject a statistic that equals the critical value up to rounding
    return len(u) - np.searchsorted(u, critical * (1 - 1e-12), side="left")
