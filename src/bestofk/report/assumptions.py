"""What the tests take for granted, and how that stands here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestofk.adjust import CORRECTIONS
from bestofk.checks import Floats
from bestofk.ordering.evidence.problem import Problem
from bestofk.ordering.result import Order
from bestofk.wording import counted, number

SKEWED = 1.0
"""Differences with a skewness beyond this are called lopsided: a rule of thumb."""
TOLERATED = 0.2
"""Share of lopsided pairs from which normality is called doubtful."""
FEW_DATASETS = 6
MOST_NUMBERS = 2_000_000
"""Differences that are looked at; of more, an even part of the pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
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


def assumptions_of(order: Order) -> tuple[Assumption, ...]:
    """The assumptions of the test and of the correction, with their state."""
    found = []
    if order.problem is not None:
        found.append(_same_splits(order, order.problem))
        found += [
            check(order, order.problem) for check in _CHECKS.get(_family(order), (_unknown_test,))
        ]
        equal = _constant_pairs(order.problem)
        if equal is not None:
            found.append(equal)
    found.append(_correction(order))
    if not order.decidable:
        found.append(
            Assumption(
                claim="The test could have shown a difference.",
                state="doubtful",
                why=f"The smallest adjusted p-value possible is {order.smallest_possible:.2g}, "
                f"above alpha = {order.alpha:g}.",
            )
        )
    if order.choice is not None and order.choice.posterior:
        found.append(
            Assumption(
                claim="What stands for a p-value is a posterior probability.",
                state="doubtful",
                why="No error rate is promised for it.",
            )
        )
    return tuple(found)


def _family(order: Order) -> str:
    """Tests that assume the same."""
    entry = None if order.choice is None else order.choice.entry
    if order.test in ("anova", "newman-keuls"):
        return "samples"
    if entry is None:
        return ""
    if entry.subsets:
        return "parts"
    if entry.covers == ("loo",):
        return "stable"
    if entry.name.startswith("corrected-") or entry.name == "correlated-t":
        return "corrected"
    if entry.name.startswith("5x2cv"):
        return "5x2"
    if entry.arguments.get("variant") is not None:
        return "calibrated" if (order.choice and "df" in order.choice.arguments) else "naive"
    if entry.name in ("kfold-t", "resampled-t"):
        return "naive"
    if entry.name == "mcnemar":
        return "instances"
    return "signs"


def _same_splits(_: Order, problem: Problem) -> Assumption:
    blocks = "data sets" if problem.n_datasets > 1 else "splits"
    if problem.design.kind == "test-set":
        blocks = "test instances"
    if problem.bare or problem.design.kind == "scores":
        return Assumption(
            claim=f"All learners met the same {blocks}.",
            state="cannot be checked",
            why="The numbers came without a record of how they were made; they are taken as "
            "paired, column by column.",
        )
    return Assumption(
        claim=f"All learners met the same {blocks}.",
        state="by design",
        why=f"The table holds one loss of every learner for each of the {blocks}.",
    )


def _normal(_: Order, problem: Problem) -> Assumption:
    claim = "Differences between two learners are roughly normal."
    skewness = _skewness(problem.sample(1))
    if not skewness.size:
        return Assumption(claim=claim, state="cannot be checked", why="Too few differences.")
    lopsided = int((np.abs(skewness) > SKEWED).sum())
    why = (
        f"The skewness of the differences is beyond {SKEWED:g} in {lopsided} of "
        f"{counted(skewness.size, 'pair')}, {number(float(np.abs(skewness).max()))} at most; "
        "means over many folds forgive a good deal."
    )
    doubtful = lopsided > TOLERATED * skewness.size
    return Assumption(claim=claim, state="doubtful" if doubtful else "looks fine", why=why)


def _symmetric(_: Order, problem: Problem) -> Assumption:
    claim = "Between equal learners, either is as likely to be ahead by as much."
    skewness = _skewness(problem.sample(1))
    if not skewness.size:
        return Assumption(claim=claim, state="cannot be checked", why="Too few differences.")
    lopsided = int((np.abs(skewness) > SKEWED).sum())
    doubtful = lopsided > TOLERATED * skewness.size
    return Assumption(
        claim=claim,
        state="doubtful" if doubtful else "looks fine",
        why=f"The skewness of the differences is beyond {SKEWED:g} in {lopsided} of "
        f"{counted(skewness.size, 'pair')}.",
    )


def _shared_rows_corrected(order: Order, _: Problem) -> Assumption:
    return Assumption(
        claim="Folds and runs share training rows, so their losses are not independent.",
        state="by design",
        why=f"The variance of {order.test} is corrected for the share of test rows.",
    )


def _shared_rows_ignored(order: Order, problem: Problem) -> Assumption:
    return Assumption(
        claim="Losses of different folds are independent.",
        state="doubtful",
        why=f"{order.test} takes the {problem.sample(1).shape[1]} folds as independent, and they "
        "share training rows: it rejects more often than alpha says. A corrected test, or "
        "calibrated degrees of freedom, would not.",
    )


