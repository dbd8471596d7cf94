"""Snapshots of every figure as text, one file per figure and number of learners.

The snapshot of five learners lists all shapes and words. The snapshot of sixty lists the words,
and the number and extent of the shapes of each role. If a figure is meant to change, look at it
and write the files again with

    BESTOFK_SNAPSHOTS=write python -m pytest tests/report/figures/test_snapshots.py

Then review the diff.
"""

import difflib
import os
import re
from pathlib import Path

import numpy as np
import pytest

from bestofk.report.figures import FIGURES
from bestofk.report.figures.picture import Dot

HERE = Path(__file__).parent / "snapshots"
SIZES = (5, 60)
CASES = [(kind, n) for kind in FIGURES for n in SIZES]
MAX_WORDS = 150
"""If there are more words, list the first and the last 50 and the extent of all."""


def number(value):
    return f"{round(float(value), 1) + 0.0:.1f}"


def role_of(shape):
    """Return the kind of shape with its stroke, fill, width and opacity."""
    if isinstance(shape, Dot):
        kind = f"dot {number(shape.radius)}"
    else:
        kind = "curve" if shape.smooth else "area" if shape.closed else "line"
    parts = [kind, f"stroke {shape.colour or 'none'}", f"fill {shape.fill or 'none'}"]
    parts.append(f"width {shape.width:g}")
    if shape.opacity != 1:
        parts.append(f"opacity {shape.opacity:g}")
    return ", ".join([*parts, "dashed"] if getattr(shape, "dash", ()) else parts)


def points_of(shape):
    return ((shape.x, shape.y),) if isinstance(shape, Dot) else shape.points


def each(shapes):
    for shape in shapes:
        points = " ".join(f"{number(x)},{number(y)}" for x, y in points_of(shape))
        yield f"{role_of(shape)}: {points}"


def by_role(shapes):
    """Yield the number and the extent of the shapes of each role."""
    roles: dict[str, list[tuple[float, float]]] = {}
    counts: dict[str, int] = {}
    for shape in shapes:
        roles.setdefault(role_of(shape), []).extend(points_of(shape))
        counts[role_of(shape)] = counts.get(role_of(shape), 0) + 1
    for role, points in roles.items():
        yield f"{counts[role]} of {role}: {extent(points)}"


def extent(points):
    (left, top), (right, bottom) = np.min(points, axis=0), np.max(points, axis=0)
    x, y = np.mean(points, axis=0)
    return (
        f"from {number(left)},{number(top)} to {number(right)},{number(bottom)}, "
        f"middle {number(x)},{number(y)}"
    )


def word_lines(words):
    for word in words:
        style = f"{word.size:g} {word.colour} {word.anchor}"
        style += f" turned {word.rotation:g}" * bool(word.rotation) + " bold" * word.bold
        yield f"words {number(word.x)},{number(word.y)} {style} | {word.text}"


def written(picture, n):
    lines = [f"sheet {number(picture.width)} by {number(picture.height)}", f"alt | {picture.alt}"]
    lines += (each if n == min(SIZES) else by_role)(picture.shapes)
    words = list(word_lines(picture.words))
    if len(words) > MAX_WORDS:
        where = extent([(word.x, word.y) for word in picture.words])
        words = [*words[:50], f"{len(words)} words: {where}", *words[-50:]]
    text = "\n".join([*lines, *words]) + "\n"
    # Escape characters that change the direction of text in a terminal.
    return re.sub("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", lambda m: f"\\u{ord(m[0]):04x}", text)


def same(old, new):
    """Return whether lines are equal, except for rounding of positions."""
    if old == new:
        return True
    (was, _, old_words), (now, _, new_words) = old.partition(" | "), new.partition(" | ")
    position = r"-?\d+\.\d"
    if old_words != new_words or re.sub(position, "#", was) != re.sub(position, "#", now):
        return False
    pairs = zip(re.findall(position, was), re.findall(position, now), strict=True)
    return all(abs(float(a) - float(b)) < 0.11 for a, b in pairs)


@pytest.mark.parametrize(("kind", "n"), CASES)
def test_pictures_match_their_snapshots(pictures, kind, n):
    text = written(pictures[n, kind], n)
    path = HERE / f"{kind}-{n}.txt"
    if os.environ.get("BESTOFK_SNAPSHOTS") == "write":
        HERE.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    old, new = path.read_text(encoding="utf-8").splitlines(), text.splitlines()
    if len(old) != len(new) or not all(map(same, old, new)):
        changed = difflib.unified_diff(old, new, "snapshot", "now", lineterm="", n=0)
        pytest.fail("\n".join([f"{kind} of {n} learners has changed:", *changed]))


def test_every_snapshot_belongs_to_a_figure():
    assert {path.name for path in HERE.iterdir()} == {f"{kind}-{n}.txt" for kind, n in CASES}


def test_a_move_of_half_a_point_and_another_word_are_detected():
    line = "words 10.0,20.0 9 ink start | a 1.5"
    assert same(line, "words 10.1,20.0 9 ink start | a 1.5")
    assert not same(line, "words 10.5,20.0 9 ink start | a 1.5")
    assert not same(line, "words 10.0,20.0 9 ink start | a 1.6")
    assert not same(line, "words 10.0,20.0 9 ink end | a 1.5")
