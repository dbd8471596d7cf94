"""How much memory a file may ask for: a small file must not fill the machine."""

from __future__ import annotations

import os
import re

from bestofk.errors import ArgumentError, TableError

VARIABLE = "BESTOFK_MAX_MEMORY"
"""The environment variable that states the limit, such as 12G; it replaces the limits below."""
RATIO = 50
"""So many times its size a file may take when it is unpacked."""
UNPACKED = 16 << 20
"""Bytes of text that any packed file may hold."""
EXPANDED = 256 << 20
"""Bytes of cells that any file may stand for."""
MOST_COLUMNS = 100_000
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def allowed_bytes(file_size: int, at_least: int) -> int:
    """What a file of `file_size` bytes may take; `at_least` is granted to any."""
    stated = os.environ.get(VARIABLE, "").strip()
    if not stated:
        return max(at_least, RATIO * file_size)
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT]?)(?:i?B)?", stated, re.IGNORECASE)
    if found is None:
        raise ArgumentError(f"{VARIABLE} must be a size such as 500M or 12G; got {stated!r:.40}.")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def check_expansion(source: str, *, file_size: int, needed: int, what: str) -> None:
    """Raise where the cells of a file would take more than `allowed_bytes`."""
    if needed > allowed_bytes(file_size, EXPANDED):
        raise too_large(source, file_size=file_size, needed=needed, what=what)


def too_large(source: str, *, file_size: int, needed: int, what: str) -> TableError:
    """The sentence for a file that asks for too much, with the setting that allows it."""
    more = f"{-(-needed * 2 // (1 << 30))}G"
    return TableError(
        f"{source}: the file of {size_in_words(file_size)} {what}, {size_in_words(needed)} or more "
        f"in memory; if that is right, set the environment variable {VARIABLE}={more}."
    )


def check_columns(source: str, count: int) -> None:
    """Raise where a table has more columns than anybody means."""
    if count > MOST_COLUMNS:
        raise TableError(f"{source}: a table has at most {MOST_COLUMNS} columns; got {count}.")


def size_in_words(count: int) -> str:
    """A number of bytes as people read it.

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
