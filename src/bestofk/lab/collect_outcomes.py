"""What a test or procedure says on every data set of a simulation, at every level."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, probability, side, whole
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError
from bestofk._base.results import Presented
from bestofk.decide.choose_test import SITUATION_WORDS, Choice, choose_test
from bestofk.decide.problem import problem_from_losses
from bestofk.decide.registry import PROCEDURES
from bestofk.lab.simulation import Simulation, rehearse, simulate
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

ALPHAS = (0.01, 0.025, 0.05, 0.10)
Test = str | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcomes(Presented):
    """Verdicts on every data set.

    Attributes
    ----------
    name : str
        Of the test or procedure, with what it uses.
    alphas : tuple of float
        The levels.
    rejected : bool array, shape (sets, repeats, alphas)
        The test rejects; a procedure overrides the most preferred learner.
    verdict : int array, shape (sets, repeats, alphas)
        What two repeats agree on. Pairwise tests: 0, or the learner (1 or 2) that is found to be
        better; tests of K learners: 0 or 1; procedures: the best (from 1), 0 for not found.
    order : int array, shape (sets, repeats, alphas), or None
        A number for the whole order, for procedures: the same for the same order.
    pvalue : float array, shape (sets, repeats), or None
        For procedures there is none.
    statistic : float array, shape (sets, repeats), or None
        Of pairwise tests.
    df : float or None
        Degrees of freedom that the test used.
    takes_df : bool
        It may be given another df.
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

    def _columns(self) -> dict[str, Any]:
        """One row per level: how often it rejects."""
        total = self.rejected.shape[0] * self.rejected.shape[1]
        count = self.rejected.sum(axis=(0, 1))
        return {
            "alpha": self.alphas,
            "rejected": count,
            "n": [total] * len(self.alphas),
            "rate": count / total,
        }

    def explain(self, *, alpha: float | None = None) -> str:
        """How often it rejects, in a sentence.

        Parameters
        ----------
        names : sequence of str, optional
            Has no effect.
        alpha : float, optional
            Only this level, one of those that were asked for; all of them by default.
        """
        held = self._columns()
        if alpha is not None and alpha not in self.alphas:
            listed = ", ".join(f"{one:g}" for one in self.alphas)
            raise ArgumentError(
                f"alpha must be one of {listed}, which were measured; got {alpha!r}."
            )
        listed = "; ".join(
            f"{count} ({100 * rate:.1f} %) at level {100 * one:g} %"
            for one, count, rate in zip(self.alphas, held["rejected"], held["rate"], strict=True)
            if alpha in (None, one)
        )
        return f"Of {held['n'][0]} tables, {self.name} rejects on {listed}."


def levels(alpha: Any) -> tuple[float, ...]:
    """One level or several, each strictly between 0 and 1."""
    listed = alpha if isinstance(alpha, Sequence | np.ndarray) else (alpha,)
    if not len(listed):
        raise ArgumentError("alpha must hold at least one level; got none.")
    return tuple(probability(one, "alpha") for one in listed)


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
    """The verdicts of a test (or of a procedure that uses it) on a simulation.

    Parameters
    ----------
    simulation : Simulation
        From `simulate`.
    test : str or callable
        A pairwise test (first learner against second), a test of K learners, or a function
        ``test(a, b)`` of two arrays whose trailing axes are (runs, folds), which gives a p-value
        or something that has `pvalue`.
    procedure : str, optional
        A name of ``bestofk procedures``, which uses the test.
    alpha, alternative, df, correction, **arguments
        As for `order`. The preference is as listed unless `prefer` says otherwise.
    """
    alphas = levels(alpha)
    side(alternative)
    if procedure is not None:
        return _by_procedure(simulation, procedure, test, alphas, df, correction, arguments)
    if correction is not None:
        raise ArgumentError("correction applies to procedures; name one.")
    if isinstance(test, str) and test in MULTIPLE_TESTS:
        if df is not None:
            raise ArgumentError(f"df does not apply to {test!r}, a test of all learners.")
        return _of_all(simulation, MULTIPLE_TESTS[test], alphas, arguments)
    if isinstance(test, str) and test != "auto" and test not in PAIRWISE_TESTS:
        if test in PROCEDURES:
            raise ArgumentError(f"{test!r} is a procedure: say procedure={test!r}.")
        raise UnknownNameError("test", test, [*PAIRWISE_TESTS, *MULTIPLE_TESTS])
    return _pairwise(simulation, test, alphas, alternative, df, arguments)


