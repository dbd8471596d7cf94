"""The printed figures of the papers' tables."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np

from bestofk._base.checks import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One printed figure.

    `printed` is the text in the paper; its digits show how it was rounded.
    """

    table: str
    page: str
    row: str
    column: str
    quantity: str
    printed: str

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0 ** -len(self.printed.partition(".")[2])


@cache
def printed_figures(paper: str) -> tuple[Figure, ...]:
    """Return all figures of a paper, in printed order.

    Examples
    --------
    >>> first = printed_figures("multitest")[0]
    >>> first.table, first.row, first.column, first.quantity, first.printed, first.rounding
    ('1', 'balance', 'MAX', 'mean', '55.46', 0.005)
    """
    source = files("bestofk.papers").joinpath("printed", f"{paper}.csv")
    with source.open(encoding="utf-8") as lines:
        return tuple(Figure(**line) for line in csv.DictReader(lines))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PrintedTable:
    """One quantity of a printed table as an array; NaN if nothing is printed."""

    table: str
    quantity: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats
    rounding: Floats

    def take(self, rows: Sequence[str]) -> PrintedTable:
        """Return the table with these rows."""
        at = [self.rows.index(row) for row in rows]
        return replace(self, rows=tuple(rows), values=self.values[at], rounding=self.rounding[at])


def printed_table(paper: str, table: str, quantity: str) -> PrintedTable:
    """Return a quantity of a table, with rows and columns in printed order.

    Examples
    --------
    >>> means = printed_table("multitest", "1", "mean")
    >>> means.values.shape, means.rows[:2], means.columns
    ((30, 5), ('balance', 'breast'), ('MAX', 'NMC', 'LGC', 'C4.5', 'NN'))
    """
    figures = [
        figure
        for figure in printed_figures(paper)
        if figure.table == table and figure.quantity == quantity
    ]
    rows = tuple(dict.fromkeys(figure.row for figure in figures))
    columns = tuple(dict.fromkeys(figure.column for figure in figures))
    values = np.full((len(rows), len(columns)), np.nan)
    rounding = np.zeros(values.shape)
    for figure in figures:
        cell = rows.index(figure.row), columns.index(figure.column)
        values[cell] = float(figure.printed)
        rounding[cell] = figure.rounding
    return PrintedTable(
        table=table, quantity=quantity, rows=rows, columns=columns, values=values, rounding=rounding
    )
