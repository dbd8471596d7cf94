"""The first m of n keys in the order (key, row), and tools on words of 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

_RUN = 16
# Above this length it pays to find the m-th key first.
_LONG = 128


def _first_bit(typing_context, word):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Position of the lowest set bit of a word that is not 0."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), emit


first_bit: Any = intrinsic(_first_bit)


@njit(cache=True, nogil=True)
def _swap_bits(words, row, j, mask):  # type: ignore[no-untyped-def]
    """Swap the upper bits of the words k with the lower ones of the words k + j."""
    shift = np.uint64(j)
    for start in range(0, 64, 2 * j):
        for k in range(start, start + j):
            swap = ((words[row, k] >> shift) ^ words[row, k + j]) & np.uint64(mask)
            words[row, k] ^= swap << shift
            words[row, k + j] ^= swap


@njit(cache=True, nogil=True)
def transpose_bits(words, row):  # type: ignore[no-untyped-def]
    """Bit b of word t becomes bit t of word b, for the 64 words of a row, in place."""
    # Each step by constants of its own, which lets the compiler take several words at a time.
    _swap_bits(words, row, 32, 0x00000000FFFFFFFF)
    _swap_bits(words, row, 16, 0x0000FFFF0000FFFF)
    _swap_bits(words, row, 8, 0x00FF00FF00FF00FF)
    _swap_bits(words, row, 4, 0x0F0F0F0F0F0F0F0F)
    _swap_bits(words, row, 2, 0x3333333333333333)
    _swap_bits(words, row, 1, 0x5555555555555555)


@njit(cache=True, nogil=True)
def sort_pairs(keys, rows, count, spare_keys, spare_rows):  # type: ignore[no-untyped-def]
    """Sort the first `count` pairs by key, keeping the order of equal keys (merge sort)."""
    for start in range(0, count, _RUN):
        for right in range(start + 1, min(start + _RUN, count)):
            key, row = keys[right], rows[right]
            left = right - 1
            while left >= start and keys[left] > key:
                keys[left + 1], rows[left + 1] = keys[left], rows[left]
                left -= 1
            keys[left + 1], rows[left + 1] = key, row
    width = _RUN
    while width < count:
        for start in range(0, count, 2 * width):
            middle, stop = min(start + width, count), min(start + 2 * width, count)
            left, right = start, middle
            for at in range(start, stop):
                if left < middle and (right >= stop or keys[left] <= keys[right]):
                    spare_keys[at], spare_rows[at] = keys[left], rows[left]
                    left += 1
                else:
                    spare_keys[at], spare_rows[at] = keys[right], rows[right]
                    right += 1
        for at in range(count):
            keys[at], rows[at] = spare_keys[at], spare_rows[at]
        width *= 2


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _smallest_key(keys, start, stop, limit):  # type: ignore[no-untyped-def]
    for k in range(start, stop):
        limit = min(limit, keys[k])
    return limit


@njit(cache=True, nogil=True)
def _key_at(keys, place, spare):  # type: ignore[no-untyped-def]
    """The key that would stand at a place if all were in order (Hoare's selection)."""
    for k in range(keys.size):
        spare[k] = keys[k]
    low, high = 0, keys.size - 1
    while low < high:
        pivot = spare[(low + high) >> 1]
        left, right = low, high
        while left <= right:
            while spare[left] < pivot:
                left += 1
            while spare[right] > pivot:
                right -= 1
            if left <= right:
                spare[left], spare[right] = spare[right], spare[left]
                left += 1
                right -= 1
        if place <= right:
            high = right
        elif place >= left:
            low = left
        else:
            break
    return spare[place]


@njit(cache=True, nogil=True)
def _rows_up_to(keys, limit, m, found_keys, found_rows):  # type: ignore[no-untyped-def]
    """All rows with keys below `limit`, then the lowest with that key, m in all."""
    count = 0
    for k in range(keys.size):
        if keys[k] < limit:
            found_keys[count] = keys[k]
            found_rows[count] = k
            count += 1
    for k in range(keys.size):
        if count == m:
            break
        if keys[k] == limit:
            found_keys[count] = keys[k]
            found_rows[count] = k
            count += 1
    return count


@njit(cache=True, nogil=True)
def first_rows(keys, m, found_keys, found_rows, spare_keys, spare_rows):  # type: ignore[no-untyped-def]
    """Put the first m rows in the order (key, row) into `found_rows`; return how many they are.

    Rows come in ascending order, so a later row with the key of the m-th found so far loses.
    The buffers hold 2 m + 64 pairs or more.
    """
    n = keys.size
    m = min(m, n)
    if m > _LONG:
        count = _rows_up_to(keys, _key_at(keys, m - 1, spare_keys), m, found_keys, found_rows)
        sort_pairs(found_keys, found_rows, count, spare_keys, spare_rows)
        return count
    capacity = min(2 * m + 64, found_keys.size)
    limit = np.inf
    count = 0
    for start in range(0, n, 32):
        stop = min(start + 32, n)
        if _smallest_key(keys, start, stop, keys[start]) >= limit:
            continue
        for k in range(start, stop):
            if keys[k] < limit:
                if count == capacity:
                    sort_pairs(found_keys, found_rows, count, spare_keys, spare_rows)
                    count = m
                    limit = found_keys[m - 1]
                    if keys[k] >= limit:
                        continue
                found_keys[count] = keys[k]
                found_rows[count] = k
                count += 1
    sort_pairs(found_keys, found_rows, count, spare_keys, spare_rows)
    return min(count, m)
