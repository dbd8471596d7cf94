"""The gallery of figures, made from the registry: every kind, drawn by the code beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path("gallery.md")
FIRST = (
    "forest", "losses", "frontier", "critical-difference", "critical-difference-ranks",
    "rank-intervals", "heatmap", "matrix", "letters", "difference", "graph",
)  # fmt: skip
"""The figures that most readers need."""
THUMBNAILS = '<nav class="bk-thumbnails" aria-label="All figures"></nav>'


def gallery_page() -> str:
    """The page, as Markdown."""
    from bestofk.report.figures import FIGURES

    lines = [
        "# Gallery of figures", "",
        "Every figure that bestofk draws, with the code that draws it. `bk.figure(value)` takes "
        "the one that suits the value, `bk.figure(value, kind)` the one that you name, and "
        "`bk.save_figure(ax, \"figure.pdf\")` writes it as PDF, SVG or PNG. A study, an order or "
        "a result can also draw itself: `study.plot(\"forest\")`. The colours can be told apart "
        "by colour-blind readers.", "", "```{raw} html", THUMBNAILS, "```", "",
    ]  # fmt: skip
    for name in (*FIRST, *(name for name in FIGURES if name not in FIRST)):
        entry = FIGURES[name]
        summary = entry.summary[:1].upper() + entry.summary[1:]
        takes = ", ".join(f"`{kind}`" for kind in entry.accepts)
        lines += [f"## {entry.name}", "", f"{summary}.", ""]
        lines += ["```{code-cell} python", f"{entry.example};", "```", ""]
        lines += [f"Draws {takes}.", ""]
    return "\n".join(lines)


def all_pages() -> dict[Path, str]:
    """Path below the documentation: text, of every page made here."""
    return {PAGE: gallery_page()}


def add_thumbnails(app: Any, doctree: Any) -> None:
    """Begin the gallery with small copies of its figures that lead to them."""
    from docutils import nodes

    if app.env.docname != PAGE.stem:
        return
    links = []
    for section in doctree.findall(nodes.section):
        for node in section.children:
            box = re.search(r'<svg[^>]*viewBox="([^"]*)"', node.astext())
            if isinstance(node, nodes.raw) and box:
                name = section["ids"][0]
                html = node.astext().replace("<svg", f'<svg id="figure-{name}"', 1)
                node.replace_self(nodes.raw("", html, format="html"))
                links.append(
                    f'<a href="#{name}"><svg viewBox="{box[1]}" aria-hidden="true">'
                    f'<use href="#figure-{name}"/></svg><span>{name}</span></a>'
                )
                break
    for node in doctree.findall(nodes.raw):
        if node.astext().strip() == THUMBNAILS:
            filled = THUMBNAILS.replace("></nav>", f">{''.join(links)}</nav>")
            node.replace_self(nodes.raw("", filled, format="html"))
            break
