"""Type I error, power and replicability of a test, measured on simulated data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, whole
from bestofk._base.errors import ArgumentError
from bestofk._base.results import Presented
from bestofk.papers.lab.collect_outcomes import Outcomes, Test, run_test
from bestofk.papers.lab.problems.given_rows import GivenRows
from bestofk.papers.lab.rates import LEVEL, Rate, rate_columns
from bestofk.papers.lab.simulation import Simulation
from bestofk.papers.lab.truth import Truth, truth_of
from bestofk.stats.tails import normal_quantile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredTest(Presented):
    """Outcomes of a test on simulated losses.

    Attributes
    ----------
    outcomes : Outcomes
        The p-values and verdicts.
    simulation : Simulation
        The losses.
    """

    outcomes: Outcomes
    simulation: Simulation

    @property
    def test(self) -> str:
        """The name of the test."""
        return self.outcomes.name

    @property
    def alphas(self) -> tuple[float, ...]:
        """The measured levels."""
        return self.outcomes.alphas

    def _index(self, alpha: float) -> int:
        """Return the index of a measured level."""
        if alpha not in self.alphas:
            measured = ", ".join(f"{level:g}" for level in self.alphas)
            raise ArgumentError(
                f"alpha must be one of the measured levels, {measured}; got {alpha!r}."
            )
        return self.alphas.index(alpha)

    def _rates(self, counts: Any) -> tuple[Rate, ...]:
        """Return counts of data sets by level as rates."""
        return tuple(Rate.of(int(count), self.simulation.sets) for count in counts)

    def _by_level(self, values: Sequence[Any]) -> list[dict[str, Any]]:
        """Return one JSON object per level."""
        rows = zip(self.alphas, values, strict=True)
        return [{"alpha": alpha, **asdict(value)} for alpha, value in rows]

    def _listed(self, rates: Sequence[Rate]) -> str:
        rows = zip(self.alphas, rates, strict=True)
        return "; ".join(f"{rate.percent()} at level {100 * alpha:g} %" for alpha, rate in rows)


class TypeOneError(MeasuredTest):
    """The rate at which a test rejects equality of equal learners."""

    __slots__ = ()

    @property
    def rates(self) -> tuple[Rate, ...]:
        """By level, the share of data sets on which the test rejects, with exact intervals."""
        return self._rates(self.outcomes.rejected[:, 0].sum(axis=0))

    def rate(self, alpha: float = 0.05) -> Rate:
        """Return the Type I error at a measured level."""
        return self.rates[self._index(alpha)]

    def _columns(self) -> dict[str, Any]:
        """One row per level."""
        return {"alpha": self.alphas, **rate_columns(self.rates)}

    def explain(self) -> str:
        """State the rates in sentences."""
        rates = self.rates
        pairs = list(zip(self.alphas, rates, strict=True))
        above = [f"{100 * alpha:g} %" for alpha, rate in pairs if rate.low > alpha]
        below = [f"{100 * alpha:g} %" for alpha, rate in pairs if rate.high < alpha]
        if above:
            level = f"It rejects too often at {', '.join(above)}."
        elif below:
            level = f"It keeps its level, and is conservative at {', '.join(below)}."
        else:
            level = "Its rejection rates agree with its levels."
        return (
            f"Type I error of {self.test}: it rejects on {self._listed(rates)} "
            f"({100 * LEVEL:g} % intervals).\n{level}\n"
            f"Measured on {self.simulation.explain()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        return {
            "measure": "type1",
            "test": self.test,
            **self.simulation.facts(),
            "rates": self._by_level(self.rates),
            "explanation": self.explain(),
        }


def type1_error(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    cv: Any = "10x10",
    *,
    simulation: Simulation | None = None,
    **arguments: Any,
) -> TypeOneError:
    """Measure how often a test claims a difference between equal learners.

    Parameters
    ----------
    test : str or callable
        A pairwise test, a test of K learners, or a function ``test(a, b)`` that returns a p-value.
    learners, problem, cv
        The simulation; see `simulate`. The learners should be equal on the problem.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **arguments
        For the test: `alpha` (a level or several), `alternative`, `df`. For `simulate`: `sets`,
        `random_state`, `n_jobs`, `engine`, `scheduler`, `store`, `progress`, `scoring`.

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
    simulation, result = run_test(test, learners, problem, cv, simulation, arguments)
    return TypeOneError(outcomes=result, simulation=simulation)


