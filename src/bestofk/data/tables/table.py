"""Columns by name as a data frame of pandas, imported when one is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import TableError, UnknownNameError
from bestofk.data.tables.values import DecimalMark, Form, parse_numbers

if TYPE_CHECKING:
    import pandas as pd


def data_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Columns of one length as a data frame; None stays None.

    Examples
    --------
    >>> data_frame({"learner": ["a", "b"], "better": [None, "a"]})
      learner better
    0       a   None
    1       b      a
    """
    import pandas as pd

    return pd.DataFrame(
        {
            name: pd.Series(list(cells), dtype=object if _holds_words(cells) else None)
            for name, cells in columns.items()
        }
    )


def _holds_words(cells: Any) -> bool:
    """Names, words or nothing at all: a column of objects, so that None stays None."""
    listed = list(cells)
    return bool(listed) and (
        any(isinstance(cell, str) for cell in listed) or all(cell is None for cell in listed)
    )


# A table: named columns whose cells stay as written, and where in the file each row stands.


MISSING_MARKERS = ("", "?", "na", "n/a", "nan", "null", "none")
"""What stands for a missing cell, in any case of letters and with blanks around it."""

_PART = 1 << 16
Objects = npt.NDArray[np.object_]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowLocation:
    """Where the rows of a column stand, counted from 1."""

    source: str
    column: str

    def __call__(self, row: int) -> str:
        """The place of the row counted from 0."""
        return f"{self.source}: row {row + 1}, column {self.column!r}"


