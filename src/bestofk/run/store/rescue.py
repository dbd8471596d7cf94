"""An SQLite file that is deleted or replaced while it is in use: what it held is kept elsewhere.

A file that was opened stays readable until it is closed, whatever happens to its name. So all
that a store held, and not only what this process put there, is copied to a new file.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from bestofk.errors import StoreError
from bestofk.run.store.url import Address


class Anchor:
    """Holds a file open, and knows whether it is still what its name leads to."""

    def __init__(self, path: Path) -> None:
        # to write: SQLite lays no log for those who only read
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, check_same_thread=False
        )
        self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        self._path = path.absolute()
        self._file = _identity(self._path)

    def is_in_place(self) -> bool:
        """Whether the name leads to the file that is open."""
        return _identity(self._path) == self._file

    def moved(self, address: Address) -> tuple[Address, Anchor, str]:
        """Copy what the file held to a new one; its address and anchor, and what happened."""
        happened = "replaced" if self._path.exists() else "deleted"
        try:
            path = _new_file(self._path)
            with closing(sqlite3.connect(path)) as copy:
                self._connection.backup(copy)
                copy.execute("PRAGMA journal_mode = WAL").close()
            anchor = Anchor(path)
        except (OSError, sqlite3.Error) as failed:
            raise StoreError(
                f"{address.shown}: the store was {happened} while it was in use, and what it held "
                f"could not be kept elsewhere: {' '.join(str(failed).split())}."
            ) from None
        self.close()
        return Address(kind="sqlite", shown=str(path), path=path), anchor, happened

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _new_file(path: Path) -> Path:
    """A file that was not there before: beside the old one, else among temporary files."""
    for folder in (path.parent, Path(tempfile.gettempdir())):
        for number in range(1, 1000):
            name = f"{path.stem}-rescued{'' if number == 1 else f'-{number}'}{path.suffix}"
            try:
                os.close(os.open(folder / name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                continue
            except OSError:
                break
            return folder / name
    raise OSError("no folder can be written")
