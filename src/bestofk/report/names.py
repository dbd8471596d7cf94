"""Names, which may hold any characters, on a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from markupsafe import Markup, escape

from bestofk._base.formatting import printable

MAX_NAME_LENGTH = 60
"""Characters of a name that a page shows; its title attribute holds the full name."""
_RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}


def one_line(name: object) -> str:
    r"""Return a name on one line, with a mark for each unprintable character.

    Examples
    --------
    >>> one_line("two\n lines")
    'two lines'
    """
    return printable(" ".join(str(name).split()))


def elided(name: object, limit: int = MAX_NAME_LENGTH) -> str:
    """Return a name on one line, cut to `limit` characters."""
    text = one_line(name)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def html_name(name: object) -> Markup:
    """Return a name for a page: cut, and isolated from the text direction around it.

    Examples
    --------
    >>> print(html_name("<b>"))
    <bdi>&lt;b&gt;</bdi>
    """
    shown = elided(name)
    title = Markup(' title="{}"').format(one_line(name)) if shown != str(name) else ""
    return Markup("<bdi{}>{}</bdi>").format(title, shown)


def html_sentence(text: str, names: Iterable[object]) -> Markup:
    """Return a sentence for a page, with long and right-to-left names cut and isolated.

    Short plain names need neither.
    """
    special = sorted(
        {form for name in names if _is_special(str(name)) for form in (str(name), one_line(name))},
        key=len,
        reverse=True,
    )
    if not special:
        return escape(text)
    parts = re.split(f"({'|'.join(map(re.escape, special))})", text)
    # re.split returns the separators, which are the names, at odd positions.
    return Markup("").join(
        html_name(part) if k % 2 else escape(part) for k, part in enumerate(parts)
    )


def _is_special(name: str) -> bool:
    if elided(name) != name:
        return True
    return not name.isascii() and any(
        unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in name
    )
