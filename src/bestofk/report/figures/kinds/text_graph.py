"""The MultiTest graph in text, for a terminal."""

from __future__ import annotations

from typing import Any

from bestofk.report.figures.captions import preferring
from bestofk.report.figures.kinds.multitest_graph import edges_of
from bestofk.wording import counted, printable

NAME_WIDTH = 28
ROWS = 40
_RECOMMENDED = "  recommended"


def text_graph(value: Any, *, width: int = 80) -> str:
    """Learners by preference, a column for each that is better than a preferred one.

    Parameters
    ----------
    value : Order or Study
        With a stated preference.
    width : int
        Columns of the terminal.

    Returns
    -------
    str
        Empty where the data override the preference nowhere.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Losses([[0.41, 0.52, 0.43], [0.12, 0.21, 0.11], [0.10, 0.19, 0.12]],
    ...     algorithms=["max", "nmc", "nn"])
    >>> print(text_graph(bk.order(losses, prior="listed", test="kfold-t")))
    1 max  ● ●
    2 nmc  ▲ │   recommended
    3 nn     ▲
    ▲ is significantly better than the ● above it, which were preferred.
    """
    order = preferring(value, "graph")
    edges = edges_of(order)
    if not edges:
        return ""
    names = [_short(str(name)) for name in order.prior]
    digits = len(str(len(names)))
    wide = max(map(_columns, names))
    start = digits + 1 + wide + 2
    over: dict[int, list[int]] = {}
    for i, j in edges:
        over.setdefault(j, []).append(i)
    room = max(1, (width - start - len(_RECOMMENDED)) // 2)
    # the recommended one first: it is what the reader looks for
    at = None if order.recommended is None else order.prior.index(order.recommended)
    chosen = sorted(over, key=lambda j: (j != at, j))[:room]
    shown = sorted(chosen)
    last = min(len(names), ROWS)
    lines = []
    for row in range(last):
        marks = [_mark(row, j, over[j]) for j in shown]
        said = _RECOMMENDED if row == at else ""
        name = names[row] + " " * (wide - _columns(names[row]))
        lines.append(f"{row + 1:>{digits}} {name}  {' '.join(marks)}{said}".rstrip())
    if len(names) > last:
        lines.append(f"... and {len(names) - last} more")
    lines.append("▲ is significantly better than the ● above it, which were preferred.")
    left = len(over) - len(shown)
    if left:
        lines.append(f"({counted(left, 'more learner')} of that kind: too many for this width.)")
    return "\n".join(lines)


def _mark(row: int, column: int, beaten: list[int]) -> str:
    if row == column:
        return "▲"
    if row in beaten:
        return "●"
    return "│" if min(beaten) < row < column else " "


def _short(name: str) -> str:
    text = printable(" ".join(name.split())) or "(no name)"
    if len(text) <= NAME_WIDTH:
        return text
    half = (NAME_WIDTH - 1) // 2
    return f"{text[: NAME_WIDTH - 1 - half]}…{text[-half:]}"


def _columns(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining ones none."""
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
