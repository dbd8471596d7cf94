"""Where units that are left may come among the ranks of those that are done, ties and all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np

from bestofk.checks import Floats, Ints


class TiePatterns(NamedTuple):
    """All ways in which some more units can be ranked among those that are done.

    Attributes
    ----------
    ranks : (ways, groups) array
        Twice the midrank of every group of tied units that are done.
    alike : (ways,) array
        Which row of `tails` a way has.
    tails : (kinds, sums) array
        P(W <= w), w = 0, 1, ... in halves of a rank, under random signs of all units.
    """

    ranks: Ints
    alike: Ints
    tails: Floats


def pattern_count(groups: int, left: int) -> int:
    """The number of ways to rank up to `left` more units among `groups` groups of ties.

    Examples
    --------
    One more unit among two that differ: none (it makes no difference), tied with either, or in
    one of the three places beside them.

    >>> pattern_count(2, 1)
    6
    """
    return comb(left + groups, groups) << left


@lru_cache(maxsize=16)
def tie_patterns(sizes: tuple[int, ...], more: int) -> TiePatterns:
    """Every way to rank `more` units among groups of `sizes` tied units, smallest first."""
    ranks, rows = [], []
    for ordered in _orderings(sizes, more):
        below, own, row = 0, [], []
        for done, added in ordered:
            count = done + added
            rank = 2 * below + count + 1
            if done:
                own.append(rank)
            row += [rank] * count
            below += count
        ranks.append(own)
        rows.append(row)
    n = sum(sizes) + more
    kinds, alike = np.unique(
        np.array(rows, dtype=np.int64).reshape(len(rows), n), axis=0, return_inverse=True
    )
    return TiePatterns(
        ranks=np.array(ranks, dtype=np.int64).reshape(len(rows), len(sizes)),
        alike=np.asarray(alike).reshape(-1),
        tails=_tails(kinds),
    )


def _tails(ranks: Ints) -> Floats:
    """P(W <= w) for all w, of every row of doubled ranks."""
    n = ranks.shape[1]
    sums = np.arange(n * (n + 1) + 1)
    chance = np.zeros((len(ranks), len(sums)))
    chance[:, 0] = 1.0
    for rank in ranks.T[:, :, np.newaxis]:
        before = sums - rank
        with_it = np.take_along_axis(chance, np.maximum(before, 0), axis=1)
        chance = (chance + np.where(before < 0, 0.0, with_it)) / 2.0
    return np.cumsum(chance, axis=1)


def _orderings(sizes: tuple[int, ...], more: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Groups of ties in ascending order: units that are done, and units that are left."""
    if not sizes:
        for new in _compositions(more):
            yield tuple((0, count) for count in new)
        return
    for before in range(more + 1):
        for tied in range(more - before + 1):
            for rest in _orderings(sizes[1:], more - before - tied):
                for new in _compositions(before):
                    yield (*((0, count) for count in new), (sizes[0], tied), *rest)


@lru_cache(maxsize=64)
def _compositions(total: int) -> tuple[tuple[int, ...], ...]:
    """All sequences of positive whole numbers with this sum."""
    if total == 0:
        return ((),)
    return tuple(
        (first, *rest) for first in range(1, total + 1) for rest in _compositions(total - first)
    )


def largest_shift(sizes: tuple[int, ...], more: int) -> float:
    """How far a sum of ranks can be from that with all ties broken, `more` units being added.

    A group of c ties holds ranks up to (c - 1) / 2 from their mean, of which those above it add
    up to floor(c^2 / 4) / 2; that is convex in c, so that all new units are best tied with the
    largest group.
    """
    groups = sorted(sizes) or [0]
    groups[-1] += more
    return sum(count * count // 4 for count in groups) / 2.0
