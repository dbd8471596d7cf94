"""The ledger of a gate: one line per build, chained by hashes, in a file to commit."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.atomic_write import write_text
from bestofk._base.checks import Floats, Ints
from bestofk._base.errors import StoreError
from bestofk._base.formatting import counted
from bestofk.release.method import MAX_ANCHOR_BUILDS, MIN_NEXT_BUILDS

FORMAT = "bestofk-gate-1"
MAX_LEDGER_BYTES = 256 << 20
_LOCK_SECONDS = 30.0
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7})", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The lines of a ledger: the start, then one line per build, acceptance or merge."""

    lines: tuple[Mapping[str, Any], ...] = ()
    where: str = ""

    @property
    def start(self) -> Mapping[str, Any]:
        """The first line: settings, metric and items."""
        return self.lines[0]

    @property
    def builds(self) -> list[Mapping[str, Any]]:
        """The lines of tested builds."""
        return [line for line in self.lines if line["kind"] == "build"]

    @property
    def spent(self) -> float:
        """The sum of the levels of all tests so far."""
        return float(sum(line["level"] for line in self.builds))

    @property
    def method(self) -> int:
        """The version of the method in force."""
        return int(next(line["method"] for line in reversed(self.lines) if "method" in line))

    def with_line(self, **content: Any) -> Ledger:
        """Return the ledger with one more line, chained to the last one."""
        line = {**content, "previous": self.lines[-1]["hash"] if self.lines else ""}
        return Ledger(lines=(*self.lines, {**line, "hash": _hash(line)}), where=self.where)

    def text(self) -> str:
        """Return the content of the file: a line with the count, then one line per entry."""
        head = {"format": FORMAT, "lines": len(self.lines), "last": self.lines[-1]["hash"]}
        return "".join(f"{json.dumps(line)}\n" for line in (head, *self.lines))


def read_ledger(path: str | os.PathLike[str]) -> Ledger | None:
    """Read a ledger and check every line; None if there is no file."""
    target = Path(path)
    try:
        size = target.stat().st_size
    except FileNotFoundError:
        return None
    if size > MAX_LEDGER_BYTES:
        raise StoreError(f"{target}: a ledger has at most {MAX_LEDGER_BYTES >> 20} MiB.")
    text = target.read_text(encoding="utf-8", errors="replace")
    if _CONFLICT.search(text):
        raise StoreError(
            f"{target} has conflict markers of git: run 'bestofk gate merge {target}', which keeps "
            "the builds of both branches."
        )
    head, *lines = _parsed(text, str(target))
    ledger = Ledger(lines=tuple(lines), where=str(target))
    _check_chain(ledger)
    if head.get("lines") != len(lines) or head.get("last") != lines[-1]["hash"]:
        raise StoreError(
            f"{target} is damaged: its first line promises {counted(head.get('lines', 0), 'line')} "
            f"and {counted(len(lines), 'line')} follow; restore the file from version control."
        )
    return ledger


def merged(path: str | os.PathLike[str], other: str | os.PathLike[str] | None = None) -> Ledger:
    """Return the ledger that holds the builds of two branches.

    The two branches are the two sides of a git conflict in `path`, or `path` and `other`. The
    lines of the second branch follow those of the first, after a line that records the merge.
    Both keep their answers, and the alpha of both counts as spent.
    """
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    if other is None:
        sides = _sides(text)
        if sides is None:
            raise StoreError(f"{path} has no conflict markers: there is nothing to merge.")
    else:
        sides = text, Path(other).read_text(encoding="utf-8", errors="replace")
    first, second = (
        Ledger(lines=tuple(_parsed(side, str(path))[1:]), where=str(path)) for side in sides
    )
    for ledger in (first, second):
        _check_chain(ledger)
    common = 0
    for one, two in zip(first.lines, second.lines, strict=False):
        if one["hash"] != two["hash"]:
            break
        common += 1
    if common == 0:
        raise StoreError(f"{path}: the two ledgers have no line in common, so they cannot merge.")
    result = first
    theirs = second.lines[common:]
    if not theirs:
        return result
    result = result.with_line(kind="merge", lines=len(theirs), time=now())
    for line in theirs:
        content = {key: value for key, value in line.items() if key not in ("previous", "hash")}
        if content["kind"] == "build":
            # The anchor stays that of the first branch.
            content["joins"] = ""
        result = result.with_line(**content, merged=line["hash"])
    return result


def _sides(text: str) -> tuple[str, str] | None:
    """Return both versions of a text with conflict markers; None if it has none."""
    if not _CONFLICT.search(text):
        return None
    sides: tuple[list[str], list[str]] = ([], [])
    into: tuple[int, ...] = (0, 1)
    for line in text.splitlines():
        if line.startswith("<<<<<<<"):
            into = (0,)
        elif line.startswith("|||||||"):
            into = ()
        elif line.startswith("======="):
            into = (1,)
        elif line.startswith(">>>>>>>"):
            into = (0, 1)
        else:
            for side in into:
                sides[side].append(line)
    return "\n".join(sides[0]), "\n".join(sides[1])


def _parsed(text: str, where: str) -> list[dict[str, Any]]:
    lines = []
    for number, raw in enumerate(text.splitlines(), start=1):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict):
            raise StoreError(
                f"{where} is damaged: line {number} is not a JSON object; restore the file from "
                "version control."
            )
        lines.append(line)
    if len(lines) < 2 or lines[0].get("format") != FORMAT:
        raise StoreError(f"{where} is not a ledger of bestofk gate.")
    return lines


