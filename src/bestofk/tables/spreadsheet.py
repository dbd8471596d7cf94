"""Cells that a spreadsheet would run as formulas: marked as text when written, unmarked when read.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, even where
it is quoted in the file; an apostrophe before it says that it is text. Numbers need none.
"""

from __future__ import annotations

import re
from typing import Any

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"'*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|'*[+-](?:inf|nan)")
_MARKED = "^'+[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"


def as_text_cell(text: str) -> str:
    """`text` for a cell, with an apostrophe before what would be run.

    Examples
    --------
    >>> as_text_cell("=1+1"), as_text_cell("-1.5"), as_text_cell("nn")
    ("'=1+1", '-1.5', 'nn')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def from_text_cell(text: str) -> str:
    """What `as_text_cell` was given.

    Examples
    --------
    >>> from_text_cell("'=1+1"), from_text_cell("'nn'"), from_text_cell("'-1.5")
    ('=1+1', "'nn'", "'-1.5")
    """
    return text[1:] if text.startswith("'") and as_text_cell(text) != text else text


def unmarked(column: Any) -> Any:
    """An arrow column of text in which marked cells are as they were before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(column, _MARKED)).as_py():
        return column
    encoded = column.dictionary_encode()
    words = [from_text_cell(word) for word in encoded.dictionary.to_pylist()]
    return pa.array(words, type=pa.string()).take(encoded.indices)
