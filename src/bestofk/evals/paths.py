"""Paths into the records of a log.

- ``a.b``: a value within the row; ``a.0``: an element of a list.
- ``/a.b``: a value of the document, which is the whole JSON value, or the first row if the file is
  a list of rows.
- ``a[]``: each element of a list, or each value of an object; ``a[#]``: its number, or its key.
- ``/a[].b``: a value of the element that the row is in.
- ``{model}``: the name of the model, as a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

Levels = Sequence[tuple[Any, Any]]
"""The document and the element of each ``[]`` that leads to a row, each with its key."""
_PART = re.compile(r"\[\]|\[#\]|\{model\}|[^.\[\]{}]+")


@cache
def parse(path: str) -> list[str]:
    """Return the parts of a path.

    Examples
    --------
    >>> parse("/eval[][].status"), parse("usage.{model}.cost"), parse("[#]")
    (['eval', '[]', '[]', 'status'], ['usage', '{model}', 'cost'], ['[#]'])
    """
    return _PART.findall(path.removeprefix("/"))


def step(value: Any, keys: Sequence[str]) -> Any:
    """Return the value at some keys; None if there is none.

    Examples
    --------
    >>> step({"a": [{"b": 1}]}, ["a", "0", "b"]), step({"a": 1}, ["a", "b"])
    (1, None)
    """
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif value is None:
            return None
        elif isinstance(value, list) and key.removeprefix("-").isdecimal():
            value = value[int(key)] if -len(value) <= int(key) < len(value) else None
        else:
            return None
    return value


def value_at(value: Any, key: str) -> Any:
    """Return the value of a key, or at the dotted path that the key is.

    Examples
    --------
    >>> value_at({"doc": {"passage": 7}}, "doc.passage"), value_at({"a.b": 8}, "a.b")
    (7, 8)
    """
    found = step(value, (key,))
    return step(value, key.split(".")) if found is None else found


class Batch:
    """Some rows of a file, of which whole columns are taken.

    - `levels`: The levels of each row, which is the last of them.
    - `models`: The model of each row, for ``{model}``.

    Examples
    --------
    >>> batch = Batch([*each_row({"m": "x", "r": [{"a": {"b": 1}}, {}]}, "r[]")])
    >>> batch.column("a.b"), batch.column("/m"), batch.column("[#]")
    ([1, None], ['x', 'x'], [0, 1])
    """

    def __init__(self, levels: Sequence[Levels]) -> None:
        self.levels = levels
        self.rows = [each[-1][1] for each in levels]
        self.models: Sequence[Any] = ()
        self._columns: dict[tuple[Any, ...], list[Any]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, path: str) -> list[Any]:
        """Return the value of each row at a path, or None without one."""
        parts = parse(path)
        marks = [at for at, part in enumerate(parts) if part in ("[]", "[#]")]
        level = len(marks) if path.startswith("/") else -1
        if level == 0:
            return [step(self.levels[0][0][1], parts)] * len(self.rows)
        if marks and parts[marks[-1]] == "[#]":
            return [each[level][0] if level < len(each) else None for each in self.levels]
        values = self.rows if level < 0 else [each[level][1] for each in self.levels]
        done: tuple[Any, ...] = (level,)
        for key in parts[marks[-1] + 1 :] if marks else parts:
            done = (*done, key)
            if done not in self._columns:
                self._columns[done] = self._inner(values, key)
            values = self._columns[done]
        return values

    def first(self, paths: Sequence[str], convert: Callable[[Any], Any] = lambda v: v) -> list[Any]:
        """Return the value of each row at the first path that has one."""
        if len(self) > 1 and all(path.startswith("/") and "[" not in path for path in paths):
            # all rows have the same value
            return Batch(self.levels[:1]).first(paths, convert) * len(self)
        values = self.column(paths[0]) if paths else [None] * len(self)
        for path in paths[1:]:
            others = self.column(path)
            values = [
                other if value is None or value == "" else value
                for value, other in zip(values, others, strict=True)
            ]
        return [convert(value) for value in values]

    def _inner(self, values: Sequence[Any], key: str) -> list[Any]:
        if key == "{model}":
            return [step(v, (m,)) for v, m in zip(values, self.models, strict=True)]
        keys = (key,)
        return [v.get(key) if type(v) is dict else step(v, keys) for v in values]


def each_row(document: Any, path: str) -> Iterator[Levels]:
    """Yield the levels of each row at `path`; the document of a list of rows is its first row.

    Examples
    --------
    >>> [levels[1:] for levels in each_row({"a": {"x": [5, 6]}}, "a[][]")]
    [[('x', [5, 6]), (0, 5)], [('x', [5, 6]), (1, 6)]]
    """
    parts = parse(path)
    if isinstance(document, Mapping):
        if parts == ["[]"]:
            yield [(None, document), (0, document)]
            return
        if parts == ["[#]"]:
            yield from ([(None, document), each] for each in document.items())
            return
        yield from _inside([(None, document)], parts)
        return
    rows = iter(document)
    first = next(rows, None)
    for number, row in enumerate(chain([first], rows)):
        yield from _inside([(None, first), (number, row)], parts[1:])


def _inside(levels: list[tuple[Any, Any]], parts: Sequence[str]) -> Iterator[Levels]:
    if "[]" not in parts:
        if not parts:
            yield levels
        return
    at = parts.index("[]")
    for element in elements(step(levels[-1][1], parts[:at])):
        if at + 1 == len(parts):
            yield [*levels, element]
        else:
            yield from _inside([*levels, element], parts[at + 1 :])


def elements(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the keys and values of an object, or the numbers and elements of a list."""
    if isinstance(value, dict):
        return value.items()
    if value is None or isinstance(value, str | bytes | int | float):
        return ()
    return enumerate(value)


def named_values(rows: Sequence[Any], parts: Sequence[str]) -> Iterable[tuple[int, str, Any, Any]]:
    """Return row, name, holder and value of each score at a path that may contain ``[]``.

    The name joins the keys at the brackets. ``[]`` of a single value is the value itself.

    Examples
    --------
    >>> list(named_values([{"s": {"f1": {"value": 1}}}], ["s", "[]", "value"]))
    [(0, 'f1', {'value': 1}, 1)]
    """
    found = [(row, "", value, value) for row, value in enumerate(rows)]
    while "[]" in parts:
        at = parts.index("[]")
        keys, parts = parts[:at], parts[at + 1 :]
        inside: list[tuple[int, str, Any, Any]] = []
        for row, name, _, value in found:
            inner = step(value, keys) if keys else value
            if isinstance(inner, dict | list):
                for key, each in elements(inner):
                    inside.append((row, f"{name}/{key}" if name else str(key), each, each))
            elif inner is not None and not parts:
                inside.append((row, name, value, inner))
        found = inside
    if not parts:
        return found
    return (
        (row, name, value, step(value, parts))
        for row, name, _, value in found
        if isinstance(value, dict) and parts[0] in value
    )
