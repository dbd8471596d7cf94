"""A look at a part of the plan: is the verdict settled, and who must go on?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from bestofk.checks import Bools, Floats
from bestofk.ordering.evidence.family import Family
from bestofk.stopping.bounds import Bounds, PlannedT, common_runs
from bestofk.stopping.interval_verdict import IntervalVerdict, interval_verdict
from bestofk.tails import pvalue_of_t

Target = Literal["best", "order"]
Settle = Literal["plan", "limit"]
TARGETS: tuple[Target, ...] = ("best", "order")
FIRST_LOOK = 2
"""Runs before the first prediction: one run has no spread over runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """When a comparison is settled.

    Attributes
    ----------
    target : {"best", "order"}
        What must be settled: who is recommended, or the whole order.
    risk : float
        The chance, given the data, that the full plan would have decided otherwise; 0: only
        what no result of the rest can change.
    settle : {"plan", "limit"}
        The verdict of the plan, or that of endless runs of the same test.
    max_runs : int
        With ``settle="limit"``, the runs after which what is open stays so.
    """

    target: Target = "best"
    risk: float = 0.05
    settle: Settle = "plan"
    max_runs: int = 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """What a part of the plan says.

    Attributes
    ----------
    verdict : IntervalVerdict
    exact : IntervalVerdict
        The same without any risk.
    settled : bool
    go_on : (K,) array of bool
        Who must run more for the verdict.
    open_pairs : tuple of (int, int)
        Pairs of which the verdict depends, the preferred one first.
    bounds : Bounds
        Of all pairs.
    """

    verdict: IntervalVerdict
    exact: IntervalVerdict
    settled: bool
    go_on: Bools
    open_pairs: tuple[tuple[int, int], ...]
    bounds: Bounds


def look(
    losses: Floats,
    test: PlannedT,
    family: Family,
    rule: StoppingRule,
    *,
    guard: bool = True,
    stated: bool = True,
    floor: float = 0.0,
) -> Look:
    """Look at losses (K, runs, folds) in order of preference, NaN where nothing is known yet.

    A run counts for the prediction of a pair when both learners have all its folds, and all
    runs before it; every single fold counts for what is beyond doubt.
    """
    K = len(losses)
    rows, columns = np.triu_indices(K, 1)
    differences = losses[rows] - losses[columns]
    of_plan = differences[:, : test.runs]
    exact = test.exact(of_plan)
    if rule.settle == "limit":
        # more runs may always change the verdict of a plan that has no end
        exact = unbounded(len(rows))
    bounds = exact
    if rule.risk > 0:
        bounds = _predicted(differences, test, rule, floor).within(exact)
    made = {"guard": guard, "stated": stated}
    verdict = interval_verdict(bounds, test, family, **made)
    surely = interval_verdict(exact, test, family, **made)
    candidates, settled = still_open(verdict, family, rule.target)
    pairs = (
        ()
        if settled
        else _deciding(
            verdict,
            _now(differences, test, family),
            candidates,
            family,
            # with no end to the plan, as many runs as there may be
            ~np.logical_or.reduce(
                np.isnan(differences if rule.settle == "limit" else of_plan), axis=(1, 2)
            ),
        )
    )
    go_on = np.zeros(K, dtype=bool)
    for pair in pairs:
        go_on[list(pair)] = True
    return Look(
        verdict=verdict,
        exact=surely,
        settled=settled,
        go_on=go_on,
        open_pairs=pairs,
        bounds=bounds,
    )


def unbounded(pairs: int) -> Bounds:
    """Nothing is known."""
    least, most = np.full(pairs, -np.inf), np.full(pairs, np.inf)
    return Bounds(t_low=least, t_high=most, mean_low=least, mean_high=most)


def _predicted(differences: Floats, test: PlannedT, rule: StoppingRule, floor: float) -> Bounds:
    """Predictions of all pairs, each from the runs that both learners have."""
    pairs, _, _ = differences.shape
    limit = rule.settle == "limit"
    looks = max((rule.max_runs if limit else test.runs) - FIRST_LOOK, 1)
    risk = rule.risk / (pairs * looks)
    runs = np.array([common_runs(~np.isnan(one)) for one in differences])
    found = unbounded(pairs)
    arrays = {name: getattr(found, name).copy() for name in Bounds.__slots__}
    for m in np.unique(runs[runs >= FIRST_LOOK]).tolist():
        same = np.flatnonzero(runs == m)
        part = test.predicted(
            differences[same, :m],
            risk=risk,
            floor=floor / (m * test.folds),
            limit=limit,
        )
        for name, array in arrays.items():
            array[same] = getattr(part, name)
    return replace(found, **arrays)


