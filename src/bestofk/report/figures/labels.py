"""Names cut to a width: what differs between them stays, what they share goes.

``RandomForestClassifier(n_estimators=100)`` beside ``RandomForestClassifier(n_estimators=200)``
become ``Rando…tors=100)`` and ``Rando…tors=200)``: different names have different labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from bestofk.report.figures.text_width import ELLIPSIS, text_width
from bestofk.wording import printable

_PATH = re.compile(r"^(?:[A-Za-z_]\w*[.:])+(?=[A-Za-z_])")
"""The modules before the name of a class: ``sklearn.ensemble.`` or ``sklearn.svm:``."""
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
    >>> wrapped("the data override the prior", 80, 9)
    ('the data override', 'the prior')
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
    ('fore…100…trees', 'fore…500…trees')
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
    words = [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]
    votes: Counter[tuple[int, int]] = Counter()
    others = {other for other in texts if other != text}
    apart: dict[str, set[tuple[int, int]]] = {}
    for other in others:
        same_start = _same(text, other)
        same_end = _same(text[::-1], other[::-1])
        places = {min(same_start, len(text) - 1), max(len(text) - 1 - same_end, 0)}
        apart[other] = {
            next((word for word in words if word[1] > place), words[-1]) for place in places
        }
        votes.update(apart[other])
    room = width - 2 * text_width(ELLIPSIS, size, family=family)
    head = (0, min(_HEAD, len(text)))
    kept: list[tuple[int, int]] = []
    while apart:
        # the word that tells it from the most others; of several, the later one
        word = max(votes, key=lambda one: (votes[one], one))
        span = _short(text, word, room, size, family)
        if _width(text, [*kept, span], size, family) > room:
            break
        kept.append(span)
        done = {other for other, spans in apart.items() if word in spans}
        for other in done:
            votes.subtract(apart.pop(other))
        votes = +votes
    for start in (head, (0, 2), (0, 1)):
        if _width(text, [start, *kept], size, family) <= room:
            kept.append(start)
            break
    return _written(text, _grown(text, kept, width, size, family))


def _same(text: str, other: str) -> int:
    """How many characters two texts share at the start."""
    both = zip(text, other, strict=False)
    return next((k for k, (a, b) in enumerate(both) if a != b), min(len(text), len(other)))


def _short(
    text: str, word: tuple[int, int], room: float, size: float, family: str
) -> tuple[int, int]:
    """A word, or as much of its end as may take half of the room."""
    first, last = word
    while last - first > 1 and _width(text, [(first, last)], size, family) > room / 2:
        first += 1
    return first, last


def _width(text: str, spans: Sequence[tuple[int, int]], size: float, family: str) -> float:
    """Of some parts of a text and the marks between them; at the ends of the text there is none."""
    return text_width(_written(text, spans), size, family=family)


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
    parts = [text[first:last].strip() for first, last in joined]
    start = ELLIPSIS if joined[0][0] > 0 else ""
    end = ELLIPSIS if joined[-1][1] < len(text) else ""
    return start + ELLIPSIS.join(parts) + end


def _grown(
    text: str, spans: Sequence[tuple[int, int]], width: float, size: float, family: str
) -> list[tuple[int, int]]:
    """The spans with as many more characters around them as there is room for.

    A text of which nothing must stay keeps its beginning and its end.
    """
    grown = _joined(spans) or [(0, 0), (len(text), len(text))]
    going = True
    while going:
        going = False
        for k in range(len(grown)):
            for step in ((0, 1), (-1, 0)):
                if k >= len(grown):
                    break
                first, last = grown[k][0] + step[0], grown[k][1] + step[1]
                if first < 0 or last > len(text):
                    continue
                trial = _joined([*grown[:k], (first, last), *grown[k + 1 :]])
                if _width(text, trial, size, family) <= width:
                    grown, going = trial, True
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
