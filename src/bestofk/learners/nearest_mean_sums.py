"""Numbers as integers on a grid of powers of two, so that their sums are exact in any order.

A column's numbers are whole multiples of ``2**low`` (every float is). On that grid a number is an
integer of at most ``bits`` bits, kept in limbs of ``width`` bits so that the int64 sum of a limb
over all n rows cannot overflow. Sums of limbs may be added and subtracted freely; `rounded_sum`
turns them into the float nearest to the exact sum, which no longer depends on the grid, the order
of the rows, or on whether rows were added or taken away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.data.encoded import Codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Limbs:
    """The limbs of the numeric columns side by side.

    Parameters
    ----------
    digits : array of int64, shape (n, total number of limbs)
        Missing cells are 0.
    first : array of int64, shape (columns + 1,)
        Column j has the limbs ``first[j]`` (lowest) to ``first[j + 1] - 1``.
    low : array of int64, shape (columns,)
        The exponent of the unit of the lowest limb.
    width : int
        Bits of a limb.
    """

    digits: Codes
    first: Codes
    low: Codes
    width: int


def limbs(numbers: Floats) -> Limbs:
    """The limbs of `numbers`, shape (n, columns), NaN where missing.

    Examples
    --------
    >>> import numpy as np
    >>> parts = limbs(np.array([[3.0, 0.1], [5.0, 2.0**30]]))
    >>> np.diff(parts.first).tolist()  # 0.1 + 2**30 needs 87 bits
    [1, 2]
    """
    n, d = numbers.shape
    width = 62 - int(n).bit_length()
    known = np.where(np.isnan(numbers), 0.0, numbers)
    mantissa, exponent = np.frexp(known)
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    _, trailing = np.frexp((whole & -whole).astype(np.float64))
    lowest = np.where(whole == 0, 2000, exponent - 53 + trailing - 1).min(axis=0, initial=2000)
    highest = np.where(whole == 0, -2000, exponent).max(axis=0, initial=-2000)
    empty = lowest > highest
    lowest[empty], highest[empty] = 0, 1
    # Below the smallest normal float a power of two loses nothing down to 2**-1074.
    low = np.maximum(lowest, -1074).astype(np.int64)
    count = np.maximum(-(-(highest - low) // width), 1)
    first = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
    digits = np.empty((n, int(first[-1])), dtype=np.int64)
    for j in range(d):
        rest: npt.NDArray[np.float64] = known[:, j]
        for limb in range(int(count[j]) - 1, 0, -1):
            unit = int(low[j]) + limb * width
            part = np.trunc(np.ldexp(rest, -unit))
            digits[:, first[j] + limb] = part.astype(np.int64)
            rest = rest - np.ldexp(part, unit)
        digits[:, first[j]] = np.ldexp(rest, -int(low[j])).astype(np.int64)
    return Limbs(digits=digits, first=first, low=low, width=width)
