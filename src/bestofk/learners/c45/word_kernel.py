"""Machine words as sets of 64 bits: the two instructions that counting needs."""
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import types
from numba.extending import intrinsic

WORD = 64


def _popcount(typing_context, word):  # noqa: ARG001
    """Number of one bits of an unsigned 64-bit word."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _lowest_bit(typing_context, word):  # noqa: ARG001
    """Place of the lowest one bit of an unsigned 64-bit word that is not 0."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


popcount: Any = intrinsic(_popcount)
lowest_bit: Any = intrinsic(_lowest_bit)
