"""Files of evaluation logs: finding them, and reading JSON and zip archives within limits."""

from __future__ import annotations

import csv
import json
import os
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from filecmp import cmp
from functools import cached_property
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any

from bestofk._base.errors import ArgumentError, MissingExtraError, TableError
from bestofk._base.files import parsing_problem, read_file, regular_size
from bestofk.data.tables.limits import (
    check_expansion,
    check_json,
    decompress,
)

_INCOMPLETE = (json.JSONDecodeError, UnicodeDecodeError)
"""Errors that a truncated line can cause."""
MAX_LINE_BYTES = 1 << 28


def loads(text: str | bytes, where: str, *, file_size: int | None = None) -> Any:
    """Return the value of a JSON text, which may contain bare NaN and Infinity.

    `file_size` is the size of the compressed file that contains the text, if it is compressed.
    """
    check_json(text, where, file_size=len(text) if file_size is None else file_size)
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:
        raise not_json(error, where) from None


def not_json(error: ValueError | RecursionError, where: str) -> TableError:
    """Return the error for a text that is not JSON."""
    return TableError(f"{where} is not valid JSON ({parsing_problem(error)}).")


def each_line(path: Path, where: str, note: Callable[[str], None]) -> Iterator[Any]:
    """Yield the value of each line; note and skip a truncated last line."""
    file_size = path.stat().st_size
    with _opened(path, where) as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), start=1):
            check_json(line, where, file_size=file_size)
            try:
                value = json.loads(line)
            except (RecursionError, ValueError) as error:
                if not line.strip(b" \t\r\n\xef\xbb\xbf\0"):
                    continue
                is_last = not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES
                if number == 1 or not is_last or not isinstance(error, _INCOMPLETE):
                    raise not_json(error, f"{where}: line {number}") from None
                note(f"{where}: the last line is truncated and was skipped (an interrupted run?).")
                continue
            yield value


@contextmanager
def _opened(path: Path, where: str) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed if it is gzip."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if not packed:
            yield file
            return
        yield BytesIO(decompress(file.read(), where))


