"""Widths of words without a font, and names shortened to a width.

The widths are the advances of DejaVu Sans and DejaVu Serif. They are wider than almost all other
fonts of their kind, so text that fits by these tables also fits in the reader's font.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

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
_SERIF = (
    *(318, 402, 460, 838, 636, 950, 890, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636),
    *(636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 536, 1000, 722, 735, 765),
    *(802, 730, 694, 799, 872, 395, 401, 747, 664, 1024, 875, 820, 673, 820, 753, 685, 667, 843),
    *(722, 1028, 712, 660, 695, 390, 337, 390, 838, 500, 500, 613, 640, 560, 640, 615, 370, 640),
    *(644, 320, 310, 606, 320, 974, 644, 612, 640, 640, 478, 521, 402, 644, 592, 856, 592, 592),
    *(527, 636, 337, 636, 838),
)
"""Advances of serif fonts and of fonts by name; never smaller than those of sans serif."""
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
    """Return an upper bound of the width of a line of words, in points.

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
    # Serifs widen other letters by up to a tenth.
    return _advance(character) * 11 // 10


def _mono_advance(character: str) -> int:
    return _advance(character) if ord(character) > 0x2FF else _MONO


class _Advances(dict[str, int]):
    """Advances by character, computed once each, because layouts measure labels many times."""

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


# Shorten names to a width: keep the parts that differ, drop the parts that they share.

_PATH = re.compile(r"^(?:[A-Za-z_]\w*[.:])+(?=[A-Za-z_])")
"""The modules before the name of a class: ``sklearn.ensemble.`` or ``sklearn.svm:``."""
_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?|_|[^\w\s]")
_MAX_WORD = 8
"""Of a longer word, keep only this many letters around the difference."""
_HEAD = 4
"""Letters to keep at the beginning of every name, if there is space."""


class _Fits(NamedTuple):
    """True if a text fits into a width, and the font for it."""

    width: float
    size: float
    family: str

    def __call__(self, text: str) -> bool:
        return text_width(text, self.size, family=self.family) <= self.width


def _line(name: object) -> str:
    """Return a name on one line, in full."""
    return printable(" ".join(str(name).split())) or "(no name)"


def fitted(name: object, width: float, size: float, *, family: str = "sans-serif") -> str:
    """Return a single name on one line of at most `width` points; cut longer ones in the middle.

    Examples
    --------
    >>> fitted("gradient boosting, 500 trees", 100, 9)
    'gradient b…500 trees'
    >>> fitted("nn", 100, 9)
    'nn'
    """
    text, fits = _line(name), _Fits(width, size, family)
    return text if fits(text) else _written(text, _grown(text, [], fits))


def wrapped(text: str, width: float, size: float, *, family: str = "sans-serif") -> tuple[str, ...]:
    """Break a sentence between words into lines of at most `width` points.

    Examples
    --------
    >>> wrapped("the data override the preference", 80, 9)
    ('the data override', 'the preference')
    """
    lines: list[str] = []
    for word in text.split():
        word = fitted(word, width, size, family=family)
        if lines and text_width(f"{lines[-1]} {word}", size, family=family) <= width:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return tuple(lines)


def labels_of(
    names: Sequence[object], width: float, size: float, *, family: str = "sans-serif"
) -> tuple[str, ...]:
    """Return the names of one figure, each on one line of at most `width` points.

    If a name is too long, drop the modules before the names of classes first. Then keep the
    beginning of each name that is still too long and the words that distinguish it from the others.

    Examples
    --------
    >>> labels_of(["forest of 100 shallow trees", "forest of 500 shallow trees"], 80, 9)
    ('forest of 100 sh…', 'forest of 500 sh…')
    >>> labels_of(["sklearn.svm.SVC(C=1)", "sklearn.svm.SVC(C=10)"], 60, 9)
    ('SVC(C=1)', 'SVC(C=10)')
    """
    fits = _Fits(width, size, family)
    texts = [_line(name) for name in names]
    if not all(fits(text) for text in texts):
        bare = [_PATH.sub("", text) for text in texts]
        if len(set(bare)) == len(set(texts)):
            texts = bare
    cut = [text if fits(text) else _shortened(text, texts, fits) for text in texts]
    return _numbered(texts, cut, fits)


