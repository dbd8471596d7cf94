"""Results as one table each: for notebooks, data frames, Markdown and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from bestofk.learners.preparation.account import sentences as preparation_sentences
from bestofk.ordering.evidence.evidence import Evidence
from bestofk.ordering.one_test import TestReport
from bestofk.ordering.result import Order
from bestofk.presenting import Result
from bestofk.report.learner_tables import costs_table, learners_table, pairs_table
from bestofk.report.names import html_sentence, paragraphs
from bestofk.report.output_table import Column, Kind, OutputTable
from bestofk.report.report_figures import dot_plot_of
from bestofk.run.study import Study
from bestofk.wording import number

if TYPE_CHECKING:
    import pandas as pd

MOST_NUMBERS = 8
"""So many numbers of an array are shown."""
_KINDS: dict[str, Kind] = {
    "a": "name",
    "b": "name",
    "learner": "name",
    "recommended": "name",
    "pvalue": "pvalue",
    "adjusted_pvalue": "pvalue",
}
"""What a column of this name holds; else it is told by its cells."""


def table_of(value: Result) -> OutputTable:
    """The table that says most of a result."""
    if isinstance(value, Study):
        if value.decision is None:
            return costs_table(value.costs)
        return learners_table(value.decision, value.costs, value.others)
    if isinstance(value, Order):
        return learners_table(value)
    if isinstance(value, TestReport):
        return table_of(value.result)
    if isinstance(value, Evidence):
        return pairs_table(value)
    return _rows_table(value)


def frame_of(value: Result) -> pd.DataFrame:
    """`table_of` as a data frame."""
    return table_of(value).to_frame()


def markdown_of(value: Result) -> str:
    """`table_of` in Markdown."""
    return table_of(value).to_markdown()


def latex_of(value: Result) -> str:
    """`table_of` in LaTeX."""
    return table_of(value).to_latex()


def html_of(value: Result) -> str:
    """What a notebook shows: the first paragraph of the explanation above the table.

    Of a study also a dot plot of its losses, and what was done to the data.
    """
    table = table_of(value).to_html()
    names = _names(value)
    first = paragraphs(value.explain(), names)[0]
    plot, after = Markup(""), Markup("")
    if isinstance(value, Study):
        if value.decision is not None:
            # drawn by us, and all words in it are escaped
            plot = Markup(dot_plot_of(value.decision, value.losses))
        said = [*preparation_sentences(value.preparation), *value.data_account]
        after = Markup("").join(Markup("<p>{}</p>").format(line) for line in said)
    shown = Markup("<p>{}</p>{}{}{}").format(html_sentence(first, names), plot, table, after)
    return str(shown)


def _names(value: Result) -> tuple[object, ...]:
    if isinstance(value, Study):
        return value.losses.algorithms
    if isinstance(value, Order):
        return value.prior
    return value.names if isinstance(value, TestReport | Evidence) else ()


def _rows_table(value: Result) -> OutputTable:
    """Any other result: its rows, or where there is only one its numbers by name."""
    frame = value.to_frame()
    if len(frame) == 1:
        return _numbers_table(value)
    return OutputTable(
        name="result",
        caption=type(value).__name__,
        columns=tuple(
            Column(
                key=str(name),
                title=str(name).replace("_", " ").capitalize(),
                kind=_kind(str(name), cells),
                cells=cells,
            )
            for name, cells in ((name, _cells(frame[name])) for name in frame.columns)
        ),
    )


def _cells(column: pd.Series[Any]) -> list[Any]:
    """None where there is nothing, or nothing finite, to say."""
    return [
        None if cell is None or (isinstance(cell, float) and not np.isfinite(cell)) else cell
        for cell in column.tolist()
    ]


def _kind(name: str, cells: list[Any]) -> Kind:
    if name in _KINDS:
        return _KINDS[name]
    held = [cell for cell in cells if cell is not None]
    if any(isinstance(cell, str | bool) for cell in held):
        return "text"
    return "count" if held and all(isinstance(cell, int) for cell in held) else "number"


def _numbers_table(value: Result) -> OutputTable:
    rows = {
        name: _text(one)
        for name, one in value.to_dict().items()
        if not (one is None or one in ("", [], {}) or name in ("explanation", "version"))
    }
    return OutputTable(
        name="result",
        caption=type(value).__name__,
        columns=(
            Column(key="quantity", title="Quantity", kind="text", cells=list(rows)),
            Column(key="value", title="Value", kind="text", cells=list(rows.values())),
        ),
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(one)}" for name, one in value.items() if one is not None)
    if isinstance(value, list):
        numbers = [_text(item) for item in value[:MOST_NUMBERS]]
        more = [f"... ({len(value)} in all)"] if len(value) > MOST_NUMBERS else []
        return ", ".join([*numbers, *more])
    return "" if value is None else str(value)
