"""Assumptions of a decision's test and correction, and whether they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, number
from bestofk._base.registry import Assumption, Check
from bestofk.decide.decision import Decision
from bestofk.decide.problem import Problem
from bestofk.decide.stopping.result import Race, StoppedDecision
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.entry import PairwiseTest

MAX_SKEWNESS = 1.0
"""Differences with a larger skewness count as skewed: a rule of thumb."""
MAX_SKEWED_SHARE = 0.2
"""If a larger share of the pairs is skewed, normality is doubtful."""
MIN_UNITS = 6
"""With fewer units, a rank test cannot show much."""
MAX_DIFFERENCES = 2_000_000
"""If there are more differences, check an evenly spaced part of the pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAssumption:
    """A claim, its state (by design, looks fine, doubtful, cannot be checked), and why."""

    claim: str
    state: str
    why: str

    @property
    def tone(self) -> str:
        """Class of the style sheet for the state."""
        return {"by design": "fine", "looks fine": "fine", "doubtful": "doubtful"}.get(
            self.state, "open"
        )


def assumptions_of(order: Decision) -> tuple[CheckedAssumption, ...]:
    """Return the assumptions of the test and of the correction, with their state."""
    checked = []
    if order.problem is not None:
        checked.append(_same_splits(order, order.problem))
        checked += _independent_rows(order, order.problem)
        checked += _of_test(order, order.problem)
        constant = _constant_pairs(order.problem)
        if constant is not None:
            checked.append(constant)
    checked.append(_correction(order))
    if isinstance(order, StoppedDecision):
        checked.append(_as_planned(order.race))
    if not order.decidable:
        checked.append(
            CheckedAssumption(
                claim="The test could have shown a difference.",
                state="doubtful",
                why=f"The smallest adjusted p-value possible is {order.smallest_possible:.2g}, "
                f"above alpha = {order.alpha:g}.",
            )
        )
    if order.test_choice is not None and order.test_choice.posterior:
        checked.append(
            CheckedAssumption(
                claim="The p-values are posterior probabilities.",
                state="doubtful",
                why="They promise no error rate.",
            )
        )
    return tuple(checked)


def _of_test(order: Decision, problem: Problem) -> list[CheckedAssumption]:
    """Return the assumptions in the registry entry of the test, with their state."""
    entry: PairwiseTest | MultipleTest | None = None
    if order.test_choice is not None:
        entry = order.test_choice.entry
    elif order.test in MULTIPLE_TESTS:
        entry = MULTIPLE_TESTS[order.test]
    if entry is None or not entry.assumptions:
        return [_unstated(order, registered=entry is not None)]
    df = None if order.test_choice is None else order.test_choice.arguments.get("df")
    holds = {
        "always": True,
        "one data set": problem.n_datasets == 1 and problem.design.kind != "time",
        "windows in time": problem.n_datasets == 1 and problem.design.kind == "time",
        "groups": problem.n_datasets == 1 and problem.design.groups is not None,
        "several data sets": problem.n_datasets > 1,
        "df given": df is not None,
        "df not given": df is None,
    }
    pairs = problem.design.nested_runs
    wording = {
        "test": order.test,
        "n": str(problem.sample(1).shape[1]),
        "units": _units(problem),
        "design": problem.design.describe(),
        "subsets": f" on {pairs} pairs of folds left out together" if pairs else "",
        "df": "" if df is None else number(float(df)),
    }
    return [
        _CHECKS[assumption.check](
            assumption.claim.format(**wording),
            assumption.why.format(**wording),
            assumption,
            problem,
        )
        for assumption in entry.assumptions
        if holds[assumption.when]
    ]


def _units(problem: Problem) -> str:
    if problem.n_datasets > 1:
        return "data sets"
    return "windows" if problem.design.kind == "time" else "instances"


def _same_splits(order: Decision, problem: Problem) -> CheckedAssumption:
    """Return whether all learners were compared on the same splits, data sets or items."""
    blocks = "data sets" if problem.n_datasets > 1 else "splits"
    if problem.design.on_test_set:
        blocks = "items" if order.on_items else "test instances"
    if problem.bare or problem.design.kind == "scores":
        return CheckedAssumption(
            claim=f"All {order.noun}s met the same {blocks}.",
            state="cannot be checked",
            why="The input does not say how the numbers were measured; bestofk takes them as "
            "paired, column by column.",
        )
    return CheckedAssumption(
        claim=f"All {order.noun}s met the same {blocks}.",
        state="by design",
        why=f"The table holds one loss of every {order.noun} for each of the {blocks}.",
    )


def _independent_rows(order: Decision, problem: Problem) -> list[CheckedAssumption]:
    """Return the assumption that the rows, or groups of rows, do not depend on each other."""
    kinds = ("cv", "loo", "holdout", "resample", "bootstrap")
    if order.on_items or problem.n_datasets > 1 or problem.design.kind not in kinds:
        return []
    rows = "rows" if problem.design.groups is None else "groups of rows"
    return [
        CheckedAssumption(
            claim=f"The {rows} of the data do not depend on each other.",
            state="cannot be checked",
            why="bestofk detects only exact copies of rows; rows of one source (a patient, a day) "
            "have to be passed as groups.",
        )
    ]


def _stated(claim: str, why: str, assumption: Assumption, _: Problem) -> CheckedAssumption:
    return CheckedAssumption(claim=claim, state=assumption.check, why=why)


