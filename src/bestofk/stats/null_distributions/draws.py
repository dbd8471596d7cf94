"""Both tails of the same sums by random rearrangements."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.sums import TIE, Rows, Tails, Whole, levelled

TABLE_SIZE = 2**14
AT_ONCE = 2**15
SUMS_HELD = 2**22


def drawn_tails(
    values: Floats,
    members: Rows,
    queries: Rows,
    *,
    resamples: int,
    generator: np.random.Generator,
) -> list[Tails]:
    """Estimated tails of the sums of several tables, all from the same rearrangements.

    Parameters
    ----------
    values : ndarray of shape (rows, blocks)
        All the values.
    members : ndarray of int, shape (tables, choices)
        The rows that each table draws from.
    queries : ndarray of int, shape (tables, queries)
        The rows whose sums each table is asked for.
    resamples : int
        Number m of random rearrangements.
    generator : numpy.random.Generator
        Where they come from. What is drawn depends on the number of blocks, of choices and of
        resamples only.

    Returns
    -------
    list of Tails
        (b + 1) / (m + 1) with b the number of rearrangements in the tail, ties included.

    Notes
    -----
    Every learner's total under rearrangement has the same distribution, one draw per block, so
    one stream of totals serves all of them. Blocks are taken in groups: one number below
    choices^group picks the values of a whole group, whose sum stands in a table.
    """
    heights, noise = levelled(values)
    blocks = values.shape[1]
    tables, choices = members.shape
    # a table that is larger than what is looked up in it costs more than it saves
    largest = min(TABLE_SIZE, resamples // 4)
    group = 1
    while choices ** (group + 1) <= largest and group < blocks:
        group += 1
    starts = list(range(0, blocks, group))
    at = heights[queries].sum(axis=2)
    # ties are sums that agree to within the rounding of their terms
    margin = TIE * noise * blocks
    counts = np.zeros((2, *at.shape), dtype=np.int64)
    batch = max(SUMS_HELD // (len(starts) * choices**group), 1)
    for first in range(0, tables, batch):
        some = range(first, min(first + batch, tables))
        # every batch sees the same stream; the last one uses it up
        rng = generator if some.stop == tables else deepcopy(generator)
        sums = [[_sums(heights[members[t], s : s + group]) for t in some] for s in starts]
        for done in range(0, resamples, AT_ONCE):
            m = min(AT_ONCE, resamples - done)
            totals = np.zeros((len(some), m))
            for of_group in sums:
                size = of_group[0].size
                kind = np.uint16 if size < 2**16 else np.int64
                picks = rng.integers(0, size, size=m, dtype=kind)
                for total, table in zip(totals, of_group, strict=True):
                    total += table[picks]
            for t, total in zip(some, totals, strict=True):
                counts[:, t] += _tail_counts(total, at[t], margin)
    shares = (counts + 1) / (resamples + 1)
    return [
        Tails(
            lower=shares[0, t],
            upper=shares[1, t],
            lower_bounds=np.stack([shares[0, t]] * 2, axis=1),
            upper_bounds=np.stack([shares[1, t]] * 2, axis=1),
        )
        for t in range(tables)
    ]


def _sums(table: Floats) -> Floats:
    sums = np.zeros(1)
    for values in table.T:
        sums = np.add.outer(sums, values).ravel()
    return sums


def _tail_counts(totals: Floats, at: Floats, margin: float) -> Whole:
    """How many totals are at most, and at least, each of the sums; shape (2, queries)."""
    if at.size > 8:
        totals = np.sort(totals)
        lower = np.searchsorted(totals, at + margin, side="right")
        upper = totals.size - np.searchsorted(totals, at - margin, side="left")
        return np.stack([lower, upper]).astype(np.int64)
    return np.array(
        [
            [np.count_nonzero(totals <= s + margin) for s in at],
            [np.count_nonzero(totals >= s - margin) for s in at],
        ],
        dtype=np.int64,
    )
