"""What the tests take for granted, and how that stands here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestofk.adjust import CORRECTIONS
from bestofk.checks import Floats
from bestofk.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.ordering.evidence.problem import Problem
from bestofk.ordering.result import Order
from bestofk.pairwise.registry import PairwiseTest
from bestofk.registry import Assumption, Check
from bestofk.stopping.race_result import Race
from bestofk.stopping.stopped_order import StoppedOrder
from bestofk.wording import counted, number

SKEWED = 1.0
"""Differences with a skewness beyond this are called lopsided: a rule of thumb."""
TOLERATED = 0.2
"""Share of lopsided pairs from which normality is called doubtful."""
FEW_DATASETS = 6
MOST_NUMBERS = 2_000_000
"""Differences that are looked at; of more, an even part of the pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAssumption:
    """A claim, how it stands (by design, fine, doubtful, cannot be checked), and why."""

    claim: str
    state: str
    why: str

    @property
    def tone(self) -> str:
        """How a page colours the state."""
        return {"by design": "fine", "looks fine": "fine", "doubtful": "doubtful"}.get(
            self.state, "open"
        )


def assumptions_of(order: Order) -> tuple[CheckedAssumption, ...]:
    """The assumptions of the test and of the correction, with their state."""
    found = []
    if order.problem is not None:
        found.append(_same_splits(order, order.problem))
        found += _of_test(order, order.problem)
        equal = _constant_pairs(order.problem)
        if equal is not None:
            found.append(equal)
    found.append(_correction(order))
    if isinstance(order, StoppedOrder):
        found.append(_as_planned(order.race))
    if not order.decidable:
        found.append(
            CheckedAssumption(
                claim="The test could have shown a difference.",
                state="doubtful",
                why=f"The smallest adjusted p-value possible is {order.smallest_possible:.2g}, "
                f"above alpha = {order.alpha:g}.",
            )
        )
    if order.choice is not None and order.choice.posterior:
        found.append(
            CheckedAssumption(
                claim="What stands for a p-value is a posterior probability.",
                state="doubtful",
                why="No error rate is promised for it.",
            )
        )
    return tuple(found)


def _of_test(order: Order, problem: Problem) -> list[CheckedAssumption]:
    """What the entry of the test states, as it stands here; an unknown test states nothing."""
    entry: PairwiseTest | MultipleTest | None = None
    if order.choice is not None:
        entry = order.choice.entry
    elif order.test in MULTIPLE_TESTS:
        entry = MULTIPLE_TESTS[order.test]
    if entry is None or not entry.assumptions:
        return [_unstated(order, given=entry is None)]
    df = None if order.choice is None else order.choice.arguments.get("df")
    holds = {
        "always": True,
        "one data set": problem.n_datasets == 1 and problem.design.kind != "time",
        "windows in time": problem.n_datasets == 1 and problem.design.kind == "time",
        "groups": problem.n_datasets == 1 and problem.design.groups is not None,
        "several data sets": problem.n_datasets > 1,
        "df given": df is not None,
        "df not given": df is None,
    }
    subsets = problem.design.subsets
    words = {
        "test": order.test,
        "n": str(problem.sample(1).shape[1]),
        "units": _units(problem),
        "design": problem.design.describe(),
        "subsets": "" if subsets is None else f" on {subsets.describe()}",
        "df": "" if df is None else number(float(df)),
    }
    return [
        _CHECKS[one.check](one.claim.format(**words), one.why.format(**words), one, problem)
        for one in entry.assumptions
        if holds[one.when]
    ]


def _units(problem: Problem) -> str:
    if problem.n_datasets > 1:
        return "data sets"
    return "windows" if problem.design.kind == "time" else "instances"


def _same_splits(order: Order, problem: Problem) -> CheckedAssumption:
    blocks = "data sets" if problem.n_datasets > 1 else "splits"
    if problem.design.kind == "test-set":
        blocks = "items" if order.noun == "model" else "test instances"
    if problem.bare or problem.design.kind == "scores":
        return CheckedAssumption(
            claim=f"All {order.noun}s met the same {blocks}.",
            state="cannot be checked",
            why="The numbers came without a record of how they were made; they are taken as "
            "paired, column by column.",
        )
    return CheckedAssumption(
        claim=f"All {order.noun}s met the same {blocks}.",
        state="by design",
        why=f"The table holds one loss of every {order.noun} for each of the {blocks}.",
    )


def _stated(claim: str, why: str, one: Assumption, _: Problem) -> CheckedAssumption:
    return CheckedAssumption(claim=claim, state=one.check, why=why)


