"""Export all cells of a study as one long table, which `bestofk.read_losses` reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from bestofk._base.atomic_write import atomic_file
from bestofk._base.checks import refuse
from bestofk._base.errors import StoreError
from bestofk._base.formatting import escaped
from bestofk.data.tables.workbooks import as_text_cell
from bestofk.run.metrics import loss_shown
from bestofk.run.store.store import Store
from bestofk.run.store.stored_study import StudySpec

Columns = dict[str, list[Any]]

_TEXT = ("learner", "dataset", "design", "stratified", "loss_name", "failure", "reason")
_WHOLE = ("run", "fold", "repetition", "n_train", "n_test", "size")


def export_study(store: Store, study: int, path: str | os.PathLike[str]) -> int:
    """Write the cells of a study to a CSV or Parquet file, and return their number.

    The file has one row per cell, ordered by data set, run, fold, repetition and learner. Runs,
    folds and repetitions count from 1. A failed cell has an empty loss, a failure kind and a
    reason. A cell that was not evaluated yet has only an empty loss. Read a file with such cells
    with ``read_losses(path, missing="allow")``.
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
        with atomic_file(target) as file:
            formats[target.suffix.lower()](columns, file)
    except OSError as error:
        raise StoreError(f"{path}: the table cannot be written: {error.strerror}.") from None
    return len(columns["loss"])


def study_columns(store: Store, spec: StudySpec) -> Columns:
    """Return the columns of the table."""
    results = {
        (dataset, batch.run[row], batch.fold[row], batch.repetition[row], learner): batch.result(
            row, batch.key(row, spec.loss)
        )
        for batch, indices in store.batches_of(spec)
        for row, dataset, learner in indices
    }
    cells = [
        (dataset, run, fold, repetition, learner)
        for dataset, data in enumerate(spec.datasets)
        for run in range(data.runs)
        for fold in range(data.folds)
        for repetition in range(spec.repetitions)
        for learner in range(len(spec.learners))
    ]
    failures = [results[cell].failure if cell in results else None for cell in cells]

    def values_of(name: str) -> list[Any]:
        return [getattr(results[cell], name) if cell in results else None for cell in cells]

    columns: Columns = {
        "learner": [spec.learners[learner].name for *_, learner in cells],
        "dataset": [spec.datasets[dataset].name for dataset, *_ in cells],
        "run": [run + 1 for _, run, *_ in cells],
        "fold": [fold + 1 for _, _, fold, *_ in cells],
        "repetition": [repetition + 1 for *_, repetition, _ in cells],
        "loss": values_of("loss"),
        "design": [spec.kind] * len(cells),
        "n_train": _same_in_a_split(values_of("n_train"), cells),
        "n_test": _same_in_a_split(values_of("n_test"), cells),
        "stratified": [None if spec.stratified is None else str(spec.stratified).lower()]
        * len(cells),
        "n_groups": [spec.groups] * len(cells),
        "loss_name": [loss_shown(spec.loss)] * len(cells),
        "failure": [None if failure is None else failure.kind for failure in failures],
        "reason": [None if failure is None else failure.reason for failure in failures],
        "fit_time": values_of("fit_time"),
        "predict_time": values_of("predict_time"),
        "size": values_of("size"),
    }
    # omit facts of the design that are not known for all cells
    unknown = [n for n in ("n_train", "n_test", "stratified", "n_groups") if None in columns[n]]
    return {name: column for name, column in columns.items() if name not in unknown}


def _same_in_a_split(sizes: list[Any], cells: list[Any]) -> list[Any]:
    """Fill in missing sizes from other learners on the same rows."""
    known = {cell[:3]: size for size, cell in zip(sizes, cells, strict=True) if size is not None}
    return [known.get(cell[:3]) for cell in cells]


def _write_csv(columns: Columns, file: BinaryIO) -> None:
    quoted = {name: _csv_text(name, column) for name, column in columns.items()}
    file.write((",".join(quoted) + "\n").encode())
    file.writelines(f"{','.join(row)}\n".encode() for row in zip(*quoted.values(), strict=True))


def _csv_text(name: str, column: list[Any]) -> list[str]:
    """Return texts in quotes, and numbers in the fewest digits that keep their value."""
    if name not in _TEXT:
        return ["" if cell is None else repr(cell) for cell in column]
    quoted = {
        text: ""
        if text is None
        else '"' + as_text_cell(escaped(_encodable(text))).replace('"', '""') + '"'
        for text in set(column)
    }
    return [quoted[text] for text in column]


def _write_parquet(columns: Columns, file: BinaryIO) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {}
    for name, column in columns.items():
        if name in _TEXT:
            clean = {text: None if text is None else _encodable(text) for text in set(column)}
            texts = pa.array([clean[text] for text in column], type=pa.string())
            arrays[name] = texts.dictionary_encode()
        else:
            arrays[name] = pa.array(column, type=pa.int64() if name in _WHOLE else pa.float64())
    pq.write_table(pa.table(arrays), file)


def _encodable(text: str) -> str:
    """Replace lone surrogates and NUL, which tables cannot contain."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
