"""The files to read: those that were named, and those in the folders that were named."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from filecmp import cmp
from functools import cached_property
from pathlib import Path
from typing import Any

from bestofk.errors import ArgumentError, TableError

HEAD = 1 << 18
"""Bytes by which a file is recognised."""
_KEYS = 1 << 15
"""Characters in which the keys of a file are looked for first."""
MOST_FILES = 200_000
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]')


class Source:
    """A file, and what its beginning shows."""

    def __init__(self, path: Path, *, named: bool, root: Path | None = None) -> None:
        self.path = path
        self.named = named
        """The user named the file itself, not a folder."""
        self.root = path.parent if root is None else root

    @cached_property
    def name(self) -> str:
        """The name of the file, for sentences; within a folder with the way to it."""
        try:
            return self.path.relative_to(self.root).as_posix()
        except ValueError:
            return self.path.name

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    @cached_property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked where the file is gzip."""
        try:
            with self.path.open("rb") as file:
                data = file.read(HEAD)
        except OSError as error:
            raise TableError(f"{self.name} cannot be read: {error.strerror or error}.") from None
        if data[:2] != b"\x1f\x8b":
            return data
        import zlib

        try:
            return zlib.decompressobj(31).decompress(data, HEAD)
        except zlib.error:
            return data

    @cached_property
    def stem(self) -> str:
        """The name of the file without its endings, ``.gz`` among them."""
        name = self.path.name
        return Path(name[:-3] if name.lower().endswith(".gz") else name).stem

    @cached_property
    def members(self) -> frozenset[str]:
        """The names in a zip archive; none where the file is no archive, or a damaged one."""
        if self.head[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
            return frozenset()
        from bestofk.evals.zip_members import ZipMembers

        try:
            with ZipMembers(self.path) as archive:
                return frozenset(archive.names)
        except TableError:
            return frozenset()

    @cached_property
    def is_binary(self) -> bool:
        """Whether the first bytes hold a NUL, and the file is no Parquet."""
        return b"\0" in self.head[:4096] and self.head[:4] != b"PAR1"

    @cached_property
    def text_head(self) -> str:
        """The first bytes as text; nothing where they are binary."""
        if b"\0" in self.head[:4096]:
            return ""
        return self.head.decode("utf-8", errors="replace").lstrip("\ufeff")

    @cached_property
    def keys(self) -> Mapping[str, frozenset[str]]:
        """Keys of the JSON object that the file begins with, and theirs, as far as the head goes.

        For an array, those of its first object.
        """
        keys = _keys(self.text_head[:_KEYS])
        # still in the first of its parts, or in none
        return keys if len(keys) > 1 else _keys(self.text_head)

    def text(self) -> str:
        """The whole file as text."""
        from bestofk.tables.text import decompress

        try:
            return decompress(self.path.read_bytes(), self.name).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise TableError(f"{self.name} is not UTF-8 text.") from None

    def json(self) -> Any:
        """The whole file as one JSON value."""
        from bestofk.evals.json_text import loads

        return loads(self.text(), self.name)

    def sibling(self, name: str) -> Source:
        """A file next to this one."""
        return Source(self.path.with_name(name), named=False, root=self.root)


def without_copies(sources: Sequence[Source], note: Callable[[str], None]) -> list[Source]:
    """The files whose content is not that of one before, for formats whose rows name the model."""
    by_size: dict[int, list[Source]] = {}
    kept = []
    for source in sources:
        same_size = by_size.setdefault(source.size, [])
        twin = next((one for one in same_size if cmp(one.path, source.path, shallow=False)), None)
        if twin is None:
            same_size.append(source)
            kept.append(source)
        else:
            note(f"{source.name} is a copy of {twin.name} and was left out.")
    return kept


def _keys(text: str) -> dict[str, frozenset[str]]:
    """Keys of the first object in a text that may be cut off, each with the keys below it."""
    found: dict[str, set[str]] = {}
    depth, base = 0, 0
    outer = last = ""
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return {}
    base = 0 if start == "{" else 1
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "{[":
            depth += 1
        elif word in "}]":
            depth -= 1
            if depth <= base:
                break
        elif word == ":":
            if depth == base + 1:
                outer = last
                found.setdefault(outer, set())
            elif depth == base + 2 and outer in found:
                found[outer].add(last)
        elif word != ",":
            last = word[1:-1]
    return {key: frozenset(below) for key, below in found.items()}


def find_sources(paths: Any) -> list[Source]:
    """The files of `paths`, which names files and folders; those in folders sorted by name."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    if not isinstance(paths, Iterable):
        raise ArgumentError(f"paths must be a path or a list of paths; got {paths!r:.80}.")
    found: list[Source] = []
    seen: set[Path] = set()
    for given in paths:
        if not isinstance(given, str | os.PathLike):
            raise ArgumentError(f"paths must be a path or a list of paths; got {given!r:.80}.")
        for source in _below(Path(given)):
            resolved = source.path.resolve()
            if resolved not in seen:
                seen.add(resolved)
                found.append(source)
    if not found:
        raise TableError("There is no file to read in what was named.")
    return found


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
        raise TableError(_not_found(path))


def _in_folder(folder: Path) -> Iterator[Source]:
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith("."):
                continue
            count += 1
            if count > MOST_FILES:
                raise TableError(f"{folder}: more than {MOST_FILES} files; name a folder inside.")
            path = Path(place, name)
            if path.is_file():
                yield Source(path, named=False, root=folder)
    if not count:
        raise TableError(f"The folder {str(folder)!r} holds no files.")


def _not_found(path: Path) -> str:
    from difflib import get_close_matches

    near: Sequence[str] = ()
    if path.parent.is_dir():
        near = get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=3)
    offer = f": did you mean {' or '.join(map(repr, near))}?" if near else "."
    return f"There is no file or folder {str(path)!r:.300}{offer}"
