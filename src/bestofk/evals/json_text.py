"""JSON that others wrote: read with limits, line by line or element by element."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bestofk.errors import TableError

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODE = json.JSONDecoder().raw_decode
LONGEST_LINE = 1 << 28
"""Bytes of the longest line that is read."""


def loads(text: str, where: str) -> Any:
    """The value of a JSON text; NaN and Infinity may stand bare in it."""
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:
        raise not_json(error, where) from None


def not_json(error: Exception, where: str) -> TableError:
    """The sentence for a text that is not JSON."""
    if isinstance(error, RecursionError):
        why = "brackets stand too deep in each other"
    elif isinstance(error, json.JSONDecodeError):
        why = f"{error.msg}, line {error.lineno} column {error.colno}"
    else:
        why = "a whole number has thousands of digits"
    return TableError(f"{where} is not JSON that can be read ({why}).")


def each_line(path: Path, where: str, note: Callable[[str], None]) -> Iterator[tuple[int, Any]]:
    """The number and the value of each line; a last line that was cut off is left out and told."""
    broken: tuple[int, Exception] | None = None
    parse = json.loads
    with _opened(path, where) as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if broken is not None:
                if not line.strip():
                    continue
                raise not_json(broken[1], f"{where}: line {broken[0]}")
            try:
                value = parse(line)
            except (RecursionError, ValueError) as error:
                if not line.strip(b" \t\r\n\xef\xbb\xbf\0"):
                    continue
                broken = (number, error)
                if line.endswith(b"\n") or number == 1 or not _cut_off(error):
                    raise not_json(error, f"{where}: line {number}") from None
                continue
            yield number, value
    if broken is not None:
        note(f"{where}: the last line is cut off and was left out (a run that was broken off?).")


@contextmanager
def _opened(path: Path, where: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is gzip."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if not packed:
            yield file
            return
        from io import BytesIO

        from bestofk.tables.text import decompress

        yield BytesIO(decompress(file.read(), where))


def _cut_off(error: Exception) -> bool:
    return isinstance(error, json.JSONDecodeError | UnicodeDecodeError)


class JsonParts:
    """A JSON object whose one long array is read one element at a time.

    Parameters
    ----------
    text : str
        The object.
    stream : tuple of str
        The keys that lead to the array.
    where : str
        What errors call the text.

    Examples
    --------
    >>> text = '{"version": 3, "results": {"stats": 1, "results": [{"a": 1}, {"a": 2}]}}'
    >>> for path, value in JsonParts(text, ("results", "results"), "x.json"):
    ...     print(path, value)
    ('version',) 3
    ('results', 'stats') 1
    ('results', 'results', '[]') {'a': 1}
    ('results', 'results', '[]') {'a': 2}
    """

    def __init__(self, text: str, stream: tuple[str, ...], where: str) -> None:
        self._text, self._stream, self._where = text, stream, where
        self._at = 0

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        self._at = 0
        self._skip()
        if self._mark() != "{":
            raise TableError(f"{self._where} must be a JSON object.")
        yield from self._object((), self._stream)
        self._skip()
        if self._at < len(self._text):
            raise self._wrong()

    def _object(
        self, path: tuple[str, ...], stream: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], Any]]:
        for _ in self._between("{", "}"):
            key = self._key()
            here = (*path, key)
            if not stream or key != stream[0] or self._mark() not in "{[":
                yield here, self._value()
            elif self._mark() == "[" and len(stream) == 1:
                for _ in self._between("[", "]"):
                    yield (*here, "[]"), self._value()
            elif self._mark() == "{" and len(stream) > 1:
                yield from self._object(here, stream[1:])
            else:
                yield here, self._value()

    def _between(self, left: str, right: str) -> Iterator[None]:
        """Once for each member between the brackets, at its beginning."""
        self._take(left)
        first = True
        while self._mark() != right:
            if not first:
                self._take(",")
            first = False
            if self._at >= len(self._text):
                raise self._wrong()
            yield
            self._skip()
        self._take(right)

    def _value(self) -> Any:
        try:
            value, self._at = _DECODE(self._text, self._at)
        except (RecursionError, ValueError) as error:
            raise not_json(error, self._where) from None
        return value

    def _key(self) -> str:
        key = self._value()
        if not isinstance(key, str):
            raise self._wrong()
        self._skip()
        self._take(":")
        return key

    def _mark(self) -> str:
        return self._text[self._at : self._at + 1] or " "

    def _take(self, mark: str) -> None:
        if self._mark() != mark:
            raise self._wrong()
        self._at += 1
        self._skip()

    def _skip(self) -> None:
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _wrong(self) -> TableError:
        if self._at >= len(self._text):
            return TableError(f"{self._where}: the JSON is cut off.")
        line = self._text.count("\n", 0, self._at) + 1
        return TableError(f"{self._where} is not JSON that can be read (line {line}).")