# Power


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PowerPoint(MeasuredTest):
    """The power of a test on one problem."""

    truth: Truth

    @property
    def rates(self) -> tuple[Rate, ...]:
        """By level, the share of data sets on which the test rejects."""
        return self._rates(self.outcomes.rejected[:, 0].sum(axis=0))

    @property
    def wrong(self) -> tuple[Rate, ...]:
        """By level, the share of data sets on which the wrong learner is called better.

        A test of K learners names no learner.
        """
        wrong = self.outcomes.rejected & (self.outcomes.verdict != self.truth.best + 1)
        return self._rates(wrong[:, 0].sum(axis=0) * (self.outcomes.better is not None))

    def _columns(self) -> dict[str, Any]:
        """One row per level."""
        wrong = rate_columns(self.wrong)
        return {
            "alpha": self.alphas,
            **rate_columns(self.rates),
            **{f"wrong_{name}": cells for name, cells in wrong.items()},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        return {
            **self.simulation.facts(),
            "true_difference": self.truth.difference,
            "true_difference_error": self.truth.error,
            "rates": self._by_level(self.rates),
            "wrong": self._by_level(self.wrong),
        }

    def explain(self) -> str:
        """State the rates in sentences."""
        wrong = max(rate.value for rate in self.wrong)
        return (
            f"{self.truth.explain()} It is detected on {self._listed(self.rates)}; the wrong "
            f"learner is called better on up to {100 * wrong:.1f} %. Measured on "
            f"{self.simulation.explain()}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Power(Presented):
    """The rate at which a test detects a difference: one point for every problem."""

    points: tuple[PowerPoint, ...]

    def rate(self, alpha: float = 0.05, point: int = 0) -> Rate:
        """Return the power at a measured level on one of the problems."""
        return self.points[point].rates[self.points[point]._index(alpha)]

    def _columns(self) -> dict[str, Any]:
        """One row per problem and level."""
        columns: dict[str, list[Any]] = {}
        for index, point in enumerate(self.points):
            rows = {
                "point": [index] * len(point.alphas),
                "true_difference": [point.truth.difference] * len(point.alphas),
                **point._columns(),
            }
            for name, cells in rows.items():
                columns.setdefault(name, []).extend(cells)
        return columns

    def explain(self) -> str:
        """State the rates in sentences."""
        points = (f"- {point.explain()}" for point in self.points)
        return "\n".join((f"Power of {self.points[0].test}:", *points))

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        return {
            "measure": "power",
            "test": self.points[0].test,
            "points": [point.to_dict() for point in self.points],
            "explanation": self.explain(),
        }


def power(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "network(paper=2)",
    cv: Any = "10x10",
    *,
    simulation: Simulation | None = None,
    **arguments: Any,
) -> Power:
    """Measure how often a test detects a true difference.

    Parameters
    ----------
    test, learners, cv, simulation, **arguments
        As for `type1_error`.
    problem : str, problem, or a list of them
        Problems on which the learners differ. The true difference is known, or estimated and
        reported with its standard error.

    Returns
    -------
    Power

    Examples
    --------
    >>> result = power("kfold-t", problem="normal(means=(0, 1), cv='kfold:10')", sets=500)
    >>> bool(0.4 < result.rate(0.05).value < 0.6)
    True
    """
    several = isinstance(problem, Sequence) and not isinstance(problem, str)
    points = []
    for generator in problem if several and simulation is None else [problem]:
        simulated, result = run_test(test, learners, generator, cv, simulation, {**arguments})
        truth = truth_of(simulated, learners)
        points.append(PowerPoint(truth=truth, outcomes=result, simulation=simulated))
    return Power(points=tuple(points))


# Replicability


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The rate at which verdicts agree, by both published definitions.

    Attributes
    ----------
    all_agree : Rate
        Share of data sets on which all repeats give the same verdict (Bouckaert 2003).
    pairs, pairs_low, pairs_high : float
        Probability that two repeats on the same data set agree (Bouckaert 2004), with its
        interval over data sets: 0 to 1 for one data set.
    """

    all_agree: Rate
    pairs: float
    pairs_low: float
    pairs_high: float


class Replicability(MeasuredTest):
    """The agreement of a test's verdicts on different splits of the same data."""

    __slots__ = ()

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """The agreement at every level."""
        verdict = self.outcomes.verdict
        return tuple(agreement_of(verdict[:, :, level]) for level in range(verdict.shape[2]))

    def agreement(self, alpha: float = 0.05) -> Agreement:
        """Return the agreement at a measured level."""
        return self.agreements[self._index(alpha)]

    @property
    def verdicts(self) -> tuple[dict[str, int], ...]:
        """By level, how often each learner was significantly better, and how often none was."""
        first, second = self.simulation.learners[:2]
        names = {0: "none", 1: "any" if self.outcomes.better is None else first, 2: second}
        tables = np.moveaxis(self.outcomes.verdict, 2, 0)
        return tuple(
            {
                names[one]: int(n)
                for one, n in zip(*np.unique(table, return_counts=True), strict=True)
            }
            for table in tables
        )

    def _columns(self) -> dict[str, Any]:
        """One row per level."""
        agreements = self.agreements
        return {
            "alpha": self.alphas,
            "all_agree": [agreement.all_agree.value for agreement in agreements],
            "all_agree_low": [agreement.all_agree.low for agreement in agreements],
            "all_agree_high": [agreement.all_agree.high for agreement in agreements],
            "pairs": [agreement.pairs for agreement in agreements],
            "pairs_low": [agreement.pairs_low for agreement in agreements],
            "pairs_high": [agreement.pairs_high for agreement in agreements],
        }

    def explain(self) -> str:
        """State the shares in sentences."""
        repeats = self.simulation.repeats
        lines = [f"Replicability of {self.test}, {repeats} choices of splits per data set:"]
        levels = zip(self.alphas, self.agreements, self.verdicts, strict=True)
        for alpha, agreement, verdicts in levels:
            if self.simulation.sets == 1:
                same = "the same verdict" if len(verdicts) == 1 else "different verdicts"
                counts = ", ".join(f"{name} {count}" for name, count in verdicts.items())
                lines.append(
                    f"- level {100 * alpha:g} %: the {repeats} give {same} (better: {counts}); two "
                    f"of them agree with probability {100 * agreement.pairs:.1f} %."
                )
                continue
            ends = f"{100 * agreement.pairs_low:.1f} to {100 * agreement.pairs_high:.1f}"
            lines.append(
                f"- level {100 * alpha:g} %: all {repeats} give the same verdict on "
                f"{agreement.all_agree.percent()} of the data sets; two of them agree with "
                f"probability {100 * agreement.pairs:.1f} % ({ends})."
            )
        lines.append(f"Measured on {self.simulation.explain()}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        return {
            "measure": "replicability",
            "test": self.test,
            **self.simulation.facts(),
            "agreements": self._by_level(self.agreements),
            "verdicts": [
                {"alpha": alpha, "better": verdicts}
                for alpha, verdicts in zip(self.alphas, self.verdicts, strict=True)
            ],
            "explanation": self.explain(),
        }


def agreement_of(verdict: npt.NDArray[np.int64]) -> Agreement:
    """Return the agreement of verdicts of shape (sets, repeats).

    Examples
    --------
    >>> agreement = agreement_of(np.array([[0, 0, 0], [1, 1, 0]]))
    >>> agreement.all_agree.value, round(agreement.pairs, 4)
    (0.5, 0.6667)
    """
    sets, repeats = verdict.shape
    whole(repeats, "repeats", at_least=2)
    same = verdict[:, :, np.newaxis] == verdict[:, np.newaxis, :]
    pairs: Floats = (same.sum(axis=(1, 2)) - repeats) / (repeats * (repeats - 1))
    mean = float(pairs.mean())
    half = np.inf
    if sets > 1:
        z = float(normal_quantile(0.5 + LEVEL / 2))
        half = z * float(pairs.std(ddof=1)) / float(np.sqrt(sets))
    return Agreement(
        all_agree=Rate.of(int((verdict == verdict[:, :1]).all(axis=1).sum()), sets),
        pairs=mean,
        pairs_low=max(0.0, mean - half),
        pairs_high=min(1.0, mean + half),
    )


def replicability(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    cv: Any = "10x10",
    *,
    repeats: int = 10,
    simulation: Simulation | None = None,
    **arguments: Any,
) -> Replicability:
    """Measure whether other random splits of the same data give the same verdict.

    Parameters
    ----------
    test, learners, problem, cv, **arguments
        As for `type1_error`.
    repeats : int
        Number of random split choices for each data set. ``lab.problem("given", data=...)`` is
        your own data with its own labels.
    simulation : Simulation, optional
        Use these losses, with two or more repeats, instead of simulating.

    Returns
    -------
    Replicability

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    R. R. Bouckaert (2004). Estimating replicability of classifier learning experiments.
    Proceedings of ICML 2004. doi:10.1145/1015330.1015338

    Examples
    --------
    >>> result = replicability("kfold-t", ["max", "naive-bayes"], "binary(rows=60)", "kfold:5",
    ...                        sets=20, repeats=4)
    >>> result.agreement(0.05).pairs >= result.agreement(0.05).all_agree.value
    True
    """
    if simulation is None:
        arguments["repeats"] = whole(repeats, "repeats", at_least=2)
        if isinstance(problem, GivenRows):
            arguments.setdefault("sets", 1)
    simulation, result = run_test(test, learners, problem, cv, simulation, arguments)
    whole(simulation.repeats, "repeats", at_least=2)
    return Replicability(outcomes=result, simulation=simulation)
