"""Type I error: how often a test rejects where nothing is to be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.results import Presented
from bestofk.lab.collect_outcomes import ALPHAS, Outcomes, Test, ask, levels, outcomes
from bestofk.lab.rates import Curve, Rate
from bestofk.lab.simulation import Simulation
from bestofk.stats.tails import t_quantile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TypeOneError(Presented):
    """How often a test rejects where the learners are equal.

    Attributes
    ----------
    test : str
        The test or procedure.
    alphas, rates : tuples
        Levels, and the share of data sets on which it rejects, with exact intervals.
    outcomes : Outcomes
        The p-values and verdicts.
    simulation : Simulation
        The losses that they came from.
    """

    test: str
    alphas: tuple[float, ...]
    rates: tuple[Rate, ...]
    outcomes: Outcomes
    simulation: Simulation

    def rate(self, alpha: float = 0.05) -> Rate:
        """The Type I error at a level; any level for tests that have p-values."""
        if alpha in self.alphas:
            return self.rates[self.alphas.index(alpha)]
        (alpha,) = levels(alpha)
        if self.outcomes.pvalue is None:
            raise ArgumentError(
                f"alpha must be one of {', '.join(f'{one:g}' for one in self.alphas)}, which were "
                f"measured; got {alpha:g}."
            )
        return Rate.of(int((self.outcomes.pvalue[:, 0] <= alpha).sum()), self.simulation.sets)

    def curve(self, alphas: Any = None) -> Curve:
        """The Type I error over the level, with its band."""
        if alphas is None:
            alphas = np.linspace(0.005, 0.2, 40)
        found = [self.rate(float(alpha)) for alpha in alphas]
        return Curve.of(
            alphas, [one.count for one in found], self.simulation.sets,
            x_name="level", name=self.test,
        )  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        """One row per level."""
        return {"alpha": self.alphas, **rate_columns(self.rates)}

    def explain(self, *, alpha: float | None = None) -> str:
        """The rates in sentences.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of theirs.
        alpha : float, optional
            Only this level; all that were measured by default.
        """
        alphas = self.alphas if alpha is None else (alpha,)
        rates = [self.rate(one) for one in alphas]
        listed = "; ".join(
            f"{rate.words()} at level {100 * one:g} %"
            for one, rate in zip(alphas, rates, strict=True)
        )
        return (
            f"Type I error of {self.test}: it rejects on {listed} "
            f"({100 * rates[0].level:g} % intervals).\n{_promise(alphas, rates)}\n"
            f"Measured on {self.simulation.describe()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The rates for strict JSON."""
        return {
            "measure": "type1",
            "test": self.test,
            **setting(self.simulation),
            "rates": [{"alpha": alpha, **one.to_dict()} for alpha, one in
                      zip(self.alphas, self.rates, strict=True)],
            "explanation": self.explain(),
        }  # fmt: skip


def _promise(alphas: Sequence[float], rates: Sequence[Rate]) -> str:
    """Whether the test rejects as often as it promises."""
    pairs = list(zip(alphas, rates, strict=True))
    above = [f"{100 * alpha:g} %" for alpha, rate in pairs if rate.low > alpha]
    below = [f"{100 * alpha:g} %" for alpha, rate in pairs if rate.high < alpha]
    if above:
        return f"It rejects more often than it promises at {', '.join(above)}: too many finds."
    if below:
        return f"It keeps its promise; it rejects less often than it might at {', '.join(below)}."
    return "It keeps its promise, as far as so many data sets can tell."


def rate_columns(rates: Sequence[Rate]) -> dict[str, Any]:
    """Columns of rates: the share, its interval, and the count."""
    return {
        "rate": [one.value for one in rates],
        "low": [one.low for one in rates],
        "high": [one.high for one in rates],
        "count": [one.count for one in rates],
        "n": [one.n for one in rates],
    }


def measured(alphas: tuple[float, ...], alpha: float | None) -> Sequence[int]:
    """The places of the levels to speak of: all, or the one that is asked for."""
    if alpha is None:
        return range(len(alphas))
    if alpha not in alphas:
        listed = ", ".join(f"{one:g}" for one in alphas)
        raise ArgumentError(f"alpha must be one of {listed}, which were measured; got {alpha!r}.")
    return (alphas.index(alpha),)


