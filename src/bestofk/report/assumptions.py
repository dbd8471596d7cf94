"""Assumptions of a decision's test and correction, and whether they hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, number
from bestofk._base.registry import Assumption
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
BY_DESIGN, FINE, DOUBTFUL, UNKNOWN = "by design", "looks fine", "doubtful", "cannot be checked"


class Checked(NamedTuple):
    """A claim, its state, and why."""

    claim: str
    state: str
    why: str


def assumptions_of(decision: Decision | None) -> list[Checked]:
    """Return the assumptions of the test and of the correction, with their state."""
    if decision is None:
        return []
    checked = []
    if decision.problem is not None:
        checked += _of_data(decision, decision.problem)
        checked += _of_test(decision, decision.problem)
    checked.append(_correction(decision))
    if isinstance(decision, StoppedDecision):
        checked.append(_as_planned(decision.race))
    if not decision.decidable:
        why = (
            f"The smallest adjusted p-value possible is {decision.smallest_possible:.2g}, above "
            f"alpha = {decision.alpha:g}."
        )
        checked.append(Checked("The test could have shown a difference.", DOUBTFUL, why))
    if decision.test_choice is not None and decision.test_choice.posterior:
        claim = "The p-values are posterior probabilities."
        checked.append(Checked(claim, DOUBTFUL, "They promise no error rate."))
    return checked


def _of_data(decision: Decision, problem: Problem) -> list[Checked]:
    """Return whether all learners met the same units, and whether rows may depend on each other."""
    design, several = problem.design, problem.n_datasets > 1
    blocks = "data sets" if several else "splits"
    if design.on_test_set:
        blocks = "items" if decision.on_items else "test instances"
    state, why = BY_DESIGN, f"The table holds one loss of every {decision.noun} for each of the "
    why += f"{blocks}."
    if problem.bare or design.kind == "scores":
        state = UNKNOWN
        why = (
            "The input does not say how the numbers were measured; bestofk takes them as paired, "
            "column by column."
        )
    checked = [Checked(f"All {decision.noun}s met the same {blocks}.", state, why)]
    kinds = ("cv", "loo", "holdout", "resample", "bootstrap")
    if not decision.on_items and not several and design.kind in kinds:
        rows = "rows" if design.groups is None else "groups of rows"
        claim = f"The {rows} of the data do not depend on each other."
        why = (
            "bestofk detects only exact copies of rows; rows of one source (a patient, a day) have "
            "to be passed as groups."
        )
        checked.append(Checked(claim, UNKNOWN, why))
    return checked


def _of_test(decision: Decision, problem: Problem) -> list[Checked]:
    """Return the assumptions in the registry entry of the test, with their state."""
    choice, design = decision.test_choice, problem.design
    entry: PairwiseTest | MultipleTest | None = None
    if choice is not None:
        entry = choice.entry
    elif decision.test in MULTIPLE_TESTS:
        entry = MULTIPLE_TESTS[decision.test]
    if entry is None or not entry.assumptions:
        why = "The test is your own function."
        if entry is not None:
            why = "Its entry states no assumptions."
        claim = f"The assumptions of the test {decision.test!r} hold."
        return [Checked(claim, UNKNOWN, why)]
    df = None if choice is None else choice.arguments.get("df")
    single, in_time = problem.n_datasets == 1, design.kind == "time"
    holds = {
        "always": True,
        "one data set": single and not in_time,
        "windows in time": single and in_time,
        "groups": single and design.groups is not None,
        "several data sets": not single,
        "df given": df is not None,
        "df not given": df is None,
    }
    units = ("windows" if in_time else "instances") if single else "data sets"
    wording = {
        "test": decision.test,
        "n": str(problem.sample(1).shape[1]),
        "units": units,
        "design": design.describe(),
        "subsets": f" on {design.nested_runs} pairs of folds left out together"
        if design.nested_runs
        else "",
        "df": "" if df is None else number(float(df)),
    }
    return [
        _checked(one, one.claim.format(**wording), one.why.format(**wording), problem, units)
        for one in entry.assumptions
        if holds[one.when]
    ]


def _checked(one: Assumption, claim: str, why: str, problem: Problem, units: str) -> Checked:
    """Return an assumption with its state in these data, if that can be seen."""
    values = problem.sample(1)
    n = values.shape[1]
    if one.check == "enough units":
        least = number(0.5**n) if n < 1000 else "1e-300"
        result = f"With {n} {units} no one-sided p-value of this test can be below {least}."
        return Checked(claim, DOUBTFUL if n < MIN_UNITS else FINE, result)
    if one.check == "equal variances":
        spread = values.var(axis=1, ddof=1)
        ratio = float(spread.max() / spread.min()) if spread.min() > 0 else float("inf")
        result = f"The largest variance is {number(ratio)} times the smallest"
        return Checked(claim, DOUBTFUL, f"{result}, and {why}." if why else f"{result}.")
    if one.check == "skewness":
        skewness = np.abs(_skewness(values))
        if not skewness.size:
            return Checked(claim, UNKNOWN, "Too few differences.")
        skewed = int((skewness > MAX_SKEWNESS).sum())
        result = (
            f"The skewness of the differences exceeds {MAX_SKEWNESS:g} in {skewed} of "
            f"{counted(skewness.size, 'pair')}"
        )
        if why:
            result += f", {number(float(skewness.max()))} at most; {why}"
        doubtful = skewed > MAX_SKEWED_SHARE * skewness.size
        return Checked(claim, DOUBTFUL if doubtful else FINE, f"{result}.")
    return Checked(claim, one.check, why)


def _as_planned(race: Race) -> Checked:
    """Return whether the full plan would decide as the stopped race."""
    if race.exact:
        why = "No further result can change the decision."
        return Checked("The full plan would decide the same.", BY_DESIGN, why)
    claim = "The full plan would decide the same, given the data."
    if not race.settled:
        return Checked(claim, DOUBTFUL, "The race ended before the decision was settled.")
    why = (
        "The risk that further runs over other random splits change the decision is at most "
        f"{100 * race.risk:.4g} %, in addition to alpha."
    )
    return Checked(claim, BY_DESIGN, why)


def _correction(decision: Decision) -> Checked:
    """Return whether the correction bounds the error of all statements together."""
    family, tests = decision.evidence.family, len(decision.evidence)
    correction = CORRECTIONS[family.correction]
    pairs = counted(family.learners - 1 if family.of_best else tests, "comparison")
    claim = "Alpha bounds the error of all statements together."
    if not tests:
        return Checked(claim, BY_DESIGN, "A single test compares all learners.")
    if not correction.adjusts:
        why = f"{pairs} at level {decision.alpha:g} each, without correction."
        return Checked(claim, DOUBTFUL if tests > 1 else BY_DESIGN, why)
    if not correction.any_dependence:
        claim = "The comparisons are independent or positively dependent."
        why = f"The correction over {pairs} assumes this; Holm's correction does not."
        return Checked(claim, UNKNOWN, why)
    why = f"The correction over {pairs} holds under any dependence between them."
    return Checked(claim, BY_DESIGN, why)


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
