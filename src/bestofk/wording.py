"""Words that all sentences share: numbers, p-values, lists and counts as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf


def number(value: float) -> str:
    """A number for print: four significant digits, infinities in words.

    Examples
    --------
    >>> number(0.123456), number(float("inf"))
    ('0.1235', 'infinite')
    """
    if isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{value:.4g}"


def pvalue_words(p: float) -> str:
    """``p = 0.0123``, or ``p < 1e-300`` where nothing is left to print.

    Examples
    --------
    >>> pvalue_words(0.01234567), pvalue_words(0.0), pvalue_words(0.999999)
    ('p = 0.01235', 'p < 1e-300', 'p > 0.9999')
    """
    if p == 0.0:
        return "p < 1e-300"
    # p-values that are not 1 are never printed as 1
    return f"p = {p:.4g}" if not 0.99995 <= p < 1.0 else "p > 0.9999"


def joined(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def shortened(words: Sequence[str], limit: int = 10) -> str:
    """As `joined`: the first ones, and how many others there are.

    Examples
    --------
    >>> shortened(["a", "b", "c", "d"], limit=2)
    'a, b and 2 more'
    """
    if len(words) <= limit + 1:
        return joined(words)
    return joined([*words[:limit], f"{len(words) - limit} more"])


def counted(count: int, noun: str) -> str:
    """``1 pair``, ``2 pairs``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def printable(text: str) -> str:
    r"""Text without characters that print nothing or turn the line about; those become ``�``.

    Examples
    --------
    >>> printable("a\u202eb\n")
    'a�b�'
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def duration(seconds: float) -> str:
    """A time as people read it.

    Examples
    --------
    >>> duration(2.5), duration(0.0123), duration(4e-6)
    ('2.5 s', '12.3 ms', '4 µs')
    """
    for factor, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
