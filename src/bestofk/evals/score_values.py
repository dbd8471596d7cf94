"""Scores, statuses and names as logs hold them: what is a number, and what is none."""

from __future__ import annotations

import json
import re
from typing import Any

from bestofk.wording import printable

STATUSES = ("scored", "error", "limit", "unscored", "missing")
"""What became of a sample.

``scored``: there is a number. ``error``: the run of the sample failed. ``limit``: it was stopped
at a limit of time, tokens, messages or money (and may have been scored all the same). ``unscored``:
it ran, but its score is no number. ``missing``: it was planned and did not run.
"""

NAN = float("nan")
_UNHELD = re.compile("[\0\ud800-\udfff]")
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_INSPECT = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def number_of(value: Any) -> float | None:
    """A score as a number: numbers, booleans, and both as text; None where it is neither.

    Examples
    --------
    >>> number_of(True), number_of("False"), number_of("0.25"), number_of([1, 2]), number_of("x")
    (1.0, 0.0, 0.25, None, None)
    """
    if value is True or value is False or type(value) is float:
        return float(value)
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return None
    if isinstance(value, str) and len(value) < 64:
        word = value.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        if "_" in word:
            return None
        try:
            return float(word)
        except ValueError:
            return None
    return None


def inspect_number(value: Any) -> float | None:
    """A score of Inspect: C is 1, P is 0.5, I and N are 0, and what `number_of` reads.

    Examples
    --------
    >>> inspect_number("C"), inspect_number("N"), inspect_number("maybe")
    (1.0, 0.0, None)
    """
    if isinstance(value, str) and value in _INSPECT:
        return _INSPECT[value]
    return number_of(value)


def amount(value: Any) -> float:
    """A cost, a time or a number of tokens; NaN where there is none, or a negative one."""
    kind = type(value)
    if kind is float or kind is int:
        return value if 0 <= value < 1e300 else NAN
    found = number_of(value) if kind is not bool and value is not None else None
    return found if found is not None and 0.0 <= found < 1e300 else NAN


def clean_name(value: Any) -> str:
    r"""A name from a log as text that any file can hold, without blanks around it.

    Examples
    --------
    >>> clean_name(" gpt "), clean_name(17), clean_name(""), clean_name("a\0b")
    ('gpt', '17', '(no name)', 'a�b')
    """
    if not isinstance(value, str):
        try:
            value = str(value) if isinstance(value, int | float) else json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            value = f"({type(value).__name__})"
    text = str(value).strip()
    if "\0" in text or not text.isascii():
        # NUL, and halves of surrogate pairs, which no file holds
        text = _UNHELD.sub("\ufffd", text)
    return text or "(no name)"


def model_name(value: Any) -> str:
    r"""The name of a model, which sentences, tables and pages show: on one line, without controls.

    Examples
    --------
    >>> model_name("a\nb"), model_name("\x1b[31mred")
    ('a b', '�[31mred')
    """
    text = clean_name(value)
    return text if text.isprintable() else printable(" ".join(text.split()))


def value_at(record: Any, path: str) -> Any:
    """What a dotted path leads to; None where it leads nowhere.

    Examples
    --------
    >>> value_at({"doc": {"passage.id": 7}}, "doc.passage.id"), value_at({"a": 1}, "b")
    (7, None)
    """
    if not isinstance(record, dict):
        return None
    if path in record:
        return record[path]
    head, dot, rest = path.partition(".")
    while dot:
        if head in record:
            found = value_at(record[head], rest)
            if found is not None:
                return found
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None
