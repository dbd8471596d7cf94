"""Whole reports next to the pages, and the colours of figures.

``{sample-report} name`` links a report that the build writes with the command that appears in
the page.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any, ClassVar

from cells import folded
from docutils import nodes
from docutils.parsers.rst import directives
from run_cells import CellPage, typed
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

STYLE = "colours.css"
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


def colours() -> str:
    """The colours of the figures by theme."""
    from bestofk.report.figures.style import DARK, LIGHT

    return "".join(
        f'html[data-theme="{theme}"] {{'
        + "".join(f"--bk-{role}:{colour};" for role, colour in (palette | WORDS[theme]).items())
        + "}\n"
        for theme, palette in (("light", LIGHT), ("dark", DARK))
    )


def write_style(app: Any, config: Any) -> None:
    """The colours, among the static files."""
    folder = Path(app.srcdir) / "_static" / "made"
    folder.mkdir(exist_ok=True)
    (folder / STYLE).write_text(colours(), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Sphinx asks."""
    app.add_directive("sample-report", SampleReport)
    app.connect("config-inited", write_style)
    app.connect("build-finished", write_samples)
    return {"version": "1", "parallel_read_safe": True}
