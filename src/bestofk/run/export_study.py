"""Export all cells of a study as one long table, which `bestofk.read_scores` reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestofk._base.atomic_write import atomic_file
from bestofk._base.checks import refuse
from bestofk._base.errors import StoreError
from bestofk._base.formatting import escaped
from bestofk.data.tables.workbooks import as_text_cell
from bestofk.run.metrics import loss_shown
from bestofk.run.open_study import stored_cells
from bestofk.run.record import StudyRecord
from bestofk.run.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

_TEXT = ("learner", "dataset", "design", "stratified", "loss_name", "failure", "reason")
_WHOLE = ("run", "fold", "repetition", "n_train", "n_test", "size")
_DESIGN = ("n_train", "n_test", "stratified", "n_groups")


def export_study(store: Store, study: int, path: str | os.PathLike[str]) -> int:
    """Write the cells of a study to a CSV or Parquet file, and return their number.

    The file has one row per cell, ordered by data set, run, fold, repetition and learner. Runs,
    folds and repetitions count from 1. A failed cell has an empty loss, a failure kind and a
    reason. A cell that was not evaluated yet has only an empty loss. Read a file with such cells
    with ``read_scores(path, missing="allow")``.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise refuse("The file to export to", "named *.csv or *.parquet", str(path))
    frame = _frame(store, store.study(study))
    try:
        with atomic_file(target) as file:
            if suffix == ".parquet":
                frame.to_parquet(file, index=False)
            else:
                for name in frame.columns.intersection(list(_TEXT)):
                    frame[name] = frame[name].map(_csv_text, na_action="ignore")
                frame.to_csv(file, index=False, lineterminator="\n")
    except OSError as error:
        raise StoreError(f"{path}: the table cannot be written: {error.strerror}.") from None
    return len(frame)


def _frame(store: Store, record: StudyRecord) -> pd.DataFrame:
    """Return one row per cell."""
    import pandas as pd

    table, design = stored_cells(store, record), record.design
    cells = [table.get(cell) or cell for cell in record.cells() if cell.run < design.runs]
    failures = [cell.failure for cell in cells]
    columns: dict[str, Any] = {
        "learner": [record.names[cell.learner] for cell in cells],
        "dataset": [record.datasets[cell.dataset].name for cell in cells],
        "run": [cell.run + 1 for cell in cells],
        "fold": [cell.fold + 1 for cell in cells],
        "repetition": [cell.repetition + 1 for cell in cells],
        "loss": [cell.loss for cell in cells],
        "design": design.kind,
        "n_train": [cell.n_train for cell in cells],
        "n_test": [cell.n_test for cell in cells],
        "stratified": None if design.stratified is None else str(design.stratified).lower(),
        "n_groups": design.groups,
        "loss_name": loss_shown(record.metric),
        "failure": [None if failure is None else failure.kind for failure in failures],
        "reason": [None if failure is None else failure.reason for failure in failures],
        "fit_time": [cell.fit_time for cell in cells],
        "predict_time": [cell.predict_time for cell in cells],
        "size": [cell.size for cell in cells],
    }
    frame = pd.DataFrame(columns)
    # other learners on the same rows know the sizes of a split whose fit is missing
    splits = frame.groupby(["dataset", "run", "fold"])
    for name in ("n_train", "n_test"):
        frame[name] = splits[name].transform("first")
    # omit facts of the design that are not known for all cells
    frame = frame.drop(columns=[name for name in _DESIGN if frame[name].isna().any()])
    for name in frame.columns:
        if name in _TEXT:
            texts = frame[name].map(_encodable, na_action="ignore")
            frame[name] = texts.astype("object")
        else:
            frame[name] = frame[name].astype("Int64" if name in _WHOLE else "float64")
    return frame


def _csv_text(text: str) -> str:
    return as_text_cell(escaped(text))


def _encodable(text: Any) -> str:
    """Replace lone surrogates and NUL, which tables cannot contain."""
    clean = str(text).encode("utf-8", "replace").decode()
    return clean.replace("\0", "\N{REPLACEMENT CHARACTER}")