def setting(simulation: Simulation) -> dict[str, Any]:
    """What was simulated, for JSON."""
    mean, error = simulation.mean_differences()
    return {
        "learners": list(simulation.learners),
        "problem": simulation.problem.describe(),
        "plan": simulation.plan,
        "design": simulation.design.describe(),
        "sets": simulation.sets,
        "repeats": simulation.repeats,
        "seed": simulation.random_state,
        "mean_difference": mean,
        "mean_difference_error": None if np.isnan(error) else error,
        "seconds": simulation.seconds,
    }


def type1_error(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    plan: Any = "10x10",
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
    """How often a test says that equal learners differ.

    Parameters
    ----------
    test : str or callable
        A pairwise test, a test of K learners, or a function ``test(a, b)`` that gives a p-value.
    learners, problem, plan, sets
        What is simulated; see `simulate`. The learners should be equal on the problem.
    alpha : float or sequence of float
        Levels.
    alternative, df
        As for the test.
    procedure, correction : str, optional
        Measure a procedure that uses the test: how often the most preferred (first) of equal
        learners is not its best.
    options : mapping, optional
        More for `order`, with a procedure: `family`, `guard`, `margin`, `prefer`, ... The
        preference is as listed by default.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **running
        `random_state`, `jobs`, `store`, `progress`, `loss`: see `simulate`.

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
    Independent normal losses are what the k-fold t test takes for granted:

    >>> found = type1_error("kfold-t", problem="normal(plan='kfold:10')", sets=4000)
    >>> found.rate(0.05).low < 0.05 < found.rate(0.05).high
    True
    """
    alphas = levels(alpha)
    made, found = ask(
        test, learners, problem, plan, simulation=simulation, running={"sets": sets, **running},
        asked={"procedure": procedure, "alpha": alphas, "alternative": alternative, "df": df,
               "correction": correction, **(options or {})},
    )  # fmt: skip
    counts = found.rejected[:, 0].sum(axis=0)
    return TypeOneError(
        test=found.name,
        alphas=alphas,
        rates=tuple(Rate.of(int(count), made.sets) for count in counts),
        outcomes=found,
        simulation=made,
    )


# The Type I error of a test over its degrees of freedom.


DFS = np.arange(2, 101)
"""The degrees of freedom that are tried, as in the paper."""


def type1_by_df(
    simulation: Simulation, test: Test, *, alpha: float = 0.05, alternative: str = "two-sided"
) -> Curve:
    """The Type I error over df = 2..100, with its band.

    Parameters
    ----------
    simulation : Simulation
        From `simulate`, with equal learners.
    test : str
        A pairwise test that takes a df.
    alpha, alternative
        As for the test.
    """
    found = outcomes(simulation, test, alpha=alpha, alternative=alternative)
    if not found.takes_df:
        raise ArgumentError(f"test {found.name!r} must be one that takes a df.")
    counts = counts_by_df(bare_statistic(found, alternative), alpha, alternative)
    return Curve.of(
        DFS, counts, simulation.sets, x_name="degrees of freedom", name=f"{found.name} at {alpha:g}"
    )


def bare_statistic(found: Outcomes, alternative: str) -> Floats:
    """U of the first repeat, sorted: large values speak against the hypothesis."""
    assert found.statistic is not None
    assert found.df is not None
    u = found.statistic[:, 0] / np.sqrt(found.df + 1.0)
    # 0/0 is no evidence on either side, and its statistic is 0
    if alternative == "two-sided":
        return np.sort(np.abs(u))
    return np.sort(u if alternative == "greater" else -u)


def counts_by_df(u: Floats, alpha: float, alternative: str) -> Any:
    """How many of the sorted `u` are rejected at every df of `DFS`."""
    tail = alpha / 2 if alternative == "two-sided" else alpha
    bar = np.array([-t_quantile(tail, float(df)) / np.sqrt(df + 1.0) for df in DFS])
    # a statistic on the bar is rejected, whatever its last bit
    return len(u) - np.searchsorted(u, bar * (1 - 1e-12), side="left")
