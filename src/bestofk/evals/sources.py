"""Files of evaluation logs: finding them, and reading JSON and zip archives within limits."""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from filecmp import cmp
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from bestofk._base.errors import ArgumentError, MissingExtraError, TableError
from bestofk._base.missing_files import no_such_file
from bestofk.data.tables.limits import (
    allowed_bytes,
    check_expansion,
    check_json,
    json_bytes,
)

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODE = json.JSONDecoder().raw_decode
_INCOMPLETE = (json.JSONDecodeError, UnicodeDecodeError)
"""Errors that a truncated line can cause."""
MAX_LINE_BYTES = 1 << 28
_WINDOW = 1 << 16
"""Characters of most elements of an array."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]')


def loads(text: str, where: str, *, file_size: int | None = None) -> Any:
    """Return the value of a JSON text, which may contain bare NaN and Infinity.

    `file_size` is the size of the compressed file that contains the text, if it is compressed.
    """
    check_json(text, where, file_size=len(text) if file_size is None else file_size)
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:
        raise not_json(error, where) from None


def not_json(error: Exception, where: str) -> TableError:
    """Return the error for a text that is not JSON."""
    if isinstance(error, RecursionError):
        reason = "brackets are nested too deeply"
    elif isinstance(error, json.JSONDecodeError):
        reason = f"{error.msg}, line {error.lineno} column {error.colno}"
    else:
        reason = "a whole number has thousands of digits"
    return TableError(f"{where} is not valid JSON ({reason}).")


def each_line(path: Path, where: str, note: Callable[[str], None]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line; note and skip a truncated last line."""
    broken: tuple[int, Exception] | None = None
    parse, file_size = json.loads, path.stat().st_size
    with _opened(path, where) as file:
        number = 0
        while line := file.readline(MAX_LINE_BYTES):
            number += 1
            if broken is not None:
                if not line.strip():
                    continue
                raise not_json(broken[1], f"{where}: line {broken[0]}")
            check_json(line, where, file_size=file_size)
            try:
                value = parse(line)
            except (RecursionError, ValueError) as error:
                if not line.strip(b" \t\r\n\xef\xbb\xbf\0"):
                    continue
                broken = (number, error)
                if line.endswith(b"\n") or number == 1 or not isinstance(error, _INCOMPLETE):
                    raise not_json(error, f"{where}: line {number}") from None
                continue
            yield number, value
    if broken is not None:
        note(f"{where}: the last line is truncated and was skipped (an interrupted run?).")


@contextmanager
def _opened(path: Path, where: str) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed if it is gzip."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if not packed:
            yield file
            return
        from io import BytesIO

        from bestofk.data.tables.limits import decompress

        yield BytesIO(decompress(file.read(), where))


