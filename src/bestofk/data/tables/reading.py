"""Read a table from a file of any format."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from functools import partial
from pathlib import Path
from typing import Any

from bestofk._base.checks import one_of
from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.missing_files import no_such_file
from bestofk.data.frames import as_pandas
from bestofk.data.tables.table import Table

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
_MAX_KEPT_TEXT = 1 << 25
"""Free larger texts; error messages read the file again."""
_KNOWN_BINARY = (
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\xd0\xcf\x11\xe0", "an old Office file: save it as .xlsx or CSV"),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3\0", "an SQLite data base"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x93NUMPY", "a numpy array file"),
    (b"ARROW1", "an Arrow IPC file: save it as Parquet"),
)


def as_table(source: Any, rows: str = "one row per learner") -> Table:
    """Return the cells of a file or data frame; `rows` says what an error message asks for."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        return read_table(source)
    frame = as_pandas(source, "table")
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        return Table.from_frame(frame)
    raise ArgumentError(f"table must be a path or a data frame with {rows}.")


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    nested: bool = False,
) -> Table:
    r"""Read a file into columns of cells with their locations in the file.

    Parameters
    ----------
    path : path
        CSV, TSV or other delimited text with a header, Excel (.xlsx, one sheet), Parquet, JSON
        lines (also a JSON array of objects or an object of columns), or ARFF; text may be
        compressed with gzip.
    delimiter : str, optional
        One character; detected if None (comma, semicolon, tab or pipe).
    encoding : str, optional
        Detected if None: UTF-8, UTF-16 and UTF-32 by their marks, else Latin-1.
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
    Lines without content are skipped. Empty cells and ``?``, ``NA``, ``N/A``, ``NaN``, ``null``
    and ``None`` in any case count as missing. Numbers may have a decimal comma if the comma is not
    the delimiter. A column of percentages (``12.3 %``) is read as fractions, a column of means
    with their spread (``0.91 ± 0.02``) as the means.

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
    from bestofk.data.tables.delimited import decode, decompress
    from bestofk.data.tables.workbooks import is_workbook, read_workbook

    if format is not None:
        one_of(format, "format", FORMATS)
    if delimiter is not None and (
        not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'
    ):
        raise TableError(f"delimiter must be one character other than a quote; got {delimiter!r}.")
    file = Path(path)
    source = file.name
    packed = _bytes(file)
    file_size = len(packed)
    data = decompress(packed, source)
    del packed
    if not data:
        raise TableError(f"{source}: the file is empty.")
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    named = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if (format or "parquet") == "parquet" and (
        data[:4] == b"PAR1" or "parquet" in (format, named if format is None else None)
    ):
        from bestofk.data.tables.parquet import read_parquet

        return read_parquet(data, source, file_size=file_size, nested=nested)
    if is_workbook(data) and format in (None, "xlsx"):
        return read_workbook(data, source)
    if format == "xlsx":
        raise TableError(f"{source}: not an Excel workbook, or a damaged one.")
    if encoding is None:
        for magic, what in _KNOWN_BINARY:
            if data.startswith(magic):
                raise TableError(f"{source}: not a table but {what}.")
    content, encoding = decode(data, source, encoding=encoding)
    chosen = format or _by_content(content) or named or "csv"
    if chosen == "arff":
        from bestofk.data.tables.arff import read_arff

        return read_arff(content, source, encoding=encoding, file_size=file_size)
    if chosen in ("json", "jsonl"):
        from bestofk.data.tables.json_rows import read_json

        return read_json(content, source, encoding=encoding, file_size=file_size, nested=nested)
    from bestofk.data.tables.delimited import read_delimited

    data = _utf8(data, content, encoding)
    del content
    return read_delimited(
        data,
        source,
        delimiter=delimiter,
        encoding=encoding,
        is_tsv=chosen == "tsv",
        reread=partial(_reread, file, encoding) if len(data) > _MAX_KEPT_TEXT else None,
    )


def _reread(file: Path, encoding: str) -> bytes:
    """Read the text of a file again; return nothing if the file is gone."""
    from bestofk.data.tables.delimited import decode, decompress

    try:
        data = decompress(_bytes(file), file.name)
        return _utf8(data, decode(data, file.name, encoding=encoding).content, encoding)
    except TableError:
        return b""


def _utf8(data: bytes, content: str, encoding: str) -> bytes:
    """Encode the text as UTF-8; most files already are."""
    if encoding != "utf-8":
        return content.encode("utf-8")
    return data.removeprefix(BOM_UTF8)


def _bytes(file: Path) -> bytes:
    """Read the file, or raise an error that says why it cannot be read."""
    try:
        return file.read_bytes()
    except IsADirectoryError:
        raise TableError(f"{file} must be a file; it is a directory.") from None
    except (FileNotFoundError, NotADirectoryError):
        raise TableError(no_such_file(file)) from None
    except PermissionError:
        raise TableError(f"{file} cannot be read: permission denied.") from None
    except (OSError, ValueError) as error:
        raise TableError(f"{str(file)!r} cannot be read: {error}.") from None


def _by_content(content: str) -> str | None:
    """Return the format that the beginning of the text identifies, if any."""
    start = re.sub(r"\A(?:\s*%[^\n]*\n|\s+)*", "", content[:100_000])
    if re.match(r"@relation\b", start, re.IGNORECASE):
        return "arff"
    if re.match(r'\{\s*"(?:[^"\\]|\\.)*"\s*:|\[\s*\{\s*"', start):
        return "jsonl"
    return None
