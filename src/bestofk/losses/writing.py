"""Write losses to files that `read_losses` reads back bit for bit.

Every format has the same columns. Long: ``learner``, ``dataset``, ``run``, ``fold``,
``repetition``, ``loss``. Wide: one column per learner instead of the first and the last. Both have
columns that restore the design: ``design`` (its kind), ``n_train``, ``n_test``, ``n_groups`` and
``stratified`` if known, and ``loss_name``. A missing cell is empty; read such a file with
``missing="allow"``. A wide file cannot contain a learner whose name would be read as the role of a
column (``fold``, ``dataset``, ...); the writer then raises an error, and the long layout works.
Losses of runs on parts of the rows (`Losses.subset_values`) follow those of all rows: the column
``part_of_rows`` says ``all`` or ``nested``, ``run`` starts again at 1, and their sizes are 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from bestofk._base.atomic_write import atomic_file
from bestofk._base.checks import Floats, one_of
from bestofk._base.errors import ArgumentError
from bestofk.data.tables.workbooks import as_text_cell
from bestofk.losses.layouts import looks_like_role

if TYPE_CHECKING:
    from bestofk.losses.losses import Losses

PathLike = str | os.PathLike[str]
Columns = dict[str, Any]
_PLAIN = re.compile(r"[\w.+:/()\[\]=*-]+(?: [\w.+:/()\[\]=*-]+)*")


def tidy_columns(losses: Losses, *, layout: str) -> Columns:
    """Return the columns of the file: arrays of names, integers and floats (NaN if missing)."""
    one_of(layout, "layout", ("long", "wide"))
    if layout == "wide":
        _refuse_role_names(losses)
    columns = _columns_of(losses, losses.values, layout, all_rows=True)
    if losses.subset_values is None:
        return columns
    parts = _columns_of(losses, losses.subset_values, layout, all_rows=False)
    both = {name: np.concatenate([columns[name], parts[name]]) for name in columns}
    rows, more = (len(table["run"]) for table in (columns, parts))
    both["part_of_rows"] = np.array(["all"] * rows + ["nested"] * more, dtype=object)
    return both


def _columns_of(losses: Losses, table: Floats, layout: str, *, all_rows: bool) -> Columns:
    """Return the columns of the runs on all rows, or of those on parts of the rows."""
    shape = table.shape if layout == "long" else (1, *table.shape[1:])
    at = np.indices(shape).reshape(5, -1)
    columns: Columns = {}
    if layout == "long":
        columns["learner"] = np.array(losses.learners, dtype=object)[at[0]]
    columns["dataset"] = np.array(losses.datasets, dtype=object)[at[1]]
    for axis, name in ((2, "run"), (3, "fold"), (4, "repetition")):
        columns[name] = at[axis] + 1
    if layout == "long":
        columns["loss"] = table.ravel()
    else:
        for learner, values in zip(losses.learners, table, strict=True):
            columns[learner] = values.ravel()
    design = losses.design
    rows = at.shape[1]
    columns["design"] = np.full(rows, design.kind, dtype=object)
    for name in ("n_train", "n_test"):
        sizes = getattr(design, name)
        if sizes is not None:
            columns[name] = (
                np.array(sizes)[at[2] * design.folds + at[3]]
                if all_rows
                else np.zeros(rows, dtype=np.int64)
            )
    if design.stratified is not None:
        columns["stratified"] = np.full(rows, str(design.stratified).lower(), dtype=object)
    if design.groups is not None:
        columns["n_groups"] = np.full(rows, design.groups)
    columns["loss_name"] = np.full(rows, losses.loss_name, dtype=object)
    return columns


def _refuse_role_names(losses: Losses) -> None:
    for name in losses.learners:
        if looks_like_role(name):
            raise ArgumentError(
                f"layout must be 'long': in a wide file the learner {name!r} would be read as the "
                "role of its column."
            )


def write_delimited(losses: Losses, path: PathLike, *, layout: str, delimiter: str) -> None:
    """Write CSV or TSV in UTF-8."""
    columns = tidy_columns(losses, layout=layout)
    texts = [_delimited_text(column) for column in columns.values()]
    with _text_file(path) as file:
        file.write(delimiter.join(map(_quoted, columns)) + "\n")
        file.writelines(delimiter.join(row) + "\n" for row in zip(*texts, strict=True))


def _delimited_text(column: Any) -> list[str]:
    if column.dtype == object:
        quoted = {word: _quoted(word) for word in set(column.tolist())}
        return [quoted[word] for word in column.tolist()]
    return [str(_text(cell)) for cell in column.tolist()]


def _quoted(word: str) -> str:
    """Quote `word` if it contains anything that could be read as structure."""
    word = as_text_cell(word)
    return word if _PLAIN.fullmatch(word) else '"' + word.replace('"', '""') + '"'


@contextmanager
def _text_file(path: PathLike) -> Iterator[TextIO]:
    """Open a UTF-8 file that is written atomically."""
    with atomic_file(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


def _text(cell: Any) -> Any:
    """Write floats with the fewest digits that restore them, and NaN as nothing."""
    if isinstance(cell, float):
        return "" if cell != cell else repr(cell)
    return cell


def write_parquet(losses: Losses, path: PathLike, *, layout: str) -> None:
    """Write Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        name: pa.array(column.tolist(), type=pa.string()).dictionary_encode()
        if column.dtype == object
        else pa.array(column, from_pandas=True)
        for name, column in tidy_columns(losses, layout=layout).items()
    }
    with atomic_file(path) as file:
        pq.write_table(pa.table(arrays), file)


def write_jsonl(losses: Losses, path: PathLike, *, layout: str) -> None:
    """Write one JSON object per line; null for missing cells."""
    import json

    columns = tidy_columns(losses, layout=layout)
    with _text_file(path) as file:
        keys = [json.dumps(name) + ": " for name in columns]
        texts = [
            [key + word for word in _json_text(column)]
            for key, column in zip(keys, columns.values(), strict=True)
        ]
        file.writelines("{" + ", ".join(row) + "}\n" for row in zip(*texts, strict=True))


def _json_text(column: Any) -> list[str]:
    import json

    if column.dtype == object:
        dumped = {word: json.dumps(word) for word in set(column.tolist())}
        return [dumped[word] for word in column.tolist()]
    return [str(_text(cell)) or "null" for cell in column.tolist()]


def write_arff(losses: Losses, path: PathLike, *, layout: str) -> None:
    """Write ARFF; names are nominal attributes, declared in the order of the losses."""
    from bestofk.data.tables.arff import quote

    columns = tidy_columns(losses, layout=layout)
    with _text_file(path) as file:
        file.write(f"@relation {quote('losses')}\n\n")
        texts = []
        for name, column in columns.items():
            if column.dtype == object:
                cells = column.tolist()
                quoted = {word: quote(word) for word in dict.fromkeys(cells)}
                kind = "{" + ",".join(quoted.values()) + "}"
                texts.append([quoted[cell] for cell in cells])
            else:
                kind = "numeric"
                texts.append([str(_text(cell)) or "?" for cell in column.tolist()])
            file.write(f"@attribute {quote(name)} {kind}\n")
        file.write("\n@data\n")
        file.writelines(",".join(row) + "\n" for row in zip(*texts, strict=True))
