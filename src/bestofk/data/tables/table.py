"""The table: named columns whose cells stay as written, with their locations in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import TableError, UnknownNameError
from bestofk.data.cells import Levels, Numbers, coded_texts, read_numbers

if TYPE_CHECKING:
    import pandas as pd

Objects = npt.NDArray[np.object_]


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table:
    """Columns of cells as they are in a file.

    Parameters
    ----------
    source : str
        The name of the table in errors: the name of the file, or "the data frame".
    frame : pandas.DataFrame
        The columns: objects if the format is text, typed if the format is typed. The index is the
        number of each row in the source, from 0.
    declared : mapping of str to tuple of str
        The values that the source declares for a column, in order.
    account : tuple of str
        How the file was read, in sentences.
    delimiter : str or None
        The delimiter of a delimited text.
    locate : callable or None
        Returns the position of a row (from 0) in the file, such as "line 7"; None if rows have no
        lines, in which case errors count the rows from 1.

    Examples
    --------
    >>> table = Table.from_columns({"learner": ["nn", "c4.5"], "error": ["0.25", "0.5"]})
    >>> table.columns, table.n_rows
    (('learner', 'error'), 2)
    >>> table.numbers("error")
    array([0.25, 0.5 ])
    """

    source: str
    frame: pd.DataFrame
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    account: tuple[str, ...] = ()
    delimiter: str | None = None
    locate: Callable[[int], str] | None = None
    _levels: dict[str, Levels] = field(default_factory=dict, init=False)
    _numbers: dict[str, Numbers | None] = field(default_factory=dict, init=False)

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, Sequence[Any]], *, source: str = "the table"
    ) -> Table:
        """Make a table from sequences of equal length."""
        import pandas as pd

        sizes = {len(values): name for name, values in columns.items()}
        if len(sizes) > 1:
            (n, first), (m, other), *_ = sizes.items()
            raise TableError(
                f"{source}: columns must have the same length; got {n} rows in {first!r} and {m} "
                f"in {other!r}."
            )
        frame = pd.DataFrame(
            {
                name: pd.Series(values, dtype=object if isinstance(values, list) else None)
                for name, values in columns.items()
            }
        )
        return cls.from_frame(frame, source=source)

    @classmethod
    def from_frame(cls, frame: Any, *, source: str = "the data frame", account: str = "") -> Table:
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
        else:
            frame = frame.reset_index(drop=True)
        frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise TableError(f"{source}: two columns are named {twice!r}.")
        declared = {
            name: tuple(map(str, dtype.categories))
            for name, dtype in frame.dtypes.items()
            if isinstance(dtype, pd.CategoricalDtype)
        }
        size = size_words(*frame.shape)
        return cls(
            source=source,
            frame=frame,
            declared=declared,
            account=(f"{source}: {account}{', ' if account else ''}{size}.",),
        )

    @property
    def from_file(self) -> bool:
        """True if the source is a file, not something in memory."""
        return not self.source.startswith("the ")

    def take(self, keep: npt.NDArray[np.bool_]) -> Table:
        """Return the marked rows; errors still name their original lines."""
        return replace(self, frame=self.frame[keep])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.frame.columns)

    @property
    def n_rows(self) -> int:
        """The number of rows below the header."""
        return len(self.frame)

    def __repr__(self) -> str:
        return f"Table({self.source!r}, {size_words(*self.frame.shape)})"

    def __contains__(self, column: object) -> bool:
        return column in self.frame.columns

    def location(self, row: int, column: str | None = None) -> str:
        """Return the location of a cell: file, line (or row, counted from 1) and column."""
        original = int(self.frame.index[row])
        position = f"row {original + 1}" if self.locate is None else self.locate(original)
        where = f"{self.source}: {position}"
        return where if column is None else f"{where}, column {column!r}"

    def cells(self, column: str) -> pd.Series[Any]:
        """Return the cells of a column as they are in the source."""
        if column not in self.frame.columns:
            raise UnknownNameError("column", column, self.columns, self.source)
        return self.frame[column]

    def is_typed_number(self, column: str) -> bool:
        """Return whether the source holds numbers in the column, not text."""
        from pandas.api.types import infer_dtype

        kind = infer_dtype(self.cells(column), skipna=True)
        return kind in ("integer", "floating", "mixed-integer-float", "decimal")

    def text(self, column: str) -> Objects:
        """Return the cells as str without surrounding spaces; None for missing cells."""
        levels = self.levels(column)
        return np.array([*levels.names, None], dtype=np.object_)[levels.codes]

    def missing(self, column: str) -> npt.NDArray[np.bool_]:
        """Return which cells are empty or hold one of `cells.MISSING_TEXTS`."""
        return self.levels(column).codes < 0

    def levels(self, column: str) -> Levels:
        """Return the column as codes into its distinct cells, in order of appearance."""
        if column not in self._levels:
            import pandas as pd

            cells = self.cells(column)
            codes, names = coded_texts(cells)
            if isinstance(cells.dtype, pd.CategoricalDtype):
                # declared values are in declared order, and some may not occur
                used = pd.unique(codes)
                used = used[used >= 0]
                new_codes = np.full(len(names) + 1, -1, dtype=codes.dtype)
                new_codes[used] = np.arange(len(used))
                codes, names = new_codes[codes], tuple(names[code] for code in used)
            self._levels[column] = Levels(codes, names)
        return self._levels[column]

    def numbers(self, column: str) -> Floats:
        """Return the cells as floats (NaN if missing); raise at the first that is no number."""
        parsed = self._parse(column)
        if parsed is not None:
            return parsed.values
        names = self.levels(column).names
        bad = next((k for k, name in enumerate(names) if read_numbers([name]) is None), None)
        if bad is None:
            other = next((name for name in names if read_numbers([names[0], name]) is None), "")
            raise TableError(
                f"{self.source}: the numbers of column {column!r} must be written in one way; got "
                f"{names[0]!r:.60} and {other or names[-1]!r:.60}."
            )
        row = int((self.levels(column).codes == bad).argmax())
        raise TableError(f"{self.location(row, column)} must be a number; got {names[bad]!r:.60}.")

    def is_numeric(self, column: str) -> bool:
        """Return whether every cell that is not missing is a number, and at least one is."""
        parsed = self._parse(column)
        return parsed is not None and not np.isnan(parsed.values).all()

    def number_form(self, column: str) -> str:
        """Return how the numbers of the column are written, for a note; empty if plain."""
        parsed = self._parse(column)
        return "" if parsed is None else parsed.form

    def _parse(self, column: str) -> Numbers | None:
        if column not in self._numbers:
            parsed = read_numbers(self.cells(column), delimiter=self.delimiter, allow_words=False)
            if parsed is not None:
                parsed = parsed._replace(values=parsed.values.view())
                parsed.values.flags.writeable = False
            self._numbers[column] = parsed
        return self._numbers[column]


def size_words(rows: int, columns: int) -> str:
    """Return the size of a table in words."""
    return f"{rows} row{'' if rows == 1 else 's'} of {columns} column{'' if columns == 1 else 's'}"
