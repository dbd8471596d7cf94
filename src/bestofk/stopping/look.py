"""A look at a part of the plan: is the verdict settled, and who must go on?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bestofk.checks import Bools, Floats
from bestofk.ordering.evidence.family import Family
from bestofk.stopping.bounds import Bounds, PlannedT, common_runs
from bestofk.stopping.interval_verdict import IntervalVerdict, interval_verdict

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
    candidates, settled = _open(verdict, family, rule.target)
    pairs = () if settled else _deciding(verdict, bounds, candidates, family)
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
    # two intervals for each pair: of the statistic and of the mean
    risk = rule.risk / (2 * pairs * looks)
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


def _open(verdict: IntervalVerdict, family: Family, target: Target) -> tuple[Bools, bool]:
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
    verdict: IntervalVerdict, bounds: Bounds, candidates: Bools, family: Family
) -> tuple[tuple[int, int], ...]:
    """The pairs to go on with: those that decide about a candidate."""
    K = verdict.learners
    rows, columns = np.triu_indices(K, 1)
    place = {pair: p for p, pair in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))}
    found: dict[tuple[int, int], None] = {}
    open_edges = verdict.possible & ~verdict.sure
    if family.name == "control":
        at = family.control or 0
        found.update(
            dict.fromkeys(
                (min(at, other), max(at, other))
                for other in np.flatnonzero(candidates).tolist()
                if other != at and verdict.open_pairs()[at, other]
            )
        )
        if found:
            return tuple(found)
    names = np.flatnonzero(candidates).tolist()
    for one in names:
        if verdict.stated:
            partners = [j for j in np.flatnonzero(open_edges[one]).tolist() if j > one]
            if partners:
                # the strongest one first: if it overrides, the others need not be asked
                strongest = max(
                    partners,
                    key=lambda j: (
                        bounds.t_low[place[one, j]] + bounds.t_high[place[one, j]]
                        if np.isfinite(bounds.t_low[place[one, j]] + bounds.t_high[place[one, j]])
                        else 0.0
                    ),
                )
                middle = bounds.t_low[place[one, strongest]] + bounds.t_high[place[one, strongest]]
                looks_struck = np.isfinite(middle) and middle > 0 and bounds.t_low[place[one, strongest]] > 0
                chosen = [strongest] if looks_struck else partners
                found.update(dict.fromkeys((one, j) for j in chosen))
        if verdict.guard or not verdict.stated:
            for other in range(K):
                if other == one:
                    continue
                pair = (min(one, other), max(one, other))
                undecided = verdict.mean_low[one, other] < 0 < verdict.mean_high[one, other]
                rivals = candidates[other] if not verdict.stated else (
                    other < one and verdict.possible[other].any()
                )
                if undecided and rivals:
                    found[pair] = None
    if found:
        return tuple(found)
    # only how many claims the correction counts is open: finish what is
    left = np.argwhere(np.triu(verdict.open_pairs()))
    if len(left):
        return tuple((int(i), int(j)) for i, j in left)
    if len(names) > 1:
        return tuple((a, b) for n, a in enumerate(names) for b in names[n + 1 :])
    return ((0, K - 1),)
