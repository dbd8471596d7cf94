"""How wide words are, without a font at hand.

The widths are the advances of DejaVu Sans and DejaVu Serif, which are wider than almost all other
fonts of their kind: what fits by these tables fits in the reader's font too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

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
_SERIF = (
    *(318, 402, 460, 838, 636, 950, 890, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636),
    *(636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 536, 1000, 722, 735, 765),
    *(802, 730, 694, 799, 872, 395, 401, 747, 664, 1024, 875, 820, 673, 820, 753, 685, 667, 843),
    *(722, 1028, 712, 660, 695, 390, 337, 390, 838, 500, 500, 613, 640, 560, 640, 615, 370, 640),
    *(644, 320, 310, 606, 320, 974, 644, 612, 640, 640, 478, 521, 402, 644, 592, 856, 592, 592),
    *(527, 636, 337, 636, 838),
)
"""Of serif fonts, and of fonts by name: nowhere less than those of sans serif."""
_MONO = 602

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


def text_width(text: str, size: float, *, bold: bool = False, family: str = "sans-serif") -> float:
    """Width of a line of words in points, never less than it will be.

    `family` is ``"sans-serif"``, ``"serif"``, ``"monospace"`` or the name of a font.

    Examples
    --------
    >>> text_width("learner", 10), text_width("é", 10) == text_width("e", 10)
    (35.77, True)
    """
    advances = _ADVANCES.get(family, _ADVANCES["serif"])
    thousandths = sum(map(advances.__getitem__, text))
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


def _serif_advance(character: str) -> int:
    base = unicodedata.normalize("NFD", character)[0]
    if 0x20 <= ord(base) <= 0x7E:
        return _SERIF[ord(base) - 0x20]
    # the serifs of other letters take up to a tenth
    return _advance(character) * 11 // 10


def _mono_advance(character: str) -> int:
    return _advance(character) if ord(character) > 0x2FF else _MONO


class _Advances(dict[str, int]):
    """Advances by character, each worked out once: labels are measured many times over."""

    def __init__(self, advance: Callable[[str], int]) -> None:
        self._advance = advance

    def __missing__(self, character: str) -> int:
        self[character] = advance = self._advance(character)
        return advance


_ADVANCES = {
    "sans-serif": _Advances(_advance),
    "serif": _Advances(_serif_advance),
    "monospace": _Advances(_mono_advance),
}


def widest(texts: Sequence[str], size: float, *, family: str = "sans-serif") -> float:
    """Width of the widest of some words; 0 for none."""
    return max((text_width(text, size, family=family) for text in texts), default=0.0)
