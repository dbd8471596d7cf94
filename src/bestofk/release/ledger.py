"""The ledger of the gate: one JSON file with the baselines and the tested builds.

Every entry has a line of its own and a hash, which reveals accidental changes. Entries do not
depend on each other, so two branches are joined by keeping the entries of both.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.atomic_write import write_text
from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, StoreError, use
from bestofk._base.files import regular_size
from bestofk.release.method import METHOD

FORMAT = "bestofk-gate-2"
ANSWERS = ("pass", "suspect", "blocked")
MAX_LEDGER_BYTES = 256 << 20
MAX_ITEMS = 10_000_000
_LOCK_SECONDS = 30.0
_ATTEMPTS = 20
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7})", re.MULTILINE)
_RESTORE = "restore the file from version control"
_NUMBER = int | float
_HEAD: dict[str, Any] = {
    "method": int, "false_blocks": float, "metrics": dict, "size": int, "items": str,
    "clusters": str, "entries": int, "baselines": list, "builds": list,
}  # fmt: skip
_BASELINE: dict[str, Any] = {
    "build": str, "time": str, "digest": str, "runs": int, "scores": dict, "reason": str,
}  # fmt: skip
_BUILD: dict[str, Any] = {
    "build": str, "time": str, "digest": str, "runs": int, "baseline": str, "answer": str,
    "failures": int, "metrics": dict, "notes": list, "scores": dict | None,
}  # fmt: skip
_RESULT: dict[str, Any] = {
    "mean": _NUMBER, "baseline": _NUMBER, "difference": _NUMBER, "low": _NUMBER | None,
    "high": _NUMBER | None, "p": _NUMBER, "level": _NUMBER, "since_start": _NUMBER,
}  # fmt: skip
"""Types of the fields, by kind of object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The accepted baselines and the builds that were tested against them."""

    false_blocks: float
    metrics: Mapping[str, bool]
    """Whether higher scores are better, by metric."""
    size: int
    items: str
    clusters: str
    baselines: tuple[Mapping[str, Any], ...] = ()
    builds: tuple[Mapping[str, Any], ...] = ()

    @property
    def baseline(self) -> Mapping[str, Any]:
        """The last accepted baseline."""
        return self.baselines[-1]

    @property
    def tested(self) -> list[Mapping[str, Any]]:
        """The builds that were tested against the last baseline."""
        return [build for build in self.builds if build["baseline"] == self.baseline["hash"]]

    def with_baseline(self, **content: Any) -> Ledger:
        """Return the ledger with one more baseline."""
        return replace(self, baselines=(*self.baselines, _entry(content)))

    def with_build(self, **content: Any) -> Ledger:
        """Return the ledger with one more build."""
        return replace(self, builds=(*self.builds, _entry(content)))

    def joined(self, other: Ledger) -> Ledger:
        """Return the entries of both ledgers in the order of their times, each once."""
        if (self.items, dict(self.metrics)) != (other.items, dict(other.metrics)):
            raise StoreError(
                "The two sides of the ledger have different items or metrics: keep one of them."
            )
        return replace(
            self,
            baselines=_union(self.baselines, other.baselines),
            builds=_union(self.builds, other.builds),
        )

    def text(self) -> str:
        """Return the content of the file: JSON with one line per entry."""
        head = {
            "format": FORMAT, "method": METHOD, "false_blocks": self.false_blocks,
            "metrics": dict(self.metrics), "size": self.size, "items": self.items,
            "clusters": self.clusters, "entries": len(self.baselines) + len(self.builds),
        }  # fmt: skip
        lines = [json.dumps({**head, "hash": _hash(head)}, allow_nan=False)[:-1] + ","]
        for name, entries in (("baselines", self.baselines), ("builds", self.builds)):
            rows = ",\n".join(json.dumps(entry, allow_nan=False) for entry in entries)
            end = "]," if name == "baselines" else "]}"
            lines.append(f'"{name}": [\n{rows}\n{end}')
        return "\n".join(lines) + "\n"


def _entry(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry with its time and its hash."""
    entry = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **content}
    return {**entry, "hash": _hash(entry)}


