"""Checksums of stored cells: a row whose content has changed since it was written is noticed.

The checksum of a row is a multilinear hash: the sum of its columns as whole numbers of 64 bits,
each times an odd constant of its own, modulo 2^64. One flipped bit in a number changes the sum
for certain. It is computed for whole batches of rows at a time, which a checksum of every row by
itself would take several times as long for. Predictions have a CRC-32 of their own, because they
are often not fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bestofk.run.cells import FAILURE_KINDS

CHECKED = (
    "digest", "dataset", "learner", "splits", "loss_name", "run", "fold", "repetition", "loss",
    "fit_time", "predict_time", "size", "n_train", "n_test", "failure_kind", "failure_reason",
    "warnings", "predictions", "checksum", "predictions_checksum",
)  # fmt: skip
"""The columns that `damaged` takes, in its order; all but the last three are in the checksum."""
_NUMBERS = slice(5, 14)
_TEXT: frozenset[type] = frozenset({str})
_WHOLE: frozenset[type] = frozenset({int})
_REAL: frozenset[type] = frozenset({float})
_BYTES: frozenset[type] = frozenset({bytes})
_NONE: type = type(None)
_TYPES: tuple[frozenset[type], ...] = (
    *[_TEXT] * 5, *[_WHOLE] * 3, *[_REAL | {_NONE}] * 3, *[_WHOLE | {_NONE}] * 3,
    *[_TEXT | {_NONE}] * 3, _BYTES | {_NONE}, *[_WHOLE | {_NONE}] * 2,
)  # fmt: skip
_DIGITS = 32
_UNKNOWN = np.uint64(0x7FF8B0F5)
"""Stands for a number that a cell does not have."""


def _constants(n: int) -> npt.NDArray[np.uint64]:
    """Odd numbers of 64 bits, by the generator splitmix64 (Steele, Lea and Flood, 2014)."""
    found, state = [], 0x424F464B
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        mixed = state
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> shift)) * factor % 2**64
        found.append((mixed ^ (mixed >> 31)) | 1)
    return np.array(found, dtype=np.uint64)


_OF_DIGEST = _constants(18)[:4]
_OF_NUMBERS = _constants(18)[4:13]
_OF_NAMES = _constants(18)[13:17]
_OF_WORDS = _constants(18)[17]
_MOST_NAMES = 100_000


class _Names(dict[str, int]):
    """The CRC-32 of names, which many cells share."""

    def __missing__(self, name: str) -> int:
        if len(self) >= _MOST_NAMES:
            self.clear()
        found = self[name] = crc32(name.encode("utf-8", "surrogatepass"))
        return found


_names = _Names()


def checksums(columns: Sequence[Sequence[Any]]) -> npt.NDArray[np.int64]:
    """The checksums of rows, given as the columns of `CHECKED` without the last three."""
    n = len(columns[0])
    joined = "".join(columns[0]).encode("ascii")
    digests = np.frombuffer(joined, dtype="<u8").reshape(n, _DIGITS // 8)
    total: npt.NDArray[np.uint64] = (digests * _OF_DIGEST).sum(axis=1, dtype=np.uint64)
    for column, constant in zip(columns[_NUMBERS], _OF_NUMBERS, strict=True):
        values = np.array(column, dtype=np.float64)
        bits = values.view(np.uint64)
        unknown = np.isnan(values)
        if unknown.any():
            bits[unknown] = _UNKNOWN
        total += bits * constant
    for column, constant in zip(columns[1:5], _OF_NAMES, strict=True):
        total += np.fromiter(map(_names.__getitem__, column), dtype=np.uint64, count=n) * constant
    words = columns[14:17]
    if any(set(column) != {None} for column in words):
        said = map(_of_words, *words)
        total += np.fromiter(said, dtype=np.uint64, count=n) * _OF_WORDS
    return total.view(np.int64)


def of_bytes(data: bytes | None) -> int | None:
    """The checksum of predictions or of a payload."""
    return None if data is None else crc32(data)


def damaged(rows: Sequence[Sequence[Any]], *, predictions: bool = True) -> list[int]:
    """Positions of the rows (with the columns of `CHECKED`) that are not as they were written.

    A row without a checksum, of a store that an older version of bestofk wrote, cannot be
    verified: it is taken if it makes sense. Without `predictions` those are not looked at.
    """
    if not rows:
        return []
    columns = list(zip(*rows, strict=True))
    if _are_sound(columns, predictions=predictions):
        return []
    odd = {
        place
        for column, allowed in zip(columns, _TYPES, strict=True)
        if not set(map(type, column)) <= allowed
        for place, value in enumerate(column)
        if type(value) not in allowed
    }
    odd |= {
        place
        for place, digest in enumerate(columns[0])
        if place not in odd and (len(digest) != _DIGITS or not digest.isascii())
    }
    if odd:
        sound = [place for place in range(len(rows)) if place not in odd]
        rest = damaged([rows[place] for place in sound], predictions=predictions)
        return sorted(odd.union(sound[place] for place in rest))
    kept = columns[-2]
    unverified = [place for place, checksum in enumerate(kept) if checksum is None]
    stored = np.array([0 if each is None else each for each in kept], dtype=np.int64)
    wrong = set(np.flatnonzero(stored != checksums(columns[:-3])).tolist())
    wrong -= {place for place in unverified if _makes_sense(rows[place])}
    if predictions:
        wrong |= {
            place
            for place, (held, checksum) in enumerate(zip(columns[-3], columns[-1], strict=True))
            if of_bytes(held) != checksum and kept[place] is not None
        }
    return sorted(wrong)


def _are_sound(columns: Sequence[Sequence[Any]], *, predictions: bool = True) -> bool:
    """Whether rows, given as columns, are all certainly as they were written, as most are."""
    for column, allowed in zip(columns[_NUMBERS], _TYPES[_NUMBERS], strict=True):
        if not set(map(type, column)) <= allowed:
            return False
    try:
        if not np.array_equal(np.array(columns[-2], dtype=np.int64), checksums(columns[:-3])):
            return False
        if not predictions or set(columns[-1]) == set(columns[-3]) == {None}:
            return True
        return list(map(of_bytes, columns[-3])) == list(columns[-1])
    except (TypeError, ValueError, OverflowError, AttributeError):
        return False  # texts or bytes that are none


def _makes_sense(row: Sequence[Any]) -> bool:
    """Whether a row without a checksum can be a cell."""
    named = dict(zip(CHECKED, row, strict=True))
    if min(named["run"], named["fold"], named["repetition"]) < 0:
        return False
    kind = named["failure_kind"]
    if kind is None or named["loss"] is not None:
        return kind is None and named["loss"] is not None
    return kind.partition(":")[0] in FAILURE_KINDS


def _of_words(kind: str | None, reason: str | None, warnings: str | None) -> int:
    if kind is None and reason is None and warnings is None:
        return 0
    return crc32(repr((kind, reason, warnings)).encode("utf-8", "surrogatepass"))
