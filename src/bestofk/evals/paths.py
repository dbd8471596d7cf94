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
from itertools import chain
from typing import Any

Levels = Sequence[tuple[Any, Any]]
"""The document and the element of each ``[]`` that leads to a row, each with its key."""
Getter = Callable[[Levels], Any]
_PART = re.compile(r"\[\]|\[#\]|\{model\}|[^.\[\]{}]+")


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


def getter(path: str | Sequence[str], model: Getter | None = None) -> Getter:
    """Return a function of the levels of a row; of several paths the first with a value counts."""
    if not isinstance(path, str) and len(path) < 2:
        return getter(path[0], model) if path else lambda _: None
    if not isinstance(path, str):
        each = [getter(one, model) for one in path]

        def first_value(levels: Levels) -> Any:
            for get in each:
                value = get(levels)
                if value is not None and value != "":
                    return value
            return None

        return first_value
    parts = parse(path)
    marks = [at for at, part in enumerate(parts) if part in ("[]", "[#]")]
    level = len(marks) if path.startswith("/") else -1
    if marks and parts[marks[-1]] == "[#]":
        return lambda levels: levels[level][0] if level < len(levels) else None
    keys = parts[marks[-1] + 1 :] if marks else parts
    if "{model}" in keys and model is not None:
        by_model: dict[Any, list[str]] = {}

        def of_model(levels: Levels) -> Any:
            name = model(levels)
            if name not in by_model:
                by_model[name] = [str(name) if key == "{model}" else key for key in keys]
            return step(levels[level][1], by_model[name])

        return of_model
    if len(keys) not in (1, 2):
        return lambda levels: step(levels[level][1], keys)
    first, *second = keys

    def get(levels: Levels) -> Any:
        value = levels[level][1]
        value = value.get(first) if type(value) is dict else step(value, keys[:1])
        if not second or value is None:
            return value
        return value.get(keys[1]) if type(value) is dict else step(value, second)

    return get


def is_constant(path: str | Sequence[str]) -> bool:
    """Return whether all rows of a file have the same value at a path."""
    paths = [path] if isinstance(path, str) else path
    return all(each.startswith("/") and "[" not in each for each in paths)


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


def named_values(
    value: Any, parts: Sequence[str], name: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, holder and value of each score at a path that may contain ``[]``.

    The name joins the keys at the brackets. ``[]`` of a single value is the value itself.

    Examples
    --------
    >>> list(named_values({"s": {"f1": {"value": 1}}}, ["s", "[]", "value"]))
    [('f1', {'value': 1}, 1)]
    """
    if "[]" not in parts:
        if not parts or (isinstance(value, dict) and parts[0] in value):
            yield name, value, step(value, parts)
        return
    at = parts.index("[]")
    inner = step(value, parts[:at])
    if not isinstance(inner, dict | list):
        if inner is not None and at + 1 == len(parts):
            yield name, value, inner
        return
    for key, each in elements(inner):
        yield from named_values(each, parts[at + 1 :], f"{name}/{key}" if name else str(key))
