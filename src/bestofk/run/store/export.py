"""All cells of a study as one long table, with names, that `bestofk.read_losses` reads back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from bestofk._base.atomic_write import whole_file
from bestofk._base.checks import refuse
from bestofk._base.errors import StoreError
from bestofk._base.formatting import escaped
from bestofk.data.tables.workbooks import as_text_cell
from bestofk.run.metrics import loss_shown
from bestofk.run.store.store import Store
from bestofk.run.store.stored_study import StudySpec

Columns = dict[str, list[Any]]

_TEXT = ("algorithm", "dataset", "design", "stratified", "loss_name", "failure", "reason")
_WHOLE = ("run", "fold", "repetition", "n_train", "n_test", "size")


def export_study(store: Store, study: int, path: str | os.PathLike[str]) -> int:
    """Write the cells of a study to a CSV or Parquet file, and return how many they are.

    A row a cell, in the order data set, run, fold, repetition, learner; runs, folds and
    repetitions count from 1. A cell that failed has an empty loss, its kind and its reason; one
    that was not evaluated yet has an empty loss alone. With such cells the file is read by
    ``read_losses(path, missing="allow")``.
    """
    target = Path(path)
    formats: dict[str, Callable[[Columns, BinaryIO], None]] = {
        ".csv": _write_csv,
        ".parquet": _write_parquet,
    }
    if target.suffix.lower() not in formats:
        raise refuse("The file to export to", "named *.csv or *.parquet", str(path))
    columns = study_columns(store, store.study(study).spec)
    try:
        with whole_file(target) as file:
            formats[target.suffix.lower()](columns, file)
    except OSError as failed:
        raise StoreError(f"{path}: the table cannot be written: {failed.strerror}.") from None
    return len(columns["loss"])


def study_columns(store: Store, spec: StudySpec) -> Columns:
    """The columns of the table."""
    found = {
        (dataset, result.key.run, result.key.fold, result.key.repetition, learner): result
        for learner, dataset, result in store.cells_of(spec)
    }
    places = [
        (dataset, run, fold, repetition, learner)
        for dataset, data in enumerate(spec.datasets)
        for run in range(data.runs)
        for fold in range(data.folds)
        for repetition in range(spec.repetitions)
        for learner in range(len(spec.learners))
    ]
    failures = [found[place].failure if place in found else None for place in places]

    def all_of(name: str) -> list[Any]:
        return [getattr(found[place], name) if place in found else None for place in places]

    columns: Columns = {
        "algorithm": [spec.learners[learner].name for *_, learner in places],
        "dataset": [spec.datasets[dataset].name for dataset, *_ in places],
        "run": [run + 1 for _, run, *_ in places],
        "fold": [fold + 1 for _, _, fold, *_ in places],
        "repetition": [repetition + 1 for *_, repetition, _ in places],
        "loss": all_of("loss"),
        "design": [spec.kind] * len(places),
        "n_train": _same_in_a_split(all_of("n_train"), places),
        "n_test": _same_in_a_split(all_of("n_test"), places),
        "stratified": [None if spec.stratified is None else str(spec.stratified).lower()]
        * len(places),
        "n_groups": [spec.groups] * len(places),
        "loss_name": [loss_shown(spec.loss)] * len(places),
        "failure": [None if failure is None else failure.kind for failure in failures],
        "reason": [None if failure is None else failure.reason for failure in failures],
        "fit_time": all_of("fit_time"),
        "predict_time": all_of("predict_time"),
        "size": all_of("size"),
    }
    # A design that is known in part is not known.
    unknown = [n for n in ("n_train", "n_test", "stratified", "n_groups") if None in columns[n]]
    return {name: column for name, column in columns.items() if name not in unknown}


def _same_in_a_split(sizes: list[Any], places: list[Any]) -> list[Any]:
    """Sizes that a cell does not know, from other learners on the same rows."""
    known = {place[:3]: size for size, place in zip(sizes, places, strict=True) if size is not None}
    return [known.get(place[:3]) for place in places]


def _write_csv(columns: Columns, file: BinaryIO) -> None:
    quoted = {name: _csv_text(name, column) for name, column in columns.items()}
    file.write((",".join(quoted) + "\n").encode())
    file.writelines(f"{','.join(row)}\n".encode() for row in zip(*quoted.values(), strict=True))


def _csv_text(name: str, column: list[Any]) -> list[str]:
    """Words in quotes, numbers in the fewest digits that give the same number back."""
    if name not in _TEXT:
        return ["" if cell is None else repr(cell) for cell in column]
    words = {
        word: ""
        if word is None
        else '"' + as_text_cell(escaped(_encodable(word))).replace('"', '""') + '"'
        for word in set(column)
    }
    return [words[word] for word in column]


def _write_parquet(columns: Columns, file: BinaryIO) -> None:
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
    pq.write_table(pa.table(arrays), file)


def _encodable(word: str) -> str:
    """Half characters and NUL, which no table can hold, as a mark that one was there."""
    return word.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
