"""Both tails of sums of independent draws, estimated by random rearrangements."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.sums import (
    TIE,
    Rows,
    Tails,
    all_sums,
    levelled,
)

MAX_TABLE_SIZE = 2**14
RESAMPLES_AT_ONCE = 2**15
MAX_STORED_SUMS = 2**22


def drawn_tails(
    values: Floats,
    members: Rows,
    queries: Rows,
    *,
    resamples: int,
    generator: np.random.Generator,
) -> list[Tails]:
    """Estimate the tails of the sums of several tables from the same rearrangements.

    - `values` (rows, blocks): The values of all tables.
    - `members` (tables, choices): The rows that each table draws from.
    - `queries` (tables, queries): The rows at whose sums the tails of each table are needed.
    - `resamples`: Number m of random rearrangements.
    - `generator`: Source of the rearrangements. The draws depend only on the numbers of blocks,
      choices and resamples.

    - Returns: (b + 1) / (m + 1) with b the number of rearrangements in the tail, ties included.

    Notes
    -----
    The totals of all learners have the same distribution under rearrangement, one draw per block,
    so one stream of totals serves all of them. Blocks are drawn in groups: one number below
    choices^group picks the values of a whole group, whose sum is looked up in a table.
    """
    heights, noise = levelled(values)
    blocks = values.shape[1]
    tables, choices = members.shape
    # a table larger than the number of lookups costs more than it saves
    largest = min(MAX_TABLE_SIZE, resamples // 4)
    group = 1
    while choices ** (group + 1) <= largest and group < blocks:
        group += 1
    starts = list(range(0, blocks, group))
    at = heights[queries].sum(axis=2)
    # sums that agree to within the rounding of their terms are ties
    margin = TIE * noise * blocks
    counts = np.zeros((2, *at.shape), dtype=np.int64)
    picked = np.empty(min(RESAMPLES_AT_ONCE, resamples))
    batch = max(MAX_STORED_SUMS // (len(starts) * choices**group), 1)
    for first in range(0, tables, batch):
        some = range(first, min(first + batch, tables))
        # all batches use the same stream; the last one advances the generator itself
        rng = generator if some.stop == tables else deepcopy(generator)
        drawn_from = heights[members[some.start : some.stop]]
        sums = [all_sums(drawn_from[:, :, s : s + group]) for s in starts]
        for done in range(0, resamples, RESAMPLES_AT_ONCE):
            m = min(RESAMPLES_AT_ONCE, resamples - done)
            totals = np.zeros((len(some), m))
            for of_group in sums:
                size = of_group.shape[1]
                kind = np.uint16 if size < 2**16 else np.int64
                picks = rng.integers(0, size, size=m, dtype=kind)
                for total, table in zip(totals, of_group, strict=True):
                    # no pick is out of range; "clip" skips the check
                    total += table.take(picks, mode="clip", out=picked[:m])
            for t, total in zip(some, totals, strict=True):
                total.sort()
                counts[0, t] += np.searchsorted(total, at[t] + margin, side="right")
                counts[1, t] += m - np.searchsorted(total, at[t] - margin, side="left")
    shares = (counts + 1) / (resamples + 1)
    return [Tails.without_error(shares[0, t], shares[1, t]) for t in range(tables)]