class Levels(NamedTuple):
    """A column as codes into its distinct cells; -1 stands for a cell that is empty."""

    codes: Codes
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeptRows:
    """Where rows that were kept of others stood among those."""

    rows: npt.NDArray[np.int64]
    locate: Callable[[int], int] | None

    def __call__(self, row: int) -> int:
        original = int(self.rows[row])
        return original + 1 if self.locate is None else self.locate(original)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table:
    """Columns of cells, as a file holds them.

    Parameters
    ----------
    source : str
        What errors call the table: the name of the file, or "the data frame".
    cells : mapping of str to pyarrow.Array
        The columns in order: text where the format is text, typed where the format is typed.
    declared : mapping of str to tuple of str
        The nominal values that the file declares for a column, in the order it declares them.
    account : tuple of str
        What was understood, in sentences.
    delimiter : str or None
        The delimiter of a delimited text.
    locate : callable or None
        Takes a row counted from 0 and gives its line in the file counted from 1; None where
        rows have no lines, and errors count the rows from 1.

    Examples
    --------
    >>> table = Table.from_columns({"learner": ["nn", "c4.5"], "error": ["0.25", "0.5"]})
    >>> table.columns, table.n_rows
    (('learner', 'error'), 2)
    >>> table.numbers("error")
    array([0.25, 0.5 ])
    """

    source: str
    cells: Mapping[str, Any]
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    account: tuple[str, ...] = ()
    delimiter: str | None = None
    locate: Callable[[int], int] | None = None

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Sequence[Any]], *, source: str = "the table"
    ) -> Table:
        """A table of sequences of equal length."""
        from bestofk.data.tables.values import arrow_column

        cells: dict[str, Any] = {}
        for name, values in columns.items():
            if str(name) in cells:
                raise TableError(f"{source}: two columns are named {str(name)!r}.")
            cells[str(name)] = arrow_column(values, where=RowLocation(source, str(name)))
        sizes = {name: len(column) for name, column in cells.items()}
        if len(set(sizes.values())) > 1:
            (first, n), *rest = sizes.items()
            other, m = next(pair for pair in rest if pair[1] != n)
            raise TableError(
                f"{source}: columns must be of one length; got {n} rows in {first!r} and {m} in "
                f"{other!r}."
            )
        rows = next(iter(sizes.values()), 0)
        return cls(
            source=source, cells=cells, account=(f"{source}: {size_words(rows, len(cells))}.",)
        )

    @classmethod
    def from_frame(cls, frame: Any, *, source: str = "the data frame") -> Table:
        """A table of a pandas data frame; an index that carries names becomes its first columns."""
        import pandas as pd

        if isinstance(frame.columns, pd.MultiIndex):
            raise TableError(
                f"{source} must have one level of column names; got {frame.columns.nlevels}."
            )
        index = frame.index
        named = any(level is not None for level in index.names)
        if named or not (isinstance(index, pd.RangeIndex) or index.inferred_type == "integer"):
            names = [
                str(level) if level is not None else f"column {i + 1}"
                for i, level in enumerate(index.names)
            ]
            frame = frame.reset_index(names=names)
        names = [str(name) for name in frame.columns]
        twice = {name for name, count in Counter(names).items() if count > 1}
        if twice:
            raise TableError(f"{source}: two columns are named {sorted(twice)[0]!r}.")
        columns = {name: frame.iloc[:, i].array for i, name in enumerate(names)}
        return cls.from_columns(columns, source=source)

    @property
    def from_file(self) -> bool:
        """Whether the source is the name of a file, not of something in memory."""
        return not self.source.startswith("the ")

    def take(self, keep: npt.NDArray[np.bool_]) -> Table:
        """The rows that are marked; errors name the lines that they had."""
        import pyarrow as pa

        rows = np.flatnonzero(keep)
        return replace(
            self,
            cells={name: column.filter(pa.array(keep)) for name, column in self.cells.items()},
            locate=KeptRows(rows=rows, locate=self.locate),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.cells)

    @property
    def n_rows(self) -> int:
        """The number of rows below the header."""
        return len(next(iter(self.cells.values()))) if self.cells else 0

    def __repr__(self) -> str:
        return f"Table({self.source!r}, {size_words(self.n_rows, len(self.cells))})"

    def __contains__(self, column: object) -> bool:
        return column in self.cells

    def location(self, row: int, column: str | None = None) -> str:
        """Where a cell stands: file, line (or row, counted from 1) and column."""
        kept = self.locate
        if isinstance(kept, KeptRows) and kept.locate is None:
            position = f"row {kept.rows[row] + 1}"
        else:
            position = f"row {row + 1}" if kept is None else f"line {kept(row)}"
        where = f"{self.source}: {position}"
        return where if column is None else f"{where}, column {column!r}"

    def _column(self, column: str) -> Any:
        try:
            return self.cells[column]
        except KeyError:
            raise UnknownNameError("column", column, self.columns, self.source) from None

    def is_typed_number(self, column: str) -> bool:
        """Whether the format itself says that the column holds numbers."""
        import pyarrow.types as kinds

        kind = self._column(column).type
        return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))

    def raw(self, column: str) -> Any:
        """The cells as text in an arrow array; null only where the format holds nothing."""
        from bestofk.data.tables.values import as_text

        return as_text(self._column(column))

    def text(self, column: str) -> Objects:
        """The cells as str without blanks around them; None where a cell is missing."""
        cells = self.raw(column).to_numpy(zero_copy_only=False)
        out = np.array([None if v is None else v.strip() for v in cells], dtype=np.object_)
        out[self.missing(column)] = None
        return out

    def missing(self, column: str) -> npt.NDArray[np.bool_]:
        """Which cells are empty or hold one of the marks of a missing value."""
        from bestofk.data.tables.values import is_missing

        return is_missing(self._column(column), MISSING_MARKERS)

    def levels(self, column: str) -> Levels:
        """The column as codes into its distinct cells, in order of appearance.

        Blanks around a cell are dropped. Only an empty cell has the code -1: a learner may be
        called ``NA``.
        """
        from bestofk.data.tables.values import as_text

        cells_of_column = self._column(column)
        # text once for each distinct cell, whatever the number of rows
        encoded = (
            cells_of_column
            if hasattr(cells_of_column, "dictionary")
            else cells_of_column.dictionary_encode()
        )
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        cells = [(cell or "").strip() for cell in as_text(encoded.dictionary).to_pylist()]
        if _appear_in_order(codes, len(cells)) and all(cells) and len(set(cells)) == len(cells):
            return Levels(codes, tuple(cells))
        names: dict[str, int] = {}
        new = np.full(len(cells) + 1, -1, dtype=np.int64)
        for old in _by_appearance(codes, len(cells)):
            if cells[old]:
                new[old] = names.setdefault(cells[old], len(names))
        return Levels(new[codes], tuple(names))

    def numbers(self, column: str) -> Floats:
        """The cells as floats, NaN where one is missing; the first that is no number is named."""
        parsed = parse_numbers(self._column(column), self.missing(column), delimiter=self.delimiter)
        if parsed.bad_row is not None:
            cell = self.raw(column)[parsed.bad_row].as_py()
            shown = repr(cell if len(cell) <= 60 else cell[:57] + "...")
            raise TableError(
                f"{self.location(parsed.bad_row, column)} must be a number"
                f"{parsed.reason}; got {shown}."
            )
        return parsed.values

    def is_numeric(self, column: str) -> bool:
        """Whether every cell that is not missing is a number, and at least one is."""
        missing = self.missing(column)
        if missing.all():
            return False
        return (
            parse_numbers(self._column(column), missing, delimiter=self.delimiter).bad_row is None
        )

    def numeric_share(self, column: str) -> float:
        """The share of numbers among the cells that are not missing; 0 where all are."""
        from bestofk.data.tables.values import count_numbers

        present = int((~self.missing(column)).sum())
        if not present:
            return 0.0
        if self.is_typed_number(column):
            return 1.0
        return count_numbers(self.raw(column)) / present

    def decimal_mark(self, column: str) -> DecimalMark:
        """The mark that the numbers of the column use: a point or a comma."""
        return parse_numbers(
            self._column(column), self.missing(column), delimiter=self.delimiter
        ).mark

    def number_form(self, column: str) -> Form:
        """Whether the numbers of the column are percentages, carry a spread, and so on."""
        if self.is_typed_number(column):
            return ""
        return parse_numbers(
            self._column(column), self.missing(column), delimiter=self.delimiter
        ).form


def _appear_in_order(codes: Codes, count: int) -> bool:
    """Whether the codes first appear as 0, 1, 2, ... and all of them do."""
    largest = -1
    for start in range(0, len(codes), _PART):
        part = codes[start : start + _PART]
        seen = np.maximum.accumulate(part)
        if seen[0] > largest + 1 or (seen[1:] > np.maximum(seen[:-1], largest) + 1).any():
            return False
        largest = max(largest, int(seen[-1]))
    return largest == count - 1


def _by_appearance(codes: Codes, count: int) -> list[int]:
    """The codes that occur, in order of appearance."""
    first = np.full(count, len(codes), dtype=np.int64)
    known = np.flatnonzero(codes >= 0) if (codes < 0).any() else np.arange(len(codes))
    # of several writes to a place the last one stays: the first row, when they go backwards
    first[codes[known[::-1]]] = known[::-1]
    order = np.argsort(first, kind="stable")
    codes_in_order: list[int] = order[: int((first < len(codes)).sum())].tolist()
    return codes_in_order


def size_words(rows: int, columns: int) -> str:
    return f"{rows} row{'' if rows == 1 else 's'} of {columns} column{'' if columns == 1 else 's'}"
