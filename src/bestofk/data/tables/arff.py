"""Read ARFF, Weka's format: declared attributes, then dense rows."""

from __future__ import annotations

import csv
import re

from bestofk._base.errors import TableError
from bestofk.data.tables.delimited import Text, split_cells
from bestofk.data.tables.table import Table, size_words

_ATTRIBUTE = r"@attribute\s+(?:Q([^Q]*)Q|([^\s{Q]+))\s*(?:\{(.*)\}|(\w+).*)\s*(?:%.*)?"
_ESCAPES = {"\\\\": "\ue000", "\\'": "\ue001", '\\"': "\ue002", "\\%": "\ue003", "\\n": "\ue004",
            "\\r": "\ue005", "\\t": "\ue006", "\\u001E": "\ue007"}  # fmt: skip
"""Escapes of Weka, and the characters that stand for them while the text is split."""
_ESCAPED = dict(zip(map(ord, _ESCAPES.values()), "\\'\"%\n\r\t\x1e", strict=True))


def read_arff(text: Text, source: str, *, file_size: int) -> Table:
    """Read a table from ARFF text."""
    import pandas as pd

    content = re.sub(r"\r\n?", "\n", text.data.decode())
    for escape, mark in _ESCAPES.items():
        content = content.replace(escape, mark)
    quote = '"' if '"' in content and "'" not in content else "'"
    lines = content.split("\n")
    start = next((i for i, line in enumerate(lines) if _word(line) == "@data"), len(lines)) + 1
    values: dict[str, tuple[str, ...] | None] = {}
    numeric = []
    for number, line in enumerate(lines[: start - 1], start=1):
        if _word(line) != "@attribute":
            continue
        name, declared, kind = _attribute(line, f"{source}: line {number}", quote)
        if name in values:
            raise TableError(f"{source}: line {number} declares the attribute {name!r:.60} again.")
        values[name] = declared
        numeric += [name] if kind in ("numeric", "real", "integer") else []
    lines = ["" if line.lstrip().startswith("%") else line for line in lines[start:]]
    rows = [number for number, line in enumerate(lines, start=start + 1) if line.strip()]
    if not values or not rows:
        raise TableError(
            f"{source}: the file has {len(values)} attributes and {len(rows)} rows after @data."
        )
    if lines[rows[0] - start - 1].lstrip().startswith("{"):
        raise TableError(f"{source}: rows in braces (sparse ARFF) are not read: save it as CSV.")
    frame = split_cells(
        "\n".join(lines).encode(), source, delimiter=",", width=len(values), file_size=file_size,
        first_line=start + 1, quote=quote,
    )  # fmt: skip
    frame.columns = pd.Index(list(values), dtype=object)
    table = Table(
        source=source,
        frame=frame.map(lambda cell: cell.strip().translate(_ESCAPED)),
        declared={name: known for name, known in values.items() if known is not None},
        account=(f"{source}: ARFF, {text.encoding}, {size_words(*frame.shape)}.",),
        locate=lambda row: f"line {rows[row]}",
    )
    for name in numeric:
        table.numbers(name)
    for name, known in table.declared.items():
        cells = table.frame[name]
        other = ~cells.isin([*known, "?"])
        if other.any():
            row = int(other.argmax())
            raise TableError(
                f"{table.location(row, name)} must be one of the declared values; got "
                f"{cells[row]!r:.60}."
            )
        table.frame[name] = pd.Categorical(
            cells.where(cells != "?"), categories=pd.Index(known, dtype=object)
        )
    return table


def _word(line: str) -> str:
    """Return the first word of a line in lower case."""
    return re.split(r"[\s{'\"]", line.strip(), maxsplit=1)[0].lower()


def _attribute(line: str, where: str, quote: str) -> tuple[str, tuple[str, ...] | None, str | None]:
    """Return the name of an attribute, and its values or its type."""
    match = re.fullmatch(_ATTRIBUTE.replace("Q", quote), line.strip(), re.IGNORECASE)
    if match is None:
        raise TableError(f"{where} must declare an attribute; got {line.strip()!r:.60}.")
    name = (match[1] if match[1] is not None else match[2]).strip().translate(_ESCAPED)
    if match[3] is None:
        kind = match[4].lower()
        if kind not in ("numeric", "real", "integer", "string", "date"):
            raise TableError(
                f"{where}: the type of {name!r:.60} must be numeric, real, integer, string, date "
                f"or values in braces; got {kind!r:.60}."
            )
        return name, None, kind
    (cells,) = csv.reader([match[3]], quotechar=quote, skipinitialspace=True)
    return name, tuple(dict.fromkeys(cell.strip().translate(_ESCAPED) for cell in cells)), None
