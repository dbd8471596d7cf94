"""Format numbers, p-values, lists, counts and names for sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
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
"""Significant digits that keep different numbers apart; beyond them they are nearly equal."""


def rounded(values: Sequence[float], uncertainty: float | None = None) -> list[str]:
    """Format numbers of one kind with the same number of decimals.

    The decimals show two digits of the uncertainty, or four digits of the largest number if the
    uncertainty is unknown. Different numbers that would look equal get more digits, up to
    `MAX_DIGITS`. Numbers below 0.001 are written with an exponent.

    Examples
    --------
    >>> rounded([0.0433333, 0.08, 0.6666667], 0.075), rounded([3384.21, 3434.9], 60.0)
    (['0.043', '0.080', '0.667'], ['3384', '3435'])
    >>> rounded([0.24831, 0.24834], 0.02), rounded([0.2, 0.2], 0.02), rounded([0.123456, 12.0])
    (['0.24831', '0.24834'], ['0.200', '0.200'], ['0.12', '12.00'])
    >>> rounded([2e-6, 3.14159e-6], 1e-7), rounded([1.0, 0.0])
    (['2.00e-06', '3.14e-06'], ['1.000', '0.000'])
    """
    numbers = [float(value) for value in values]
    finite = [abs(value) for value in numbers if isfinite(value)]
    largest = max(finite, default=0.0)
    if largest == 0.0:
        return [number(value) for value in numbers]
    exponent = floor(log10(largest))
    decimals = 3 - exponent
    if uncertainty is not None and 0.0 < uncertainty < inf:
        decimals = 1 - floor(log10(uncertainty))
    most = MAX_DIGITS - 1 - exponent
    decimals = max(min(decimals, most), min(-exponent, most))
    # the fewest decimals that keep as many numbers apart as the most decimals do
    apart = _looking_equal(numbers, max(decimals, most), largest)
    while decimals < most and _looking_equal(numbers, decimals, largest) > apart:
        decimals += 1
    if largest < 1e-3:
        return [
            f"{value + 0.0:.{max(0, decimals + exponent)}e}" if isfinite(value) else number(value)
            for value in numbers
        ]
    return [
        # adding 0.0 turns a rounded -0.0 into 0.0
        f"{round(value, max(0, decimals)) + 0.0:.{max(0, decimals)}f}"
        if isfinite(value)
        else number(value)
        for value in numbers
    ]


def _looking_equal(numbers: Sequence[float], decimals: int, largest: float) -> int:
    """Count neighbours that differ, beyond rounding noise, and are equal when rounded."""
    ordered = sorted(numbers)
    return sum(
        round(low, decimals) == round(high, decimals) and high - low > 1e-12 * largest
        for low, high in pairwise(ordered)
    )


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
        form = f".{decimals}f" if decimals else ".2g"
        return f"up to {high + 0.0:{form}}" if isinf(low) else f"from {low + 0.0:{form}}"
    if not low < high:
        return ""
    least = max(decimals, 1 - floor(log10(high - low)))
    for decimals in range(least, least + 4):
        ends = [f"{end:.{decimals}f}" for end in (low, high)]
        if all(float(text) or not end for text, end in zip(ends, (low, high), strict=True)):
            break
    return " to ".join("0" if not float(text) else text for text in ends)


def pvalue_words(p: float, alpha: float | None = None) -> str:
    """Return a p-value with two digits, ``p < 0.0001`` below that, and 1 only if it is exactly 1.

    It gets more digits if two would put it on the other side of `alpha`.

    Examples
    --------
    >>> pvalue_words(0.01234567), pvalue_words(0.2), pvalue_words(0.0), pvalue_words(0.999999)
    ('p = 0.012', 'p = 0.20', 'p < 0.0001', 'p > 0.99')
    >>> pvalue_words(0.000998)
    'p = 0.0010'
    >>> pvalue_words(0.0503), pvalue_words(0.0503, alpha=0.05), pvalue_words(1.0)
    ('p = 0.050', 'p = 0.0503', 'p = 1')
    """
    return f"p {' '.join(pvalue_parts(p, alpha))}"


def pvalue_parts(p: float, alpha: float | None = None) -> tuple[str, str]:
    """Return the relation (``"="``, ``"<"`` or ``">"``) and the digits of `pvalue_words`.

    Examples
    --------
    >>> pvalue_parts(0.2), pvalue_parts(0.0)
    (('=', '0.20'), ('<', '0.0001'))
    """
    least = 1e-4 if alpha is None or alpha >= 1e-4 else alpha / 100
    if p < least:
        return "<", f"{least:g}"
    if p >= 0.995:
        return ("=", "1") if p == 1.0 else (">", "0.99")
    # two significant digits: 0.20, 0.048, 0.0012
    decimals = max(2, 1 - floor(log10(float(f"{p:.1e}")))) if p > 0 else 2
    text = f"{p:.{decimals}f}"
    while alpha is not None and (float(text) <= alpha) != (p <= alpha) and decimals < 17:
        decimals += 1
        text = f"{p:.{decimals}f}"
    return "=", text


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


def safe(text: str) -> str:
    r"""Return text without control characters; line ends stay.

    Examples
    --------
    >>> safe("a\x1b[2Jb\nc\u202e")
    'a�[2Jb\nc�'
    """
    return "\n".join(printable(line.replace("\t", " ")) for line in text.split("\n"))
