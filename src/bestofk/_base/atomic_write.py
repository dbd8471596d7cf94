"""Write files atomically: a file is replaced as a whole or stays as it was."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing bytes, which replaces `path` at the end.

    Until then it has an unpredictable name in the same folder. After an error the old file stays as
    it was. A symbolic link at `path` is replaced, not followed. A device or a pipe, such as
    ``/dev/stdout``, is written to directly.
    """
    target = Path(path)
    if _is_stream(target):
        with target.open("wb") as stream:
            yield stream
        return
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name[:80]}.", suffix=".part", dir=target.parent
    )
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_text(path: str | os.PathLike[str], text: str, *, errors: str = "strict") -> None:
    """Write `text` atomically in UTF-8, without changing its line ends."""
    content = text.encode("utf-8", errors)
    with atomic_file(path) as file:
        file.write(content)


def _is_stream(target: Path) -> bool:
    """Return whether the target is a device or a pipe, or a link to one such as /dev/stdout."""
    try:
        kind = target.stat().st_mode
    except OSError:
        return False
    is_link = target.is_symlink() and str(target.absolute()).startswith(("/dev/", "/proc/"))
    return is_link or not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def _mode(target: Path) -> int:
    """Return the permissions of the replaced file, or those of a new file."""
    if not target.is_symlink():
        with suppress(OSError):
            return stat.S_IMODE(target.stat().st_mode) & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
