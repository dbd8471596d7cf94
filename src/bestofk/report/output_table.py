"""A table as a value, and its forms: data frame, CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import floor, inf, isfinite, log10
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup, escape

from bestofk.report.names import html_name, latex_text, markdown_text
from bestofk.tables.spreadsheet import as_text_cell
from bestofk.wording import duration, escaped, number

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["name", "text", "number", "pvalue", "count", "seconds", "bytes", "code"]
_WORDS = ("name", "text", "code")
MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: what its cells are decides how they are printed."""

    key: str
    """Its name in a data frame and in CSV."""
    title: str
    kind: Kind
    cells: Sequence[Any]
    """None where there is nothing to say."""

    def shown(self) -> list[str]:
        """The cells as text for reading; numbers have equally many decimals."""
        if self.kind == "number":
            return equal_decimals(self.cells)
        return [_shown(self.kind, cell) for cell in self.cells]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTable:
    """Columns under a caption."""

    name: str
    """A word that tells it from the other tables of a page."""
    caption: str
    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns[0].cells) if self.columns else 0

    def to_frame(self) -> pd.DataFrame:
        """All digits, in a data frame."""
        import pandas as pd

        return pd.DataFrame({column.key: list(column.cells) for column in self.columns})

    def to_csv(self) -> str:
        """All digits, as comma-separated text."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([_csv_cell(column.key) for column in self.columns])
        for row in self._rows([list(column.cells) for column in self.columns]):
            writer.writerow([_csv_cell(cell) for cell in row])
        return text.getvalue()

    def to_markdown(self) -> str:
        """A table of GitHub's Markdown, rounded."""
        heads = [markdown_text(column.title) for column in self.columns]
        rules = [":--" if column.kind in _WORDS else "--:" for column in self.columns]
        rows = self._rows([list(map(markdown_text, column.shown())) for column in self.columns])
        lines = [heads, rules, *rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def to_latex(self) -> str:
        """A table of LaTeX with the rules of the package booktabs, rounded."""
        layout = "".join("l" if column.kind in _WORDS else "r" for column in self.columns)
        rows = self._rows([list(map(latex_text, column.shown())) for column in self.columns])
        lines = [
            "% \\usepackage{booktabs}",
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{latex_text(self.caption)}}}",
            f"  \\begin{{tabular}}{{{layout}}}",
            "    \\toprule",
            f"    {' & '.join(latex_text(column.title) for column in self.columns)} \\\\",
            "    \\midrule",
            *(f"    {' & '.join(row)} \\\\" for row in rows),
            "    \\bottomrule",
            "  \\end{tabular}",
            "\\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_html(self) -> Markup:
        """A ``<table>``."""
        kinds = ["w" if column.kind in _WORDS else "n" for column in self.columns]
        head = "".join(
            f'<th scope="col" class="{kind}">{escape(column.title)}</th>'
            for kind, column in zip(kinds, self.columns, strict=True)
        )
        cells = [
            [f'<td class="{kind}">{_html(column.kind, cell)}</td>' for cell in column.cells]
            if column.kind in ("name", "code")
            else [f'<td class="{kind}">{escape(text)}</td>' for text in column.shown()]
            for kind, column in zip(kinds, self.columns, strict=True)
        ]
        body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in self._rows(cells))
        # every part is escaped above
        return Markup(
            f"<table><caption>{escape(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>"
        )

    def without_empty(self) -> OutputTable:
        """Without the columns that say nothing of any row."""
        held = (column for column in self.columns if any(one is not None for one in column.cells))
        return replace(self, columns=tuple(held))

    def only(self, rows: Sequence[int], *, caption: str) -> OutputTable:
        """Some of the rows, under another caption."""
        return OutputTable(
            name=self.name,
            caption=caption,
            columns=tuple(
                replace(column, cells=[column.cells[row] for row in rows])
                for column in self.columns
            ),
        )

    def _rows(self, columns: list[list[Any]]) -> Iterable[tuple[Any, ...]]:
        return zip(*columns, strict=True)


def _shown(kind: Kind, cell: Any) -> str:
    if cell is None:
        return ""
    if kind == "number":
        return number(float(cell))
    if kind == "pvalue":
        return _pvalue(float(cell))
    if kind == "seconds":
        return duration(float(cell))
    if kind == "bytes":
        return _bytes(float(cell))
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return str(cell)


def equal_decimals(cells: Sequence[Any]) -> list[str]:
    """Numbers for a column: four digits of the largest, and two of the smallest but 0.

    Where that would take more than `MOST_DECIMALS`, every number has its own four digits.

    Examples
    --------
    >>> equal_decimals([0.573, -0.002247, None, 0.0]), equal_decimals([1e-9, 2.0])
    (['0.5730', '-0.0022', '', '0.0000'], ['1e-09', '2'])
    """
    numbers = [abs(float(cell)) for cell in cells if cell is not None]
    sizes = [floor(log10(one)) for one in numbers if 0 < one < inf]
    places = max(0, 3 - max(sizes), 1 - min(sizes)) if sizes else MOST_DECIMALS + 1
    if places > MOST_DECIMALS or not all(map(isfinite, numbers)):
        return [_shown("number", cell) for cell in cells]
    if all(one == round(one) for one in numbers):
        places = 0
    shown = ("" if cell is None else f"{float(cell):.{places}f}" for cell in cells)
    return [text.removeprefix("-") if text and not float(text) else text for text in shown]


def _pvalue(p: float) -> str:
    """Four digits, so that a table can be read against alpha; never 0 or 1 unless it is."""
    if p == 0.0:
        return "< 1e-300"
    return "> 0.9999" if 0.99995 <= p < 1.0 else f"{p:.4g}"


def _html(kind: Kind, cell: Any) -> Markup:
    if cell is None:
        return Markup("")
    return html_name(cell) if kind == "name" else Markup("<code>{}</code>").format(cell)


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def _csv_cell(cell: Any) -> Any:
    """What no spreadsheet runs: names are data."""
    if isinstance(cell, str):
        return as_text_cell(escaped(cell))
    return "" if cell is None else cell
