"""How wide words are, without a font at hand.

The widths are the advances of DejaVu Sans and DejaVu Serif, which are wider than almost all other
fonts of their kind: what fits by these tables fits in the reader's font too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from bestofk._base.formatting import printable

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


# Names cut to a width: what differs between them stays, what they share goes.


_PATH = re.compile(r"^(?:[A-Za-z_]\w*[.:])+(?=[A-Za-z_])")
"""The modules before the name of a class: ``sklearn.ensemble.`` or ``sklearn.svm:``."""
_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?|_|[^\w\s]")
_LONG = 8
"""Of a longer word, the part about what differs is kept."""
_HEAD = 4
"""So many letters of its beginning are left of every name, where there is room."""


def _line(name: object) -> str:
    """A name on one line, all of it."""
    return printable(" ".join(str(name).split())) or "(no name)"


def fitted(name: object, width: float, size: float, *, family: str = "sans-serif") -> str:
    """A name by itself on one line of at most `width` points, cut in the middle where it is longer.

    Examples
    --------
    >>> fitted("gradient boosting, 500 trees", 100, 9)
    'gradient b…500 trees'
    >>> fitted("nn", 100, 9)
    'nn'
    """
    text = _line(name)
    if text_width(text, size, family=family) <= width:
        return text
    return _written(text, _grown(text, [], width, size, family))


def wrapped(text: str, width: float, size: float, *, family: str = "sans-serif") -> tuple[str, ...]:
    """A sentence in lines of at most `width` points, broken between words.

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
    """Names that stand in one figure, each on one line of at most `width` points.

    Where one is too long, the modules before the names of classes go first; then each that is
    still too long keeps its beginning and the words that tell it from the others.

    Examples
    --------
    >>> labels_of(["forest of 100 shallow trees", "forest of 500 shallow trees"], 80, 9)
    ('forest of 100 sh…', 'forest of 500 sh…')
    >>> labels_of(["sklearn.svm.SVC(C=1)", "sklearn.svm.SVC(C=10)"], 60, 9)
    ('SVC(C=1)', 'SVC(C=10)')
    """

    def fits(text: str) -> bool:
        return text_width(text, size, family=family) <= width

    texts = [_line(name) for name in names]
    if not all(map(fits, texts)):
        bare = [_PATH.sub("", text) for text in texts]
        if len(set(bare)) == len(set(texts)):
            texts = bare
    cut = [
        text if fits(text) else _telling(text, texts, width, size, family)
        for text in texts
    ]  # fmt: skip
    return _numbered(texts, cut, width, size, family)


def _telling(text: str, texts: Sequence[str], width: float, size: float, family: str) -> str:
    """The beginning of a name, and the words in it that no other name has in their place."""
    words = [found.span() for found in _WORD.finditer(text)]
    apart: dict[str, set[tuple[int, int]]] = {}
    for other in {other for other in texts if other != text}:
        first, last = _same(text, other), len(text) - 1 - _same(text[::-1], other[::-1])
        places = {min(max(place, 0), len(text) - 1) for place in (first, last)}
        apart[other] = {_around(text, place, words) for place in places}
    best: list[tuple[int, int]] = []
    for head in (_HEAD, 2, 1, 0):
        kept = [(0, min(head, len(text)))] if head else []
        if _keep(text, kept, apart, width, size, family):
            best = kept
            break
    else:
        # no room for all: what tells it from those most like it
        _keep(text, best, apart, width, size, family, common=False)
    # a beginning that all share says little: what room is left goes to the other words
    shared = all(other.startswith(text[:_HEAD]) for other in apart)
    still = best[0] if shared and len(best) > 1 and best[0][0] == 0 else None
    return _written(text, _grown(text, best, width, size, family, still))


def _keep(
    text: str,
    kept: list[tuple[int, int]],
    apart: dict[str, set[tuple[int, int]]],
    width: float,
    size: float,
    family: str,
    *,
    common: bool = True,
) -> bool:
    """Add words to those kept until the name differs from all others; whether it then does."""
    while apart:
        votes = Counter(span for spans in apart.values() for span in spans)
        sign = -1 if common else 1
        # the word that tells it from the most others (or the fewest); of several, the first
        for span in sorted(votes, key=lambda one: (sign * votes[one], one)):
            if text_width(_written(text, [*kept, span]), size, family=family) <= width:
                kept.append(span)
                apart = {other: spans for other, spans in apart.items() if span not in spans}
                break
        else:
            return False
    return True


def _around(text: str, place: int, words: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The word at a place, or the part of a long one about it."""
    at = next((k for k, word in enumerate(words) if word[1] > place), len(words) - 1)
    first, last = words[at]
    if at and not text[first].isalnum() and words[at - 1][1] == first:
        # what ends a word says where it ends: 1 is not 10
        first = words[at - 1][0]
    if last - first <= _LONG:
        return first, last
    first = max(first, min(place - 1, last - _LONG))
    return first, min(last, first + _LONG)


def _same(text: str, other: str) -> int:
    """How many characters two texts share at the start."""
    both = zip(text, other, strict=False)
    return next((k for k, (a, b) in enumerate(both) if a != b), min(len(text), len(other)))


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def _written(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The parts of a text, with a mark where something is left out."""
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
    text: str,
    spans: Sequence[tuple[int, int]],
    width: float,
    size: float,
    family: str,
    still: tuple[int, int] | None = None,
) -> list[tuple[int, int]]:
    """The spans, but for one that is to stay, with as many more characters as there is room for.

    A text of which nothing must stay keeps its beginning and its end.
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
                if text_width(_written(text, trial), size, family=family) <= width:
                    grown, going = trial, True
    for (_, end), (start, _) in pairwise(list(grown)):
        # a mark for a letter or three is no shorter than they are
        trial = _joined([*grown, (end, start)])
        if start - end <= 3 and text_width(_written(text, trial), size, family=family) <= width:
            grown = trial
    return grown


def _numbered(
    texts: Sequence[str], cut: Sequence[str], width: float, size: float, family: str
) -> tuple[str, ...]:
    """Labels that came out alike get a number."""
    counts = Counter(cut)
    if max(counts.values(), default=1) == 1:
        return tuple(cut)
    taken = {text for text, count in counts.items() if count == 1}
    found = []
    number = 0
    for text, label in zip(texts, cut, strict=True):
        if counts[label] > 1:
            while True:
                number += 1
                mark = f" ({number})"
                room = width - text_width(mark, size, family=family)
                label = fitted(text, room, size, family=family) + mark
                if label not in taken:
                    break
            taken.add(label)
        found.append(label)
    return tuple(found)
