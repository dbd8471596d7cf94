"""Read and quote ARFF, Weka's format: declared attributes, then dense or sparse rows."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from bestofk._base.errors import TableError
from bestofk.data.tables.limits import check_columns, check_expansion
from bestofk.data.tables.table import RowLines, Table, size_words

_NUMERIC = ("numeric", "real", "integer")
_BLANKS = re.compile(r"\s*")
_QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)
_BARE = re.compile(r"[^,{}]*")
_INDEX = re.compile(r"\s*(\d{1,9})\s+")
_NAME = re.compile(
    r"""\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*(.*)\Z""", re.DOTALL
)
_PARTICULAR = re.compile(
    r"""["{}\0]|\\[nrtu]|[^,\n\\]'(?!\s*(?:,|\n|\Z))|[^\S\n]['?]|'[^\S\n]+(?:,|\n|\Z)"""
)
"""Syntax that the fast parser does not support: double quotes, braces, escapes, stray quotes."""
_BYTES_PER_CELL = 16
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "u001E": "\x1e"}
_ESCAPE = re.compile(r"\\(u001E|.)", re.DOTALL)


class Attribute(NamedTuple):
    """One declared column; `values` is None unless it is nominal."""

    name: str
    kind: str
    values: tuple[str, ...] | None


def read_arff(content: str, source: str, *, encoding: str, file_size: int | None = None) -> Table:
    """Read a table from ARFF text."""
    import pyarrow as pa

    if not content.strip():
        raise TableError(f"{source}: the file is empty.")
    attributes, start = _header(content, source)
    lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")[start:]
    rows = [
        (number, line)
        for number, line in enumerate(lines, start=start + 1)
        if (bare := line.strip()) and not bare.startswith("%")
    ]
    if not rows:
        raise TableError(
            f"{source}: the file declares {len(attributes)} attributes and holds no rows."
        )
    if any(line.lstrip().startswith("{") for _, line in rows):
        check_expansion(
            source,
            file_size=len(content) if file_size is None else file_size,
            needed=len(rows) * len(attributes) * _BYTES_PER_CELL,
            what=f"expands to {len(rows)} rows of {len(attributes)} cells",
        )
    body = "\n".join(line for _, line in rows)
    if _PARTICULAR.search(body) or len(attributes) == 1:
        columns = _parse_rows(rows, attributes, source)
    else:
        columns = _parse_plain(body, rows, attributes, source)
    cells = {a.name: pa.array(c, type=pa.string()) if isinstance(c, list) else c
             for a, c in zip(attributes, columns, strict=True)}  # fmt: skip
    numbers = tuple(number for number, _ in rows)
    table = Table(
        source=source,
        cells=cells,
        declared={a.name: a.values for a in attributes if a.values is not None},
        account=(f"{source}: ARFF, {encoding}, {size_words(len(rows), len(attributes))}.",),
        locate=RowLines(numbers),
    )
    _check_kinds(table, attributes)
    return table


