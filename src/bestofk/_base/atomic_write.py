"""Files that are written whole or not at all, through no link that somebody laid there."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

LONG_AGO = 60.0
"""Seconds without a change after which a file may be one that was left behind."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to, which takes the name `path` when all is written.

    Until then it has a name that nobody can guess, in the same folder, and is created there: a
    link of that name is not followed. What raises leaves the file that was there as it was; what
    a killed process left unfinished is removed by the next one that writes to `path`. A device or
    a pipe, such as ``/dev/stdout``, is written to as it is.
    """
    target = Path(path)
    if _is_stream(target):
        with target.open("wb") as stream:
            yield stream
        return
    _sweep(target)
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name[:80]}.", suffix=".part", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            _is_locked(file.fileno())
            yield file
            file.flush()
            os.fchmod(file.fileno(), _mode(target))
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def write_text(path: str | os.PathLike[str], text: str, *, errors: str = "strict") -> None:
    """Write `text` in UTF-8, whole or not at all; lines end as they do in the text."""
    content = text.encode("utf-8", errors)
    with whole_file(path) as file:
        file.write(content)


def _sweep(target: Path) -> None:
    """Remove unfinished files of this target that nobody writes to any more."""
    form = re.compile(re.escape(f".{target.name[:80]}.") + r"[a-z0-9_]{8}\.part")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if form.fullmatch(entry.name) is None:
                continue
            with suppress(OSError):
                seen = entry.stat(follow_symlinks=False)
                # one that is just being made is not locked yet
                old = time.time() - seen.st_mtime > LONG_AGO
                if not (old and stat.S_ISREG(seen.st_mode) and seen.st_uid == os.geteuid()):
                    continue
                handle = os.open(entry.path, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    if _is_locked(handle):
                        Path(entry.path).unlink()
                finally:
                    os.close(handle)


def _is_locked(handle: int) -> bool:
    """Lock an open file until it is closed; False if somebody else has, or there are no locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _is_stream(target: Path) -> bool:
    """Whether it is a device or a pipe, or stands among those."""
    try:
        kind = target.stat().st_mode
    except OSError:
        return False
    among = target.is_symlink() and str(target.absolute()).startswith(("/dev/", "/proc/"))
    return among or not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of a new file."""
    if not target.is_symlink():
        with suppress(OSError):
            return stat.S_IMODE(target.stat().st_mode) & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
