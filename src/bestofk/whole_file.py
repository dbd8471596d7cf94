"""Files that are written whole or not at all, through no link that somebody laid there."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write bytes to, which takes the name `path` when all is written.

    Until then it has a name that nobody can guess, in the same folder, and is created there: a
    link of that name is not followed. What raises leaves the file that was there as it was. A
    device or a pipe, such as ``/dev/stdout``, is written to as it is.
    """
    target = Path(path)
    if _is_stream(target):
        with target.open("wb") as stream:
            yield stream
        return
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name[:80]}.", suffix=".part", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
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
