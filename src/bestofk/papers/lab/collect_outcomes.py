"""Outcomes of a test on every data set of a simulation, at every level."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, probability, side, whole
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError
from bestofk.decide.choose_test import SITUATION_WORDS, choose_test
from bestofk.decide.problem import problem_from_losses
from bestofk.papers.lab.simulation import Simulation, rehearse, simulate
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

ALPHAS = (0.01, 0.025, 0.05, 0.10)
"""Levels that are measured by default."""
Test = str | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcomes:
    """P-values and verdicts on every data set.

    Attributes
    ----------
    name : str
        The test.
    alphas : tuple of float
        The levels.
    pvalue : float array, shape (sets, repeats)
    better : int array, shape (sets, repeats), or None
        Pairwise tests: the learner (1 or 2) with the smaller loss. None for tests of K learners.
    statistic : float array, shape (sets, repeats), or None
        The statistic of pairwise tests.
    df : float or None
        Degrees of freedom that the test used.
    takes_df : bool
        Whether the test accepts another df.
    """

    name: str
    alphas: tuple[float, ...]
    pvalue: Floats
    better: npt.NDArray[np.int64] | None = None
    statistic: Floats | None = None
    df: float | None = None
    takes_df: bool = False

    @property
    def rejected(self) -> npt.NDArray[np.bool_]:
        """Whether the test rejects, shape (sets, repeats, alphas)."""
        return np.asarray(self.pvalue[..., np.newaxis] <= np.asarray(self.alphas))

    @property
    def verdict(self) -> npt.NDArray[np.int64]:
        """0, or the learner that is significantly better (1 for tests of K learners)."""
        better = 1 if self.better is None else self.better[..., np.newaxis]
        return np.where(self.rejected, better, 0)


def outcomes(
    simulation: Simulation,
    test: Test = "auto",
    *,
    alpha: Any = ALPHAS,
    alternative: str = "two-sided",
    df: Any = None,
    **arguments: Any,
) -> Outcomes:
    """Return the verdicts of a test on a simulation.

    Parameters
    ----------
    simulation : Simulation
        From `simulate`.
    test : str or callable
        A pairwise test (first learner against second), a test of K learners, or a function of the
        losses of two learners, as for `bestofk.compare_scores`.
    alpha : float or sequence of float
        Levels.
    alternative, df, **arguments
        As for the test.
    """
    listed = alpha if isinstance(alpha, Sequence | np.ndarray) else (alpha,)
    if not len(listed):
        raise ArgumentError("alpha must hold at least one level; got none.")
    alphas = tuple(probability(level, "alpha") for level in listed)
    side(alternative)
    if not callable(test) and test in MULTIPLE_TESTS:
        if df is not None:
            raise ArgumentError(f"df does not apply to {test!r}, a test of all learners; omit df.")
        return _of_all(simulation, MULTIPLE_TESTS[test], alphas, arguments)
    if not callable(test) and test not in ("auto", *PAIRWISE_TESTS):
        raise UnknownNameError("test", test, [*PAIRWISE_TESTS, *MULTIPLE_TESTS])
    problem = problem_from_losses(simulation.table(0, 0), prefer=simulation.learners)
    choice = choose_test(
        problem, test, random_state=simulation.random_state, df=df,
        one_sided=alternative != "two-sided", **arguments,
    )  # fmt: skip
    a, b = simulation.sample(choice.axes)[:2]
    if choice.axes == 2 and a.ndim == 3:
        a, b = a[..., np.newaxis, :], b[..., np.newaxis, :]
    result = choice(a, b, alternative)
    axes = tuple(range(2, a.ndim))
    direction = getattr(result, "direction", None)
    if direction is None:
        direction = getattr(result, "estimate", a.mean(axis=axes) - b.mean(axis=axes))
    shape = a.shape[:2]
    return Outcomes(
        name=choice.name,
        alphas=alphas,
        pvalue=np.broadcast_to(np.asarray(result.pvalue, dtype=np.float64), shape),
        better=np.where(np.broadcast_to(np.asarray(direction), shape) > 0, 2, 1),
        statistic=np.broadcast_to(np.asarray(result.statistic, dtype=np.float64), shape),
        df=result.df if isinstance(result.df, float) else None,
        takes_df=choice.entry is not None and choice.entry.takes("df"),
    )


def run_test(
    test: Test, learners: Any, problem: Any, cv: Any, simulation: Simulation | None,
    arguments: dict[str, Any],
) -> tuple[Simulation, Outcomes]:  # fmt: skip
    """Simulate and test; refuse designs that the test does not cover before simulating.

    `arguments` are those of `outcomes` and of `simulate`.
    """
    names = ("alpha", "alternative", "df", "calibrating")
    testing = {name: arguments.pop(name) for name in names if name in arguments}
    if simulation is None:
        for name in ("sets", "repeats"):
            whole(arguments.get(name, 1), name, at_least=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes(rehearse(learners, problem, cv), test, **testing)
        simulation = simulate(learners, problem, cv, **arguments)
    return simulation, outcomes(simulation, test, **testing)


def _of_all(
    simulation: Simulation, entry: MultipleTest, alphas: tuple[float, ...],
    arguments: dict[str, Any],
) -> Outcomes:  # fmt: skip
    problem = problem_from_losses(simulation.table())
    if not set(entry.covers) & set(problem.situations):
        covers = " or ".join(SITUATION_WORDS[situation] for situation in entry.covers)
        raise DesignError(
            f"test {entry.name!r} covers {covers}; the losses are {problem.describe()}."
        )
    function = entry.load()
    if entry.axes == 4:
        values = simulation.losses
        tables = values.reshape(*values.shape[:4], -1, values.shape[-1])
    else:
        tables = np.moveaxis(simulation.sample(1), 0, 2)
    if entry.zero_one:
        tables = 1.0 - tables
    if entry.takes("random_state"):
        arguments = {"random_state": simulation.random_state, **arguments}
    if entry.first_step:
        # the first step decides whether any learners differ
        function = MULTIPLE_TESTS[entry.first_step].load()
    if entry.batch:
        pvalue = np.asarray(function(tables, **arguments).pvalue, dtype=np.float64)
    else:
        flat = tables.reshape(-1, *tables.shape[2:])
        each = [function(table, **arguments).verdict_pvalue for table in flat]
        pvalue = np.array(each).reshape(tables.shape[:2])
    return Outcomes(name=entry.name, alphas=alphas, pvalue=pvalue)
