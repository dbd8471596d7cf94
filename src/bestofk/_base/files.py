"""Read regular files, and explain why a file cannot be read or parsed."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.registry import resolve

SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".jsonl", ".json", ".arff", ".gz", ".data",
            ".eval", ".zip", ".db")  # fmt: skip
"""Suffixes of files; other words may be names of embedded examples."""
MAX_COMPARED_FILES = 2000
MAX_COMPARED_LENGTH = 120
"""Comparing takes quadratic time in the length of a name."""


def no_such_file(path: Path, noun: str = "file", names: Iterable[str] = ()) -> str:
    """Return a sentence with the most similar files in the folder, and of other `names`.

    Examples
    --------
    >>> no_such_file(Path("irsi"), "file or embedded data set", ["iris"])
    "There is no file or embedded data set 'irsi': did you mean 'iris'?"
    """
    near = get_close_matches(str(path)[:MAX_COMPARED_LENGTH].lower(), list(names), n=2)
    try:
        siblings = {
            entry.name.lower(): entry.name
            for entry in islice(path.parent.iterdir(), MAX_COMPARED_FILES)
        }
        end = "."
    except (OSError, ValueError):
        siblings, end = {}, f" and no directory {str(path.parent)!r:.300}."
    files = get_close_matches(path.name[:MAX_COMPARED_LENGTH].lower(), siblings, n=3)
    near += [str(path.parent / siblings[name]) for name in files]
    offer = f": did you mean {' or '.join(map(repr, near))}?" if near else end
    return f"There is no {noun} {str(path)!r:.300}{offer}"


def check_source(source: str, noun: str, examples: str) -> None:
    """Raise an error if there is no such file and no embedded example of that name.

    `noun` says what there may be; the mapping of the examples is at `examples`,
    ``package.module:name``.

    Examples
    --------
    >>> check_source("iris", "file or embedded data set", "bestofk.data.embedded:DATASETS")
    >>> check_source("irs", "file or embedded data set", "bestofk.data.embedded:DATASETS")
    Traceback (most recent call last):
    bestofk._base.errors.TableError: There is no file or embedded data set 'irs': did you mean \
'iris'?
    """
    path = Path(source)
    if path.exists() or "://" in source or "#" in source:  # readers check tables and sheets
        return
    if path.suffix in SUFFIXES or path.name != source:
        raise TableError(no_such_file(path, noun.partition(" or embedded")[0]))
    names = resolve(examples)
    if source not in names:
        raise TableError(no_such_file(path, noun, names))


def regular_size(path: Path, noun: str = "file") -> int:
    """Return the size of a regular file; raise an error if the path is anything else."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise TableError(no_such_file(path, noun)) from None
    except (OSError, ValueError) as error:
        raise TableError(f"{str(path)!r:.300} cannot be read: {error}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise TableError(f"{path} must be a file; it is a directory.")
    if not stat.S_ISREG(status.st_mode):
        raise TableError(f"{path} must be a regular file, not a device or a pipe.")
    return status.st_size


def read_file(path: Path) -> bytes:
    """Read a regular file that is not empty, or raise an error that says why it cannot be read."""
    try:
        data = path.read_bytes() if regular_size(path) else b""
    except PermissionError:
        raise TableError(f"{path} cannot be read: permission denied.") from None
    except (OSError, OverflowError) as error:
        raise TableError(f"{str(path)!r} cannot be read: {error}.") from None
    if not data:
        raise TableError(f"{path.name}: the file is empty.")
    return data


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file, or raise an error that says why it cannot be read."""
    import tomllib

    data = read_file(path)
    try:
        return tomllib.loads(data.decode())
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
    except (ValueError, RecursionError) as error:
        problem = parsing_problem(error)
    raise TableError(f"{path} is not a TOML file ({problem}).")


def parsing_problem(error: ValueError | RecursionError) -> str:
    """Return what is wrong with a text that Python could not parse as JSON or TOML."""
    if isinstance(error, RecursionError):
        return "brackets are nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, line {error.lineno} column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return "a whole number has thousands of digits"
