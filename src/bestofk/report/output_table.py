"""A table as a value, and its forms: data frame, CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup, escape

from bestofk.report.names import html_name, latex_text, markdown_text
from bestofk.tables.spreadsheet import as_text_cell
from bestofk.wording import duration, escaped, number

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["name", "text", "number", "pvalue", "count", "seconds", "bytes", "code"]
_WORDS = ("name", "text", "code")


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
        """The cells as text for reading."""
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
