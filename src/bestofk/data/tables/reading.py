"""Read a table from a file of any format, a folder, a database, or an object in memory."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from bestofk._base.checks import one_of
from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.files import read_file
from bestofk.data.cells import as_pandas
from bestofk.data.tables.limits import decompress
from bestofk.data.tables.table import Table, size_words

FORMATS = ("csv", "tsv", "parquet", "jsonl", "json", "arff", "xlsx")
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".arff": "arff",
}
_BEGINNING = 100_000
_DELIMITED = (".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".tab.gz")


def read_table(source: Any, *, format: str | None = None, nested: bool = False) -> Table:
    r"""Read columns of cells with their locations in the source.

    Parameters
    ----------
    source : path, URL, data frame, list of dictionaries or Table
        CSV, TSV or other delimited text with a header, Excel (``scores.xlsx``, or
        ``scores.xlsx#Sheet2``), Parquet, JSON lines (also a JSON array of objects or an object of
        columns), or ARFF; text may be compressed with gzip. A folder of CSV files with the same
        columns. A table or query of a database (``sqlite:///scores.db#table``, or another
        SQLAlchemy URL). A data frame of pandas, polars or Arrow.
    format : str, optional
        ``"csv"``, ``"tsv"``, ``"xlsx"``, ``"parquet"``, ``"jsonl"``, ``"json"`` or ``"arff"``;
        detected by content and suffix if None.
    nested : bool
        Read objects in the cells of JSON and Parquet as columns with dotted names
        (``scores.accuracy``), and the rows of a JSON object that contains a list of objects.

    Returns
    -------
    Table
        Cells stay text until you call `Table.numbers`. `Table.account` says how the file was read.

    Raises
    ------
    TableError
        With one sentence that names the file, and the line and the column if possible.

    Notes
    -----
    Lines without content are skipped. Empty cells, ``?`` and what pandas reads as missing
    (`bestofk.data.cells.MISSING_TEXTS`) are missing. Numbers may have one thousands
    separator, decimal mark, currency sign or percent sign in a column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "scores.csv")
    >>> _ = file.write_text("learner;error\nnn;0,25\nc4.5;0,5\n")
    >>> table = read_table(file)
    >>> table.numbers("error")
    array([0.25, 0.5 ])
    >>> print(*table.account)
    scores.csv: delimited text, utf-8, delimiter semicolon (detected), 2 rows of 2 columns.
    >>> folder.cleanup()
    """
    if format is not None:
        one_of(format, "format", FORMATS)
    if isinstance(source, Table):
        return source
    if not isinstance(source, str | os.PathLike):
        return _from_object(source)
    path = os.fspath(source)
    before, _, part = path.partition("#")
    if re.match(r"\w[\w+]*://", path):
        from bestofk.data.tables.sql import read_sql

        return read_sql(before, part)
    file = Path(path)
    if part and not file.exists():
        file = Path(before)
    else:
        part = ""
    if file.is_dir():
        return _read_folder(file)
    return _read_file(file, sheet=part, stated=format, nested=nested)


def _from_object(source: Any) -> Table:
    if isinstance(source, list) and source and all(isinstance(row, dict) for row in source):
        from bestofk.data.tables.json_rows import from_rows

        return from_rows(source)
    frame = as_pandas(source, "table")
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        return Table.from_frame(frame)
    raise ArgumentError(
        "table must be a path, a URL, a data frame or a list of dictionaries; got a "
        f"{type(source).__name__}."
    )


def _read_file(
    file: Path, *, sheet: str = "", stated: str | None = None, nested: bool = False
) -> Table:
    """Read a file by the format that is stated, or that its content or its suffix shows."""
    from bestofk.data.tables.delimited import decode, read_delimited
    from bestofk.data.tables.workbooks import is_workbook, read_workbook

    source = file.name
    packed = read_file(file)
    size = len(packed)
    data = decompress(packed, source)
    del packed
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() != ".gz"]
    named = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if (stated or ("parquet" if data[:4] == b"PAR1" else named)) == "parquet":
        from bestofk.data.tables.arrow_files import read_parquet

        return read_parquet(data, source, file_size=size, nested=nested)
    if is_workbook(data) and stated in (None, "xlsx"):
        return read_workbook(data, source, sheet=sheet or None)
    if stated == "xlsx":
        raise TableError(f"{source}: not an Excel workbook, or a damaged one.")
    if data.startswith(b"SQLite format 3\0"):
        raise TableError(f"{source} is a database: name a table as in 'sqlite:///{file}#TABLE'.")
    if sheet:
        raise TableError(f"{source}: only an Excel workbook has sheets; got {sheet!r:.60}.")
    text = decode(data, source)
    del data
    if not text.data.strip():
        raise TableError(f"{source}: the file is empty.")
    chosen = stated or _by_content(text.data[:_BEGINNING].decode(errors="ignore")) or named
    if chosen == "arff":
        from bestofk.data.tables.arff import read_arff

        return read_arff(text, source, file_size=size)
    if chosen in ("json", "jsonl"):
        from bestofk.data.tables.json_rows import read_json

        return read_json(text, source, file_size=size, nested=nested)
    return read_delimited(text, file, is_tsv=chosen == "tsv", file_size=size)


def _read_folder(folder: Path) -> Table:
    """Read CSV files with the same columns, in the order of their names."""
    import pandas as pd

    files = sorted(file for file in folder.iterdir() if file.name.lower().endswith(_DELIMITED))
    if not files:
        raise TableError(
            f"{folder} must be a file, or a folder of CSV files; for LLM evaluation logs use "
            "'bestofk evals' (bestofk.read_evals)."
        )
    tables = [_read_file(file) for file in files]
    for table in tables:
        if table.columns != tables[0].columns:
            raise TableError(
                f"{folder}: all files must have the columns of {tables[0].source}; "
                f"{table.source} has others."
            )
    ends = list(accumulate(table.n_rows for table in tables))

    def locate(row: int) -> str:
        k = bisect_right(ends, row)
        return tables[k].location(row - (ends[k - 1] if k else 0))

    frame = pd.concat([table.frame for table in tables], ignore_index=True)
    source = folder.name
    return replace(
        tables[0],
        source=source,
        frame=frame,
        account=(f"{source}: {len(files)} CSV files, {size_words(*frame.shape)}.",),
        locate=locate,
    )


def _by_content(content: str) -> str | None:
    """Return the format that the beginning of the text identifies, if any."""
    start = re.sub(r"\A(?:\s*%[^\n]*\n|\s+)*", "", content)
    if re.match(r"@relation\b", start, re.IGNORECASE):
        return "arff"
    if re.match(r'\{\s*"(?:[^"\\]|\\.)*"\s*:|\[\s*\{\s*"', start):
        return "jsonl"
    return None
