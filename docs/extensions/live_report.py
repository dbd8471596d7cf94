"""The part *What if?* of a report in a page, and whole reports next to the pages.

``{what-if} study`` puts the report's own section, scripts and styles into the page, with the
evidence of a value that a cell of that page made. ``{sample-report} name`` links a report that
the build writes with the very command that stands in the page.
"""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

from cells import folded, page_of
from docutils import nodes
from docutils.parsers.rst import directives
from run_cells import CellPage, typed
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

SCRIPTS = ("multitest.js", "explorer.js")
STYLE = "what-if.css"
WORDS = {
    "light": {
        "good": "#00704f", "bad": "#b04a00", "warn": "#7a5200", "purple-ink": "#8b3a66",
        "button": "#005f96",
    },
    "dark": {
        "good": "#2fc79a", "bad": "#ff8a3d", "warn": "#e69f00", "purple-ink": "#e08fbd",
        "button": "#1f6fa8",
    },
}  # fmt: skip
"""Colours of small words, a shade darker (lighter) than those of lines."""


class _Section(HTMLParser):
    """Where the element of an id begins and ends."""

    def __init__(self, page: str, name: str) -> None:
        super().__init__(convert_charrefs=False)
        self.page, self.name = page, name
        self.tag, self.depth, self.begin, self.end = "", 0, -1, -1
        self.starts = [0]
        for line in page.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.feed(page)

    def _at(self) -> int:
        line, column = self.getpos()
        return self.starts[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.begin < 0 and ("id", self.name) in attrs:
            self.tag, self.begin = tag, self._at()
        if self.end < 0 and tag == self.tag:
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        if self.end < 0 and tag == self.tag and self.depth:
            self.depth -= 1
            if not self.depth:
                self.end = self._at() + len(f"</{tag}>")

    @property
    def text(self) -> str:
        """The element."""
        if self.end < 0:
            raise ExtensionError(f"the report has no element {self.name!r}")
        return self.page[self.begin : self.end]


def what_if_html(value: Any) -> str:
    """The section of the report of a value, with its data and scripts."""
    from importlib.resources import files

    from bestofk.report.write_report import render_report

    report = render_report(value)
    section, data = (_Section(report, name).text for name in ("what-if", "evidence-data"))
    folder = files("bestofk.report") / "page"
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    # what the script looks for in the rest of a report, such as its link in the navigation
    others = set(re.findall(r'getElementById\("([\w-]+)"\)', script)) - {"what-if", "evidence-data"}
    others = {name for name in others if f'id="{name}"' not in section}
    rest = "".join(f'<span id="{name}"></span>' for name in sorted(others))
    return f'<div class="bk-live">{section}{rest}</div>\n{data}\n<script>{script}</script>'


def what_if_style() -> str:
    """The colours of the figures by theme, and the report's styles for that section only."""
    from importlib.resources import files

    from bestofk.report.figures.style import DARK, LIGHT

    colours = "".join(
        f'html[data-theme="{theme}"] {{'
        + "".join(f"--bk-{role}:{colour};" for role, colour in palette.items())
        + "".join(f"--bk-{role}:{colour};" for role, colour in WORDS[theme].items())
        + "}\n"
        for theme, palette in (("light", LIGHT), ("dark", DARK))
    )

    text = (files("bestofk.report") / "page" / "report.css").read_text(encoding="utf-8")
    text = re.sub(r"^(:root|body)\b", "&", text, flags=re.MULTILINE)
    text = re.sub(r"@page *\{[^}]*\}", "", text)
    return f"{colours}.bk-live {{\n{text}\n}}\n"


class WhatIf(SphinxDirective):
    """The live part of the report of a value."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The section of the report."""
        value = eval(self.arguments[0], page_of(self.env).namespace)
        return [nodes.raw("", what_if_html(value), format="html")]


class SampleReport(SphinxDirective):
    """A report that is written by the command in the content, with a picture of its first page."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"title": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The command, the link and the thumbnail."""
        name, command = self.arguments[0], "\n".join(self.content)
        samples = self.env.metadata[self.env.docname].setdefault("sample-reports", {})
        samples[name] = command
        title = escape(self.options["title"])
        up = "../" * self.env.docname.count("/")
        html = (
            f'<a class="bk-sample" href="{up}samples/{name}.html">'
            f'<span class="bk-thumbnail"><iframe src="{up}samples/{name}.html" loading="lazy" '
            f'tabindex="-1" aria-hidden="true" title="{title}" scrolling="no"></iframe></span>'
            f"<span>Open the report: {title}</span></a>"
        )
        text = folded(command)
        block = nodes.literal_block(text, text, language="console", classes=["cell_input"])
        return [block, nodes.raw("", html, format="html")]


def write_samples(app: Any, failed: Exception | None) -> None:
    """Write every sample report, each by its command."""
    if failed or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "samples"
    folder.mkdir(exist_ok=True)
    for docname in app.env.found_docs:
        samples = app.env.metadata.get(docname, {}).get("sample-reports", {})
        for name, command in samples.items():
            page = CellPage(name=name)
            done = page.run("console", command)
            if done.code:
                raise ExtensionError(f"{command}: {done.text}")
            words = typed(command)
            option = "--output" if "--output" in words else "--report"
            report = Path(page.folder) / words[words.index(option) + 1]
            (folder / f"{name}.html").write_bytes(report.read_bytes())


def write_style(app: Any, config: Any) -> None:
    """The styles of the live part, among the static files."""
    folder = Path(app.srcdir) / "_static" / "made"
    folder.mkdir(exist_ok=True)
    (folder / STYLE).write_text(what_if_style(), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Sphinx asks."""
    app.add_directive("what-if", WhatIf)
    app.add_directive("sample-report", SampleReport)
    app.connect("config-inited", write_style)
    app.connect("build-finished", write_samples)
    return {"version": "1", "parallel_read_safe": True}
