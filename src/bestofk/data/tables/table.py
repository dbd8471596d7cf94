"""The table: named columns whose cells stay as written, with their locations in the file."""

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
    """Make a data frame of columns of the same length; None stays None.

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
    """Return whether a column needs the object dtype, so that None is kept."""
    listed = list(cells)
    return bool(listed) and (
        any(isinstance(cell, str) for cell in listed) or all(cell is None for cell in listed)
    )


MISSING_MARKERS = ("", "?", "na", "n/a", "nan", "null", "none")
"""Texts of missing cells, in any case and with spaces around them."""

Objects = npt.NDArray[np.object_]
Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class RowLocation:
    """The location of a cell of a column in messages, by the row counted from 0."""

    source: str
    column: str

    def __call__(self, row: int) -> str:
        return f"{self.source}: row {row + 1}, column {self.column!r}"


@dataclass(frozen=True, slots=True)
class RowLines:
    """The line of each row in the file, by the row counted from 0."""

    lines: Sequence[int]

    def __call__(self, row: int) -> int:
        return self.lines[row]


class Levels(NamedTuple):
    """A column as codes into its distinct cells; -1 is the code of an empty cell."""

    codes: Codes
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeptRows:
    """The original locations of rows that were selected from a table."""

    rows: npt.NDArray[np.int64]
    locate: Callable[[int], int] | None

    def __call__(self, row: int) -> int:
        original = int(self.rows[row])
        return original + 1 if self.locate is None else self.locate(original)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table:
    """Columns of cells as they are in a file.

    Parameters
    ----------
    source : str
        The name of the table in errors: the name of the file, or "the data frame".
    cells : mapping of str to pyarrow.Array
        The columns in order: text if the format is text, typed if the format is typed.
    declared : mapping of str to tuple of str
        The nominal values that the file declares for a column, in order.
    account : tuple of str
        How the file was read, in sentences.
    delimiter : str or None
        The delimiter of a delimited text.
    locate : callable or None
        Returns the line (from 1) of a row (from 0) in the file; None if rows have no lines, in
        which case errors count the rows from 1.

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
    _levels: dict[str, Levels] = field(default_factory=dict, init=False)

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Sequence[Any]], *, source: str = "the table"
    ) -> Table:
        """Make a table from sequences of equal length."""
        from bestofk.data.tables.values import arrow_column

        cells: dict[str, Any] = {}
        for name, values in columns.items():
            if str(name) in cells:
                raise TableError(f"{source}: two columns are named {str(name)!r}.")
            cells[str(name)] = arrow_column(
                values, where=RowLocation(source, str(name)), name=str(name)
            )
        sizes = {name: len(column) for name, column in cells.items()}
        if len(set(sizes.values())) > 1:
            (first, n), *rest = sizes.items()
            other, m = next(pair for pair in rest if pair[1] != n)
            raise TableError(
                f"{source}: columns must have the same length; got {n} rows in {first!r} and {m} "
                f"in {other!r}."
            )
        rows = next(iter(sizes.values()), 0)
        return cls(
            source=source, cells=cells, account=(f"{source}: {size_words(rows, len(cells))}.",)
        )

    @classmethod
    def from_frame(cls, frame: Any, *, source: str = "the data frame") -> Table:
        """Make a table from a pandas data frame; an index of names becomes its first columns."""
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
        """True if the source is a file, not something in memory."""
        return not self.source.startswith("the ")

    def take(self, keep: npt.NDArray[np.bool_]) -> Table:
        """Return the marked rows; errors still name their original lines."""
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
        """Return the location of a cell: file, line (or row, counted from 1) and column."""
        locate = self.locate
        if isinstance(locate, KeptRows) and locate.locate is None:
            position = f"row {locate.rows[row] + 1}"
        else:
            position = f"row {row + 1}" if locate is None else f"line {locate(row)}"
        where = f"{self.source}: {position}"
        return where if column is None else f"{where}, column {column!r}"

    def _column(self, column: str) -> Any:
        try:
            return self.cells[column]
        except KeyError:
            raise UnknownNameError("column", column, self.columns, self.source) from None

    def is_typed_number(self, column: str) -> bool:
        """Return whether the format declares the column to hold numbers."""
        import pyarrow.types as kinds

        kind = self._column(column).type
        return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))

    def raw(self, column: str) -> Any:
        """Return the cells as text in an arrow array; null only if the format has no value."""
        from bestofk.data.tables.values import as_text

        return as_text(self._column(column))

    def text(self, column: str) -> Objects:
        """Return the cells as str without surrounding spaces; None for missing cells."""
        cells = self.raw(column).to_numpy(zero_copy_only=False)
        out = np.array([None if v is None else v.strip() for v in cells], dtype=np.object_)
        out[self.missing(column)] = None
        return out

    def missing(self, column: str) -> npt.NDArray[np.bool_]:
        """Return which cells are empty or hold one of the `MISSING_MARKERS`."""
        from bestofk.data.tables.values import is_missing

        return is_missing(self._column(column), MISSING_MARKERS)

    def levels(self, column: str) -> Levels:
        """Return the column as codes into its distinct cells, in order of appearance.

        Spaces around a cell are dropped. Only an empty cell has the code -1, because a learner may
        be called ``NA``.
        """
        if column not in self._levels:
            self._levels[column] = self._find_levels(column)
        return self._levels[column]

    def _find_levels(self, column: str) -> Levels:
        import pyarrow.compute as pc

        from bestofk.data.tables.values import as_text, plain_numbers

        encoded = self._column(column)
        if not hasattr(encoded, "dictionary"):
            encoded = encoded.dictionary_encode()
        cells = [(cell or "").strip() for cell in as_text(encoded.dictionary).to_pylist()]
        names: dict[str, int] = {}
        new_codes = np.full(len(cells) + 1, -1, dtype=np.int32)
        for code in pc.unique(encoded.indices).drop_null().to_pylist():
            if cells[code]:
                new_codes[code] = names.setdefault(cells[code], len(names))
        indices = encoded.indices.fill_null(-1) if encoded.null_count else encoded.indices
        codes = plain_numbers(indices)
        if not encoded.null_count and (new_codes[:-1] == np.arange(len(cells))).all():
            return Levels(codes.astype(np.int32, copy=False), tuple(names))
        return Levels(new_codes[codes], tuple(names))

    def numbers(self, column: str) -> Floats:
        """Return the cells as floats (NaN if missing); raise at the first that is no number."""
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
        """Return whether every cell that is not missing is a number, and at least one is."""
        missing = self.missing(column)
        if missing.all():
            return False
        return (
            parse_numbers(self._column(column), missing, delimiter=self.delimiter).bad_row is None
        )

    def numeric_share(self, column: str) -> float:
        """Return the share of numbers among the cells that are not missing; 0 if all are."""
        from bestofk.data.tables.values import count_numbers

        present = int((~self.missing(column)).sum())
        if not present:
            return 0.0
        if self.is_typed_number(column):
            return 1.0
        return count_numbers(self.raw(column)) / present

    def decimal_mark(self, column: str) -> DecimalMark:
        """Return the decimal mark of the column: a point or a comma."""
        return parse_numbers(
            self._column(column), self.missing(column), delimiter=self.delimiter
        ).mark

    def number_form(self, column: str) -> Form:
        """Return whether the numbers of the column are percentages, have a spread, and so on."""
        if self.is_typed_number(column):
            return ""
        return parse_numbers(
            self._column(column), self.missing(column), delimiter=self.delimiter
        ).form


def size_words(rows: int, columns: int) -> str:
    return f"{rows} row{'' if rows == 1 else 's'} of {columns} column{'' if columns == 1 else 's'}"
