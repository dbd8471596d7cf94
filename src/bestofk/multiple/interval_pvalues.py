"""Two rules that make one interval of all the p-values that intervals of losses allow."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats
from bestofk.rearrange.draws import drawn_tails
from bestofk.rearrange.grid import place
from bestofk.rearrange.signs import both_tails
from bestofk.rearrange.tails import Rows, Tails, sum_tails

RULES = ("vertex", "paper")


def tails_by_rule(
    cells: Floats, rule: str, method: str, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Lower and upper tails and their bounds, of two tables per learner: shape (3, 2, A).

    By the rule "vertex" these are the two corners of the learner; by the rule "paper" the lower
    ends at the observed upper end and the upper ends at the observed lower end.
    """
    learners = cells.shape[1]
    low, high = np.arange(learners), np.arange(learners) + learners
    if rule == "vertex":
        own = np.eye(learners, dtype=np.bool_)
        members = np.concatenate([np.where(own, low, high), np.where(own, high, low)])
        queries = np.concatenate([low, high])[:, None]
    else:
        members, queries = np.stack([low, high]), np.stack([high, low])
    ends = cells.reshape(2 * learners, -1)
    if method == "resample":
        return _drawn(ends, members, queries, resamples, rng)
    if (cells[0] == cells[1]).all():
        # without width all tables are one
        drawn = [sum_tails(place(ends, choices=learners, queries=learners), low, low)] * 2
    else:
        placed = place(ends, choices=learners, queries=learners, tables=len(members))
        drawn = [sum_tails(placed, m, q) for m, q in zip(members, queries, strict=True)]
    return _two_tables(drawn)


def _drawn(
    ends: Floats, members: Rows, queries: Rows, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    return _two_tables(drawn_tails(ends, members, queries, resamples=resamples, generator=rng))


def _two_tables(tails: list[Tails]) -> tuple[Floats, Floats]:
    """Lower and upper tails of all first tables, then of all second ones: shape (3, 2, tests)."""
    lower = np.stack([_with_bounds(t.lower, t.lower_bounds) for t in tails], axis=1)
    upper = np.stack([_with_bounds(t.upper, t.upper_bounds) for t in tails], axis=1)
    return lower.reshape(3, 2, -1), upper.reshape(3, 2, -1)


def _with_bounds(tail: Floats, bounds: Floats) -> Floats:
    return np.stack([tail, bounds[:, 0], bounds[:, 1]])


def _vertex_ends(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """[p-, p+], shape (A, 2), and their bounds, (2, A, 2), from the tails at the two corners."""
    p = np.minimum(2 * np.minimum(lower, upper), 1.0)
    # the corners lie on different sides of the middle when c < 1/2 at the one (lower ends of a)
    # and P(S* >= s) < 1/2 at the other; small tails make a large p+ here, so the bounds swap
    apart = ((lower[:, 0] < 0.5) & (upper[:, 1] < 0.5))[[0, 2, 1]]
    largest = np.where(apart, 1.0, p.max(axis=1))
    ends = np.stack([p.min(axis=1), largest], axis=-1)
    return ends[0], ends[1:]


def _paper_ends(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """The same by equations (22), (23), (26) and (27) of the paper."""
    largest = np.minimum(2 * np.minimum(lower[:, 0], upper[:, 1]), 1.0)
    smallest = np.minimum(2 * np.minimum(lower[:, 1], upper[:, 0]), 1.0)
    ends = np.stack([smallest, largest], axis=-1)
    return ends[0], ends[1:]


def _vertex_pairs(cells: Floats, pairs: tuple[tuple[int, int], ...]) -> tuple[Floats, Floats]:
    i, j = np.asarray(pairs, dtype=np.intp).T
    low, high = cells
    return _vertex_ends(*_two_tables([both_tails(low[i], high[j]), both_tails(high[i], low[j])]))


def _paper_pairs(cells: Floats, pairs: tuple[tuple[int, int], ...]) -> tuple[Floats, Floats]:
    lower, upper = np.empty((3, 2, len(pairs))), np.empty((3, 2, len(pairs)))
    for k, pair in enumerate(pairs):
        two = cells[:, pair]
        tails = tails_by_rule(two, "paper", "exact", 1, np.random.default_rng(0))
        lower[..., k], upper[..., k] = (tail[..., 0] for tail in tails)
    return _paper_ends(lower, upper)


def ends_by_rule(rule: str, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """[p-, p+], shape (tests, 2), and bounds of both, shape (2, tests, 2)."""
    return (_vertex_ends if rule == "vertex" else _paper_ends)(lower, upper)


def pairs_by_rule(
    rule: str,
    cells: Floats,
    pairs: tuple[tuple[int, int], ...],
    method: str,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """The same with two learners at a time."""
    if method == "exact":
        return (_vertex_pairs if rule == "vertex" else _paper_pairs)(cells, pairs)
    learners = cells.shape[1]
    low = np.asarray(pairs, dtype=np.intp)
    high = low + learners
    if rule == "vertex":
        corners = [(low[:, 0], high[:, 1]), (high[:, 0], low[:, 1])]
        members = np.concatenate([np.stack(corner, axis=1) for corner in corners])
        queries = np.concatenate([low[:, :1], high[:, :1]])
    else:
        members = np.concatenate([low, high])
        queries = np.concatenate([high[:, :1], low[:, :1]])
    tails = _drawn(cells.reshape(2 * learners, -1), members, queries, resamples, rng)
    return ends_by_rule(rule, *tails)