def _skewed(claim: str, why: str, _: Assumption, problem: Problem) -> CheckedAssumption:
    skewness = _skewness(problem.sample(1))
    if not skewness.size:
        return CheckedAssumption(claim=claim, state="cannot be checked", why="Too few differences.")
    skewed = int((np.abs(skewness) > MAX_SKEWNESS).sum())
    result = (
        f"The skewness of the differences exceeds {MAX_SKEWNESS:g} in {skewed} of "
        f"{counted(skewness.size, 'pair')}"
    )
    if why:
        result += f", {number(float(np.abs(skewness).max()))} at most; {why}"
    doubtful = skewed > MAX_SKEWED_SHARE * skewness.size
    return CheckedAssumption(
        claim=claim, state="doubtful" if doubtful else "looks fine", why=f"{result}."
    )


def _enough_units(claim: str, _: str, __: Assumption, problem: Problem) -> CheckedAssumption:
    n = problem.sample(1).shape[1]
    what = "data sets" if problem.n_datasets > 1 else "instances"
    return CheckedAssumption(
        claim=claim,
        state="doubtful" if n < MIN_UNITS else "looks fine",
        why=f"With {n} {what} no one-sided p-value of this test can be below "
        f"{number(0.5**n) if n < 1000 else '1e-300'}.",
    )


def _equal_variances(claim: str, why: str, _: Assumption, problem: Problem) -> CheckedAssumption:
    spread = problem.sample(1).var(axis=1, ddof=1)
    low, high = float(spread.min()), float(spread.max())
    ratio = high / low if low > 0 else float("inf")
    result = f"The largest variance is {number(ratio)} times the smallest"
    return CheckedAssumption(
        claim=claim, state="doubtful", why=f"{result}, and {why}." if why else f"{result}."
    )


_CHECKS: dict[Check, Callable[[str, str, Assumption, Problem], CheckedAssumption]] = {
    "by design": _stated,
    "doubtful": _stated,
    "cannot be checked": _stated,
    "skewness": _skewed,
    "enough units": _enough_units,
    "equal variances": _equal_variances,
}


def _unstated(order: Decision, *, registered: bool) -> CheckedAssumption:
    return CheckedAssumption(
        claim=f"The assumptions of the test {order.test!r} hold.",
        state="cannot be checked",
        why="Its entry states no assumptions." if registered else "The test is your own function.",
    )


def _as_planned(race: Race) -> CheckedAssumption:
    """Return whether the full plan would decide as the stopped race."""
    if race.exact:
        return CheckedAssumption(
            claim="The full plan would decide the same.",
            state="by design",
            why="No further result can change the decision.",
        )
    return CheckedAssumption(
        claim="The full plan would decide the same, given the data.",
        state="by design" if race.settled else "doubtful",
        why="The risk that further runs over other random splits change the decision is at most "
        f"{100 * race.risk:.4g} %, in addition to alpha."
        if race.settled
        else "The race ended before the decision was settled.",
    )


def _correction(order: Decision) -> CheckedAssumption:
    family, correction = order.evidence.family, order.evidence.family.correction
    tests = family.learners - 1 if family.of_best else len(order.evidence)
    pairs = counted(tests, "comparison")
    claim = "Alpha bounds the error of all claims together."
    if len(order.evidence) == 0:
        return CheckedAssumption(
            claim=claim, state="by design", why="A single test compares all learners."
        )
    if not CORRECTIONS[correction].adjusts:
        doubtful = len(order.evidence) > 1
        return CheckedAssumption(
            claim=claim,
            state="doubtful" if doubtful else "by design",
            why=f"{pairs} at level {order.alpha:g} each, without correction.",
        )
    if not CORRECTIONS[correction].any_dependence:
        return CheckedAssumption(
            claim="The comparisons are independent or positively dependent.",
            state="cannot be checked",
            why=f"The correction over {pairs} assumes this; Holm's correction does not.",
        )
    return CheckedAssumption(
        claim=claim,
        state="by design",
        why=f"The correction over {pairs} holds under any dependence between them.",
    )


def _constant_pairs(problem: Problem) -> CheckedAssumption | None:
    """Return a doubt if the losses of a pair always differ by the same amount."""
    values = problem.sample(1)
    # learners that differ by a constant have the same centred row; adding 0 turns -0 into 0
    rows = {sha256(np.round(row - row[0], 12) + 0.0).digest() for row in values}
    same = len(values) - len(rows)
    if not same or values.shape[1] < 2:
        return None
    return CheckedAssumption(
        claim="Learners differ by more than a constant.",
        state="doubtful",
        why=f"In every split, {counted(same, 'learner')} had the loss of another learner plus a "
        "constant, so the spread of the difference is zero.",
    )


def _skewness(values: Floats) -> Floats:
    """Return the skewness of the differences of pairs, without constant differences."""
    n_learners, n = values.shape
    if n < 3:
        return np.zeros(0)
    first, second = np.triu_indices(n_learners, 1)
    step = max(1, -(-len(first) * n // MAX_DIFFERENCES))
    differences = values[first[::step]] - values[second[::step]]
    differences -= differences.mean(axis=1, keepdims=True)
    spread = np.sqrt((differences**2).mean(axis=1))
    varies = spread > 1e-12
    cubes: Floats = (differences[varies] ** 3).mean(axis=1) / spread[varies] ** 3
    return cubes
