"""Pictures in a page: inline SVG that follows the page's theme and stays readable on a phone."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from docutils import nodes

SMALLEST = 11
"""No word of a picture is set smaller than this, in CSS pixels; a wide one scrolls in its box."""
LARGEST = 96 / 72
"""CSS pixels per point: as large as on paper, where there is room."""
PHONE_PIXELS = 330.0
"""Width of a page on screens that are 390 pixels wide."""
_SIZE = re.compile(r'font-size="([\d.]+)"|font: *([\d.]+)px|font-size: *([\d.]+)')
_BOX = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def picture_html(picture: Any, layout: Any = None) -> str:
    """Return a picture of bestofk, or a figure of matplotlib, as HTML.

    `layout` draws the picture on paper of another width; phones show its narrow variant.
    """
    from bestofk.report.figures import svg
    from bestofk.report.figures.picture import Picture
    from bestofk.report.page_figures import variants_of

    if isinstance(picture, Picture):
        variants = [svg(picture)]
        if layout:
            variants = [str(drawn) for drawn, _ in variants_of(layout, PHONE_PIXELS)]
        return svg_html(*variants, alt=picture.alt)
    out = io.StringIO()
    picture.savefig(out, format="svg", transparent=True)
    drawn = out.getvalue()
    return svg_html(drawn[drawn.index("<svg") :], alt="A figure")


def svg_html(wide: str, narrow: str = "", *, alt: str) -> str:
    """Return a figure with an ``<svg>``, and another one for phones if there is one."""
    if not narrow:
        return f'<figure class="bk-picture">{_box(wide, alt)}</figure>'
    boxes = _box(wide, alt, " bk-wide-screen") + _box(narrow, alt, " bk-phone")
    return f'<figure class="bk-picture">{boxes}</figure>'


def _box(drawn: str, alt: str, screen: str = "") -> str:
    """Return an ``<svg>`` in a box that scrolls if the page is too narrow for its words."""
    box = _BOX.search(drawn)
    if box is None:
        raise ValueError("a picture needs a viewBox that begins at 0 0")
    width = float(box[1])
    sizes = [float(next(filter(None, found))) for found in _SIZE.findall(drawn)]
    least = SMALLEST * width / min(sizes, default=SMALLEST)
    most = max(least, width * LARGEST)
    drawn = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", drawn, count=1)
    drawn = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", drawn, count=1)
    # the alternative text stands on the element; a title would pop up under the pointer
    drawn = re.sub(r"<title>.*?</title>", "", drawn, count=1, flags=re.DOTALL)
    label = f' role="img" aria-label="{escape(alt)}"'
    drawn = re.sub(r' role="img"', "", drawn, count=1).replace("<svg", f"<svg{label}", 1)
    return (
        f'<div class="bk-scroll{screen}" tabindex="0" role="group" aria-label="Figure" '
        f'style="--least:{least:.0f}px;--most:{most:.0f}px">{drawn}</div>'
    )


def themed(drawn: str) -> str:
    """The colours of a white page as those variables that the page sets for light and dark."""
    from bestofk.report.figures.style import LIGHT

    roles = {colour.lower(): role for role, colour in LIGHT.items()}

    def named(match: re.Match[str]) -> str:
        role = roles.get(match[0].lower())
        return f"var(--bk-{role},{match[0]})" if role else match[0]

    # a colour can be a variable in a style, not in an attribute
    drawn = re.sub(r'(fill|stroke)="(#[0-9a-fA-F]{6})"([^>]*?) style="', r'\3 style="\1:\2;', drawn)
    drawn = re.sub(r'(fill|stroke)="(#[0-9a-fA-F]{6})"', r'style="\1:\2"', drawn)
    return re.sub(r"#[0-9a-fA-F]{6}\b", named, drawn)


def inline_pictures(app: Any, doctree: nodes.document) -> None:
    """Put every picture that a page takes from an SVG file into the page.

    Phones show the file whose name ends in ``-narrow``, if there is one.
    """
    from pathlib import Path

    for node in list(doctree.findall(nodes.image)):
        if not node["uri"].endswith(".svg") or "://" in node["uri"]:
            continue
        path = Path(app.srcdir) / node["uri"]
        variants = [path, path.with_name(f"{path.stem}-narrow.svg")]
        texts = [one.read_text(encoding="utf-8") for one in variants if one.exists()]
        drawn = [themed(text[text.index("<svg") :]) for text in texts]
        html = svg_html(*drawn, alt=node.get("alt", ""))
        node.replace_self(nodes.raw("", html, format="html"))


def setup(app: Any) -> dict[str, Any]:
    """Sphinx asks."""
    app.connect("doctree-read", inline_pictures)
    return {"version": "1", "parallel_read_safe": True}