def _hash(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _union(
    first: tuple[Mapping[str, Any], ...], second: tuple[Mapping[str, Any], ...]
) -> tuple[Mapping[str, Any], ...]:
    entries = {entry["hash"]: entry for entry in (*first, *second)}
    return tuple(sorted(entries.values(), key=lambda entry: str(entry["time"])))


def read_ledger(path: str | os.PathLike[str]) -> Ledger | None:
    """Read a ledger and check every value; None if there is no file.

    Join both sides if git left conflict markers in it.
    """
    target = Path(path)
    try:
        if target.exists() and regular_size(target) > MAX_LEDGER_BYTES:
            raise StoreError(f"{target}: a ledger has at most {MAX_LEDGER_BYTES >> 20} MiB.")
        text = target.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    if not _CONFLICT.search(text):
        return _parsed(text, os.fspath(path))
    first, second = (_parsed(side, os.fspath(path)) for side in _sides(text))
    return first.joined(second)


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
    """Return the ledger in a text, after checking every value."""
    try:
        head = json.loads(text)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise StoreError(f"{where} is not a ledger of this version of 'bestofk gate'; {_RESTORE}.")

    def check(correct: bool, what: str) -> None:
        if not correct:
            raise StoreError(f"{where} is damaged: {what}; {_RESTORE}.")

    def typed(content: Any, fields: Mapping[str, Any]) -> bool:
        return isinstance(content, dict) and all(
            name in content and isinstance(content[name], kind) and _finite(content[name])
            for name, kind in fields.items()
        )

    check(typed(head, _HEAD), "a field is missing or has a wrong type")
    if head["method"] > METHOD:
        raise StoreError(f"{where} was written by a newer bestofk: upgrade bestofk.")
    settings = {k: v for k, v in head.items() if k not in ("hash", "baselines", "builds")}
    check(head.get("hash") == _hash(settings), "its first line was changed")
    check(0 < head["false_blocks"] < 0.5, "false_blocks is not between 0 and 0.5")
    check(0 < head["size"] <= MAX_ITEMS, "its number of items is wrong")
    check(bool(head["baselines"]), "it has no baseline")
    check(
        bool(head["metrics"]) and all(isinstance(v, bool) for v in head["metrics"].values()),
        "its metrics are wrong",
    )
    every = [*head["baselines"], *head["builds"]]
    check(all(isinstance(entry, dict) for entry in every), "an entry is not an object")
    hashes = [str(entry.get("hash")) for entry in every]
    check(len({*hashes}) == head["entries"] == len(hashes), "an entry is missing, or there twice")
    for kind, fields in (("baselines", _BASELINE), ("builds", _BUILD)):
        for number, entry in enumerate(head[kind], start=1):
            what = f"entry {number} of {kind}"
            check(typed(entry, fields), f"{what} lacks a field")
            content = {key: value for key, value in entry.items() if key != "hash"}
            check(entry.get("hash") == _hash(content), f"{what} was changed")
            check(entry["runs"] > 0, f"{what} has no runs")
            check(entry.get("answer", "pass") in ANSWERS, f"{what} has no answer")
            for result in entry.get("metrics", {}).values():
                check(typed(result, _RESULT), f"{what} lacks a number")
                check(0 <= result["p"] <= 1, f"{what} has a wrong p-value")
    return Ledger(
        **{name: head[name] for name in ("false_blocks", "metrics", "size", "items", "clusters")},
        baselines=tuple(head["baselines"]),
        builds=tuple(head["builds"]),
    )


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or isfinite(value)


def write_entry(ledger: Ledger, path: str | os.PathLike[str], *, alone: bool) -> Ledger:
    """Write the ledger, and keep the entries that another process has added meanwhile.

    - `alone`: The lock is held. Some file systems have none: look again a little later then, and
      add the entry once more if another process has replaced the file. A symbolic link is followed.
    """
    target = Path(path).resolve()
    try:
        for _ in range(_ATTEMPTS):
            current = read_ledger(target)
            ledger = ledger if current is None else ledger.joined(current)
            write_text(target, ledger.text())
            if not alone:
                time.sleep(random.uniform(0.1, 0.3))
            after = read_ledger(target)
            if after is not None and after.joined(ledger) == after:
                return after
    except OSError as error:
        raise StoreError(
            f"The ledger {os.fspath(path)} cannot be written ({error.strerror}): make its "
            "folder writable, or name another with ",
            use(ledger="FILE"),
            ".",
        ) from error
    raise StoreError(f"Other processes keep writing {os.fspath(path)}: try again.")


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[bool]:
    """Hold the lock of a ledger, so that two processes do not write it at the same time.

    Yield False if the file system has no locks. The lock is on the folder, which leaves no file
    behind; Windows needs a file.
    """
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise ArgumentError(f"There is no folder {target.parent} for the ledger: create it first.")
    if os.name == "nt":
        handle = os.open(f"{target}.lock", os.O_RDWR | os.O_CREAT)
    else:
        handle = os.open(target.parent, os.O_RDONLY)
    try:
        yield _wait_for_lock(handle, target)
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


def _wait_for_lock(handle: int, target: Path) -> bool:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            _lock(handle)
            return True
        except (BlockingIOError, PermissionError):
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{target}: another process has used the ledger for {_LOCK_SECONDS:.0f} "
                    "seconds; try again when it has ended."
                ) from None
            time.sleep(0.05)
        except OSError:
            return False  # this file system has no locks


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
            f"The ledger is damaged: an entry has no scores of {size} items; {_RESTORE}."
        )
    return values


def packed_scores(scores: Mapping[str, Floats]) -> dict[str, str]:
    """Return the scores of each metric as text."""
    return {name: packed(values) for name, values in scores.items()}


def unpacked_scores(texts: Mapping[str, Any], ledger: Ledger) -> dict[str, Floats]:
    """Return the scores of every metric of the ledger."""
    return {name: unpacked(str(texts.get(name, "")), ledger.size) for name in ledger.metrics}
