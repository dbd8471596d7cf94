"""Format numbers, p-values, lists, counts and names for sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import floor, inf, isfinite, isinf, log10

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that change the text direction."""


def number(value: float) -> str:
    """Return a number with four significant digits, and infinities in words.

    Examples
    --------
    >>> number(0.123456), number(float("inf")), number(-0.0)
    ('0.1235', 'infinite', '0')
    """
    if isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{value + 0.0:.4g}"


MAX_DIGITS = 6
"""Significant digits of the largest number of a column."""


def rounded(values: Sequence[float], uncertainty: float | None = None) -> list[str]:
    """Format numbers of one kind with the same number of decimals.

    This is the rule of all tables, figures and sentences. The decimals show two digits of the
    uncertainty, which is half the width of a bound, or four digits of the largest number if the
    uncertainty is unknown. There are never more decimals than the numbers have. If all numbers are
    below 0.001, they are written with an exponent.

    Examples
    --------
    >>> rounded([0.0433333, 0.08, 0.6666667], 0.075), rounded([3384.21, 3434.9], 60.0)
    (['0.043', '0.080', '0.667'], ['3384', '3435'])
    >>> rounded([0.2, 0.16], 0.002), rounded([0.123456, 12.0]), rounded([1.0, 0.0])
    (['0.20', '0.16'], ['0.12', '12.00'], ['1', '0'])
    >>> rounded([2e-6, 3.14159e-6], 1e-7)
    ['2.00e-06', '3.14e-06']
    """
    numbers = [float(value) for value in values]
    finite = [value for value in numbers if isfinite(value)]
    largest = max(map(abs, finite), default=0.0)
    if largest == 0.0:
        return [number(value) for value in numbers]
    exponent = floor(log10(largest))
    decimals = 3 - exponent
    if uncertainty is not None and 0.0 < uncertainty < inf:
        decimals = max(1 - floor(log10(uncertainty)), -exponent)
    decimals = min(decimals, MAX_DIGITS - 1 - exponent)
    if largest < 1e-3:
        return [
            f"{value + 0.0:.{max(0, decimals + exponent)}e}" if isfinite(value) else number(value)
            for value in numbers
        ]
    decimals = next(
        (few for few in range(max(0, decimals)) if _is_exact(finite, few, largest)),
        max(0, decimals),
    )
    return [
        # adding 0.0 turns a rounded -0.0 into 0.0
        f"{round(value, decimals) + 0.0:.{decimals}f}" if isfinite(value) else number(value)
        for value in numbers
    ]


def _is_exact(numbers: Sequence[float], decimals: int, largest: float) -> bool:
    """Return whether the numbers have no more decimals than these, but for rounding noise."""
    return all(abs(round(value, decimals) - value) <= 1e-12 * largest for value in numbers)


def interval_words(low: float, high: float, decimals: int = 0) -> str:
    """Return an interval with two digits of its width, or more if an end would look like 0.

    It has at least `decimals` decimals.

    The text is empty for an interval that is open at both ends or is a single point.

    Examples
    --------
    >>> interval_words(-0.0312, 0.0523), interval_words(0.000271, 0.0523)
    ('-0.031 to 0.052', '0.0003 to 0.0523')
    >>> interval_words(0.0, 0.0523), interval_words(-float("inf"), 0.0523)
    ('0 to 0.052', 'up to 0.052')
    """
    if isinf(low) or isinf(high):
        if isinf(low) and isinf(high):
            return ""
        end = high if isinf(low) else low
        text = f"{end + 0.0:.{decimals}f}" if decimals else rounded([end], abs(end))[0]
        return f"up to {text}" if isinf(low) else f"from {text}"
    if not low < high:
        return ""
    least = max(decimals, 1 - floor(log10(high - low)))
    for decimals in range(least, least + 4):
        ends = [f"{end:.{decimals}f}" for end in (low, high)]
        if all(float(text) or not end for text, end in zip(ends, (low, high), strict=True)):
            break
    return " to ".join("0" if not float(text) else text for text in ends)


def pvalue_words(p: float, alpha: float | None = None) -> str:
    """Return a p-value for a sentence: ``p = 0.012`` or ``p < 0.0001``; see `pvalue_text`.

    Examples
    --------
    >>> pvalue_words(0.01234567), pvalue_words(0.0), pvalue_words(0.999999), pvalue_words(1.0)
    ('p = 0.012', 'p < 0.0001', 'p > 0.99', 'p = 1')
    """
    text = pvalue_text(p, alpha)
    return f"p {text}" if text[0] in "<>" else f"p = {text}"


