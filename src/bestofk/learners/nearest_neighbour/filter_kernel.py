"""Bounds of the distances of eight neighbours at a time, from a few columns.

Of the sum of r_j c_j (see the kernel for rescaled columns) a few columns make out most of what lies
above the least ratio times the reference distance: those whose divisors differ most from split
to split, at the place of the query. The bound takes these in full and all others at the least
ratio, and passes over nine of ten neighbours where outliers rule the scales. The least of eight
neighbours in each part bounds all eight of them, so that one step passes over eight blocks, or
over eight times 64 neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

EIGHT = 8
"""Neighbours in a block, and columns in a bound."""
PARTS = EIGHT + 1
"""Numbers for each neighbour: its reference distance, then its terms in these columns."""

_REAL, _WORD, _BYTE, _SHORT = ir.FloatType(), ir.IntType(64), ir.IntType(8), ir.IntType(32)
_REALS = ir.VectorType(_REAL, EIGHT)
# What the hardware can do in one step is done in one; the margins allow for either rounding.
_FUSED = ("contract",)


def _splat(builder: Any, scalar: Any) -> Any:
    unknown = ir.Constant(_REALS, ir.Undefined)
    one = builder.insert_element(unknown, scalar, _SHORT(0))
    return builder.shuffle_vector(
        one, unknown, ir.Constant(ir.VectorType(_SHORT, EIGHT), [0] * EIGHT)
    )


def _not_above(typing_context, blocks, block, weights, limit):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Which of the eight neighbours of a block have bounds that are not above `limit`, as bits.

    `blocks` has the shape (blocks, PARTS, EIGHT), `weights` (PARTS,), both of single precision.
    Written as vectors, because the compiler finds none here.
    """

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        table, factors = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data
            for k in (0, 2)
        )
        start = builder.mul(arguments[1], _WORD(PARTS * EIGHT))
        # Three sums side by side: each step of one would wait for the step before.
        sums = []
        for part in range(PARTS):
            place = builder.gep(table, [builder.add(start, _WORD(EIGHT * part))])
            terms = builder.load(builder.bitcast(place, _REALS.as_pointer()), align=4)
            factor = _splat(builder, builder.load(builder.gep(factors, [_WORD(part)])))
            product = builder.fmul(terms, factor, flags=_FUSED)
            if part < 3:
                sums.append(product)
            else:
                sums[part % 3] = builder.fadd(sums[part % 3], product, flags=_FUSED)
        total = builder.fadd(builder.fadd(sums[0], sums[1]), sums[2])
        top = _splat(builder, builder.fptrunc(arguments[3], _REAL))
        passed = builder.bitcast(builder.fcmp_ordered("<=", total, top), _BYTE)
        return builder.zext(passed, _WORD)

    return types.uint64(blocks, types.int64, weights, types.float64), emit


not_above: Any = intrinsic(_not_above)


@njit(cache=True, nogil=True)
def choose_columns(terms, count, excess, score, chosen):  # type: ignore[no-untyped-def]
    """The columns that lengthen the distances of the first `count` neighbours most.

    `excess[j]` is the mean of r_j less the least ratio, over the splits.
    """
    d = excess.size
    for j in range(d):
        total = 0.0
        for t in range(count):
            total += terms[t, j]
        score[j] = total * excess[j]
    for m in range(min(EIGHT, d)):
        best = 0
        for j in range(1, d):
            if score[j] > score[best]:
                best = j
        chosen[m] = best
        score[best] = -1.0


@njit(cache=True, nogil=True)
def fill_blocks(columns, i, start, count, weight, cardinality, near):  # type: ignore[no-untyped-def]
    """Copy the neighbours from `start` on, a multiple of 64, into blocks, and the least of these.

    Groups are whole when `start` is 0 or all neighbours before it were filled in by another call.
    """
    rows, distance, chosen = near.rows, near.distance, near.chosen
    blocks, tiles, groups = near.blocks, near.tiles, near.groups
    parts = min(EIGHT, weight.size)
    for t in range(start, count):
        blocks[t >> 3, 0, t & 7] = distance[t]
    for m in range(parts):
        j = chosen[m]
        for t in range(start, count):
            difference = columns[j, rows[t]] - columns[j, i]
            term = weight[j] * (difference * difference)
            if cardinality[j] > 0:
                term = 0.0 if difference == 0.0 else 1.0
            blocks[t >> 3, m + 1, t & 7] = term
    first, last = start >> 3, (count + 7) >> 3
    _least_of_eight(blocks, first, last, count, tiles)
    _least_of_eight(tiles, first >> 3, (last + 7) >> 3, last, groups)


@njit(cache=True, nogil=True)
def _least_of_eight(finer, first, last, count, coarser):  # type: ignore[no-untyped-def]
    """The least of the eight numbers of each part, `count` numbers in all, one step up."""
    for k in range(first, last):
        for part in range(PARTS):
            least = np.float32(np.inf)
            for place in range(min(8, count - 8 * k)):
                least = min(least, finer[k, part, place])
            coarser[k >> 3, part, k & 7] = least
    for k in range(last, (last + 7) & ~7):
        for part in range(PARTS):
            coarser[k >> 3, part, k & 7] = np.float32(np.inf)
