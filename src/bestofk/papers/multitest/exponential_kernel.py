"""The exponential function in single precision, in operations that compilers put into vectors.

As `bestofk.learners.logistic.exp_kernel`, for numbers of 32 bits.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import njit, types
from numba.extending import intrinsic

LEAST = np.float32(-87.0)
"""Below this exp(x) is hardly a normal number, and taken as exp(-87)."""
TO_WHOLE = np.float32(12582912.0)
"""1.5 * 2**23: a small number added to it is rounded to a whole one, held in the last bits."""
PER_LOG_2 = np.float32(1.0 / math.log(2.0))
LOG_2_HIGH = np.float32(0.693359375)
LOG_2_LOW = np.float32(math.log(2.0) - 0.693359375)
ONE = np.float32(1.0)
C2, C3, C4, C5, C6 = (np.float32(1.0 / math.factorial(k)) for k in range(2, 7))


def _bits(typing_context, number):  # noqa: ARG001
    """The bits of a float32 as an int32."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.int32(types.float32), generate


def _power_of_two(typing_context, bits):  # noqa: ARG001
    """2**k as a float32, from an int32 whose last bits hold k."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        biased = builder.add(arguments[0], ir.Constant(ir.IntType(32), 127))
        shifted = builder.shl(biased, ir.Constant(ir.IntType(32), 23))
        return builder.bitcast(shifted, ir.FloatType())

    return types.float32(types.int32), generate


bits_of: Any = intrinsic(_bits)
power_of_two: Any = intrinsic(_power_of_two)


# contraction only: reassociation would undo the rounding to a whole number
@njit(cache=True, nogil=True, error_model="numpy", inline="always", fastmath={"contract"})
def exp_of_negative(x):
    """exp(x) of a float32 x <= 0, to within a few units of the last place."""
    x = x if x > LEAST else LEAST
    shifted = x * PER_LOG_2 + TO_WHOLE
    k = shifted - TO_WHOLE
    r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
    s = r * r
    tail = s * ((C2 + C3 * r) + s * ((C4 + C5 * r) + s * C6))
    return (ONE + (r + tail)) * power_of_two(bits_of(shifted))
