"""The gallery of figures, made from the registry: every kind, drawn by the code beside it."""

from __future__ import annotations

from pathlib import Path

PAGE = Path("gallery.md")


def gallery_page() -> str:
    """The page, as Markdown."""
    from bestofk.report.figures import FIGURES

    lines = [
        "# Gallery of figures", "",
        "Every figure that bestofk draws, with the code that draws it. `bk.figure(value)` takes "
        "the one that suits the value, `bk.figure(value, kind)` the one that you name, and "
        "`bk.save_figure(ax, \"figure.pdf\")` writes it as PDF, SVG or PNG. A study, an order or "
        "a result can also draw itself: `study.plot(\"forest\")`. The colours can be told apart "
        "by colour-blind readers.", "",
    ]  # fmt: skip
    for entry in FIGURES.values():
        summary = entry.summary[:1].upper() + entry.summary[1:]
        takes = ", ".join(f"`{kind}`" for kind in entry.accepts)
        lines += [f"## {entry.name}", "", f"{summary}.", ""]
        lines += ["```{code-cell} python", f"{entry.example};", "```", ""]
        lines += [f"Draws {takes}.", ""]
    return "\n".join(lines)


def all_pages() -> dict[Path, str]:
    """Path below the documentation: text, of every page made here."""
    return {PAGE: gallery_page()}
