"""Checksums of stored cells, which reveal rows that changed after they were written.

The checksum of a row is a multilinear hash: the sum of its digest and its numbers as 64-bit
integers, each times its own odd constant, modulo 2^64. One flipped bit in a number always changes
the sum. It is computed for whole batches of rows, which is several times faster than row by row.
The digest contains the names of a cell; if the names are read too, they must match the digest.
Predictions have a separate CRC-32, because they are often not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bestofk.run.cells import Digests

CHECKED = (
    "digest", "loss", "fit_time", "predict_time", "size", "n_train", "n_test", "failure_kind",
    "failure_reason", "warnings", "predictions", "checksum", "predictions_checksum",
)  # fmt: skip
"""Columns for `damaged`, in this order; the checksum covers all but the last three."""
NAMED = (*CHECKED, "dataset", "learner", "splits", "loss_name", "run", "fold", "repetition")
"""The same columns and the names of the cell."""
_NUMBERS = slice(1, 7)
_TEXTS = slice(7, 10)
_TEXT: frozenset[type] = frozenset({str})
_WHOLE: frozenset[type] = frozenset({int})
_REAL: frozenset[type] = frozenset({float})
_BYTES: frozenset[type] = frozenset({bytes})
_NONE: type = type(None)
_TYPES: tuple[frozenset[type], ...] = (
    _TEXT, *[_REAL | {_NONE}] * 3, *[_WHOLE | {_NONE}] * 3, *[_TEXT | {_NONE}] * 3,
    _BYTES | {_NONE}, *[_WHOLE | {_NONE}] * 2, *[_TEXT] * 4, *[_WHOLE] * 3,
)  # fmt: skip
_DIGITS = 32
_MISSING_BITS = np.uint64(0x7FF8B0F5)
"""Bits for a missing number."""


def _constants(n: int) -> npt.NDArray[np.uint64]:
    """Return odd 64-bit numbers from the generator splitmix64 (Steele, Lea and Flood, 2014)."""
    numbers, state = [], 0x424F464B
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        mixed = state
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> shift)) * factor % 2**64
        numbers.append((mixed ^ (mixed >> 31)) | 1)
    return np.array(numbers, dtype=np.uint64)


_DIGEST_FACTORS = _constants(11)[:4]
_NUMBER_FACTORS = _constants(11)[4:10]
_TEXT_FACTOR = _constants(11)[10]


def checksums(columns: Sequence[Sequence[Any]]) -> npt.NDArray[np.int64]:
    """Return the checksums of rows, from the columns of `CHECKED` without the last three."""
    n = len(columns[0])
    joined = "".join(columns[0]).encode("ascii")
    digests = np.frombuffer(joined, dtype="<u8").reshape(n, _DIGITS // 8)
    total: npt.NDArray[np.uint64] = (digests * _DIGEST_FACTORS).sum(axis=1, dtype=np.uint64)
    for column, constant in zip(columns[_NUMBERS], _NUMBER_FACTORS, strict=True):
        values = np.array(column, dtype=np.float64)
        bits = values.view(np.uint64)
        missing = np.isnan(values)
        if missing.any():
            bits[missing] = _MISSING_BITS
        total += bits * constant
    texts = columns[_TEXTS]
    if any(set(column) != {None} for column in texts):
        codes = map(_text_code, *texts)
        total += np.fromiter(codes, dtype=np.uint64, count=n) * _TEXT_FACTOR
    return total.view(np.int64)


def of_bytes(data: bytes | None) -> int | None:
    """Return the checksum of predictions or of a payload."""
    return None if data is None else crc32(data)


def damaged(rows: Sequence[Sequence[Any]], *, predictions: bool = True) -> list[int]:
    """Return the indices of rows that changed after they were written.

    The rows have the columns of `CHECKED` or of `NAMED`. The predictions are checked only with
    `predictions`.
    """
    if not rows:
        return []
    columns = list(zip(*rows, strict=True))
    wrong = set() if _are_sound(columns, predictions=predictions) else _unsound(rows, predictions)
    if len(columns) == len(NAMED):
        wrong |= _misnamed(columns)
    return sorted(wrong)


def _are_sound(columns: Sequence[Sequence[Any]], *, predictions: bool) -> bool:
    """Return whether all rows, given as columns, are as they were written."""
    for column, allowed in zip(columns[_NUMBERS], _TYPES[_NUMBERS], strict=True):
        if not set(map(type, column)) <= allowed:
            return False
    stored, sums, stored_sums = columns[10:13]
    try:
        if not np.array_equal(np.array(sums, dtype=np.int64), checksums(columns[:10])):
            return False
        if not predictions or set(stored_sums) == set(stored) == {None}:
            return True
        return list(map(of_bytes, stored)) == list(stored_sums)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return False  # values of the wrong type


def _unsound(rows: Sequence[Sequence[Any]], predictions: bool) -> set[int]:
    """Return the indices of changed rows, which may contain values of any type."""
    wrong = set()
    for index, row in enumerate(rows):
        checked = row[: len(CHECKED)]
        odd = any(type(value) not in kinds for value, kinds in zip(checked, _TYPES, strict=False))
        if (
            odd
            or len(row[0]) != _DIGITS
            or not row[0].isascii()
            or not _are_sound([[value] for value in checked], predictions=predictions)
        ):
            wrong.add(index)
    return wrong


def _misnamed(columns: Sequence[Sequence[Any]]) -> set[int]:
    """Return the indices of rows whose names do not match their digest."""
    from bestofk.run.store.schema import unescaped  # imports SQLAlchemy

    kinds = [set(map(type, column)) for column in columns[-4:]]
    *names, losses, runs, folds, repetitions = columns[len(CHECKED) :]
    by_loss = {
        loss: Digests(unescaped(loss) if isinstance(loss, str) else "").of for loss in set(losses)
    }
    keys = zip(*names, runs, folds, repetitions, strict=True)
    digests = (by_loss[loss](*key) for loss, key in zip(losses, keys, strict=True))
    pairs = enumerate(zip(columns[0], digests, strict=True))
    wrong = {index for index, (stored, digest) in pairs if stored != digest}
    if kinds != [{str}, {int}, {int}, {int}]:
        for index, row in enumerate(zip(*columns[-4:], strict=True)):
            if [type(value) for value in row] != [str, int, int, int]:
                wrong.add(index)
    return wrong


def _text_code(kind: str | None, reason: str | None, warnings: str | None) -> int:
    if kind is None and reason is None and warnings is None:
        return 0
    return crc32(repr((kind, reason, warnings)).encode("utf-8", "surrogatepass"))