def quote(text: str) -> str:
    """Return `text` as an ARFF value: in single quotes with Weka's escapes unless it is plain."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", text):
        return text
    for mark, escape in (
        ("\\", "\\\\"), ("'", "\\'"), ('"', '\\"'), ("%", "\\%"),
        ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"), ("\x1e", "\\u001E"),
    ):  # fmt: skip
        text = text.replace(mark, escape)
    return f"'{text}'"


def _unquote(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)


def _header(content: str, source: str) -> tuple[list[Attribute], int]:
    """Return the attributes, and the number of lines up to and including ``@data``."""
    attributes: list[Attribute] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(
        content.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1
    ):
        bare = line.strip()
        if not bare or bare.startswith("%"):
            continue
        word = re.split(r"[\s{'\"]", bare, maxsplit=1)[0].lower()
        if word == "@relation":
            continue
        if word == "@data":
            if not attributes:
                raise TableError(f"{source}: line {number}: @data comes before any @attribute.")
            return attributes, number
        if word != "@attribute":
            raise TableError(
                f"{source}: line {number} must be @relation, @attribute, @data or a comment; got "
                f"{_short(bare)}."
            )
        attribute = _attribute(bare, number, source)
        if attribute.name in seen:
            raise TableError(
                f"{source}: lines {seen[attribute.name]} and {number} both declare the attribute "
                f"{attribute.name!r}."
            )
        seen[attribute.name] = number
        attributes.append(attribute)
        check_columns(source, len(attributes))
    raise TableError(f"{source}: the file has no @data line.")


def _attribute(line: str, number: int, source: str) -> Attribute:
    match = _NAME.match(line[len("@attribute") :])
    if match is None:
        raise TableError(f"{source}: line {number} must name an attribute; got {_short(line)}.")
    name = _unquote(next(group for group in match.groups()[:3] if group is not None)).strip()
    rest = match[4].strip()
    if rest.startswith("{"):
        end = rest.rfind("}")
        values = _tokens(rest[1:end]) if end > 0 else None
        if values is None:
            raise TableError(
                f"{source}: line {number}: the values of attribute {name!r} must be in braces, "
                f"separated by commas; got {_short(rest)}."
            )
        return Attribute(name, "nominal", tuple("" if value is None else value for value in values))
    kind = (rest.split() or [""])[0].lower()
    if kind not in (*_NUMERIC, "string", "date"):
        raise TableError(
            f"{source}: line {number}: the type of attribute {name!r} must be numeric, real, "
            f"integer, string, date or values in braces; got {_short(rest)}."
        )
    return Attribute(name, kind, None)


def _tokens(line: str) -> list[str | None] | None:
    """Split one line into cells (None for an unquoted ``?``); return None if a quote is open."""
    cells: list[str | None] = []
    at = 0
    while True:
        token = _token(line, at)
        if token is None:
            return None
        cells.append(token.cell)
        at = token.end
        if not token.more:
            return cells


class _Token(NamedTuple):
    """One cell, the start of the next, and whether there is a next."""

    cell: str | None
    end: int
    more: bool


def _token(line: str, at: int) -> _Token | None:
    """Read the cell that begins at `at`, in linear time."""
    begin = _BLANKS.match(line, at).end()  # type: ignore[union-attr]
    cell: str | None
    if line[begin : begin + 1] in ("'", '"'):
        quoted = _QUOTED.match(line, begin)
        if quoted is None:
            return None
        cell = _unquote(quoted[1] if quoted[1] is not None else quoted[2])
        end = _BLANKS.match(line, quoted.end()).end()  # type: ignore[union-attr]
    else:
        end = _BARE.match(line, begin).end()  # type: ignore[union-attr]
        cell = line[begin:end].rstrip()
        cell = None if cell == "?" else cell
    if end == len(line):
        return _Token(cell, end, False)
    return _Token(cell, end + 1, True) if line[end] == "," else None


def _parse_plain(
    body: str, rows: list[tuple[int, str]], attributes: list[Attribute], source: str
) -> list[Any]:
    """Parse rows that contain no quotes but single ones; the fast parser."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(i) for i in range(len(attributes))]
    data = body.encode("utf-8")
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=names, block_size=min(len(data) + 65536, 1 << 28)
            ),
            parse_options=arrow_csv.ParseOptions(
                quote_char="'", double_quote=False, escape_char="\\"
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=["?"],
            ),
        )
    except pa.ArrowInvalid:
        return _parse_rows(rows, attributes, source)
    return [column.combine_chunks() for column in table.columns]


def _parse_rows(
    rows: list[tuple[int, str]], attributes: list[Attribute], source: str
) -> list[list[str | None]]:
    columns: list[list[str | None]] = [[] for _ in attributes]
    width = len(attributes)
    for number, line in rows:
        bare = line.strip()
        if bare.startswith("{"):
            cells = _sparse(bare, number, attributes, source)
        else:
            parted = _tokens(line)
            if parted is None:
                raise TableError(
                    f"{source}: line {number} cannot be split into cells; got {_short(bare)}."
                )
            if len(parted) != width:
                raise TableError(
                    f"{source}: line {number} has {len(parted)} cell"
                    f"{'' if len(parted) == 1 else 's'}, but {width} attributes are declared."
                )
            cells = parted
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
    return columns


def _sparse(line: str, number: int, attributes: list[Attribute], source: str) -> list[str | None]:
    """Parse a row ``{index value, ...}``; other cells are 0 or the first nominal value."""
    cells: list[str | None] = [a.values[0] if a.values else "0" for a in attributes]
    inside = line.strip()
    if not inside.endswith("}"):
        raise TableError(f"{source}: line {number} opens a brace but does not close it.")
    inside = inside[1:-1].strip()
    at, last = 0, -1
    while at < len(inside):
        index = _INDEX.match(inside, at)
        value = index and _token(inside, index.end())
        if not index or not value or not last < int(index[1]) < len(attributes):
            raise TableError(
                f"{source}: line {number} must hold pairs of an index below {len(attributes)} and "
                f"a value, in ascending order; got {_short(inside[at:])}."
            )
        last = int(index[1])
        cells[last] = value.cell
        at = value.end
    return cells


def _check_kinds(table: Table, attributes: list[Attribute]) -> None:
    """Raise at the first cell that is not of its declared type."""
    for attribute in attributes:
        if attribute.kind in _NUMERIC:
            table.numbers(attribute.name)
        elif attribute.values is not None:
            levels = table.levels(attribute.name)
            known = {value.strip() for value in attribute.values}
            for code, name in enumerate(levels.names):
                if name not in known and name != "?":
                    row = int((levels.codes == code).argmax())
                    raise TableError(
                        f"{table.location(row, attribute.name)} must be one of the declared "
                        f"values; got {_short(name)}."
                    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
