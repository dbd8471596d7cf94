"""Formats of evaluation logs: tables of paths in ``formats.toml``, which users can extend."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from bestofk._base.errors import ArgumentError, TableError, UnknownNameError
from bestofk._base.files import read_toml
from bestofk.evals.paths import Batch, each_row, parse, step
from bestofk.evals.rows import STATUSES
from bestofk.evals.sources import Source

OWN_FORMATS = Path(__file__).with_name("formats.toml")
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """The table of a format. All values are paths (`bestofk.evals.paths`) unless stated otherwise.

    A role takes one path, or a list of which the first with a value counts.

    Examples
    --------
    >>> known_formats()["promptfoo"].rows
    ('results.results[]', '[]')
    """

    name: str
    called: str
    """The name of the tool in sentences."""
    files: str = ""
    """The files to name, in words."""
    file: str = ""
    """A regular expression for the path of the file. Its named groups are roles, such as model."""
    companion: str = ""
    """What to do if there are only such files, which belong to others and have no scores."""
    require: Names = ()
    """Values that must be there, in the first row or (with ``/``) in the document."""
    rows: Names = ("[]",)
    """The first path whose first row has the required values. ``[]`` are the rows of a list, or the
    document itself; ``[#]`` are the values of the document."""
    lists: Mapping[str, Any] = field(default_factory=dict)
    """Lists of items instead of rows: the score or status by path. An item counts once, in the
    first list that has it, and by ``*`` if only other files have it."""
    split: str = ""
    """Characters that split the keys of a row into nested keys."""
    where: Names = ()
    """Conditions on rows: ``path`` or ``path=value``."""
    model: Names = ()
    variant: Mapping[str, Any] = field(default_factory=dict)
    """Settings by name that make another model if they differ on one task."""
    task: Names = ()
    item: Names = ()
    """``a + b`` joins two values."""
    group: Names = ()
    """The cluster of an item, unless the user names another."""
    epoch: Names = ()
    score: Names = ()
    """All of them are metrics, named by their last keys or by the keys at ``[]``. ``a & b`` is the
    smaller one of two, ``a - 1`` is less by one."""
    repeats: str = ""
    """``epochs``: a score that is a list holds the scores of epochs."""
    metric: str = ""
    """The name of the metric, next to the score."""
    default: Names = ()
    """The metrics that the tool itself puts first."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Words that are scores, besides pass, fail, correct, incorrect, yes, no, true and false.
    ``0:word`` is for the first row of a list only; ``-1`` is also a number."""
    higher: str = ""
    """An object that says by metric, or by task and metric, whether higher is better."""
    cost: Names = ()
    """``a + b`` adds two amounts, ``a / 1000`` divides; also in the other amounts."""
    latency: Names = ()
    tokens_in: Names = ()
    tokens_out: Names = ()
    error: Names = ()
    """Conditions under which a sample failed."""
    limit: Names = ()
    """Conditions under which a sample hit a limit."""
    cached: Names = ()
    """Conditions under which the latency does not count."""
    cluster: Names = ()
    """Objects that may hold the key of the cluster, besides the row."""
    item_parts: Mapping[str, str] = field(default_factory=dict)
    """Clusters by name that a regular expression finds in the name of an item."""
    content: Names = ()
    """What must be the same for one item of all models."""
    time: Names = ()
    """When it ran: of several results of an item the latest counts. Of a path in the document those
    of the latest file count."""

    def rows_path(self, source: Source, document: Any, first: Any) -> str | None:
        """Return the path of the rows of a file of this format, and None for another file.

        `first` is the first row of a list of rows.
        """
        if self.file and not re.search(self.file, source.path.absolute().as_posix()):
            return None
        is_list = not isinstance(document, Mapping)
        top = Batch([[(None, first if is_list else document)]])
        absolute = [path for path in self.require if path.startswith("/")]
        if not all(top.column(path)[0] is not None for path in absolute):
            return None
        relative = [path for path in self.require if not path.startswith("/")]
        for path in self.rows:
            if not relative:
                return path
            rows = each_row([first] if is_list else document, path)
            row = next((each[-1][1] for each in rows if isinstance(each[-1][1], Mapping)), None)
            if self.split:
                row = split_keys(row, self.split)
            if row is not None and all(_has(row, key) for key in relative):
                return path
        return None


def _has(row: Any, path: str) -> bool:
    """Return whether a row has a key, even if its value is null."""
    head, _, last = path.rpartition(".")
    holder = step(row, parse(head))
    return isinstance(holder, Mapping) and last in holder


def split_keys(row: Any, characters: str) -> Any:
    """Return a row with nested keys: ``a/b`` becomes b within a.

    Examples
    --------
    >>> split_keys({"exact/value": 1, "id": 2}, "/.")
    {'exact': {'value': 1}, 'id': 2}
    """
    if not isinstance(row, Mapping):
        return row
    nested: dict[str, Any] = {}
    for key, value in row.items():
        *outer, last = re.split(f"[{re.escape(characters)}]", str(key))
        holder = nested
        for part in outer:
            inside = holder.get(part)
            holder[part] = inside if isinstance(inside, dict) else {}
            holder = holder[part]
        holder[last] = value
    return nested


def known_formats(more: str | os.PathLike[str] | None = None) -> dict[str, Format]:
    """Return the formats by name, those of the user's TOML file first."""
    if more is None:
        return _own_formats()
    added = _read(Path(more))
    return added | {name: own for name, own in _own_formats().items() if name not in added}


@cache
def _own_formats() -> dict[str, Format]:
    return _read(OWN_FORMATS)


def _read(path: Path) -> dict[str, Format]:
    return {name: _format(name, table, path.name) for name, table in read_toml(path).items()}


def _format(name: str, table: Any, where: str) -> Format:
    if not isinstance(table, dict):
        raise TableError(
            f"{where}: {name!r} must be a table, [{name}], with the paths of a format."
        )
    kinds = {each.name: str(each.type) for each in fields(Format) if each.name != "name"}
    values: dict[str, Any] = {"called": name}
    for key, value in table.items():
        if key not in kinds:
            raise UnknownNameError("key of a format", key, kinds, where)
        if kinds[key] == "Names":
            value = (value,) if isinstance(value, str) else value
            valid = isinstance(value, tuple | list) and all(isinstance(v, str) for v in value)
            value = tuple(value) if valid else value
        elif kinds[key] == "str":
            valid = isinstance(value, str)
        else:
            valid = isinstance(value, dict)
        if not valid:
            raise TableError(f"{where}: {key!r} of {name!r} must be {_KINDS[kinds[key][:3]]}.")
        values[key] = value
    _check(name, values, where)
    return Format(name=name, **values)


_KINDS = {"Nam": "a path or a list of paths", "str": "a text", "Map": "a table"}


def _check(name: str, values: Mapping[str, Any], where: str) -> None:
    if not values.get("require") and not values.get("file"):
        raise TableError(f"{where}: {name!r} needs 'require', the keys that recognise a file.")
    has_scores = values.get("score") and values.get("item")
    if not (has_scores or values.get("lists") or values.get("companion")):
        raise TableError(f"{where}: {name!r} needs the paths of 'item' and 'score'.")
    for value in values.get("lists", {}).values():
        if not isinstance(value, int | float) and value not in STATUSES:
            raise ArgumentError(f"{where}: 'lists' of {name!r} must hold scores or statuses.")
    for pattern in (values.get("file", ""), *values.get("item_parts", {}).values()):
        try:
            re.compile(pattern)
        except re.error as error:
            raise TableError(
                f"{where}: {pattern!r} of {name!r} is not a pattern: {error}."
            ) from None


def peeked(document: Any) -> tuple[Any, Any]:
    """Return a document that can still be read, and the first row of a list of rows."""
    if isinstance(document, Mapping):
        return document, document
    if isinstance(document, list):
        return document, document[0] if document else None
    rows: Iterator[Any] = iter(document)
    first = next(rows, None)
    return chain([first], rows) if first is not None else [], first