def _skewed(claim: str, why: str, _: Assumption, problem: Problem) -> CheckedAssumption:
    skewness = _skewness(problem.sample(1))
    if not skewness.size:
        return CheckedAssumption(claim=claim, state="cannot be checked", why="Too few differences.")
    lopsided = int((np.abs(skewness) > SKEWED).sum())
    found = (
        f"The skewness of the differences is beyond {SKEWED:g} in {lopsided} of "
        f"{counted(skewness.size, 'pair')}"
    )
    if why:
        found += f", {number(float(np.abs(skewness).max()))} at most; {why}"
    doubtful = lopsided > TOLERATED * skewness.size
    return CheckedAssumption(
        claim=claim, state="doubtful" if doubtful else "looks fine", why=f"{found}."
    )


def _enough_units(claim: str, _: str, __: Assumption, problem: Problem) -> CheckedAssumption:
    n = problem.sample(1).shape[1]
    what = "data sets" if problem.n_datasets > 1 else "instances"
    return CheckedAssumption(
        claim=claim,
        state="doubtful" if n < FEW_DATASETS else "looks fine",
        why=f"With {n} {what} no one-sided p-value of this test can be below "
        f"{number(0.5**n) if n < 1000 else '1e-300'}.",
    )


def _equal_variances(claim: str, why: str, _: Assumption, problem: Problem) -> CheckedAssumption:
    spread = problem.sample(1).var(axis=1, ddof=1)
    low, high = float(spread.min()), float(spread.max())
    ratio = high / low if low > 0 else float("inf")
    found = f"The largest variance is {number(ratio)} times the smallest"
    return CheckedAssumption(
        claim=claim, state="doubtful", why=f"{found}, and {why}." if why else f"{found}."
    )


_CHECKS: dict[Check, Callable[[str, str, Assumption, Problem], CheckedAssumption]] = {
    "by design": _stated,
    "doubtful": _stated,
    "cannot be checked": _stated,
    "skewness": _skewed,
    "enough units": _enough_units,
    "equal variances": _equal_variances,
}


def _unstated(order: Order, *, given: bool) -> CheckedAssumption:
    return CheckedAssumption(
        claim=f"What the test {order.test!r} assumes.",
        state="cannot be checked",
        why="It was given by the caller." if given else "Its entry states no assumptions.",
    )


def _as_planned(race: Race) -> CheckedAssumption:
    """That a race that was stopped decides as its plan."""
    whose = "Endless runs" if race.settle == "limit" else "The full plan"
    if race.exact:
        return CheckedAssumption(
            claim=f"{whose} would decide the same.",
            state="by design",
            why="No result of the rest can change it.",
        )
    return CheckedAssumption(
        claim=f"{whose} would decide the same, given the data.",
        state="by design" if race.settled else "doubtful",
        why="Runs over other random splits are alike by chance alone; the risk is at most "
        f"{race.risk_words()}, which adds to alpha."
        if race.settled
        else "It was not settled.",
    )


def _correction(order: Order) -> CheckedAssumption:
    pairs = counted(len(order.evidence), "comparison")
    claim = "Alpha is the error of the whole result, in every claim."
    if len(order.evidence) == 0:
        return CheckedAssumption(
            claim=claim, state="by design", why="One test of all learners was made."
        )
    if not CORRECTIONS[order.correction].adjusts:
        doubtful = len(order.evidence) > 1
        return CheckedAssumption(
            claim=claim,
            state="doubtful" if doubtful else "by design",
            why=f"{pairs} at level {order.alpha:g} each, without correction.",
        )
    if not CORRECTIONS[order.correction].any_dependence:
        return CheckedAssumption(
            claim="The comparisons are independent or positively dependent.",
            state="cannot be checked",
            why=f"The correction over {pairs} needs it; Holm's correction does not.",
        )
    return CheckedAssumption(
        claim=claim,
        state="by design",
        why=f"The correction over {pairs} holds under any dependence between them.",
    )


def _constant_pairs(problem: Problem) -> CheckedAssumption | None:
    """Pairs whose losses never differ, or always by the same."""
    values = problem.sample(1)
    centred = values - values[:, :1]
    # learners that differ by a constant have the same centred row
    same = len(values) - len(np.unique(np.round(centred, 12), axis=0))
    if not same or values.shape[1] < 2:
        return None
    return CheckedAssumption(
        claim="Learners differ by more than a constant.",
        state="doubtful",
        why=f"{counted(same, 'learner')} had in every split the loss of another learner, or that "
        "plus a constant: the spread of their difference is zero.",
    )


def _skewness(values: Floats) -> Floats:
    """Of the differences of all pairs (or an even part of very many) that vary at all."""
    n_learners, n = values.shape
    if n < 3:
        return np.zeros(0)
    first, second = np.triu_indices(n_learners, 1)
    step = max(1, -(-len(first) * n // MOST_NUMBERS))
    differences = values[first[::step]] - values[second[::step]]
    differences -= differences.mean(axis=1, keepdims=True)
    spread = np.sqrt((differences**2).mean(axis=1))
    varies = spread > 1e-12
    cubes: Floats = (differences[varies] ** 3).mean(axis=1) / spread[varies] ** 3
    return cubes
