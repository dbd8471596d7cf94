"""The exponential function in operations that compilers put into vectors."""
# mypy: allow-untyped-defs

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import njit, types
from numba.extending import intrinsic

LEAST = -708.0
"""Below this exp(x) is no longer a normal number, and taken as exp(-708)."""
TO_WHOLE = 6755399441055744.0
"""1.5 * 2**52: a small number added to it is rounded to a whole one, held in the last bits."""
PER_LOG_2 = 1.0 / math.log(2.0)
LOG_2_HIGH = 6.93147180369123816490e-01
"""log(2) to 32 bits, so that whole multiples of it are exact."""
LOG_2_LOW = 1.90821492927058770002e-10
BIAS = 1023
MANTISSA = 52
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13 = (1.0 / math.factorial(k) for k in range(2, 14))


def _bits(typing_context, number):  # noqa: ARG001
    """The bits of a float64 as an int64."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


def _from_bits(typing_context, bits):  # noqa: ARG001
    """The float64 with the bits of an int64."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


bits_of: Any = intrinsic(_bits)
float_of: Any = intrinsic(_from_bits)


@njit(cache=True, nogil=True, error_model="numpy")
def exp_of_negative(x):
    """exp(x) for x <= 0, to within two units of the last place.

    x = k log 2 + r with whole k and abs(r) <= log(2) / 2; exp(r) by its series to degree 13.
    """
    x = x if x > LEAST else LEAST
    shifted = x * PER_LOG_2 + TO_WHOLE
    k = shifted - TO_WHOLE
    r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
    s = r * r
    # pairs first, so that few operations wait for one another
    low = (C2 + C3 * r) + s * (C4 + C5 * r)
    middle = (C6 + C7 * r) + s * (C8 + C9 * r)
    high = (C10 + C11 * r) + s * (C12 + C13 * r)
    fourth = s * s
    tail = s * (low + fourth * (middle + fourth * high))
    power = float_of((bits_of(shifted) + BIAS) << MANTISSA)
    return (1.0 + (r + tail)) * power
