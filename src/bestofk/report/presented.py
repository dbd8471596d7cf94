"""Results as one table each: for notebooks, data frames, Markdown and LaTeX."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from bestofk.ordering.evidence.evidence import Evidence
from bestofk.ordering.one_test import TestReport
from bestofk.ordering.result import Order
from bestofk.report.learner_tables import costs_table, learners_table, pairs_table
from bestofk.report.names import html_sentence, paragraphs
from bestofk.report.output_table import Column, OutputTable
from bestofk.run.study import Study
from bestofk.wording import number

if TYPE_CHECKING:
    import pandas as pd

MOST_NUMBERS = 8
"""So many numbers of an array are shown."""


def table_of(value: Any) -> OutputTable:
    """The table that says most of a result."""
    if isinstance(value, Study):
        if value.decision is None:
            return costs_table(value.costs)
        return learners_table(value.decision, value.costs)
    if isinstance(value, Order):
        return learners_table(value)
    if isinstance(value, TestReport):
        return table_of(value.result)
    if isinstance(value, Evidence):
        return pairs_table(value)
    return _fields_table(value)


def frame_of(value: Any) -> pd.DataFrame:
    """`table_of` as a data frame."""
    return table_of(value).to_frame()


def markdown_of(value: Any) -> str:
    """`table_of` in Markdown."""
    return table_of(value).to_markdown()


def latex_of(value: Any) -> str:
    """`table_of` in LaTeX."""
    return table_of(value).to_latex()


def html_of(value: Any) -> str:
    """What a notebook shows: the verdict's first sentence above the table."""
    table = table_of(value).to_html()
    if not isinstance(value, Study | Order | TestReport):
        return str(table)
    names = value.losses.algorithms if isinstance(value, Study) else _names(value)
    first = paragraphs(value.explain(), names)[0]
    return str(Markup("<p>{}</p>{}").format(html_sentence(first, names), table))


def _names(value: Order | TestReport) -> tuple[object, ...]:
    return value.prior if isinstance(value, Order) else value.names


def _fields_table(value: Any) -> OutputTable:
    """Any other result: its numbers by name."""
    found = {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
    rows = {name: _text(one) for name, one in found.items() if not _says_nothing(one)}
    return OutputTable(
        name="result",
        caption=type(value).__name__,
        columns=(
            Column(key="quantity", title="Quantity", kind="text", cells=list(rows)),
            Column(key="value", title="Value", kind="text", cells=list(rows.values())),
        ),
    )


def _says_nothing(value: Any) -> bool:
    return value is None or callable(value) or (isinstance(value, str | tuple) and not value)


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return number(float(value))
    if isinstance(value, np.ndarray):
        numbers = [_text(item) for item in value.ravel()[:MOST_NUMBERS]]
        more = [f"... ({value.size} in all)"] if value.size > MOST_NUMBERS else []
        return ", ".join([*numbers, *more])
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return str(value)