def _check_chain(ledger: Ledger) -> None:
    previous = ""
    for number, line in enumerate(ledger.lines, start=2):
        content = {key: value for key, value in line.items() if key != "hash"}
        if line.get("previous") != previous or line.get("hash") != _hash(content):
            raise StoreError(
                f"{ledger.where} was changed: line {number} does not match its hash; restore the "
                "file from version control."
            )
        previous = line["hash"]
    if ledger.start.get("kind") != "start":
        raise StoreError(f"{ledger.where} is not a ledger of bestofk gate.")


def _hash(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def now() -> str:
    """Return the time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of a ledger, so that two processes do not write it at the same time."""
    lock = Path(f"{os.fspath(path)}.lock")
    with lock.open("a+b") as file:
        _lock(file.fileno(), lock)
        yield


def _lock(handle: int, lock: Path) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            try:
                import fcntl
            except ImportError:
                import msvcrt

                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            else:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{lock}: another process has held the ledger for {_LOCK_SECONDS:.0f} seconds."
                ) from None
            time.sleep(0.05)


def write_ledger(ledger: Ledger, path: str | os.PathLike[str]) -> None:
    """Write the whole file atomically."""
    write_text(path, ledger.text())


# Items and scores in a line of text.


def item_hashes(names: Sequence[str]) -> npt_uint64:
    """Return a 64-bit hash of each item's name."""
    digests = b"".join(
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for name in names
    )
    return np.frombuffer(digests, dtype="<u8")


npt_uint64 = np.ndarray[Any, np.dtype[np.uint64]]


def packed(values: np.ndarray[Any, Any]) -> str:
    """Return an array as text: bits for right and wrong, otherwise its compressed bytes."""
    if values.dtype == np.float64 and np.isin(values, (0.0, 1.0)).all():
        return f"b{base64.b64encode(np.packbits(values.astype(bool)).tobytes()).decode()}"
    code = {"f": "<f8", "u": "<u8", "i": "<i4"}[values.dtype.kind]
    content = zlib.compress(values.astype(code).tobytes(), 6)
    return f"{values.dtype.kind}{base64.b64encode(content).decode()}"


def unpacked(text: str, size: int) -> np.ndarray[Any, Any]:
    """Return the array of `packed`; refuse one of another size."""
    try:
        content = base64.b64decode(text[1:], validate=True)
        if text[0] == "b":
            return np.unpackbits(np.frombuffer(content, np.uint8), count=size).astype(float)
        code = {"f": "<f8", "u": "<u8", "i": "<i4"}[text[0]]
        width = np.dtype(code).itemsize
        decoder = zlib.decompressobj()
        raw = decoder.decompress(content, size * width + 1)
        values = np.frombuffer(raw, dtype=code)
    except (ValueError, KeyError, IndexError, zlib.error):
        values = np.empty(0)
    if len(values) != size:
        raise StoreError("The ledger is damaged: the scores of a build cannot be read.")
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The builds that a new one is compared with, and those that may replace them."""

    names: tuple[str, ...]
    scores: tuple[Floats, ...] = field(repr=False)
    next_names: tuple[str, ...] | None = None
    """Builds after one that was shown to be better; None if no better build was seen."""
    next_scores: tuple[Floats, ...] = field(default=(), repr=False)

    def after(self, name: str, scores: Floats, joins: str) -> Anchor:
        """Return the anchor after a build with this entry in `joins`."""
        if joins == "anchor":
            return Anchor(names=(*self.names, name), scores=(*self.scores, scores),
                          next_names=self.next_names, next_scores=self.next_scores)  # fmt: skip
        if joins == "next":
            names = (*(self.next_names or ()), name)
            following = (*self.next_scores, scores)
            if len(names) >= MIN_NEXT_BUILDS:
                return Anchor(names=names, scores=following)
            return Anchor(names=self.names, scores=self.scores, next_names=names,
                          next_scores=following)  # fmt: skip
        return self

    def joining(self, *, passed: bool, better: bool) -> str:
        """Return which group of builds a tested build joins, if any."""
        if not passed:
            return ""
        if self.next_names is not None:
            return "next"
        if better:
            # A build that was chosen for its high score would be too hard an anchor.
            return "better"
        return "anchor" if len(self.names) < MAX_ANCHOR_BUILDS else ""


def anchor_of(ledger: Ledger, size: int) -> Anchor:
    """Return the anchor after the last line."""
    start = ledger.start
    anchor = Anchor(names=(start["build"],), scores=(unpacked(start["scores"], size),))
    for line in ledger.lines[1:]:
        if line["kind"] == "accept":
            anchor = Anchor(names=(line["build"],), scores=(unpacked(line["scores"], size),))
        elif line["kind"] == "build" and line["joins"] == "better":
            anchor = Anchor(names=anchor.names, scores=anchor.scores, next_names=())
        elif line["kind"] == "build" and line["joins"]:
            anchor = anchor.after(line["build"], unpacked(line["scores"], size), line["joins"])
    return anchor


def codes_text(codes: Ints) -> str:
    """Return cluster codes as text."""
    return packed(codes.astype(np.int32))
