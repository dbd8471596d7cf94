"""Outcomes of a test or procedure on every data set of a simulation, at every level."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, probability, side, whole
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError, use
from bestofk.decide.choose_test import SITUATION_WORDS, Choice, choose_test
from bestofk.decide.problem import problem_from_losses
from bestofk.decide.registry import PROCEDURES
from bestofk.papers.lab.simulation import Simulation, rehearse, simulate
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

ALPHAS = (0.01, 0.025, 0.05, 0.10)
"""Levels that are measured by default."""
Test = str | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcomes:
    """Verdicts on every data set.

    Attributes
    ----------
    name : str
        The test or procedure; for a procedure also its test and correction.
    alphas : tuple of float
        The levels.
    rejected : bool array, shape (sets, repeats, alphas)
        Whether the test rejects, or the procedure overrides the most preferred learner.
    verdict : int array, shape (sets, repeats, alphas)
        The verdict whose agreement replicability measures. Pairwise tests: 0, or the learner
        (1 or 2) that is significantly better. Tests of K learners: 0 or 1. Procedures: the best
        learner (from 1), or 0 for none.
    order : int array, shape (sets, repeats, alphas), or None
        For procedures: a number that identifies the whole order.
    pvalue : float array, shape (sets, repeats), or None
        None for procedures.
    statistic : float array, shape (sets, repeats), or None
        The statistic of pairwise tests.
    df : float or None
        Degrees of freedom that the test used.
    takes_df : bool
        Whether the test accepts another df.
    """

    name: str
    alphas: tuple[float, ...]
    rejected: npt.NDArray[np.bool_]
    verdict: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64] | None
    pvalue: Floats | None
    statistic: Floats | None
    df: float | None
    takes_df: bool


def levels(alpha: Any) -> tuple[float, ...]:
    """Return one level or several as a tuple, each strictly between 0 and 1."""
    listed = alpha if isinstance(alpha, Sequence | np.ndarray) else (alpha,)
    if not len(listed):
        raise ArgumentError("alpha must hold at least one level; got none.")
    return tuple(probability(level, "alpha") for level in listed)


def outcomes(
    simulation: Simulation,
    test: Test = "auto",
    *,
    procedure: str | None = None,
    alpha: Any = ALPHAS,
    alternative: str = "two-sided",
    df: Any = None,
    correction: str | None = None,
    **arguments: Any,
) -> Outcomes:
    """Return the verdicts of a test (or of a procedure that uses it) on a simulation.

    Parameters
    ----------
    simulation : Simulation
        From `simulate`.
    test : str or callable
        A pairwise test (first learner against second), a test of K learners, or a function
        ``test(a, b)`` of two arrays whose trailing axes are (runs, folds), which returns a
        p-value or an object with a `pvalue`.
    procedure : str, optional
        A procedure of ``bestofk list procedures`` that uses the test.
    alpha, alternative, df, correction, **arguments
        As for `order`. Without `prefer` the listing order is the preference.
    """
    alphas = levels(alpha)
    side(alternative)
    if procedure is not None:
        return _by_procedure(simulation, procedure, test, alphas, df, correction, arguments)
    if correction is not None:
        raise ArgumentError(
            "correction applies to procedures; add ", use(procedure=...), ", or omit correction."
        )
    if isinstance(test, str) and test in MULTIPLE_TESTS:
        if df is not None:
            raise ArgumentError(f"df does not apply to {test!r}, a test of all learners; omit df.")
        return _of_all(simulation, MULTIPLE_TESTS[test], alphas, arguments)
    if isinstance(test, str) and test != "auto" and test not in PAIRWISE_TESTS:
        if test in PROCEDURES:
            raise ArgumentError(
                f"{test!r} is a procedure, not a test; use ", use(procedure=test), "."
            )
        raise UnknownNameError("test", test, [*PAIRWISE_TESTS, *MULTIPLE_TESTS])
    return _pairwise(simulation, test, alphas, alternative, df, arguments)


def run_test(
    test: Test,
    learners: Any,
    problem: Any,
    cv: Any,
    *,
    simulation: Simulation | None,
    running: dict[str, Any],
    **arguments: Any,
) -> tuple[Simulation, Outcomes]:
    """Simulate and test; refuse designs that the test does not cover before simulating."""
    if simulation is None:
        whole(running.get("sets"), "sets", at_least=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rehearsal = rehearse(learners, problem, cv, running.get("scoring"))
            outcomes(rehearsal, test, **arguments)
        simulation = simulate(learners, problem, cv, **running)
    return simulation, outcomes(simulation, test, **arguments)


def _pairwise(
    simulation: Simulation, test: Test, alphas: tuple[float, ...], alternative: str, df: Any,
    arguments: dict[str, Any],
) -> Outcomes:  # fmt: skip
    options = {"one_sided": alternative != "two-sided", "df": df, **arguments}
    choice = _choice(simulation, test, options)
    a, b = simulation.sample(choice.axes)[:2]
    if choice.entry is not None and choice.axes == 2 and a.ndim == 3:
        a, b = a[..., np.newaxis, :], b[..., np.newaxis, :]
    shape = a.shape[:2]
    if choice.entry is None:
        result, pvalue = _call_function(
            choice.function, a, b, shape, alternative, dict(choice.arguments)
        )
    else:
        result = choice(a, b, alternative)
        pvalue = np.broadcast_to(np.asarray(result.pvalue, dtype=np.float64), shape)
    statistic = getattr(result, "statistic", None)
    axes = tuple(range(2, a.ndim))
    direction = getattr(result, "direction", None)
    if direction is None:
        direction = getattr(result, "estimate", a.mean(axis=axes) - b.mean(axis=axes))
    better = np.where(np.broadcast_to(np.asarray(direction), shape) > 0, 2, 1)
    rejected = pvalue[..., np.newaxis] <= np.asarray(alphas)
    return Outcomes(
        name=choice.name,
        alphas=alphas,
        rejected=rejected,
        verdict=np.where(rejected, better[..., np.newaxis], 0),
        order=None,
        pvalue=pvalue,
        statistic=None
        if statistic is None
        else np.broadcast_to(np.asarray(statistic, dtype=np.float64), shape),
        df=result.df if isinstance(getattr(result, "df", None), float) else None,
        takes_df=choice.entry is not None and choice.entry.takes("df"),
    )


def _choice(simulation: Simulation, test: Test, options: dict[str, Any]) -> Choice:
    problem = problem_from_losses(simulation.table(0, 0), prefer=simulation.learners)
    return choose_test(problem, test, random_state=simulation.random_state, **options)


def _call_function(
    function: Callable[..., Any], a: Floats, b: Floats, shape: tuple[int, ...], alternative: str,
    arguments: dict[str, Any],
) -> tuple[Any, Floats]:  # fmt: skip
    """Call the user's function on all tables at once, or one by one if it cannot batch."""
    try:
        takes_alternative = "alternative" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        takes_alternative = False
    if takes_alternative:
        arguments = {**arguments, "alternative": alternative}
    elif alternative != "two-sided":
        raise ArgumentError(
            f"alternative must be 'two-sided' for {_name(function)}, which has no such parameter; "
            f"got {alternative!r}."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(a, b, **arguments)
            pvalue = _pvalue(result)
        except Exception:
            # a function of two samples: any error shows below, table by table
            pvalue = np.empty(0)
    if pvalue.shape != shape:
        flat_a, flat_b = (x.reshape(-1, *x.shape[2:]) for x in (a, b))
        each = [_pvalue(function(x, y, **arguments)) for x, y in zip(flat_a, flat_b, strict=True)]
        if any(value.ndim for value in each):
            raise ArgumentError(
                f"test {_name(function)} must return one p-value for two learners; got an array "
                f"of shape {each[0].shape}."
            )
        result, pvalue = None, np.array(each, dtype=np.float64).reshape(shape)
    if not np.isfinite(pvalue).all() or (pvalue < 0).any() or (pvalue > 1).any():
        raise ArgumentError(
            f"test {_name(function)} must return p-values from 0 to 1; got a value outside."
        )
    return result, pvalue


def _pvalue(result: Any) -> Floats:
    value = getattr(result, "pvalue", result)
    return np.asarray(value, dtype=np.float64)


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


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
    rejected = pvalue[..., np.newaxis] <= np.asarray(alphas)
    return Outcomes(
        name=entry.name,
        alphas=alphas,
        rejected=rejected,
        verdict=rejected.astype(np.int64),
        order=None,
        pvalue=pvalue,
        statistic=None,
        df=None,
        takes_df=False,
    )


def _by_procedure(
    simulation: Simulation, procedure: str, test: Test, alphas: tuple[float, ...], df: Any,
    correction: str | None, arguments: dict[str, Any],
) -> Outcomes:  # fmt: skip
    shape = (simulation.sets, simulation.repeats)
    # learners are listed with the most preferred first
    options = {"prefer": list(simulation.learners), "procedure": procedure, "test": test,
               "df": df, "correction": correction, **arguments}  # fmt: skip
    decisions = [simulation.decided(alpha=alpha, **options) for alpha in alphas]
    verdict = np.stack([1 + many.recommended.reshape(shape) for many in decisions], axis=-1)
    rankings = np.concatenate([many.ranking for many in decisions])
    # number the different rankings
    numbers = np.unique(rankings, axis=0, return_inverse=True)[1]
    order = np.moveaxis(numbers.reshape(len(alphas), *shape), 0, -1)
    name = f"{procedure} ({decisions[-1].tests[-1]}, {decisions[-1].correction})"
    return Outcomes(
        name=name,
        alphas=alphas,
        rejected=verdict > 1,
        verdict=verdict,
        order=order,
        pvalue=None,
        statistic=None,
        df=None,
        takes_df=False,
    )
