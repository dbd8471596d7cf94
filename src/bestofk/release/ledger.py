"""The ledger of a gate: one line per build, chained by hashes, in a file to commit."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.atomic_write import write_text
from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, StoreError, use
from bestofk._base.formatting import counted
from bestofk.release.method import LATEST_METHOD, MAX_ANCHOR_BUILDS, MIN_NEXT_BUILDS

FORMAT = "bestofk-gate-1"
ANSWERS = ("pass", "worse", "undecided")
MAX_LEDGER_BYTES = 256 << 20
MAX_ITEMS = 10_000_000
_LOCK_SECONDS = 30.0
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7})", re.MULTILINE)
_RESTORE = "restore the file from version control"
_NUMBER = int | float
_FIELDS: dict[str, dict[str, Any]] = {
    "start": {
        "build": str, "digest": str, "method": int, "alpha": float, "metric": str,
        "higher_is_better": bool, "size": int, "items": str, "clusters": str, "scores": str,
    },
    "build": {
        "build": str, "digest": str, "method": int, "look": int, "level": _NUMBER, "answer": str,
        "joins": str, "anchor": list, "mean": _NUMBER, "difference": _NUMBER,
        "low": _NUMBER | None, "high": _NUMBER | None, "bound": _NUMBER | None, "p_worse": _NUMBER,
        "p_better": _NUMBER, "units": int, "unit": str, "failures": int, "notes": list,
    },
    "accept": {"build": str, "digest": str, "scores": str},
    "method": {"method": int},
    "merge": {},
}  # fmt: skip
"""Types of the fields that the gate reads, by kind of line."""


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

    @property
    def set_anchors(self) -> set[str]:
        """The digests of the baseline and of the accepted builds."""
        return {line["digest"] for line in self.lines if line["kind"] in ("start", "accept")}

    def recorded(self, digest: str) -> Mapping[str, Any] | None:
        """Return the line of the build with these scores since the last acceptance, if any."""
        kinds = [line["kind"] for line in self.lines]
        since = len(kinds) - kinds[::-1].index("accept") if "accept" in kinds else 1
        lines = (line for line in self.lines[since:] if line["kind"] == "build")
        return next((line for line in lines if line["digest"] == digest), None)

    def with_line(self, **content: Any) -> Ledger:
        """Return the ledger with one more line, chained to the last one."""
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            **content,
            "previous": self.lines[-1]["hash"] if self.lines else "",
        }
        return replace(self, lines=(*self.lines, {**line, "hash": _hash(line)}))

    def text(self) -> str:
        """Return the content of the file: a line with the count, then one line per entry."""
        head = {"format": FORMAT, "lines": len(self.lines), "last": self.lines[-1]["hash"]}
        return "".join(f"{json.dumps(line, allow_nan=False)}\n" for line in (head, *self.lines))


def _hash(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_ledger(path: str | os.PathLike[str]) -> Ledger | None:
    """Read a ledger and check every line; None if there is no file."""
    text = _text(path)
    if text is None:
        return None
    if _CONFLICT.search(text):
        raise StoreError(
            f"{path} has conflict markers of git: run 'bestofk gate merge {path}', which keeps "
            "the builds of both branches."
        )
    return _parsed(text, os.fspath(path))


def _text(path: str | os.PathLike[str]) -> str | None:
    target = Path(path)
    try:
        if target.stat().st_size > MAX_LEDGER_BYTES:
            raise StoreError(f"{target}: a ledger has at most {MAX_LEDGER_BYTES >> 20} MiB.")
        return target.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def write_ledger(ledger: Ledger, path: str | os.PathLike[str]) -> None:
    """Replace the file atomically."""
    try:
        write_text(path, ledger.text())
    except OSError as error:
        raise StoreError(
            f"The ledger {os.fspath(path)} cannot be written ({error.strerror}): make its "
            "folder writable, or name another with ",
            use(ledger="FILE"),
            ".",
        ) from error


def merged(path: str | os.PathLike[str], other: str | os.PathLike[str] | None = None) -> Ledger:
    """Return the ledger that holds the builds of two branches.

    The two branches are the two sides of a git conflict in `path`, or `path` and `other`. The
    lines of the second branch follow those of the first, after a line that records the merge.
    Both keep their answers, and the alpha of both counts as spent.
    """
    where = os.fspath(path)
    texts = [_text(one) for one in (path, *(() if other is None else (other,)))]
    if None in texts:
        raise ArgumentError(f"There is no ledger {[path, other][texts.index(None)]}.")
    if other is None:
        if not _CONFLICT.search(str(texts[0])):
            raise ArgumentError(f"{where} has no conflict markers: there is nothing to merge.")
        texts = list(_sides(str(texts[0])))
    first, second = (_parsed(str(text), where) for text in texts)
    common = 0
    for one, two in zip(first.lines, second.lines, strict=False):
        if one["hash"] != two["hash"]:
            break
        common += 1
    if common == 0:
        raise StoreError(f"{where}: the two ledgers have no line in common, so they cannot merge.")
    theirs = second.lines[common:]
    result = first.with_line(kind="merge", lines=len(theirs)) if theirs else first
    for line in theirs:
        content = {key: value for key, value in line.items() if key not in ("previous", "hash")}
        if content["kind"] == "build":
            # the anchor stays that of the first branch
            content["joins"] = ""
        result = result.with_line(**{**content, "merged": line["hash"]})
    return result


def _sides(text: str) -> tuple[str, str]:
    """Return both versions of a text with conflict markers."""
    sides: tuple[list[str], list[str]] = ([], [])
    targets = {"<<<<<<<": (0,), "|||||||": (), "=======": (1,), ">>>>>>>": (0, 1)}
    into: tuple[int, ...] = (0, 1)
    for line in text.splitlines():
        if line[:7] in targets:
            into = targets[line[:7]]
            continue
        for side in into:
            sides[side].append(line)
    return "\n".join(sides[0]), "\n".join(sides[1])


def _parsed(text: str, where: str) -> Ledger:
    """Return the ledger in a text, after checking every line, the chain and the number of lines."""
    lines: list[dict[str, Any]] = []
    for number, raw in enumerate(text.splitlines() or [""], start=1):
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
        if number == 1 and (not isinstance(line, dict) or line.get("format") != FORMAT):
            raise StoreError(f"{where} is not a ledger of 'bestofk gate'; {_RESTORE}.")
        if not isinstance(line, dict):
            raise StoreError(f"{where} is damaged: line {number} is not JSON; {_RESTORE}.")
        lines.append(line)
    head, *entries = lines
    previous = ""
    for number, line in enumerate(entries, start=2):
        content = {key: value for key, value in line.items() if key != "hash"}
        if line.get("previous") != previous or line.get("hash") != _hash(content):
            raise StoreError(
                f"{where} was changed: line {number} does not match its hash; {_RESTORE}."
            )
        previous = line["hash"]
        fields = _FIELDS.get(str(line.get("kind")))
        if (
            fields is None
            or any(not isinstance(line.get(name), kind) for name, kind in fields.items())
            or line.get("answer", "pass") not in ANSWERS
        ):
            raise StoreError(f"{where} is damaged: line {number} lacks a field; {_RESTORE}.")
    if not entries or head.get("lines") != len(entries) or head.get("last") != previous:
        raise StoreError(
            f"{where} is damaged: its first line promises {head.get('lines')} lines and "
            f"{counted(len(entries), 'line')} follow; {_RESTORE}."
        )
    ledger = Ledger(lines=tuple(entries), where=where)
    if entries[0]["kind"] != "start" or not 0 < entries[0]["size"] <= MAX_ITEMS:
        raise StoreError(f"{where} is damaged: line 2 does not start a ledger; {_RESTORE}.")
    if ledger.method > LATEST_METHOD:
        raise StoreError(
            f"{where} uses method {ledger.method} of a newer bestofk: run 'pip install --upgrade "
            "bestofk'."
        )
    return ledger


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of a ledger, so that two processes do not write it at the same time.

    The lock is on the folder, which leaves no file behind; Windows needs a file.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise ArgumentError(f"There is no folder {target.parent} for the ledger: create it first.")
    if os.name == "nt":
        handle = os.open(f"{target}.lock", os.O_RDWR | os.O_CREAT)
    else:
        handle = os.open(target.parent, os.O_RDONLY)
    try:
        _wait_for_lock(handle, target)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    """Lock a file; raise an error at once if another process has locked it."""
    try:
        import fcntl
    except ImportError:
        # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _wait_for_lock(handle: int, target: Path) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            _lock(handle)
            return
        except (BlockingIOError, PermissionError):
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{target}: another process has used the ledger for {_LOCK_SECONDS:.0f} "
                    "seconds; try again when it has ended."
                ) from None
            time.sleep(0.05)
        except OSError:
            return  # this file system has no locks


# Items and scores in a line of text.

_CODES = {"f": "<f8", "u": "<u8", "i": "<i4"}


def packed(values: np.ndarray[Any, Any]) -> str:
    """Return an array as text: bits for right and wrong, otherwise its compressed bytes."""
    if values.dtype == np.float64 and np.isin(values, (0.0, 1.0)).all():
        return f"b{base64.b64encode(np.packbits(values.astype(bool)).tobytes()).decode()}"
    content = zlib.compress(values.astype(_CODES[values.dtype.kind]).tobytes(), 6)
    return f"{values.dtype.kind}{base64.b64encode(content).decode()}"


def unpacked(text: str, size: int) -> np.ndarray[Any, Any]:
    """Return the array of `packed`; refuse one of another size."""
    values = np.empty(0)
    try:
        content = base64.b64decode(text[1:], validate=True)
        if text[0] == "b":
            if len(content) == (size + 7) // 8:
                values = np.unpackbits(np.frombuffer(content, np.uint8), count=size).astype(float)
        else:
            code = np.dtype(_CODES[text[0]])
            raw = zlib.decompressobj().decompress(content, size * code.itemsize + 1)
            values = np.frombuffer(raw, dtype=code)
    except (ValueError, KeyError, IndexError, zlib.error):
        pass
    if len(values) != size:
        raise StoreError(
            f"The ledger is damaged: a line has no scores of {size} items; {_RESTORE}."
        )
    return values


def finite_or_none(value: float) -> float | None:
    """Return None for an open end of an interval, which JSON cannot hold."""
    return value if isfinite(value) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The builds that a new one is compared with, and those that may replace them."""

    names: tuple[str, ...]
    scores: tuple[Floats, ...] = field(repr=False)
    next_names: tuple[str, ...] | None = None
    """Builds after one that was shown to be better; None if no better build was seen."""
    next_scores: tuple[Floats, ...] = field(default=(), repr=False)

    def joining(self, *, passed: bool, better: bool) -> str:
        """Return which group of builds a tested build joins, if any."""
        if not passed:
            return ""
        if self.next_names is not None:
            return "next"
        if better:
            # a build that was chosen for its high score would be too hard an anchor
            return "better"
        return "anchor" if len(self.names) < MAX_ANCHOR_BUILDS else ""

    def after(self, line: Mapping[str, Any], size: int) -> Anchor:
        """Return the anchor after a line of the ledger."""
        joins = "start" if line["kind"] in ("start", "accept") else line.get("joins")
        if joins == "better":
            return replace(self, next_names=(), next_scores=())
        if not joins or "scores" not in line:
            return self
        name, scores = (line["build"],), (unpacked(line["scores"], size),)
        if joins == "start":
            return Anchor(names=name, scores=scores)
        if joins == "anchor":
            return replace(self, names=self.names + name, scores=self.scores + scores)
        names, following = (self.next_names or ()) + name, self.next_scores + scores
        if len(names) >= MIN_NEXT_BUILDS:
            return Anchor(names=names, scores=following)
        return replace(self, next_names=names, next_scores=following)


def anchor_of(ledger: Ledger) -> Anchor:
    """Return the anchor after the last line."""
    anchor = Anchor(names=(), scores=())
    for line in ledger.lines:
        anchor = anchor.after(line, int(ledger.start["size"]))
    return anchor