_ZSTANDARD = 93
"""A compression method of a zip archive."""


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
        self.members = {info.filename: info for info in self._archive.infolist()}
        self._unpacked = 0

    def __enter__(self) -> ZipMembers:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def json(self, name: str) -> Any:
        """Return the value of a member."""
        return loads(self.read(name), f"{self.source}: {name!r:.120}", file_size=self._file_size)

    def read(self, name: str) -> bytes:
        """Return a decompressed member, and check its checksum."""
        info = self.members[name]
        self._unpacked += info.file_size
        check_expansion(
            self.source,
            file_size=self._file_size,
            needed=max(info.file_size, self._unpacked // 8),
            what="unpacks to far more",
        )
        try:
            if info.compress_type == _ZSTANDARD:
                data = self._unpack_zstandard(info)
            else:
                data = self._archive.read(info)
        except (zipfile.BadZipFile, OSError, ValueError, zlib.error, struct.error, EOFError):
            data = b""
        except RuntimeError as error:
            # encrypted, or an unknown method
            raise TableError(f"{self.source}: {name!r:.120} cannot be read: {error}.") from None
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise TableError(f"{self.source}: {name!r:.120} is damaged: its checksum differs.")
        return data

    def _unpack_zstandard(self, info: zipfile.ZipInfo) -> bytes:
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtraError(f"{self.source}: zstandard", "pyarrow") from None
        packed = copy(info)
        packed.compress_type, packed.file_size = zipfile.ZIP_STORED, info.compress_size
        # the checksum is that of the unpacked data
        del packed.CRC
        codec, data = pa.Codec("zstd"), self._archive.read(packed)
        size = info.file_size
        return codec.decompress(data, decompressed_size=size, asbytes=True) if size else b""


HEAD_BYTES = 1 << 16
"""Bytes that show what kind of file it is."""
MAX_FILES = 200_000
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
CSV_SUFFIXES = (".csv", ".tsv", ".tab")
PARQUET_SUFFIXES = (".parquet", ".pq")


class Source:
    """A file, and what it contains."""

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
        return regular_size(self.path)

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
        return Path(self._plain_name).stem

    @property
    def _plain_name(self) -> str:
        name = self.path.name
        return name[:-3] if name.lower().endswith(".gz") else name

    @property
    def suffix(self) -> str:
        """The suffix before ``.gz``, in lower case."""
        return Path(self._plain_name).suffix.lower()

    @property
    def is_table(self) -> bool:
        """True if a reader of tables may read the file."""
        return self.suffix in (*JSON_SUFFIXES, *CSV_SUFFIXES, *PARQUET_SUFFIXES, ".xlsx")

    def text(self) -> str:
        """Return the whole file as text."""
        try:
            return decompress(read_file(self.path), self.name).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise TableError(f"{self.name} is not UTF-8 text.") from None

    def document(self, note: Callable[[str], None]) -> Any:
        """Return a JSON value, or an iterator over rows; None if the file is neither."""
        start = self.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if self.head[:4] == b"PAR1":
            return self._parquet_rows()
        if self.suffix in CSV_SUFFIXES and b"\0" not in self.head:
            return self._csv_rows()
        if start[:1] not in (b"{", b"["):
            return None
        if start[:1] == b"{" and self._has_lines(start):
            return each_line(self.path, self.name, note)
        return loads(self.text(), self.name, file_size=self.size)

    def _has_lines(self, start: bytes) -> bool:
        """Return whether the first line is a whole JSON value; a long one need not be."""
        first, newline, rest = start.partition(b"\n")
        if not newline:
            return self.suffix in (".jsonl", ".ndjson")
        try:
            json.loads(first)
        except (RecursionError, ValueError):
            return False
        return bool(rest.strip()) or self.suffix in (".jsonl", ".ndjson")

    def _csv_rows(self) -> Iterator[dict[str, Any]]:
        first = self.head.partition(b"\n")[0].decode(errors="replace")
        delimiter = max(",;\t|", key=first.count)
        csv.field_size_limit(MAX_LINE_BYTES)
        with _opened(self.path, self.name) as file:
            lines = TextIOWrapper(file, encoding="utf-8-sig", newline="")
            for row in csv.DictReader(lines, delimiter=delimiter):
                # surplus cells have no name
                yield {
                    key.strip(): (cell or None) for key, cell in row.items() if isinstance(key, str)
                }

    def _parquet_rows(self) -> Iterator[dict[str, Any]]:
        from bestofk.data.tables.arrow_files import parquet_rows

        return parquet_rows(self.path, self.name)


def file_names(sources: Sequence[Source]) -> list[str]:
    """Return a name for each file: without its suffix, or of its folder if that is not unique."""
    forms = (
        [source.stem for source in sources],
        [source.path.resolve().parent.name for source in sources],
        [source.path.name for source in sources],
        [f"{source.path.resolve().parent.name}/{source.stem}" for source in sources],
    )
    counted = [(names, Counter(names)) for names in forms]
    return [
        next((names[k] for names, count in counted if count[names[k]] == 1), str(source.path))
        for k, source in enumerate(sources)
    ]


def is_copy(source: Source, by_size: dict[int, list[Source]]) -> bool:
    """Return whether a file is a copy of an earlier one, which are kept by their sizes."""
    same_size = by_size.setdefault(source.size, [])
    if source.model is None and any(
        cmp(other.path, source.path, shallow=False) for other in same_size
    ):
        return True
    same_size.append(source)
    return False


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
        is_folder = path.is_dir()
    except OSError:
        is_folder = False
    if is_folder:
        yield from _in_folder(path)
    else:
        regular_size(path, "file or folder")
        yield Source(path, named=True)


def _in_folder(folder: Path) -> Iterator[Source]:
    count = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith(".") and not name.endswith(".json"):
                continue
            count += 1
            if count > MAX_FILES:
                raise TableError(f"{folder} has more than {MAX_FILES} files; name a subfolder.")
            path = Path(parent, name)
            if path.is_file():
                yield Source(path, named=False, root=folder)
    if not count:
        raise TableError(f"The folder {str(folder)!r} has no files.")
