"""Small rules for the text of all pages: dois are links, the glossary's words lead to it."""

from __future__ import annotations

import re
from typing import Any

_FENCE = re.compile(r"(^(`{3,}|:{3,}).*?^\2[ \t]*$)", re.MULTILINE | re.DOTALL)
_DOI = re.compile(r"(?<![\w/`\[(])doi:(10\.\d{4,9}/[^\s;,`*|\\]*[^\s;,`*|\\.)])")


def doi_links(text: str) -> str:
    """Markdown in which every doi is a link.

    Examples
    --------
    >>> doi_links("Wilcoxon 1945, doi:10.2307/3001968; Pratt")
    'Wilcoxon 1945, [doi:10.2307/3001968](https://doi.org/10.2307/3001968); Pratt'
    """
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_linked(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _linked(text[end:])])


def _linked(text: str) -> str:
    return _DOI.sub(r"[doi:\1](https://doi.org/\1)", text)


def read(app: Any, docname: str, source: list[str]) -> None:
    """Apply them to the source of a page."""
    if str(app.env.doc2path(docname)).endswith(".md"):
        source[0] = doi_links(source[0])


def docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """The same in docstrings."""
    lines[:] = [
        re.sub(_DOI, r"`doi:\1 <https://doi.org/\1>`__", line) if "`" not in line else line
        for line in lines
    ]


def skipped(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from other packages: it is described there."""
    home = getattr(obj, "__module__", None)
    return True if isinstance(home, str) and not home.startswith("bestofk") else None


def setup(app: Any) -> dict[str, Any]:
    """Sphinx asks."""
    app.connect("source-read", read)
    app.connect("autodoc-skip-member", skipped)
    app.connect("autodoc-process-docstring", docstring, priority=800)
    return {"version": "1", "parallel_read_safe": True}