def _shared_rows_calibrated(order: Order, _: Problem) -> Assumption:
    df = order.choice.arguments["df"] if order.choice is not None else None
    return Assumption(
        claim="Folds and runs share training rows, so their losses are not independent.",
        state="by design",
        why=f"The degrees of freedom were set to {number(float(df))} "  # type: ignore[arg-type]
        "in place of those of independent folds.",
    )


def _halves(_: Order, problem: Problem) -> Assumption:
    return Assumption(
        claim="The two halves of a run train on different rows.",
        state="by design",
        why=f"The losses are {problem.design.describe()}.",
    )


def _independent_sets(_: Order, problem: Problem) -> Assumption:
    if problem.n_datasets == 1:
        return Assumption(
            claim="Test instances are independent of each other.",
            state="cannot be checked",
            why="It is so if the rows were drawn one by one, and not so for rows of one patient, "
            "day or place.",
        )
    return Assumption(
        claim="The data sets are independent of each other, and like those to come.",
        state="cannot be checked",
        why="Several versions of one problem would count as more evidence than they are.",
    )


def _enough_sets(_: Order, problem: Problem) -> Assumption:
    n = problem.sample(1).shape[1]
    what = "data sets" if problem.n_datasets > 1 else "instances"
    return Assumption(
        claim=f"There are enough {what} for a small p-value to be possible.",
        state="doubtful" if n < FEW_DATASETS else "looks fine",
        why=f"With {n} {what} no one-sided p-value of this test can be below "
        f"{number(0.5**n) if n < 1000 else '1e-300'}.",
    )


def _equal_variances(_: Order, problem: Problem) -> Assumption:
    spread = problem.sample(1).var(axis=1, ddof=1)
    low, high = float(spread.min()), float(spread.max())
    ratio = high / low if low > 0 else float("inf")
    return Assumption(
        claim="The losses of all learners are normal, independent, and spread equally.",
        state="doubtful",
        why=f"The largest variance is {number(ratio)} times the smallest, and learners that met "
        "the same folds are not independent samples.",
    )


def _measured_on_parts(_: Order, problem: Problem) -> Assumption:
    subsets = problem.design.subsets
    return Assumption(
        claim="The variance allows for shared training rows and for unstable learners.",
        state="by design",
        why="It is measured" + ("." if subsets is None else f" on {subsets.describe()}."),
    )


def _stable_learners(_: Order, __: Problem) -> Assumption:
    return Assumption(
        claim="No learner depends much on any one training row.",
        state="cannot be checked",
        why="The nearest neighbour and trees do; the test is about the models that were fitted.",
    )


def _unknown_test(order: Order, _: Problem) -> Assumption:
    return Assumption(
        claim=f"What the test {order.test!r} assumes.",
        state="cannot be checked",
        why="It was given by the caller.",
    )


_Check = Callable[[Order, Problem], Assumption]
_CHECKS: dict[str, tuple[_Check, ...]] = {
    "corrected": (_shared_rows_corrected, _normal),
    "parts": (_measured_on_parts, _normal),
    "stable": (_stable_learners,),
    "calibrated": (_shared_rows_calibrated, _normal),
    "naive": (_shared_rows_ignored, _normal),
    "5x2": (_halves, _normal),
    "instances": (_independent_sets, _enough_sets),
    "signs": (_independent_sets, _symmetric, _enough_sets),
    "samples": (_equal_variances,),
}


def _correction(order: Order) -> Assumption:
    pairs = counted(len(order.evidence), "comparison")
    claim = "Alpha is the error of the whole result, in every claim."
    if len(order.evidence) == 0:
        return Assumption(claim=claim, state="by design", why="One test of all learners was made.")
    if order.correction == "none":
        doubtful = len(order.evidence) > 1
        return Assumption(
            claim=claim,
            state="doubtful" if doubtful else "by design",
            why=f"{pairs} at level {order.alpha:g} each, without correction.",
        )
    if not CORRECTIONS[order.correction].any_dependence:
        return Assumption(
            claim="The comparisons are independent or positively dependent.",
            state="cannot be checked",
            why=f"The correction over {pairs} needs it; Holm's correction does not.",
        )
    return Assumption(
        claim=claim,
        state="by design",
        why=f"The correction over {pairs} holds under any dependence between them.",
    )


def _constant_pairs(problem: Problem) -> Assumption | None:
    """Pairs whose losses never differ, or always by the same."""
    values = problem.sample(1)
    centred = values - values[:, :1]
    # learners that differ by a constant have the same centred row
    same = len(values) - len(np.unique(np.round(centred, 12), axis=0))
    if not same or values.shape[1] < 2:
        return None
    return Assumption(
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