class JsonParts:
    """A JSON object with one long array, or a long array, read one element at a time.

    - `text`: The object or the array.
    - `stream`: The keys that lead to the array.
    - `where`: The name of the text in errors.
    - `file_size`: The size of the compressed file that contains the text, if it is compressed.

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

    def __init__(
        self,
        text: str,
        stream: tuple[str, ...],
        where: str,
        *,
        file_size: int | None = None,
    ) -> None:
        self._text, self._stream, self._where = text, stream, where
        self._position = 0
        self._file_size = len(text) if file_size is None else file_size
        # one element at a time may be all right if the whole text is not
        self._check_each = json_bytes(text) > allowed_bytes(self._file_size)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        self._position = 0
        self._skip_blanks()
        if not self._stream and self._next() == "[":
            for _ in self._between("[", "]"):
                yield ("[]",), self._value()
        elif self._next() == "{":
            yield from self._object((), self._stream)
        else:
            raise TableError(f"{self._where} must be a JSON object.")
        self._skip_blanks()
        if self._position < len(self._text):
            raise self._error()

    def _object(
        self, path: tuple[str, ...], stream: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], Any]]:
        for _ in self._between("{", "}"):
            key = self._key()
            here = (*path, key)
            if not stream or key != stream[0] or self._next() not in "{[":
                yield here, self._value()
            elif self._next() == "[" and len(stream) == 1:
                for _ in self._between("[", "]"):
                    yield (*here, "[]"), self._value()
            elif self._next() == "{" and len(stream) > 1:
                yield from self._object(here, stream[1:])
            else:
                yield here, self._value()

    def _between(self, left: str, right: str) -> Iterator[None]:
        """Yield once for each member between the brackets, at its beginning."""
        self._expect(left)
        first = True
        while self._next() != right:
            if not first:
                self._expect(",")
            first = False
            if self._position >= len(self._text):
                raise self._error()
            yield
            self._skip_blanks()
        self._expect(right)

    def _value(self) -> Any:
        if self._check_each:
            window = self._text[self._position : self._position + _WINDOW]
            try:
                value, length = _DECODE(window, 0)
            except (RecursionError, ValueError):
                self._check_element()
            else:
                # a number at the end of the window may continue
                if length < len(window):
                    self._position += length
                    return value
        try:
            value, self._position = _DECODE(self._text, self._position)
        except (RecursionError, ValueError) as error:
            raise not_json(error, self._where) from None
        return value

    def _check_element(self) -> None:
        """Refuse a long element whose values would need too much memory."""
        depth, needed = 0, 0
        most = allowed_bytes(self._file_size)
        for token in _TOKEN.finditer(self._text, self._position):
            symbol = token[0]
            if symbol in ("{", "["):
                depth += 1
                needed += 128
            elif symbol in ("}", "]"):
                depth -= 1
                if depth <= 0:
                    break
            elif symbol == ",":
                needed += 32
            if needed > most:
                break
        needed += len(self._text) if depth > 0 else 0
        check_expansion(
            self._where, file_size=self._file_size, needed=needed, what="contains many values"
        )

    def _key(self) -> str:
        key = self._value()
        if not isinstance(key, str):
            raise self._error()
        self._skip_blanks()
        self._expect(":")
        return key

    def _next(self) -> str:
        return self._text[self._position : self._position + 1] or " "

    def _expect(self, character: str) -> None:
        if self._next() != character:
            raise self._error()
        self._position += 1
        self._skip_blanks()

    def _skip_blanks(self) -> None:
        match = _BLANK.match(self._text, self._position)
        self._position = match.end() if match else self._position

    def _error(self) -> TableError:
        if self._position >= len(self._text):
            return TableError(f"{self._where}: the JSON is truncated.")
        line = self._text.count("\n", 0, self._position) + 1
        return TableError(f"{self._where} is not valid JSON (line {line}).")


STORED, DEFLATED, ZSTANDARD = 0, 8, 93
"""Compression methods of a zip archive."""
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")


class ZipMembers:
    """The members of a zip archive by name, decompressed on request within limits."""

    def __init__(self, path: Path) -> None:
        self.source = path.name
        self._file_size = path.stat().st_size
        try:
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError):
            raise TableError(
                f"{self.source}: the zip archive is damaged or truncated: its table of contents, "
                "at its end, cannot be read."
            ) from None
        self._members = {info.filename: info for info in self._archive.infolist()}
        self._unpacked = 0

    def __enter__(self) -> ZipMembers:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the archive."""
        return tuple(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def text(self, name: str) -> str:
        """Return a member as text."""
        try:
            return self.read(name).decode("utf-8")
        except UnicodeDecodeError:
            raise TableError(f"{self.source}: {name!r} is not UTF-8 text.") from None

    def json(self, name: str) -> Any:
        """Return the value of a member."""
        return loads(self.text(name), self._where(name), file_size=self._file_size)

    def elements(self, name: str) -> Iterator[Any]:
        """Yield the elements of a member that is an array."""
        where, text = self._where(name), self.text(name)
        if not text.lstrip().startswith("["):
            raise TableError(f"{where} must be an array.")
        for _, value in JsonParts(text, (), where, file_size=self._file_size):
            yield value

    def _where(self, name: str) -> str:
        return f"{self.source}: {name!r:.120}"

    def read(self, name: str) -> bytes:
        """Return a decompressed member, and check its checksum."""
        info = self._members[name]
        where = self._where(name)
        if info.flag_bits & 1:
            raise TableError(f"{where} is encrypted.")
        self._unpacked += info.file_size
        check_expansion(
            self.source,
            file_size=self._file_size,
            needed=max(info.file_size, self._unpacked // 8),
            what="unpacks to far more",
        )
        try:
            data = self._unpack(info)
        except (OSError, ValueError, zlib.error, struct.error, EOFError):
            raise TableError(f"{where} is damaged and cannot be decompressed.") from None
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise TableError(f"{where} is damaged: its checksum differs.")
        return data

    def _unpack(self, info: zipfile.ZipInfo) -> bytes:
        packed = self._packed(info)
        if info.compress_type == STORED:
            return packed
        if info.compress_type == DEFLATED:
            # no more bytes than announced, which `read` has checked
            return zlib.decompressobj(-15).decompress(packed, info.file_size + 1)
        if info.compress_type == ZSTANDARD:
            try:
                import pyarrow as pa
            except ImportError:
                raise MissingExtraError(f"{self.source}: zstandard", "parquet") from None
            if not info.file_size:
                return b""
            unpacked: bytes = pa.Codec("zstd").decompress(
                packed, decompressed_size=info.file_size, asbytes=True
            )
            return unpacked
        raise TableError(
            f"{self.source}: {info.filename!r:.120} uses zip method {info.compress_type}; bestofk "
            "reads stored, deflate and zstandard."
        )

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        file = self._archive.fp
        if file is None:
            raise ValueError("closed")
        file.seek(info.header_offset)
        head = file.read(_LOCAL_HEADER.size)
        signature, *_, name_size, extra_size = _LOCAL_HEADER.unpack(head)
        if signature != b"PK\x03\x04":
            raise ValueError("no local header")
        file.seek(name_size + extra_size, 1)
        data = file.read(info.compress_size)
        if len(data) != info.compress_size:
            raise EOFError
        return data


HEAD_BYTES = 1 << 18
"""Bytes by which a format recognises a file."""
_KEY_CHARACTERS = 1 << 15
"""Characters to search first for the keys of a file."""
MAX_FILES = 200_000


class Source:
    """A file, and the facts that its beginning shows."""

    def __init__(self, path: Path, *, named: bool, root: Path | None = None) -> None:
        self.path = path
        self.model: str | None = None
        """The name of the model, if the user states it."""
        self.named = named
        """True if the user named the file itself, not a folder."""
        self.root = path.parent if root is None else root

    @cached_property
    def name(self) -> str:
        """The name of the file in messages, relative to the folder that the user named."""
        try:
            return self.path.relative_to(self.root).as_posix()
        except ValueError:
            return self.path.name

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    @cached_property
    def size(self) -> int:
        """The size in bytes."""
        return self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed if the file is gzip."""
        try:
            with self.path.open("rb") as file:
                data = file.read(HEAD_BYTES)
        except OSError as error:
            raise TableError(f"{self.name} cannot be read: {error.strerror or error}.") from None
        if data[:2] != b"\x1f\x8b":
            return data
        try:
            return zlib.decompressobj(31).decompress(data, HEAD_BYTES)
        except zlib.error:
            return data

    @cached_property
    def stem(self) -> str:
        """The name of the file without its suffixes, including ``.gz``."""
        name = self.path.name
        return Path(name[:-3] if name.lower().endswith(".gz") else name).stem

    @cached_property
    def members(self) -> frozenset[str]:
        """The names in a zip archive; empty if the file is not an intact archive."""
        if self.head[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
            return frozenset()
        try:
            with ZipMembers(self.path) as archive:
                return frozenset(archive.names)
        except TableError:
            return frozenset()

    @cached_property
    def is_binary(self) -> bool:
        """True if the first bytes contain NUL and the file is not Parquet."""
        return b"\0" in self.head[:4096] and self.head[:4] != b"PAR1"

    @cached_property
    def text_head(self) -> str:
        """The first bytes as text; empty if they are binary."""
        if b"\0" in self.head[:4096]:
            return ""
        return self.head.decode("utf-8", errors="replace").lstrip("\ufeff")

    @cached_property
    def keys(self) -> Mapping[str, frozenset[str]]:
        """The keys of the first JSON object in the head, each with the keys below it.

        For an array, the keys of its first object.
        """
        keys = _keys(self.text_head[:_KEY_CHARACTERS])
        # one key or none: the first part is longer than that
        return keys if len(keys) > 1 else _keys(self.text_head)

    def text(self) -> str:
        """Return the whole file as text."""
        from bestofk.data.tables.limits import decompress

        try:
            return decompress(self.path.read_bytes(), self.name).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise TableError(f"{self.name} is not UTF-8 text.") from None

    def json(self) -> Any:
        """Return the whole file as one JSON value."""
        return loads(self.text(), self.name, file_size=self.size)

    def sibling(self, name: str) -> Source:
        """Return a file next to this one."""
        return Source(self.path.with_name(name), named=False, root=self.root)


def without_copies(sources: Sequence[Source], note: Callable[[str], None]) -> list[Source]:
    """Skip copies of files, for formats whose rows name the model."""
    by_size: dict[int, list[Source]] = {}
    originals = []
    for source in sources:
        same_size = by_size.setdefault(source.size, [])
        original = next(
            (other for other in same_size if cmp(other.path, source.path, shallow=False)), None
        )
        if original is None:
            same_size.append(source)
            originals.append(source)
        else:
            note(f"{source.name} is a copy of {original.name} and was skipped.")
    return originals


def _keys(text: str) -> dict[str, frozenset[str]]:
    """Return the keys of the first object in a text that may be truncated, with the keys below."""
    keys: dict[str, set[str]] = {}
    depth = 0
    outer = last = ""
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return {}
    base = 0 if start == "{" else 1
    for token in _TOKEN.finditer(text):
        symbol = token[0]
        if symbol in "{[":
            depth += 1
        elif symbol in "}]":
            depth -= 1
            if depth <= base:
                break
        elif symbol == ":":
            if depth == base + 1:
                outer = last
                keys.setdefault(outer, set())
            elif depth == base + 2 and outer in keys:
                keys[outer].add(last)
        elif symbol != ",":
            last = symbol[1:-1]
    return {key: frozenset(below) for key, below in keys.items()}


def find_sources(paths: Any, models: Mapping[str, Any] | None = None) -> list[Source]:
    """Return the files of `paths`, which names files and folders; sorted by name within folders.

    `models` are files and folders of one model each.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    if not isinstance(paths, Iterable):
        raise ArgumentError(f"paths must be a path or a list of paths; got {paths!r:.80}.")
    sources: list[Source] = []
    seen: dict[Path, Source] = {}
    for model, path in [*(models or {}).items(), *((None, path) for path in paths)]:
        if not isinstance(path, str | os.PathLike):
            raise ArgumentError(f"paths must be a path or a list of paths; got {path!r:.80}.")
        for source in _below(Path(path)):
            first = seen.setdefault(source.path.resolve(), source)
            if first is source:
                source.model = model
                sources.append(source)
            elif model is not None:
                raise ArgumentError(
                    f"{source.name} is the file of the models {first.model!r} and {model!r}; a "
                    "file belongs to one model."
                )
    if not sources:
        raise TableError("paths names no file to read.")
    return sources


def _below(path: Path) -> Iterator[Source]:
    try:
        folder, file = path.is_dir(), path.is_file()
    except (OSError, ValueError) as error:
        raise TableError(f"{str(path)!r:.200} cannot be read: {error}.") from None
    if folder:
        yield from _in_folder(path)
    elif file:
        yield Source(path, named=True)
    else:
        raise TableError(no_such_file(path, "file or folder"))


def _in_folder(folder: Path) -> Iterator[Source]:
    count = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith("."):
                continue
            count += 1
            if count > MAX_FILES:
                raise TableError(f"{folder} has more than {MAX_FILES} files; name a subfolder.")
            path = Path(parent, name)
            if path.is_file():
                yield Source(path, named=False, root=folder)
    if not count:
        raise TableError(f"The folder {str(folder)!r} has no files.")