def still_open(verdict: IntervalVerdict, family: Family, target: Target) -> tuple[Bools, bool]:
    """The candidates of the first place that is open, and whether none is."""
    if family.name == "control":
        # every claim about the control counts
        pairs = verdict.open_pairs()
        place = family.control or 0
        touched = pairs[place].copy()
        touched[place] = bool(touched.any())
        if touched.any():
            return touched, False
    if target == "order":
        _, settled = verdict.order()
        return verdict.open_places(), settled
    candidates = verdict.candidates()
    return candidates, int(candidates.sum()) == 1


def _deciding(
    verdict: IntervalVerdict, now: PointVerdict, candidates: Bools, family: Family, complete: Bools
) -> tuple[tuple[int, int], ...]:
    """The pairs to go on with: those that decide about a candidate and are not complete.

    Where all of them are, only how many claims the correction counts is open, and the other open
    pairs are finished.
    """
    K = verdict.learners
    unfinished = np.zeros((K, K), dtype=bool)
    unfinished[np.triu_indices(K, 1)] = ~complete
    unfinished |= unfinished.T
    undecided = verdict.open_pairs()
    wanted = np.zeros((K, K), dtype=bool)
    if family.name == "control":
        at = family.control or 0
        wanted[at] = undecided[at]
    if not wanted.any():
        for one in np.flatnonzero(candidates).tolist():
            rivals, free = _rivals(verdict, now, candidates, one)
            wanted[one] |= rivals
            if free and verdict.stated:
                # those after it count only if it is overridden after all
                break
    for pairs in (wanted, undecided, verdict.unranked_pairs()):
        left = np.triu((pairs | pairs.T) & unfinished)
        if left.any():
            return tuple((int(i), int(j)) for i, j in np.argwhere(left))
    return ()


def _rivals(
    verdict: IntervalVerdict, now: PointVerdict, candidates: Bools, one: int
) -> tuple[Bools, bool]:
    """(K,): with whom a candidate must be compared further; and whether it looks free."""
    unranked = verdict.unranked_pairs()[one]
    if not verdict.stated:
        return unranked & candidates, True
    found = verdict.possible[one] & ~verdict.sure[one]
    found[: one + 1] = False
    against = np.where(found & now.overrides[one], now.t[one], -np.inf)
    strongest = int(against.argmax())
    free = against[strongest] == -np.inf
    if not free:
        # it looks overridden: once that is sure, the others need not be asked
        found[:] = False
        found[strongest] = True
    if verdict.guard and free:
        struck = verdict.possible.any(axis=1)
        found |= unranked & struck & (np.arange(len(found)) < one)
    return found, free


class PointVerdict(NamedTuple):
    """How it looks now, for the choice of whom to run: nothing is claimed by it."""

    t: Floats
    """(K, K), pairs i < j."""
    overrides: Bools
    """(K, K): j looks better than i, which is preferred."""


def _now(differences: Floats, test: PlannedT, family: Family) -> PointVerdict:
    """The test of the plan on what is there."""
    K = family.learners
    n = (~np.isnan(differences)).sum(axis=(1, 2))
    known = np.where(np.isnan(differences), 0.0, differences)
    mean = known.sum(axis=(1, 2)) / np.maximum(n, 1)
    squares = np.square(known).sum(axis=(1, 2)) / np.maximum(n, 1) - np.square(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(mean / np.sqrt(test.factor * np.maximum(squares, 0.0)), nan=0.0)
    p = pvalue_of_t(t, test.degrees, family.alternative)  # type: ignore[arg-type]
    first, second = family.pairs()
    place = square(np.arange(float(len(t))), K).astype(np.int64)[first, second]
    overrides = np.zeros((K, K), dtype=bool)
    overrides[first, second] = (family.adjust(np.asarray(p)[place]) <= family.alpha) & (
        t[place] > 0
    )
    return PointVerdict(t=square(t, K), overrides=overrides)


def square(values: Floats, learners: int) -> Floats:
    """(K, K) of the pairs i < j; nothing below the diagonal."""
    made = np.zeros((learners, learners))
    made[np.triu_indices(learners, 1)] = values
    return made
