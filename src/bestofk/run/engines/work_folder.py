"""A folder for the files of a run; what a killed process left behind is removed by the next one.

A lock in the folder tells whether somebody still works there: the system lets go of it when the
process ends, however it ends, and it holds for processes of other containers too.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path

PREFIX = "bestofk-work-"
LOCK = "lock"
LONG_AGO = 60.0
"""Seconds after which an empty folder is none that is just being made."""


class WorkFolder:
    """A new folder, and a sweep of those that nobody works in any more.

    Parameters
    ----------
    inside : str, optional
        Where; by default the system's folder for such files.
    """

    def __init__(self, inside: str | None = None) -> None:
        sweep(inside)
        self._folder = tempfile.TemporaryDirectory(
            prefix=PREFIX, dir=inside, ignore_cleanup_errors=True
        )
        self.name = self._folder.name
        self._lock = _locked(Path(self.name))

    def cleanup(self) -> None:
        """Remove it."""
        self._folder.cleanup()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep(inside: str | None = None) -> None:
    """Remove the folders of this user's processes that ended without removing them."""
    try:
        import fcntl
    except ImportError:
        return
    form = re.compile(re.escape(PREFIX) + r"[a-z0-9_]{8}")
    with contextlib.suppress(OSError), os.scandir(inside or tempfile.gettempdir()) as entries:
        for entry in entries:
            if form.fullmatch(entry.name) is None:
                continue
            with contextlib.suppress(OSError):
                seen = entry.stat(follow_symlinks=False)
                if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid():
                    continue
                try:
                    lock = os.open(Path(entry.path) / LOCK, os.O_RDWR | os.O_NOFOLLOW)
                except FileNotFoundError:
                    if time.time() - seen.st_mtime > LONG_AGO:
                        Path(entry.path).rmdir()  # whoever made it was killed before all else
                    continue
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(lock)


def _locked(folder: Path) -> int | None:
    """The lock of a folder, taken before it can be seen; None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    hidden = folder / f"{LOCK}.part"
    lock = os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        hidden.rename(folder / LOCK)
    except OSError:
        # a file system without locks: then nobody sweeps there
        hidden.unlink(missing_ok=True)
        os.close(lock)
        return None
    return lock
