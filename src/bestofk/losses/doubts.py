"""Clean the cells of a table of losses, and refuse tables that are easily misread."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import TableError, use
from bestofk._base.formatting import shortened
from bestofk.data.tables.table import MISSING_MARKERS, Table
from bestofk.data.tables.values import is_number
from bestofk.losses.columns import direction_of, listed, normal

if TYPE_CHECKING:
    from bestofk.losses.layouts import Cells

# Cells


_BEFORE = re.compile(
    r"^(?:\*\*|__|\*|\$|\\(?:textbf|underline|mathbf|emph|textit)\{|\{\\bf |<(?:b|strong|u|i)>|\s)+"
)
_AFTER = re.compile(r"(?:\*|__|\$|\}|</(?:b|strong|u|i)>|\^\{?(?=[*†‡])|[†‡§•]|\s)+$")
_NUMBER_BEGINS = re.compile(r"[+-]?(?:[.,]?\d|inf|nan)", re.IGNORECASE)
_FIRST_CELLS = 64
_FAILED = {
    "-", "--", "---", "–", "—", "−", "timeout", "time out", "timed out", "t/o", "oom", "oot",
    "memout", "out of memory", "dnf", "fail", "failed", "failure", "error", "err", "crash",
    "crashed", "diverged", "missing", "not available", "✗",
}  # fmt: skip
"""Words, in lower case, for a result that does not exist."""


def plain_cells(table: Table) -> Table:
    """Remove marks such as bold around numbers, and count words such as ``timeout`` as missing.

    Change only columns whose other cells are all numbers.
    """
    import pyarrow as pa
    import pyarrow.types as kinds

    cells, failed, marked = dict(table.cells), set(), False
    for column in table.columns:
        if not kinds.is_string(table.cells[column].type):
            continue
        if table.is_numeric(column):
            continue
        encoded = table.cells[column].dictionary_encode()
        if not _may_be_numbers(encoded.dictionary[:_FIRST_CELLS].to_pylist()):
            continue
        before = [(cell or "").strip() for cell in encoded.dictionary.to_pylist()]
        after = [_without_marks(cell) for cell in before]
        words = {cell for cell in before if cell.lower() in _FAILED}
        numbers = ["" if cell in words else text for cell, text in zip(before, after, strict=True)]
        distinct = pa.array(numbers, type=pa.string())
        if replace(table, cells={column: distinct}).is_numeric(column):
            cells[column] = distinct.take(encoded.indices)
            failed |= words
            marked = marked or any(
                a != b for a, b in zip(before, after, strict=True) if a not in words
            )
    notes = []
    if marked:
        notes.append("Marks around numbers, such as bold and stars, were removed.")
    if failed:
        notes.append(f"Missing: the cells {shortened(sorted(map(repr, failed)), 6)}.")
    if not notes:
        return table
    return replace(table, cells=cells, account=(*table.account, *notes))


def _without_marks(cell: str) -> str:
    return _AFTER.sub("", _BEFORE.sub("", cell))


def _may_be_numbers(cells: Sequence[str | None]) -> bool:
    """Return False if a cell begins neither like a number nor like a missing result."""
    plain = [(cell or "").strip() for cell in cells]
    return all(
        cell.lower() in _FAILED
        or _without_marks(cell).lower() in MISSING_MARKERS
        or _NUMBER_BEGINS.match(_without_marks(cell))
        for cell in plain
    )


# Columns and rows


def refuse_markup(table: Table) -> None:
    """Raise if the file is a Markdown or LaTeX table, or has lines above its header."""
    first = table.columns[0] if table.columns else ""
    form = ""
    if len(table.columns) == 1 and "&" in first:
        form = "LaTeX"
    elif table.n_rows and table.delimiter == "|":
        form = (
            "Markdown"
            if re.fullmatch(r":?-+:?", _first_cell(table, table.columns[len(table.columns) // 2]))
            else ""
        )
    if form:
        raise TableError(
            f"{table.source} is a {form} table: save it as CSV, with one line per row and commas "
            "between the cells."
        )
    unnamed = [name for name in table.columns if re.fullmatch(r"column \d+", name)]
    if len(unnamed) >= max(2, len(table.columns) - 1) and table.n_rows:
        row = [_first_cell(table, name) for name in table.columns]
        if sum(bool(cell) and not is_number(cell) for cell in row) == len(row):
            raise TableError(
                f"{table.source}: the first line names {len(table.columns) - len(unnamed)} of "
                f"{len(table.columns)} columns: delete the lines above the names."
            )


def _first_cell(table: Table, column: str) -> str:
    return (table.raw(column)[0].as_py() or "").strip()


def refuse_phases(table: Table, roles: dict[str, str]) -> None:
    """Raise if a column says whether a result is of training or of test rows."""
    for column in table.columns:
        if len(table.cells[column][:_FIRST_ROWS].unique()) > _MAX_PHASES:
            continue
        distinct = table.cells[column].unique()
        if len(distinct) > _MAX_PHASES:
            continue
        words = [str(cell).strip() for cell in distinct.to_pylist() if cell is not None]
        names = {word.lower(): word for word in words if word}
        phases = [name for name in names if _PHASE.fullmatch(name)]
        if len(phases) < 2 or len(phases) < len(names) or column == roles.get("learner"):
            continue
        test = next((names[name] for name in phases if name.startswith("test")), names[phases[-1]])
        raise TableError(
            f"{table.source}: the column {column!r} says which rows a result is of "
            f"({listed(names.values())}): select one with ",
            use(where={column: test}),
            ".",
        )


_MAX_PHASES = 5
_PHASE = re.compile(r"train(?:ing)?|test(?:ing)?|val|valid(?:ation)?|dev|eval|hold_?out")


def refuse_column_names(table: Table, learners: Sequence[str]) -> None:
    """Raise if the columns of a wide table are numbers, or several metrics of the same learners."""
    if learners and all(is_number(name) and "." in name for name in learners):
        values = [table.numbers(name) for name in learners]
        spans = [float(np.ptp(column)) for column in values]
        if all(
            column.min() - span <= float(name) <= column.max() + span
            for name, column, span in zip(learners, values, spans, strict=True)
        ):
            raise TableError(
                f"{table.source}: line 1 must name the columns; got numbers "
                f"({', '.join(learners[:3])})."
            )
    by_metric: dict[str, dict[str, str]] = {}
    for name in learners:
        parts = normal(name).split("_")
        for base, metric in ((parts[:-1], parts[-1]), (parts[1:], parts[0])):
            if base and direction_of(metric) in ("loss", "score"):
                by_metric.setdefault(metric, {})["_".join(base)] = name
                break
    metrics = list(by_metric)
    if len(metrics) > 1 and any(
        set(by_metric[a]) & set(by_metric[b]) for a, b in pairwise(metrics)
    ):
        raise TableError(
            f"{table.source}: the columns have several metrics ({listed(metrics[:6])}) of the same "
            "learners: select those of one metric with ",
            use(learners=list(by_metric[metrics[0]].values())),
            ".",
        )


# Numbers


_MAX_COMBINED = 12
"""Learners among which a difference of two others is looked for."""
_MIN_ROWS = 4
_FIRST_ROWS = 1_000
"""Rows that are looked at first, because they usually settle the answer for all."""


def refuse_differences(values: Floats, names: Sequence[str], source: str) -> None:
    """Raise if a learner's numbers are the differences of those of two others."""
    table = values.reshape(len(values), -1)
    table = table[:, np.isfinite(table).all(axis=0)]
    if not 3 <= len(table) <= _MAX_COMBINED or table.shape[1] < _MIN_ROWS:
        return
    digits = _decimals(table)
    if digits == 0:
        # counts, or right and wrong items
        return
    # the printed difference of two rounded numbers
    slack = 1.6 * 10.0**-digits
    # a difference is usually smaller than the numbers themselves
    by_size = np.argsort(np.abs(table).mean(axis=1), kind="stable").tolist()
    first = table[:, :_FIRST_ROWS]
    for c, a, b in permutations(by_size, 3):
        if np.abs(first[a] - first[b] - first[c]).max() > max(1e-9, slack):
            continue
        gap = table[a] - table[b]
        error = np.abs(gap - table[c]).max()
        if (error < 1e-9 < np.abs(gap).max()) or error <= slack < np.abs(gap).max() / 4:
            others = [name for k, name in enumerate(names) if k != c]
            raise TableError(
                f"{source}: {names[c]!r} is {names[a]!r} minus {names[b]!r}, not a learner: name "
                "the learners with ",
                use(learners=others),
                ".",
            )


