"""The directive ``code-cell``: the cell as a reader would type it, and what it gives."""

from __future__ import annotations

import re
from html import escape
from itertools import groupby, pairwise
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from pictures import picture_html
from run_cells import COLUMNS, PROMPT, CellPage, Output, as_typed
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

_ANSI = re.compile(r"\x1b\[([\d;]*)m")
PHONE_COLUMNS = 38
"""Columns of a table that a phone shows without scrolling."""
_STYLES = {
    "1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "34": "blue",
    "35": "purple", "36": "cyan", "91": "red", "92": "green", "93": "yellow", "94": "blue",
    "95": "purple", "96": "cyan",
}  # fmt: skip


class CodeCell(SphinxDirective):
    """Run a cell of a page and show it, with what it prints, returns and draws.

    The tags `remove-input` and `remove-cell` hide the cell, or the cell and its output;
    `remove-stderr` hides warnings. With ``:first: n`` the first n paragraphs of the output are
    shown, and the rest when a reader asks for it.
    """

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {"tags": directives.unchanged, "first": directives.positive_int,
                             "exit-code": directives.nonnegative_int}  # fmt: skip

    def run(self) -> list[nodes.Node]:
        """The nodes of the cell."""
        language = self.arguments[0]
        source = "\n".join(self.content)
        if source.startswith("!bestofk "):
            language, source = as_typed(source)
        tags = self.options.get("tags", "").strip("[]").replace(",", " ").split()
        page = page_of(self.env)
        try:
            output = page.run(language, source, stderr="remove-stderr" not in tags)
        except Exception as failed:
            where = f"{self.env.docname}, cell {page.cells}"
            raise ExtensionError(f"{where}: {type(failed).__name__}: {failed}") from failed
        if output.code != self.options.get("exit-code", 0):
            raise ExtensionError(f"{self.env.docname}, {source!r}: {output.text}")
        if "remove-cell" in tags:
            return []
        shown: list[nodes.Node] = []
        if "remove-input" not in tags:
            text = folded(source) if language == "console" else source
            shown.append(nodes.literal_block(text, text, language=language, classes=["cell_input"]))
        if html := output_html(output, first=self.options.get("first")):
            shown.append(nodes.raw("", html, format="html"))
        return shown


def page_of(env: Any) -> CellPage:
    """The page that is being read: its cells share a namespace."""
    page = env.temp_data.get("bestofk-cells")
    if page is None:
        page = env.temp_data["bestofk-cells"] = CellPage(name=env.docname)
    return page


