"""Limit the memory that files may need; all readers share this.

A reader calls one of the checks before it builds what the file declares. The error names the
environment variable that allows more.
"""

from __future__ import annotations

import os
import re
from io import BytesIO

from bestofk._base.errors import ArgumentError, TableError

VARIABLE = "BESTOFK_MAX_MEMORY"
"""The environment variable with the limit, such as 12G; it replaces the limits below."""
MAX_RATIO = 20
"""Maximum ratio of the size in memory to the size of the file."""
EXPANDED = 64 << 20
"""Bytes in memory that any file may expand to."""
MAX_COLUMNS = 100_000
BYTES_PER_CELL = 24
"""Memory of a cell in a list of Python objects that are shared or small."""
BYTES_PER_OBJECT = 64
"""Memory of a small Python object, such as a number in a row of a database."""
_PIECE = 1 << 20
_LARGE_JSON = 1 << 20
"""Characters of JSON below which its memory is not estimated."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def decompress(data: bytes, source: str) -> bytes:
    """Unpack `data` if it is gzip."""
    if data[:2] != b"\x1f\x8b":
        return data
    import gzip
    import zlib

    unpacked = bytearray()
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            while piece := file.read(_PIECE):
                unpacked += piece
                check_expansion(
                    source, file_size=len(data), needed=len(unpacked), what="unpacks to far more"
                )
    except (OSError, EOFError, zlib.error):
        raise TableError(f"{source}: the gzip data are damaged or cut off.") from None
    return bytes(unpacked)


def allowed_bytes(file_size: int) -> int:
    """Return how many bytes in memory a file of `file_size` bytes may need."""
    stated = os.environ.get(VARIABLE, "").strip()
    if not stated:
        return max(EXPANDED, MAX_RATIO * file_size)
    size = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT]?)(?:i?B)?", stated, re.IGNORECASE)
    if size is None:
        raise ArgumentError(f"{VARIABLE} must be a size such as 500M or 12G; got {stated!r:.40}.")
    return int(float(size[1]) * _UNITS[size[2].upper()])


def check_expansion(source: str, *, file_size: int, needed: int, what: str) -> None:
    """Raise if the cells of a file would need more than `allowed_bytes`."""
    if needed > allowed_bytes(file_size):
        more = f"{-(-needed * 2 // (1 << 30))}G"
        raise TableError(
            f"{source}: the file of {size_in_words(file_size)} {what}, {size_in_words(needed)} or "
            f"more in memory; to allow that, set the environment variable {VARIABLE}={more}."
        )


def check_columns(source: str, count: int) -> None:
    """Raise if a table has too many columns."""
    if count > MAX_COLUMNS:
        raise TableError(f"{source}: a table has at most {MAX_COLUMNS} columns; got {count}.")


def size_in_words(count: int) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> size_in_words(900), size_in_words(3_200_000), size_in_words(12 << 30)
    ('900 bytes', '3.05 MB', '12 GB')
    """
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if count >= unit:
            return (
                f"{count / unit:.3g} {name}" if count < 1000 * unit else f"{count // unit} {name}"
            )
    return f"{count} bytes"


def check_cells(
    source: str, *, file_size: int, rows: int, columns: int, bytes_per_cell: int = BYTES_PER_CELL
) -> None:
    """Raise if a table of `rows` and `columns` would need too much memory; call it before."""
    check_expansion(
        source,
        file_size=file_size,
        needed=rows * columns * bytes_per_cell,
        what=f"expands to {rows} rows of {columns} columns",
    )


def check_json(text: str | bytes, source: str, *, file_size: int) -> None:
    """Raise if the values of a JSON text would need too much memory; call it before parsing.

    Empty lists and objects need 60 times their size as text.
    """
    if needed := json_bytes(text):
        check_expansion(source, file_size=file_size, needed=needed, what="contains many values")


def json_bytes(text: str | bytes) -> int:
    """Estimate the memory of the values of a JSON text; 0 if the text is short."""
    if len(text) < _LARGE_JSON:
        return 0
    if isinstance(text, bytes):
        lists, objects, commas = text.count(b"["), text.count(b"{"), text.count(b",")
    else:
        lists, objects, commas = text.count("["), text.count("{"), text.count(",")
    return len(text) + 64 * lists + 128 * objects + 32 * commas
