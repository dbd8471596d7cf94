"""How wide words are, without a font at hand; names cut to a width so that none overlap.

The widths are the advances of DejaVu Sans, which is wider than almost every other sans serif:
what fits by this table fits in the reader's font too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from bestofk.wording import printable

LINE = 1.25
"""Height of a line, in font sizes."""
BOLD = 1.16
"""How much wider bold words are, at most, as a whole."""

_ASCII = (
    *(318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636),
    *(636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698),
    *(770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732),
    *(684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635),
    *(634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592),
    *(525, 636, 337, 636, 838),
)
"""Advances from the blank to the tilde, in thousandths of the font size."""

_RANGES = (
    (0x00A0, 0x024F, 1070),
    (0x0370, 0x03FF, 940),
    (0x0400, 0x052F, 1100),
    (0x0590, 0x05FF, 760),
    (0x0600, 0x06FF, 1230),
    (0x2010, 0x2027, 1000),
    (0x2190, 0x21FF, 840),
    (0x2212, 0x2212, 840),
)
_UNKNOWN = 1450
_ELLIPSIS = "…"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Width of a line of words in points, never less than it will be.

    Examples
    --------
    >>> text_width("learner", 10), text_width("é", 10) == text_width("e", 10)
    (35.77, True)
    """
    thousandths = sum(map(_advance, text))
    return thousandths * size * (BOLD if bold else 1.0) / 1000.0


def _advance(character: str) -> int:
    code = ord(character)
    if 0x20 <= code <= 0x7E:
        return _ASCII[code - 0x20]
    if unicodedata.combining(character):
        return 0
    parts = unicodedata.normalize("NFD", character)
    if len(parts) > 1 and 0x20 <= ord(parts[0]) <= 0x7E:
        return _ASCII[ord(parts[0]) - 0x20]
    for low, high, width in _RANGES:
        if low <= code <= high:
            return width
    return _UNKNOWN


def fitted(name: object, width: float, size: float) -> str:
    """A name on one line of at most `width` points, cut in the middle where it is longer.

    Examples
    --------
    >>> fitted("gradient boosting, 500 trees", 100, 9)
    'gradient b…500 trees'
    >>> fitted("nn", 100, 9)
    'nn'
    """
    text = printable(" ".join(str(name).split())) or "(no name)"
    if text_width(text, size) <= width:
        return text
    room = width - text_width(_ELLIPSIS, size)
    widths = [text_width(character, size) for character in text]
    head = tail = 0
    used = 0.0
    # The beginning and the end in turn: either may be what tells two names apart.
    while head + tail < len(text):
        forward = head <= tail
        step = widths[head] if forward else widths[-1 - tail]
        if used + step > room:
            break
        used += step
        head, tail = head + forward, tail + (not forward)
    return f"{text[:head].rstrip()}{_ELLIPSIS}{text[len(text) - tail :].lstrip()}"


def all_fitted(names: Sequence[object], width: float, size: float) -> tuple[str, ...]:
    """Names cut to a width; those that the cut made alike are numbered.

    Examples
    --------
    >>> all_fitted(["forest of 100 shallow trees", "forest of 500 shallow trees"], 80, 9)
    ('forest…trees (1)', 'forest…trees (2)')
    """
    cut = [fitted(name, width, size) for name in names]
    counts: dict[str, int] = {}
    for text in cut:
        counts[text] = counts.get(text, 0) + 1
    alike = {text for text, count in counts.items() if count > 1}
    if not alike:
        return tuple(cut)
    seen: dict[str, int] = {}
    found = []
    for name, text in zip(names, cut, strict=True):
        if text in alike:
            seen[text] = seen.get(text, 0) + 1
            mark = f" ({seen[text]})"
            text = fitted(name, width - text_width(mark, size), size) + mark
        found.append(text)
    return tuple(found)


def wrapped(text: str, width: float, size: float) -> tuple[str, ...]:
    """A sentence in lines of at most `width` points, broken between words.

    Examples
    --------
    >>> wrapped("the data override the prior", 80, 9)
    ('the data override', 'the prior')
    """
    lines: list[str] = []
    for word in text.split():
        word = fitted(word, width, size)
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return tuple(lines)


def widest(texts: Sequence[str], size: float) -> float:
    """Width of the widest of some words; 0 for none."""
    return max((text_width(text, size) for text in texts), default=0.0)