def pvalue_text(p: float, alpha: float | None = None) -> str:
    """Return a p-value with two digits, ``< 0.0001`` below that, and 1 only if it is exactly 1.

    This is the format of all tables, figures and sentences. A p-value gets more digits if two would
    put it on the other side of `alpha`.

    Examples
    --------
    >>> pvalue_text(0.2), pvalue_text(0.000998), pvalue_text(0.0), pvalue_text(0.999999)
    ('0.20', '0.0010', '< 0.0001', '> 0.99')
    >>> pvalue_text(0.0503), pvalue_text(0.0503, alpha=0.05), pvalue_text(1.0)
    ('0.050', '0.0503', '1')
    """
    least = 1e-4 if alpha is None or alpha >= 1e-4 else alpha / 100
    if p < least:
        return f"< {least:g}"
    if p >= 0.995:
        return "1" if p == 1.0 else "> 0.99"
    # two significant digits: 0.20, 0.048, 0.0012
    decimals = max(2, 1 - floor(log10(float(f"{p:.1e}"))))
    text = f"{p:.{decimals}f}"
    while alpha is not None and (float(text) <= alpha) != (p <= alpha) and decimals < 17:
        decimals += 1
        text = f"{p:.{decimals}f}"
    return text


NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip


def in_words(count: int) -> str:
    """Return a small count as a word.

    Examples
    --------
    >>> in_words(3), in_words(40)
    ('three', '40')
    """
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else str(count)


def capitalised(sentence: str) -> str:
    """Capitalise a sentence that begins with the word learner; names stay as they are.

    Examples
    --------
    >>> capitalised("learner 3 is out."), capitalised("nmc is out.")
    ('Learner 3 is out.', 'nmc is out.')
    """
    return f"L{sentence[1:]}" if sentence.startswith("learner ") else sentence


def probability_words(p: float) -> str:
    """Return a probability with two digits, but never 0 or 1.

    Examples
    --------
    >>> probability_words(0.4828), probability_words(0.0), probability_words(0.9999)
    ('0.48', '< 0.01', '> 0.99')
    """
    if p < 0.005:
        return "< 0.01"
    return "> 0.99" if p >= 0.995 else f"{p:.2f}"


def joined(words: Sequence[str]) -> str:
    """Join words as in ``a``, ``a and b``, ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def shortened(words: Sequence[str], limit: int = 10) -> str:
    """Join the first `limit` words and state how many more there are.

    Examples
    --------
    >>> shortened(["a", "b", "c", "d"], limit=2)
    'a, b and 2 more'
    """
    if len(words) <= limit + 1:
        return joined(words)
    return joined([*words[:limit], f"{len(words) - limit} more"])


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, as in ``1 pair``, ``1,200 pairs``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ordinal(n: int) -> str:
    """Return an ordinal number such as ``1st``, ``2nd``, ``3rd``, ``11th``."""
    end = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{end}"


def printable(text: str) -> str:
    r"""Replace characters that are invisible or change the text direction by ``�``.

    Examples
    --------
    >>> printable("a\u202eb\n")
    'a�b�'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def without_controls(text: str) -> str:
    r"""Replace control characters except line ends and tabs by ``�``.

    Examples
    --------
    >>> without_controls("a\x1b[31m\n")
    'a�[31m\n'
    """
    return _CONTROLS.sub("\ufffd", text)


def escaped(text: str) -> str:
    r"""Replace control characters except line ends and tabs by escape sequences.

    Unlike with `printable`, different names stay different.

    Examples
    --------
    >>> print(escaped("a\x1b[31m b"))
    a\x1b[31m b
    """
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def duration(seconds: float) -> str:
    """Return a duration in seconds, milliseconds or microseconds.

    Examples
    --------
    >>> duration(2.5), duration(0.0123), duration(4e-6)
    ('2.5 s', '12.3 ms', '4 µs')
    """
    for factor, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


PROSE_WIDTH = 100
"""Width at which sentences are wrapped on wide terminals."""


NO_BREAK = "\ue000"
"""Stands for a space at which a line must not end."""
_UNBROKEN = re.compile(
    r"""
    '(?:bestofk|pip|python)\ [^']*'             # a quoted command
    | pip\ install\ \S                       # pip install pyarrow
    | --[a-z][a-z-]*\ (?:'[^']*'|[^\s'])       # an option and its value
    | \b(?:p|alpha)\ [=<>]\ \S                 # p = 0.02
    | \d\ %                                    # 95 %
    """,
    re.VERBOSE,
)
"""Words that a line end would make hard to copy or to read."""


def unbroken(text: str) -> str:
    """Return text with `NO_BREAK` for the spaces in commands, options, p-values and percentages.

    Examples
    --------
    >>> unbroken("use --prefer a (p = 0.02)").replace(NO_BREAK, "_")
    'use --prefer_a (p_=_0.02)'
    """
    return _UNBROKEN.sub(lambda match: match[0].replace(" ", NO_BREAK), text)


def safe(text: str) -> str:
    r"""Return text without control characters; line ends stay.

    Examples
    --------
    >>> safe("a\x1b[2Jb\nc\u202e")
    'a�[2Jb\nc�'
    """
    return "\n".join(printable(line.replace("\t", " ")) for line in text.split("\n"))
