"""Errors and warnings of bestofk; each message is one sentence with advice."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bestofk._base.formatting import without_controls

_MAX_NAME_LENGTH = 120
_MAX_LISTED_NAMES = 60


@dataclass(frozen=True, slots=True)
class Advice:
    """An argument that a message names; an Ellipsis stands for a value of the reader's choice.

    If `name_only`, a message shows no value.
    """

    keyword: str
    value: Any
    name_only: bool = False

    def __str__(self) -> str:
        if self.name_only:
            return self.keyword
        return f"{self.keyword}={'...' if self.value is Ellipsis else repr(self.value)}"


def use(**argument: Any) -> Advice:
    """Return one argument as a part of a message.

    Examples
    --------
    >>> str(use(missing="drop")), str(use(prefer=...))
    ("missing='drop'", 'prefer=...')
    """
    ((keyword, value),) = argument.items()
    return Advice(keyword, value)


def argument(name: str) -> Advice:
    """Return the name of an argument as a part of a message: ``--prefer`` on the command line.

    Examples
    --------
    >>> str(argument("prefer"))
    'prefer'
    """
    return Advice(name, None, name_only=True)


Part = str | Advice
"""A part of a message."""
_WRITTEN = re.compile(r"(?<!\w)(columns|task)=(\{.*?\}|'\w+')")


def parts_of(text: str) -> tuple[Part, ...]:
    """Return the parts of a note that was stored as text, with its advice about the data.

    Examples
    --------
    >>> parts_of("'id' is left out (columns={'id': 'number'} keeps it).")[1]
    Advice(keyword='columns', value={'id': 'number'}, name_only=False)
    """
    parts: list[Part] = []
    end = 0
    for match in _WRITTEN.finditer(text):
        try:
            advice = Advice(match[1], literal_eval(match[2]))
        except (SyntaxError, ValueError):  # a name that looks like it
            continue
        parts += [text[end : match.start()], advice]
        end = match.end()
    return (*parts, text[end:])


class _Message(BaseException):
    """A message in parts; `str` joins them, with advice as it is written in Python."""

    def __init__(self, *parts: Part) -> None:
        super().__init__(*parts)

    def text(self, show: Callable[[Advice], str]) -> str:
        """Return the message with each advice as `show` writes it."""
        parts = (show(part) if isinstance(part, Advice) else str(part) for part in self.args)
        # names in a file may contain them
        return without_controls("".join(parts))

    def __str__(self) -> str:
        return self.text(str)


class BestOfKError(_Message, Exception):
    """Base class of all errors that bestofk raises on purpose.

    Its arguments are the parts of the message: texts and advice (`use`).

    Examples
    --------
    >>> error = DesignError("losses lack 2 cells: ", use(missing="drop"), " leaves them out.")
    >>> str(error)
    "losses lack 2 cells: missing='drop' leaves them out."
    >>> error.text(lambda advice: f"--{advice.keyword} {advice.value}")
    'losses lack 2 cells: --missing drop leaves them out.'
    """


class InputError(BestOfKError):
    """The call or its input must change; the command line exits with code 2."""


class ArgumentError(InputError, ValueError):
    """An argument has a value that the function does not accept."""


class DesignError(InputError, ValueError):
    """A test does not cover the design of the losses."""


class UnknownNameError(InputError, LookupError):
    """A name is not in a registry; the message suggests similar names."""

    def __init__(self, kind: str, name: object, known: Iterable[str], where: str = "") -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        self.where = where
        super().__init__(self._sentence())

    @property
    def near(self) -> list[str]:
        """The most similar known names, best first."""
        from bestofk._base.synonyms import meant

        return meant(self.name, self.known)

    def _sentence(self) -> str:
        near = self.near
        suggestion = f"did you mean {' or '.join(map(repr, near))}?" if near else ""
        listed = ", ".join(self.known[:_MAX_LISTED_NAMES])
        if len(self.known) > _MAX_LISTED_NAMES:
            listed += f" and {len(self.known) - _MAX_LISTED_NAMES} more"
        location = f" in {self.where}" if self.where else ""
        shown = repr(self.name)
        if len(shown) > _MAX_NAME_LENGTH:
            shown = f"{shown[: _MAX_NAME_LENGTH - 3]}..."
        subject = f"{self.kind} {shown}{location}"
        return f"There is no {subject}: {suggestion or 'there are ' + listed + '.'}"

    def __reduce__(
        self,
    ) -> tuple[type[UnknownNameError], tuple[str, object, tuple[str, ...], str]]:
        return type(self), (self.kind, self.name, self.known, self.where)


class TableError(InputError, ValueError):
    """A file cannot be parsed; the message names the row and the column."""


class RunError(BestOfKError):
    """A run failed and may work later; the command line exits with code 4."""


class Interrupted(KeyboardInterrupt):
    """The user interrupted a run; the message says what is stored and how to resume."""


class StoreError(RunError):
    """A store is damaged, foreign, or cannot be read or written."""


class MissingExtraError(InputError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, package: str) -> None:
        self.what, self.package = what, package
        super().__init__(f"{what} needs a package that is not installed: pip install {package}.")

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.package)


class BestOfKWarning(_Message, UserWarning):
    """A result is valid, but read this first."""
