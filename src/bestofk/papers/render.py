"""Tables of our values next to the published ones as Markdown, HTML and text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bestofk.papers.comparison import Cell, ComparedNumbers, ComparedWords

_OUTSIDE = "!"
"""Marks a cell that differs by more than chance and rounding allow."""


def _cells(table: ComparedNumbers | ComparedWords) -> list[list[Cell]]:
    return [
        [table.cell(row, column) for column in range(len(table.columns))]
        for row in range(len(table.rows))
    ]


def _pair(cell: Cell) -> str:
    """``ours / printed``, marked where they differ too much."""
    if not cell.printed:
        return cell.ours
    mark = f" {_OUTSIDE}" if cell.within is False else ""
    return f"{cell.ours or '-'} / {cell.printed}{mark}"


def legend() -> str:
    """How to read the cells."""
    return (
        f"Each cell: ours / printed; {_OUTSIDE} where they differ by more than chance and rounding "
        "allow."
    )


def markdown_table(table: ComparedNumbers | ComparedWords) -> str:
    """A heading, the summary, the table and the note."""
    lines = [f"### {table.table}", "", table.summary(), "", *_pipes(table)]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def _pipes(table: ComparedNumbers | ComparedWords) -> list[str]:
    def line(words: Sequence[str]) -> str:
        return "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"

    return [
        line([table.corner, *table.columns]),
        line(["---", *("---:" for _ in table.columns)]),
        *(
            line([name, *map(_pair, cells)])
            for name, cells in zip(table.rows, _cells(table), strict=True)
        ),
    ]


def html_table(table: ComparedNumbers | ComparedWords) -> str:
    """A section with heading, summary, table and note."""
    head = "".join(f"<th>{escape(word)}</th>" for word in (table.corner, *table.columns))
    body = []
    for name, cells in zip(table.rows, _cells(table), strict=True):
        row = [f"<th>{escape(name)}</th>"]
        for cell in cells:
            kind = {True: "within", False: "outside", None: "alone"}[cell.within]
            title = f' title="difference {escape(cell.difference)}"' if cell.difference else ""
            row.append(f'<td class="{kind}"{title}>{escape(_pair(cell))}</td>')
        body.append(f"<tr>{''.join(row)}</tr>")
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return (
        f"<section><h3>{escape(table.table)}</h3><p>{escape(table.summary())}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{note}"
        "</section>"
    )


def text_table(table: ComparedNumbers | ComparedWords, width: int) -> str:
    """The table as a terminal of that width shows it, without colours."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    shown.add_column(table.corner, no_wrap=True)
    for column in table.columns:
        shown.add_column(column, justify="right")
    for name, cells in zip(table.rows, _cells(table), strict=True):
        shown.add_row(name, *map(_pair, cells))
    console = Console(width=width, color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as caught:
        console.print(shown)
    lines = [line.rstrip() for line in caught.get().splitlines()]
    note = f"\n{table.note}" if table.note else ""
    return "\n".join([table.table, *lines]) + f"\n{table.summary()}{note}\n"