def folded(command: str, width: int = COLUMNS) -> str:
    r"""A command on lines of at most so many columns, as a shell takes it.

    Examples
    --------
    >>> print(folded("$ bestofk compare wine --learner max --learner nmc", 34))
    $ bestofk compare wine \
        --learner max --learner nmc
    """
    if len(command) <= width or "\n" in command:
        return command
    parts = re.split(r" (?=--)", command.removeprefix(PROMPT))
    lines = [PROMPT + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 3 <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    return " \\\n".join(lines)


def output_html(output: Output, *, first: int | None = None) -> str:
    """What a cell gave, as HTML."""
    parts: list[str] = []
    if output.text.strip():
        # a progress bar would overwrite its line: what was last there stays
        lines = [line.rpartition("\r")[2].rstrip() for line in output.text.strip("\n").split("\n")]
        parts += _text_html("\n".join(lines), first)
    value = output.value
    if value is not None:
        html = value._repr_html_() if hasattr(value, "_repr_html_") else None
        if html:
            parts.append(
                f'<div class="bk-scroll" tabindex="0" role="group" aria-label="Table">{html}</div>'
            )
        else:
            parts.append(f"<pre>{escape(repr(value))}</pre>")
    parts.extend(picture_html(*picture) for picture in output.pictures)
    return f'<div class="cell_output">{"".join(parts)}</div>' if parts else ""


def reflowed(lines: list[str]) -> str:
    """What a terminal printed, as HTML: sentences that any screen wraps, tables that scroll.

    A sentence that the terminal broke is one line again; a page shows at most 72 columns of it.
    """
    html: list[str] = []
    kinds = iter(_in_table([_plain(line) for line in lines]))
    for table, group in groupby(lines, key=lambda _: next(kinds)):
        rows = list(group)
        if table:
            shown, stacked = coloured("\n".join(rows)), stacked_rows(list(map(_plain, rows)))
            wide = " bk-wide-screen" if stacked else ""
            html.append(f'<span class="bk-columns{wide}" tabindex="0">{shown}</span>{stacked}')
            continue
        whole = [rows[0]]
        for before, row in pairwise(rows):
            first, width = _plain(row).strip().split(" ")[0], len(_plain(before))
            # a terminal leaves its last column free
            starts = first in ("Note:", "Caution:")
            if first and not starts and width + len(first) + 3 > COLUMNS >= width:
                # the space at which it was broken may stand before the end of a colour
                joined = re.sub(r" +((?:\x1b\[[\d;]*m)*)$", r"\1", whole[-1])
                whole[-1] = f"{joined} {row.lstrip(' ')}"
            else:
                whole.append(row)
        html.append(coloured("\n".join(whole)) + "\n")
    return "".join(html).rstrip("\n")


def stacked_rows(rows: list[str]) -> str:
    """Return a table that is too wide for a phone as one block per row, each cell with its head.

    Empty if it fits a phone, or if its columns are not clear.
    """
    width = max(map(len, rows))
    padded = [row.ljust(width) for row in rows]
    blank = "".join(
        " " if not "".join(column).strip() else "x" for column in zip(*padded, strict=True)
    )
    spans = [cells.span() for cells in re.finditer(r"x(?: ?x)*", blank)]
    table = [[row[start:end].strip() for start, end in spans] for row in padded]
    if sum(map(bool, table[0])) == 1:
        # a head on two lines
        table[:2] = [[f"{above} {below}".strip() for above, below in zip(*table[:2], strict=True)]]
    if table[0][0] == "":
        # a column of marks has no head, and the rank precedes the name
        if table[0][1] == "rank":
            table = [[row[0], row[2], row[1], *row[3:]] for row in table]
        table = [[f"{row[0]} {row[1]}".strip(), *row[2:]] for row in table]
    heads, *body = table
    if width <= PHONE_COLUMNS or not all(heads) or len(heads) < 3 or not all(r[0] for r in body):
        return ""
    blocks = []
    for name, *cells in body:
        shown = [
            f"<span>{'' if head == 'verdict' else f'<i>{escape(head)}</i> '}{escape(cell)}</span>"
            for head, cell in zip(heads[1:], cells, strict=True)
            if cell.strip("·●")
        ]
        blocks.append(f"<span><b>{escape(name)}</b> {' '.join(shown)}</span>")
    return f'<span class="bk-stacked">{"".join(blocks)}</span>'


def _plain(line: str) -> str:
    return _ANSI.sub("", line)


def _in_table(lines: list[str]) -> list[bool]:
    """Return for each line whether it is a row of a table.

    A row has a gap between two cells. An indented line belongs to a table only if it continues a
    cell of the row above; otherwise it is a sentence.
    """
    kinds: list[bool] = []
    columns: set[int] = set()
    for line in lines:
        starts = {gap.end() - 1 for gap in re.finditer(r"\S {2,}\S", line)}
        indent = len(line) - len(line.lstrip())
        is_row = bool(starts) or bool(re.search("[●▲]", line)) or (indent > 0 and indent in columns)
        if starts or not is_row:
            columns = starts
        kinds.append(is_row)
    # the first line of a head on two lines is one cell far to the right
    return [
        kind or (after and line.startswith(" " * 12))
        for line, kind, after in zip(lines, kinds, [*kinds[1:], False], strict=True)
    ]


def _text_html(text: str, first: int | None) -> list[str]:
    paragraphs = text.split("\n\n")
    if first is None or len(paragraphs) <= first:
        return [f"<pre>{reflowed(text.splitlines())}</pre>"]
    top, rest = "\n\n".join(paragraphs[:first]), "\n\n".join(paragraphs[first:])
    return [
        f"<pre>{reflowed(top.splitlines())}</pre>",
        '<details class="bk-more"><summary>The whole output</summary>'
        f"<pre>{reflowed(rest.splitlines())}</pre></details>",
    ]


def coloured(text: str) -> str:
    """Text of a terminal as HTML: what is bold or coloured has a class."""
    parts = _ANSI.split(text)
    html, active = [escape(parts[0], quote=False)], []
    for codes, words in zip(parts[1::2], parts[2::2], strict=True):
        for code in codes.split(";"):
            if code in ("", "0"):
                active = []
            elif code in _STYLES:
                active = [*active, f"bk-{_STYLES[code]}"]
        shown = escape(words, quote=False)
        html.append(f'<span class="{" ".join(active)}">{shown}</span>' if active else shown)
    return "".join(html)


def setup(app: Any) -> dict[str, Any]:
    """Sphinx asks."""
    app.add_directive("code-cell", CodeCell)
    return {"version": "1", "parallel_read_safe": True}
