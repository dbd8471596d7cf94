"""Power: how often a test detects a true difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.results import Presented
from bestofk.papers.lab.collect_outcomes import ALPHAS, Outcomes, Test, levels, run_test
from bestofk.papers.lab.rates import Curve, Rate, level_index, rate_columns, rate_rows
from bestofk.papers.lab.simulation import Simulation
from bestofk.papers.lab.truth import Truth, truth_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PowerPoint(Presented):
    """The power of a test on one problem."""

    truth: Truth
    rates: tuple[Rate, ...]
    """By level, the share of data sets on which a test rejects or a procedure picks the best."""
    wrong: tuple[Rate, ...]
    """By level, the share of data sets on which the wrong learner is called better."""
    outcomes: Outcomes
    simulation: Simulation

    def _columns(self) -> dict[str, Any]:
        """One row per level."""
        wrong = rate_columns(self.wrong)
        return {
            "alpha": self.outcomes.alphas,
            **rate_columns(self.rates),
            **{f"wrong_{name}": cells for name, cells in wrong.items()},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        alphas = self.outcomes.alphas
        return {
            **self.simulation.facts(),
            "true_difference": self.truth.difference,
            "true_difference_error": self.truth.error,
            "rates": rate_rows(alphas, self.rates),
            "wrong": rate_rows(alphas, self.wrong),
        }

    def explain(self) -> str:
        """State the rates in sentences."""
        listed = "; ".join(
            f"{rate.percent()} at level {100 * alpha:g} %"
            for alpha, rate in zip(self.outcomes.alphas, self.rates, strict=True)
        )
        wrong = max(rate.value for rate in self.wrong)
        return (
            f"{self.truth.explain()} It is detected on {listed}; the wrong learner is called "
            f"better on up to {100 * wrong:.1f} %. Measured on {self.simulation.explain()}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Power(Presented):
    """The rate at which a test detects a difference, on one or several problems.

    Attributes
    ----------
    test : str
        The test or procedure.
    alphas : tuple of float
        Levels.
    points : tuple of PowerPoint
        One for every problem.
    """

    test: str
    alphas: tuple[float, ...]
    points: tuple[PowerPoint, ...]

    def rate(self, alpha: float = 0.05, point: int = 0) -> Rate:
        """Return the power at a level on one of the problems."""
        return self.points[point].rates[level_index(self.alphas, alpha)]

    def curve(self, alpha: float = 0.05) -> Curve:
        """Return the power over the true difference, with its band."""
        points = sorted(self.points, key=lambda point: point.truth.difference)
        level = level_index(self.alphas, alpha)
        return Curve.of(
            [point.truth.difference for point in points],
            [point.rates[level].count for point in points],
            points[0].simulation.sets, x_name="true difference", name=self.test,
        )  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        """One row per problem and level."""
        columns: dict[str, list[Any]] = {}
        for index, point in enumerate(self.points):
            rows = {
                "point": [index] * len(self.alphas),
                "true_difference": [point.truth.difference] * len(self.alphas),
                **point._columns(),
            }
            for name, cells in rows.items():
                columns.setdefault(name, []).extend(cells)
        return columns

    def explain(self) -> str:
        """State the rates in sentences."""
        points = (f"- {point.explain()}" for point in self.points)
        return "\n".join((f"Power of {self.test}:", *points))

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        return {
            "measure": "power",
            "test": self.test,
            "points": [point.to_dict() for point in self.points],
            "explanation": self.explain(),
        }


def power(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "network(paper=2)",
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
) -> Power:
    """Measure how often a test detects a true difference.

    Parameters
    ----------
    test, learners, cv, sets, alpha, alternative, df, procedure, correction, options, **running
        As for `type1_error`. A procedure detects the difference if it recommends the truly best
        learner.
    problem : str, problem, or a list of them
        Problems on which the learners differ. The true difference is known, or estimated and
        reported with its standard error.
    simulation : Simulation, optional
        Use these losses instead of simulating.

    Returns
    -------
    Power
        One point for every problem; `curve` gives arrays to plot.

    Examples
    --------
    >>> result = power("kfold-t", problem="normal(means=(0, 1), cv='kfold:10')", sets=500)
    >>> bool(0.4 < result.rate(0.05).value < 0.6)
    True
    """
    alphas = levels(alpha)
    problems = (
        problem if isinstance(problem, Sequence) and not isinstance(problem, str) else [problem]
    )
    points = []
    for generator in [None] if simulation is not None else problems:
        simulated, result = run_test(
            test, learners, generator, cv, simulation=simulation,
            running={"sets": sets, **running}, procedure=procedure, alpha=alphas,
            alternative=alternative, df=df, correction=correction, **(options or {}),
        )  # fmt: skip
        truth = truth_of(simulated, learners)
        right, wrong = (
            tuple(Rate.of(int(count), simulated.sets) for count in counts)
            for counts in _right_and_wrong(result, truth, procedure)
        )
        points.append(
            PowerPoint(truth=truth, rates=right, wrong=wrong, outcomes=result, simulation=simulated)
        )
    return Power(test=points[0].outcomes.name, alphas=alphas, points=tuple(points))


def _right_and_wrong(result: Outcomes, truth: Truth, procedure: str | None) -> tuple[Any, Any]:
    """Count right and wrong verdicts by level."""
    verdict, best = result.verdict[:, 0], truth.best + 1
    if procedure is not None:
        return (verdict == best).sum(axis=0), ((verdict > 0) & (verdict != best)).sum(axis=0)
    rejected = result.rejected[:, 0]
    if result.statistic is None and result.order is None and verdict.max(initial=0) <= 1:
        # a test of K learners names no learner
        return rejected.sum(axis=0), np.zeros(len(result.alphas), dtype=np.int64)
    return rejected.sum(axis=0), (rejected & (verdict != best)).sum(axis=0)
