"""The compiled part of the exact sums: the bits of floats into limbs, sums of limbs into floats."""
# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np
from numba import njit

_FRACTION = np.int64((1 << 52) - 1)
_HIDDEN = np.int64(1 << 52)
_SPECIAL = 0x7FF


@njit(cache=True, nogil=True)
def mantissa_and_exponent(bits):
    """The number as mantissa times 2**exponent, both whole, without its sign; NaN counts as 0."""
    field = (bits >> 52) & _SPECIAL
    mantissa = bits & _FRACTION
    if field == _SPECIAL:
        return np.int64(0), np.int64(0)
    if field == 0:
        return mantissa, np.int64(-1074)
    return mantissa | _HIDDEN, field - 1075


@njit(cache=True, nogil=True)
def exponents(bits, low, high):
    """Per column the exponent of its lowest bit in use, and that above its highest one."""
    n, d = bits.shape
    low[:] = 2000
    high[:] = -2000
    for i in range(n):
        for j in range(d):
            mantissa, exponent = mantissa_and_exponent(bits[i, j])
            if mantissa == 0:
                continue
            high[j] = max(high[j], exponent + 53)
            below = low[j] - exponent
            if below > 0 and (below > 52 or mantissa & ((np.int64(1) << below) - 1)):
                while mantissa & 1 == 0:
                    mantissa >>= 1
                    exponent += 1
                low[j] = min(low[j], exponent)
    for j in range(d):
        if low[j] > high[j]:
            low[j], high[j] = 0, 1


@njit(cache=True, nogil=True)
def split_into_limbs(bits, first, low, width, digits):
    """Write the limbs of every number; `digits` comes as zeros."""
    n, d = bits.shape
    for i in range(n):
        for j in range(d):
            mantissa, exponent = mantissa_and_exponent(bits[i, j])
            if mantissa == 0:
                continue
            place = exponent - low[j]
            if place < 0:
                mantissa >>= -place
                place = np.int64(0)
            sign = -1 if bits[i, j] < 0 else 1
            limb = first[j] + place // width
            shift = place % width
            while mantissa:
                piece = mantissa & ((np.int64(1) << (width - shift)) - 1)
                digits[i, limb] = sign * (piece << shift)
                mantissa >>= width - shift
                shift = np.int64(0)
                limb += 1


@njit(cache=True, nogil=True)
def rounded_sum(part, first, count, low, width):
    """The float nearest to ``sum(part[first + k] * 2**(low + k * width))`` over `count` limbs."""
    if count == 1:
        return math.ldexp(float(part[first]), low)
    limb = part[first : first + count].copy()
    mask = (np.int64(1) << width) - 1
    flipped = False
    while True:
        for k in range(count - 1):
            carry = limb[k] >> width
            limb[k] &= mask
            limb[k + 1] += carry
        if limb[count - 1] >= 0:
            break
        flipped = True
        for k in range(count):
            limb[k] = -limb[k]
    top = count - 1
    while top > 0 and limb[top] == 0:
        top -= 1
    head = limb[top]
    bits = 0
    while bits < 62 and (head >> bits) != 0:
        bits += 1
    exponent = low + top * width
    rest = False
    for k in range(top - 1, -1, -1):
        take = min(width, 62 - bits)
        head = (head << take) | (limb[k] >> (width - take))
        if limb[k] & ((np.int64(1) << (width - take)) - 1):
            rest = True
        bits += take
        exponent -= take
    if rest:  # the last of 62 bits lies below the 53 that are kept and only breaks their tie
        head |= 1
    value = math.ldexp(float(head), exponent)
    return -value if flipped else value
