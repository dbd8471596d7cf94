"""Checksums of stored cells: a row whose content has changed since it was written is noticed.

The checksum of a row is a multilinear hash: the sum of its digest and its numbers as whole numbers
of 64 bits, each times an odd constant of its own, modulo 2^64. One flipped bit in a number changes
the sum for certain. It is computed for whole batches of rows at a time, which a checksum of every
row by itself would take several times as long for. The names of a cell are in its digest; where
they are read too, they must fit it. Predictions have a CRC-32 of their own, because they are often
not fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bestofk.run.cells import FAILURE_KINDS, Digests
from bestofk.run.store.schema import unescaped

if TYPE_CHECKING:
    import sqlalchemy as sa

CHECKED = (
    "digest", "loss", "fit_time", "predict_time", "size", "n_train", "n_test", "failure_kind",
    "failure_reason", "warnings", "predictions", "checksum", "predictions_checksum",
)  # fmt: skip
"""The columns that `damaged` takes, in its order; all but the last three are in the checksum."""
NAMED = (*CHECKED, "dataset", "learner", "splits", "loss_name", "run", "fold", "repetition")
"""The same with the names of the cell, which `damaged` takes too."""
_NUMBERS = slice(1, 7)
_WORDS = slice(7, 10)
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


_OF_DIGEST = _constants(11)[:4]
_OF_NUMBERS = _constants(11)[4:10]
_OF_WORDS = _constants(11)[10]


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
    words = columns[_WORDS]
    if any(set(column) != {None} for column in words):
        said = map(_of_words, *words)
        total += np.fromiter(said, dtype=np.uint64, count=n) * _OF_WORDS
    return total.view(np.int64)


def of_bytes(data: bytes | None) -> int | None:
    """The checksum of predictions or of a payload."""
    return None if data is None else crc32(data)


def damaged(rows: Sequence[Sequence[Any]], *, predictions: bool = True) -> list[int]:
    """Positions of the rows that are not as they were written.

    The rows have the columns of `CHECKED` or of `NAMED`. A row without a checksum, of a store that
    an older version of bestofk wrote, cannot be verified: it is taken if it makes sense. Without
    `predictions` those are not looked at.
    """
    if not rows:
        return []
    columns = list(zip(*rows, strict=True))
    wrong = set() if _are_sound(columns, predictions=predictions) else _unsound(rows, predictions)
    if len(columns) == len(NAMED):
        wrong |= _misnamed(columns)
    return sorted(wrong)


def _are_sound(columns: Sequence[Sequence[Any]], *, predictions: bool) -> bool:
    """Whether rows, given as columns, are all certainly as they were written, as most are."""
    for column, allowed in zip(columns[_NUMBERS], _TYPES[_NUMBERS], strict=True):
        if not set(map(type, column)) <= allowed:
            return False
    held, sums, held_sums = columns[10:13]
    try:
        if not np.array_equal(np.array(sums, dtype=np.int64), checksums(columns[:10])):
            return False
        if not predictions or set(held_sums) == set(held) == {None}:
            return True
        return list(map(of_bytes, held)) == list(held_sums)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return False  # texts or bytes that are none


def _unsound(rows: Sequence[Sequence[Any]], predictions: bool) -> set[int]:
    """The positions of rows that are not as they were written, whatever is in them."""
    wrong = set()
    for place, row in enumerate(rows):
        checked = row[: len(CHECKED)]
        odd = any(type(value) not in kinds for value, kinds in zip(checked, _TYPES, strict=False))
        if odd or len(row[0]) != _DIGITS or not row[0].isascii():
            wrong.add(place)
        elif row[11] is None:
            if not _makes_sense(row):
                wrong.add(place)
        elif not _are_sound([[value] for value in checked], predictions=predictions):
            wrong.add(place)
    return wrong


def _misnamed(columns: Sequence[Sequence[Any]]) -> set[int]:
    """The positions of rows whose names are not those that the digest was made of."""
    of_loss: dict[Any, Digests] = {}
    wrong = set()
    for place, (digest, dataset, learner, splits, loss, run, fold, repetition) in enumerate(
        zip(columns[0], *columns[len(CHECKED) :], strict=True)
    ):
        if loss not in of_loss:
            of_loss[loss] = Digests(unescaped(loss) if isinstance(loss, str) else "")
        if (
            of_loss[loss].of(dataset, learner, splits, run, fold, repetition) != digest
            or not type(run) is type(fold) is type(repetition) is int
            or type(loss) is not str
        ):
            wrong.add(place)
    return wrong


def _makes_sense(row: Sequence[Any]) -> bool:
    """Whether a row without a checksum can be a cell."""
    loss, kind = row[1], row[7]
    if kind is None or loss is not None:
        return kind is None and loss is not None
    return str(kind).partition(":")[0] in FAILURE_KINDS


def _of_words(kind: str | None, reason: str | None, warnings: str | None) -> int:
    if kind is None and reason is None and warnings is None:
        return 0
    return crc32(repr((kind, reason, warnings)).encode("utf-8", "surrogatepass"))


# Payloads: named bytes under the digest of what they are a pure function of.


CHUNK = 500
"""Payloads asked for in one query: they may be large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a store keeps for work that is not a cell of a comparison.

    Attributes
    ----------
    digest : str
        Of everything that the data depend on.
    name : str
        Which of the things that the work gave.
    kind : str
        What work it was, for somebody who looks into the store.
    data : bytes
        The thing itself.
    """

    digest: str
    name: str
    kind: str
    data: bytes

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.digest, self.name


def write(connection: sa.Connection, waiting: Sequence[Payload]) -> None:
    """Insert what is not there yet; a payload never changes."""
    from sqlalchemy.dialects import postgresql, sqlite

    from bestofk.run.store.schema import payloads
    from bestofk.run.store.stored_study import now

    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    written = now()
    # In one order for all, so that two writers never wait for each other.
    rows = [
        {"digest": one.digest, "name": one.name, "kind": one.kind, "data": one.data,
         "written": written, "checksum": of_bytes(one.data)}
        for one in sorted(waiting, key=lambda payload: payload.key)
    ]  # fmt: skip
    statement = dialect.insert(payloads).on_conflict_do_nothing(index_elements=["digest", "name"])
    connection.execute(statement, rows)


def find(
    connection: sa.Connection, digests: Sequence[str], name: str, *, version: int
) -> tuple[dict[str, bytes], list[str]]:
    """The data of that name under those digests; the digests of those that are damaged."""
    import sqlalchemy as sa

    from bestofk.run.store.cells import among, asked
    from bestofk.run.store.schema import CHECKSUMS_SINCE, payloads

    checksum: Any = payloads.c.checksum if version >= CHECKSUMS_SINCE else sa.null()
    data_column = sa.type_coerce(payloads.c.data, sa.types.NullType())
    statement = sa.select(payloads.c.digest, data_column, checksum).where(
        payloads.c.digest.in_(among(connection.dialect)), payloads.c.name == name
    )
    found: dict[str, bytes] = {}
    spoilt: list[str] = []
    for wanted in asked(connection.dialect, digests, CHUNK):
        given = wanted if isinstance(wanted, dict) else {"wanted": wanted[0]}
        for digest, data, kept in connection.execute(statement, given).all():
            whole = isinstance(data, bytes | memoryview) and type(kept) in (int, type(None))
            if whole and kept in (None, of_bytes(bytes(data))):
                found[digest] = bytes(data)
            else:
                spoilt.append(digest)
    return found, spoilt


def drop_damaged(connection: sa.Connection, digests: Sequence[str], name: str) -> None:
    """Delete those of the payloads that are damaged, as they are now."""
    import sqlalchemy as sa

    from bestofk.run.store.schema import SCHEMA_VERSION, payloads

    _, spoilt = find(connection, digests, name, version=SCHEMA_VERSION)
    if spoilt:
        connection.execute(
            sa.delete(payloads).where(payloads.c.digest.in_(spoilt), payloads.c.name == name)
        )
