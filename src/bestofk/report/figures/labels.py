"""Widths of words without a font, and names shortened to a width.

The widths are the advances of DejaVu Sans. They are wider than those of almost all other fonts, so
text that fits by these tables also fits in the reader's font.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cache

from bestofk._base.formatting import printable

LINE_HEIGHT = 1.25
"""Height of a line, in font sizes."""
BOLD = 1.16
"""Upper bound of the width of bold words, relative to regular ones."""

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
ELLIPSIS = "…"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return an upper bound of the width of a line of words, in points.

    Examples
    --------
    >>> text_width("learner", 10), text_width("é", 10) == text_width("e", 10)
    (35.77, True)
    """
    return sum(map(_advance, text)) * size * (BOLD if bold else 1.0) / 1000.0


@cache
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


# Shorten names to a width: keep the parts that differ, drop the parts that they share.

_PATH = re.compile(r"^(?:[A-Za-z_]\w*[.:])+(?=[A-Za-z_])")
"""The modules before the name of a class: ``sklearn.ensemble.`` or ``sklearn.svm:``."""
_PART = re.compile(r"[^\s(,;:/-]+[\s(,;:/-]*|[\s(,;:/-]+")
"""A word or a parameter, with the marks and blanks after it."""

_MIN_HEAD = 3
"""Letters to keep at the beginning of a name."""


def _line(name: object) -> str:
    """Return a name on one line, in full."""
    return printable(" ".join(str(name).split())) or "(no name)"


def fitted(name: object, width: float, size: float) -> str:
    """Return a single name on one line of at most `width` points; cut longer ones in the middle.

    Examples
    --------
    >>> fitted("gradient boosting, 500 trees", 100, 9)
    'gradient b…500 trees'
    >>> fitted("nn", 100, 9)
    'nn'
    """
    text = _line(name)
    if text_width(text, size) <= width:
        return text

    def cut(kept: int) -> str:
        end = len(text) - kept // 2
        return text[: kept - kept // 2].rstrip(" ,;…") + ELLIPSIS + text[end:].lstrip(" ,;…")

    sizes = range(len(text))
    return cut(max(0, bisect_right(sizes, width, key=lambda k: text_width(cut(k), size)) - 1))


def wrapped(text: str, width: float, size: float) -> tuple[str, ...]:
    """Break a sentence between words into lines of at most `width` points.

    Examples
    --------
    >>> wrapped("the data override the preference", 80, 9)
    ('the data override', 'the preference')
    """
    lines: list[str] = []
    for word in text.split():
        word = fitted(word, width, size)
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return tuple(lines)


def labels_of(names: Sequence[object], width: float, size: float) -> tuple[str, ...]:
    """Return the names of one figure, each on one line of at most `width` points.

    If a name is too long, drop the modules before the names of classes. From each name that is
    still too long, drop the parameters that similar names share, then cut it in the middle. Number
    the labels that would be equal.

    Examples
    --------
    >>> labels_of(["forest(trees=100, depth=3)", "forest(trees=500, depth=3)"], 95, 9)
    ('forest(trees=100…', 'forest(trees=500…')
    >>> labels_of(["sklearn.svm.SVC(C=1)", "sklearn.svm.SVC(C=10)"], 60, 9)
    ('SVC(C=1)', 'SVC(C=10)')
    """
    texts = [_line(name) for name in names]
    long = [text for text in texts if text_width(text, size) > width]
    if long:
        bare = [_PATH.sub("", text) for text in texts]
        if len(set(bare)) == len(set(texts)):
            texts = bare
        long = [text for text in texts if text_width(text, size) > width]
    cut = [_distinct(text, long, width, size) if text in long else text for text in texts]
    return _numbered(cut, width, size)


def _distinct(text: str, others: Sequence[str], width: float, size: float) -> str:
    """Return a name without what all similar names share, cut to a width."""
    parts: list[str] = _PART.findall(text)
    similar = [set(_PART.findall(other)) for other in others if other != text]
    similar = [other for other in similar if parts[0] in other]
    shared = set.intersection(*similar) if similar else set()
    kept = parts[:1]
    for part in parts[1:]:
        if part not in shared:
            kept.append(part)
        elif kept[-1] != ELLIPSIS:
            kept.append(ELLIPSIS)
    short = re.sub(rf"[ ,;]+{ELLIPSIS}", ELLIPSIS, "".join(kept))
    if shared and text_width(short, size) > width:
        # The values of parameters distinguish names, their keywords do not.
        short = re.sub(r"\w+=", "", short)
    rest = ELLIPSIS + short[len(parts[0]) :].removeprefix(ELLIPSIS)
    for end in range(len(parts[0]) - 1, _MIN_HEAD - 1, -1):
        if shared and text_width(parts[0][:end] + rest, size) <= width < text_width(short, size):
            return parts[0][:end] + rest
    return fitted(short, width, size)


def _numbered(cut: Sequence[str], width: float, size: float) -> tuple[str, ...]:
    """Number the labels that would be equal."""
    counts = Counter(cut)
    used = {label for label, count in counts.items() if count == 1}
    labels = []
    number = 0
    for text in cut:
        label = text
        while counts[text] > 1 and (counts[label] or label in used):
            number += 1
            mark = f" ({number})"
            label = fitted(text, width - text_width(mark, size), size) + mark
        used.add(label)
        labels.append(label)
    return tuple(labels)
