"""Names are data: how a learner's name stands in HTML, Markdown and LaTeX, whatever it holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from markupsafe import Markup, escape

from bestofk._base.formatting import printable

LONGEST = 60
"""Characters of a name that are shown in a page; the rest is in its title."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "-": "{-}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "[": "{[}",
    "]": "{]}",
}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$])")
_RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}


def one_line(name: object) -> str:
    r"""A name on one line: blanks for line ends and tabs, a mark for other unprintable ones.

    Examples
    --------
    >>> one_line("two\n lines")
    'two lines'
    """
    return printable(" ".join(str(name).split()))


def elided(name: object, limit: int = LONGEST) -> str:
    """A name on one line, cut to `limit` characters."""
    text = one_line(name)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def html_name(name: object) -> Markup:
    """A name for a page: isolated, so that its direction turns nothing else about; elided.

    Examples
    --------
    >>> print(html_name("<b>"))
    <bdi>&lt;b&gt;</bdi>
    """
    shown = elided(name)
    title = Markup(' title="{}"').format(one_line(name)) if shown != str(name) else ""
    return Markup("<bdi{}>{}</bdi>").format(title, shown)


def html_sentence(text: str, names: Iterable[object]) -> Markup:
    """A sentence for a page, in which names that could disturb it are isolated and elided.

    Plain short names stand as they are: they could not be told from the words around them.
    """
    hard = sorted(
        {form for name in names if _disturbs(str(name)) for form in (str(name), one_line(name))},
        key=len,
        reverse=True,
    )
    if not hard:
        return escape(text)
    parts = re.split(f"({'|'.join(map(re.escape, hard))})", text)
    return Markup("").join(
        html_name(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def _disturbs(name: str) -> bool:
    return elided(name) != name or any(
        unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in name
    )


def latex_text(text: object) -> str:
    r"""Text that LaTeX prints as it is.

    Examples
    --------
    >>> print(latex_text("50% of {x_1}"))
    50\% of \{x\_1\}
    """
    line = one_line(text)
    # a single hyphen is one anyway; only runs of them are joined to dashes
    return "".join(
        character if character == "-" and "--" not in line else _LATEX.get(character, character)
        for character in line
    )


def markdown_text(text: object) -> str:
    r"""Text that Markdown shows as it is, in a cell of a table too.

    Examples
    --------
    >>> print(markdown_text("a|b *c* <d>"))
    a\|b \*c\* \<d\>
    """
    return _MARKDOWN.sub(r"\\\1", one_line(text)).replace("&", "&amp;")
