"""Numbers as integers on a grid of powers of two, so that their sums are exact in any order.

A column's numbers are whole multiples of ``2**low`` (every float is). On that grid a number is an
integer, kept in limbs of ``width`` bits so that the int64 sum of a limb over all n rows cannot
overflow. Sums of limbs may be added and subtracted freely; `rounded_sum` (in the kernel) turns
them into the float nearest to the exact sum, which no longer depends on the grid, the order of
the rows, or on whether rows were added or taken away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofk.checks import Floats
from bestofk.data.encoded import Codes
from bestofk.kernels.library import Kernel

_EXPONENTS = Kernel("limb_exponents", "*i64 i64 i64 &i64 &i64")
_SPLIT = Kernel("split_into_limbs", "*i64 i64 i64 *i64 *i64 i64 &i64 i64")
_SUM = Kernel("exact_sum", "*i64 i64 i64 i64 &i64 &f64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limbs:
    """The limbs of the numeric columns side by side.

    Parameters
    ----------
    digits : array of int64, shape (n, total number of limbs)
        With the sign of the number; missing cells are 0.
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
    >>> np.diff(parts.first).tolist()  # 0.1 and 2**30 together need 86 bits
    [1, 2]
    """
    n, d = numbers.shape
    width = 62 - int(n).bit_length()
    low, high = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
    bits = np.ascontiguousarray(numbers).view(np.int64)
    _EXPONENTS(bits, n, d, low, high)
    first = np.concatenate(([0], np.cumsum(-(-(high - low) // width)))).astype(np.int64)
    digits = np.zeros((n, int(first[-1])), dtype=np.int64)
    _SPLIT(bits, n, d, first, low, width, digits, digits.shape[1])
    return Limbs(digits=digits, first=first, low=low, width=width)


def rounded_sum(part: Codes, low: int, width: int) -> float:
    """The float nearest to ``sum(part[k] * 2**(low + k * width))``.

    Examples
    --------
    >>> parts = limbs(np.array([[0.1], [0.2], [0.3]]))
    >>> rounded_sum(parts.digits.sum(axis=0), int(parts.low[0]), parts.width)
    0.6
    """
    found = np.empty(1)
    _SUM(np.ascontiguousarray(part), len(part), low, width, np.empty_like(part), found)
    return float(found[0])
