"""Bounds of the distances of eight neighbours at a time, from a few columns.

Of the sum of r_j c_j (see the kernel for rescaled columns) a few columns make out most of what lies
above the least ratio times the reference distance: those whose divisors differ most from split
to split, at the place of the query. The bound takes these in full and all others at the least
ratio, and passes over nine of ten neighbours where outliers rule the scales.
"""

from __future__ import annotations

from typing import Any

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
def fill_blocks(near, start, count, d):  # type: ignore[no-untyped-def]
    """Copy the neighbours from `start` on into blocks."""
    distance, terms, chosen, blocks = near.distance, near.terms, near.chosen, near.blocks
    for t in range(start, count):
        block, place = t >> 3, t & 7
        blocks[block, 0, place] = distance[t]
        for m in range(min(EIGHT, d)):
            blocks[block, m + 1, place] = terms[t, chosen[m]]