def _decimals(table: Floats) -> int:
    """Return the number of decimals of the numbers, at most 6."""
    for digits in range(7):
        first = table[:, :_FIRST_ROWS]
        if np.abs(np.round(first, digits) - first).max() >= 1e-9:
            continue
        if np.abs(np.round(table, digits) - table).max() < 1e-9:
            return digits
    return 6


def refuse_negative_losses(cells: Cells, name: str, source: str) -> None:
    """Raise if all losses are negative: scorers give losses as negative scores."""
    known = cells.values[np.isfinite(cells.values)]
    if len(known) and known.max() <= 0.0 and known.min() < 0.0:
        raise TableError(
            f"{source}: the name {name!r} says that lower is better, but its numbers are negative, "
            "as in scores that are better if higher: pass ",
            use(higher_is_better=True),
            " if they are such scores, or ",
            use(higher_is_better=False),
            ".",
        )


def check_scales(values: Floats, names: Sequence[str], source: str, *, higher: bool) -> None:
    """Raise if percentages are mixed with fractions, or if ranks count as scores.

    `values` (K, ...) are as in the file. A single percentage among losses may be an outlier.
    """
    table = values.reshape(len(values), -1)
    table = table[:, np.isfinite(table).all(axis=0)]
    if not table.size or len(table) < 2:
        return
    large = (table > 1.0) & (table <= 100.0)
    suspects = large if higher else large & large.all(axis=1, keepdims=True)
    others = np.where(suspects, np.nan, table)
    if suspects.any() and (~suspects).any() and np.nanmin(others) >= 0 and np.nanmax(others) <= 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            middle = np.where(suspects, np.nanmedian(others, axis=0), np.nan)
            ratio = table / 100.0 / middle
        if np.nanmax(np.where(suspects, np.abs(np.log2(ratio)), np.nan)) <= 1.0:
            row, column = np.argwhere(suspects)[0]
            raise TableError(
                f"{source}: {names[row]!r} has the number {table[row, column]:g} among fractions "
                "between 0 and 1; it looks like a percentage: divide it by 100."
            )
    failed = table == -1.0
    others = table[~failed]
    some = failed.any() and not failed.all(axis=1).any()
    if some and others.min() >= 0.0 and others.max() <= 1.0:
        raise TableError(
            f"{source}: {names[int(np.argwhere(failed)[0, 0])]!r} has the number -1 among "
            "numbers between 0 and 1. If it marks a failure, empty the cell, or write the "
            "worst number."
        )
    K = len(table)
    ranks = np.sort(table, axis=0)
    if higher and K > 2 and table.shape[1] > 2 and (ranks == np.arange(1, K + 1)[:, None]).all():
        raise TableError(
            f"{source}: the numbers are the ranks 1 to {K}, of which 1 is the best: pass ",
            use(higher_is_better=False),
            ", or give the scores themselves.",
        )
