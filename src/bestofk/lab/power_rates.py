"""Power: how often a test notices a difference that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.errors import ArgumentError
from bestofk._base.results import Presented
from bestofk.lab.collect_outcomes import ALPHAS, Outcomes, Test, ask, levels
from bestofk.lab.error_rates import measured, rate_columns, setting
from bestofk.lab.rates import Curve, Rate
from bestofk.lab.simulation import Simulation
from bestofk.lab.truth import Truth, truth_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PowerPoint(Presented):
    """The power of a test on one problem."""

    truth: Truth
    rates: tuple[Rate, ...]
    """Share of data sets on which it rejects, by level; of a procedure: finds the truly best."""
    wrong: tuple[Rate, ...]
    """Share on which it rejects in favour of the wrong learner."""
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
        """The rates for strict JSON."""
        alphas = self.outcomes.alphas
        return {
            **setting(self.simulation),
            "true_difference": self.truth.difference,
            "true_difference_error": self.truth.error,
            "rates": [{"alpha": alpha, **one.to_dict()} for alpha, one in
                      zip(alphas, self.rates, strict=True)],
            "wrong": [{"alpha": alpha, **one.to_dict()} for alpha, one in
                      zip(alphas, self.wrong, strict=True)],
        }  # fmt: skip

    def explain(self, *, alpha: float | None = None) -> str:
        """The rates in sentences.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of theirs.
        alpha : float, optional
            Only this level, one of those that were measured; all of them by default.
        """
        places = measured(self.outcomes.alphas, alpha)
        listed = "; ".join(
            f"{self.rates[at].words()} at level {100 * self.outcomes.alphas[at]:g} %"
            for at in places
        )
        wrong = max(self.wrong[at].value for at in places)
        return (
            f"{self.truth.explain()} It is found on {listed}; the wrong learner is found better "
            f"on up to {100 * wrong:.1f} %. Measured on {self.simulation.describe()}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Power(Presented):
    """How often a test notices a difference, on one problem or on several.

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
        """The power at a level on one of the problems."""
        if alpha not in self.alphas:
            raise ArgumentError(f"alpha must be one of the levels {self.alphas}; got {alpha!r}.")
        return self.points[point].rates[self.alphas.index(alpha)]

    def curve(self, alpha: float = 0.05) -> Curve:
        """The power over the true difference, with its band."""
        order = sorted(range(len(self.points)), key=lambda at: self.points[at].truth.difference)
        sizes = {point.simulation.sets for point in self.points}
        assert len(sizes) == 1
        return Curve.of(
            [self.points[at].truth.difference for at in order],
            [self.rate(alpha, at).count for at in order],
            sizes.pop(), x_name="true difference", name=self.test,
        )  # fmt: skip

    def _columns(self) -> dict[str, Any]:
        """One row per problem and level."""
        found: dict[str, list[Any]] = {}
        for number_of, point in enumerate(self.points):
            held = point._columns()
            extra = {
                "point": [number_of] * len(self.alphas),
                "true_difference": [point.truth.difference] * len(self.alphas),
            }
            for name, cells in {**extra, **held}.items():
                found.setdefault(name, []).extend(cells)
        return found

    def explain(self, *, alpha: float | None = None) -> str:
        """The rates in sentences.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of theirs.
        alpha : float, optional
            Only this level, one of those that were measured; all of them by default.
        """
        points = (f"- {point.explain(alpha=alpha)}" for point in self.points)
        return "\n".join((f"Power of {self.test}:", *points))

    def to_dict(self) -> dict[str, Any]:
        """The rates for strict JSON."""
        return {
            "measure": "power",
            "test": self.test,
            "points": [point.to_dict() for point in self.points],
            "explanation": self.explain(),
        }  # fmt: skip


def power(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "network(paper=2)",
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
) -> Power:
    """How often a test notices a difference that is there.

    Parameters
    ----------
    test, learners, plan, sets, alpha, alternative, df, procedure, correction, options, **running
        As for `type1_error`. A procedure has found the difference when its best is the truly
        best learner.
    problem : str, problem, or a list of them
        Where the learners differ; the true difference is known, or estimated and stated with its
        standard error.
    simulation : Simulation, optional
        Use these losses instead of simulating.

    Returns
    -------
    Power
        One point for every problem; `curve` gives arrays to draw.

    Examples
    --------
    >>> found = power("kfold-t", problem="normal(means=(0, 1), plan='kfold:10')", sets=500)
    >>> bool(0.4 < found.rate(0.05).value < 0.6)
    True
    """
    alphas = levels(alpha)
    listed = (
        problem if isinstance(problem, Sequence) and not isinstance(problem, str) else [problem]
    )
    points = []
    for one in [None] if simulation is not None else listed:
        made, found = ask(
            test, learners, one, plan, simulation=simulation, running={"sets": sets, **running},
            asked={"procedure": procedure, "alpha": alphas, "alternative": alternative, "df": df,
                   "correction": correction, **(options or {})},
        )  # fmt: skip
        truth = truth_of(made, learners)
        right, wrong = _right_and_wrong(found, truth, procedure)
        points.append(
            PowerPoint(
                truth=truth,
                rates=tuple(Rate.of(int(count), made.sets) for count in right),
                wrong=tuple(Rate.of(int(count), made.sets) for count in wrong),
                outcomes=found,
                simulation=made,
            )
        )
    return Power(test=points[0].outcomes.name, alphas=alphas, points=tuple(points))


def _right_and_wrong(found: Outcomes, truth: Truth, procedure: str | None) -> tuple[Any, Any]:
    verdict, best = found.verdict[:, 0], truth.best + 1
    if procedure is not None:
        return (verdict == best).sum(axis=0), ((verdict > 0) & (verdict != best)).sum(axis=0)
    rejected = found.rejected[:, 0]
    if found.statistic is None and found.order is None and verdict.max(initial=0) <= 1:
        # a test of K learners names none
        return rejected.sum(axis=0), np.zeros(len(found.alphas), dtype=np.int64)
    return rejected.sum(axis=0), (rejected & (verdict != best)).sum(axis=0)