def _shortened(text: str, texts: Sequence[str], fits: _Fits) -> str:
    """Return the beginning of a name and the words that distinguish it from the other names."""
    words = [match.span() for match in _WORD.finditer(text)]
    apart: dict[str, set[tuple[int, int]]] = {}
    for other in {other for other in texts if other != text}:
        first, last = _same(text, other), len(text) - 1 - _same(text[::-1], other[::-1])
        positions = {min(max(position, 0), len(text) - 1) for position in (first, last)}
        apart[other] = {_around(text, position, words) for position in positions}
    best: list[tuple[int, int]] = []
    for head in (_HEAD, 2, 1, 0):
        spans = [(0, min(head, len(text)))] if head else []
        if _keep(text, spans, apart, fits):
            best = spans
            break
    else:
        # If not all words fit, distinguish it from the most similar names.
        _keep(text, best, apart, fits, common=False)
    # If all names share the beginning, give the remaining space to the other words.
    shared = all(other.startswith(text[:_HEAD]) for other in apart)
    still = best[0] if shared and len(best) > 1 and best[0][0] == 0 else None
    return _written(text, _grown(text, best, fits, still))


def _keep(
    text: str,
    spans: list[tuple[int, int]],
    apart: dict[str, set[tuple[int, int]]],
    fits: _Fits,
    *,
    common: bool = True,
) -> bool:
    """Add words to the spans until the name differs from all others; return whether it does."""
    while apart:
        votes = Counter(span for others in apart.values() for span in others)
        sign = -1 if common else 1
        # Take the word that distinguishes it from most (or fewest) names; the first of several.
        for span in sorted(votes, key=lambda span: (sign * votes[span], span)):
            if fits(_written(text, [*spans, span])):
                spans.append(span)
                apart = {name: others for name, others in apart.items() if span not in others}
                break
        else:
            return False
    return True


def _around(text: str, position: int, words: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the word at a position, or the part of a long word around it."""
    index = next((k for k, word in enumerate(words) if word[1] > position), len(words) - 1)
    first, last = words[index]
    if index and not text[first].isalnum() and words[index - 1][1] == first:
        # Keep the mark that ends a number, so that 1 is not read as 10.
        first = words[index - 1][0]
    if last - first <= _MAX_WORD:
        return first, last
    first = max(first, min(position - 1, last - _MAX_WORD))
    return first, min(last, first + _MAX_WORD)


def _same(text: str, other: str) -> int:
    """Return how many characters two texts share at the start."""
    both = zip(text, other, strict=False)
    return next((k for k, (a, b) in enumerate(both) if a != b), min(len(text), len(other)))


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, with touching ones merged."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def _written(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the spans of a text, with an ellipsis for each omitted part."""
    joined = _joined(spans)
    if not joined:
        return ELLIPSIS
    parts = [
        text[first:last].lstrip(" ,;" if first else " ").rstrip(" ,;" if last < len(text) else " ")
        for first, last in joined
    ]
    start = ELLIPSIS if joined[0][0] > 0 else ""
    end = ELLIPSIS if joined[-1][1] < len(text) else ""
    return start + ELLIPSIS.join(parts) + end


def _grown(
    text: str, spans: Sequence[tuple[int, int]], fits: _Fits, still: tuple[int, int] | None = None
) -> list[tuple[int, int]]:
    """Extend the spans, except `still`, by as many characters as fit.

    Without spans, keep the beginning and the end of the text.
    """
    grown = _joined(spans) or [(0, 0), (len(text), len(text))]
    going = True
    while going:
        going = False
        for k in range(len(grown)):
            for step in ((-1, 0), (0, 1)):
                if k >= len(grown) or grown[k] == still:
                    break
                first, last = grown[k][0] + step[0], grown[k][1] + step[1]
                if first < 0 or last > len(text):
                    continue
                trial = _joined([*grown[:k], (first, last), *grown[k + 1 :]])
                if fits(_written(text, trial)):
                    grown, going = trial, True
    for (_, end), (start, _) in pairwise(list(grown)):
        # An ellipsis is as wide as up to three letters.
        trial = _joined([*grown, (end, start)])
        if start - end <= 3 and fits(_written(text, trial)):
            grown = trial
    return grown


def _numbered(texts: Sequence[str], cut: Sequence[str], fits: _Fits) -> tuple[str, ...]:
    """Number the labels that would be equal."""
    counts = Counter(cut)
    if max(counts.values(), default=1) == 1:
        return tuple(cut)
    used = {text for text, count in counts.items() if count == 1}
    labels = []
    number = 0
    for text, label in zip(texts, cut, strict=True):
        if counts[label] > 1:
            while True:
                number += 1
                mark = f" ({number})"
                rest = fits.width - text_width(mark, fits.size, family=fits.family)
                label = fitted(text, rest, fits.size, family=fits.family) + mark
                if label not in used:
                    break
            used.add(label)
        labels.append(label)
    return tuple(labels)