def ask(
    test: Test,
    learners: Any,
    problem: Any,
    plan: Any,
    *,
    asked: dict[str, Any],
    simulation: Simulation | None,
    running: dict[str, Any],
) -> tuple[Simulation, Outcomes]:
    """Simulate and judge; what the test cannot judge is refused before anything is simulated."""
    if simulation is None:
        whole(running.get("sets"), "sets", at_least=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes(rehearse(learners, problem, plan, running.get("loss")), test, **asked)
        simulation = simulate(learners, problem, plan, **running)
    return simulation, outcomes(simulation, test, **asked)


def _pairwise(
    simulation: Simulation, test: Test, alphas: tuple[float, ...], alternative: str, df: Any,
    arguments: dict[str, Any],
) -> Outcomes:  # fmt: skip
    asked = {"one_sided": alternative != "two-sided", "df": df, **arguments}
    choice = _choice(simulation, test, asked)
    a, b = simulation.sample(choice.axes)[:2]
    if choice.entry is not None and choice.axes == 2 and a.ndim == 3:
        a, b = a[..., np.newaxis, :], b[..., np.newaxis, :]
    shape = a.shape[:2]
    if choice.entry is None:
        result, pvalue = _called(choice.function, a, b, shape, alternative, dict(choice.arguments))
    elif choice.entry.pooled:
        result = _study_by_study(simulation, test, asked, a, b, alternative)
        pvalue = result.pvalue
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
        takes_df=choice.entry is not None and choice.entry.takes_df,
    )


def _choice(
    simulation: Simulation, test: Test, asked: dict[str, Any], one: int = 0, repeat: int = 0
) -> Choice:
    problem = problem_from_losses(simulation.table(one, repeat), prefer=simulation.learners)
    return choose_test(problem, test, random_state=simulation.random_state, **asked)


class _Results(NamedTuple):
    """What several results of one test have in common, by data set and repeat."""

    pvalue: Floats
    statistic: Floats
    direction: Floats


def _study_by_study(
    simulation: Simulation, test: Test, asked: dict[str, Any], a: Floats, b: Floats,
    alternative: str,
) -> _Results:  # fmt: skip
    """A test that is told something of all learners of a study, such as a variance factor."""
    found = np.empty((3, *a.shape[:2]))
    for one, repeat in np.ndindex(a.shape[:2]):
        choice = _choice(simulation, test, asked, one, repeat)
        result = choice(a[one, repeat], b[one, repeat], alternative)
        direction = result.estimate if result.direction is None else result.direction
        found[:, one, repeat] = result.pvalue, result.statistic, direction
    return _Results(*found)


def _called(
    function: Callable[..., Any], a: Floats, b: Floats, shape: tuple[int, ...], alternative: str,
    arguments: dict[str, Any],
) -> tuple[Any, Floats]:  # fmt: skip
    """The p-values of a function of the caller's, all at once where it can, else one by one."""
    try:
        sided = "alternative" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        sided = False
    if sided:
        arguments = {**arguments, "alternative": alternative}
    elif alternative != "two-sided":
        raise ArgumentError(
            f"alternative must be 'two-sided': the function {_name(function)} takes none."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(a, b, **arguments)
            pvalue = _pvalue(result)
        except Exception:
            # a function of two samples only: it shows below, data set by data set
            pvalue = np.empty(0)
    if pvalue.shape != shape:
        flat_a, flat_b = (x.reshape(-1, *x.shape[2:]) for x in (a, b))
        each = [_pvalue(function(x, y, **arguments)) for x, y in zip(flat_a, flat_b, strict=True)]
        if any(one.ndim for one in each):
            raise ArgumentError(
                f"test {_name(function)} must give one p-value for two learners; got an array of "
                f"shape {each[0].shape}."
            )
        result, pvalue = None, np.array(each, dtype=np.float64).reshape(shape)
    if not np.isfinite(pvalue).all() or (pvalue < 0).any() or (pvalue > 1).any():
        raise ArgumentError(f"test {_name(function)} must give p-values from 0 to 1; it did not.")
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
    if entry.random:
        arguments = {"random_state": simulation.random_state, **arguments}
    if entry.first_step:
        # which decides whether any learners differ
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
    asked = {"prefer": list(simulation.learners), "procedure": procedure, "test": test, "df": df,
             "correction": correction, **arguments}  # fmt: skip
    found = [simulation.decided(alpha=alpha, **asked) for alpha in alphas]
    verdict = np.stack([1 + many.recommended.reshape(shape) for many in found], axis=-1)
    orders = np.concatenate([many.ranking for many in found])
    # any number of learners: orders are numbered
    numbers = np.unique(orders, axis=0, return_inverse=True)[1]
    whole = np.moveaxis(numbers.reshape(len(alphas), *shape), 0, -1)
    name = f"{procedure} ({found[-1].tests[-1]}, {found[-1].correction})"
    return Outcomes(
        name=name,
        alphas=alphas,
        rejected=verdict > 1,
        verdict=verdict,
        order=whole,
        pvalue=None,
        statistic=None,
        df=None,
        takes_df=False,
    )
