"""All cells of a study as one long table, with names, that `bestofk.read_losses` reads back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bestofk.checks import refuse
from bestofk.errors import StoreError
from bestofk.run.store import Store
from bestofk.run.store_study import StudySpec

Columns = dict[str, list[Any]]

_TEXT = ("algorithm", "dataset", "design", "stratified", "loss_name", "failure", "reason")
_WHOLE = ("run", "fold", "repetition", "n_train", "n_test", "size")


def export_study(store: Store, study: int, path: str | os.PathLike[str]) -> int:
    """Write the cells of a study to a CSV or Parquet file, and return how many they are.

    A row a cell, in the order data set, run, fold, repetition, learner; runs, folds and
    repetitions count from 1. A cell that failed has an empty loss, its kind and its reason; with
    such cells, or while a study is incomplete, the file is read with ``missing="allow"``.
    """
    target = Path(path)
    formats: dict[str, Callable[[Columns, Path], None]] = {
        ".csv": _write_csv,
        ".parquet": _write_parquet,
    }
    if target.suffix.lower() not in formats:
        raise refuse("The file to export to", "named *.csv or *.parquet", str(path))
    columns = study_columns(store, store.study(study).spec)
    # A file of that name is replaced by the whole table or not at all.
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        formats[target.suffix.lower()](columns, beside)
        beside.replace(target)
    except OSError as failed:
        raise StoreError(f"{path}: the table cannot be written: {failed.strerror}.") from None
    finally:
        beside.unlink(missing_ok=True)
    return len(columns["loss"])


def study_columns(store: Store, spec: StudySpec) -> Columns:
    """The columns of the table."""
    found = sorted(
        store.cells_of(spec),
        key=lambda cell: (
            cell[1],
            cell[2].key.run,
            cell[2].key.fold,
            cell[2].key.repetition,
            cell[0],
        ),
    )
    results = [result for _, _, result in found]
    columns: Columns = {
        "algorithm": [spec.learners[learner].name for learner, _, _ in found],
        "dataset": [spec.datasets[dataset].name for _, dataset, _ in found],
        "run": [result.key.run + 1 for result in results],
        "fold": [result.key.fold + 1 for result in results],
        "repetition": [result.key.repetition + 1 for result in results],
        "loss": [result.loss for result in results],
        "design": [spec.kind] * len(found),
        "n_train": [result.n_train for result in results],
        "n_test": [result.n_test for result in results],
        "loss_name": [spec.loss] * len(found),
        "failure": [None if r.failure is None else r.failure.kind for r in results],
        "reason": [None if r.failure is None else r.failure.reason for r in results],
        "fit_time": [result.fit_time for result in results],
        "predict_time": [result.predict_time for result in results],
        "size": [result.size for result in results],
    }
    if spec.stratified is not None:
        columns["stratified"] = [str(spec.stratified).lower()] * len(found)
    for name in ("n_train", "n_test"):
        if None in columns[name]:
            columns[name] = _from_the_same_split(columns[name], found)
    return columns


def _from_the_same_split(sizes: list[Any], found: list[Any]) -> list[Any]:
    """Sizes that a failed cell does not know, from other learners on the same rows."""
    known = {
        (dataset, result.key.run, result.key.fold): size
        for size, (_, dataset, result) in zip(sizes, found, strict=True)
        if size is not None
    }
    return [known.get((dataset, result.key.run, result.key.fold)) for _, dataset, result in found]


def _write_csv(columns: Columns, path: Path) -> None:
    quoted = {name: _csv_text(name, column) for name, column in columns.items()}
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(quoted) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*quoted.values(), strict=True))


def _csv_text(name: str, column: list[Any]) -> list[str]:
    """Words in quotes, numbers in the fewest digits that give the same number back."""
    if name not in _TEXT:
        return ["" if cell is None else repr(cell) for cell in column]
    words = {
        word: "" if word is None else '"' + _encodable(word).replace('"', '""') + '"'
        for word in set(column)
    }
    return [words[word] for word in column]


def _write_parquet(columns: Columns, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {}
    for name, column in columns.items():
        if name in _TEXT:
            clean = {word: None if word is None else _encodable(word) for word in set(column)}
            words = pa.array([clean[word] for word in column], type=pa.string())
            arrays[name] = words.dictionary_encode()
        else:
            arrays[name] = pa.array(column, type=pa.int64() if name in _WHOLE else pa.float64())
    pq.write_table(pa.table(arrays), path)


def _encodable(word: str) -> str:
    """Half characters and NUL, which no table can hold, as a mark that one was there."""
    return word.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
