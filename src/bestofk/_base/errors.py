"""What bestofk says when something is wrong: one sentence, and what would work."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST_NAME = 120
_MOST_LISTED = 60
_MOST_COMPARED = 2000


class BestOfKError(Exception):
    """Base of every error that bestofk raises on purpose."""


class ArgumentError(BestOfKError, ValueError):
    """An argument is outside what the function takes."""


class DesignError(BestOfKError, ValueError):
    """A test was asked of losses whose design it does not cover."""


class UnknownNameError(BestOfKError, LookupError):
    """A name stands in no registry; the message offers the nearest ones."""

    def __init__(self, kind: str, name: object, known: Iterable[str], where: str = "") -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        self.where = where
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        from difflib import get_close_matches

        # comparing takes time with the square of the length
        wanted = str(self.name).lower()[:_LONGEST_NAME]
        near = get_close_matches(wanted, self.known[:_MOST_COMPARED], n=3, cutoff=0.5)
        offer = f"did you mean {' or '.join(map(repr, near))}?" if near else ""
        listed = ", ".join(self.known[:_MOST_LISTED])
        if len(self.known) > _MOST_LISTED:
            listed += f" and {len(self.known) - _MOST_LISTED} more"
        place = f" in {self.where}" if self.where else ""
        shown = repr(self.name)
        if len(shown) > _LONGEST_NAME:
            shown = f"{shown[: _LONGEST_NAME - 3]}..."
        sort = f"{self.kind} {shown}{place}"
        return f"There is no {sort}: {offer or 'there are ' + listed + '.'}"

    def __reduce__(
        self,
    ) -> tuple[type[UnknownNameError], tuple[str, object, tuple[str, ...], str]]:
        return type(self), (self.kind, self.name, self.known, self.where)


class TableError(BestOfKError, ValueError):
    """A file could not be understood; the message names the row and the column."""


class RunError(BestOfKError):
    """The work of a comparison failed."""


class Interrupted(KeyboardInterrupt):
    """The work was broken off; the message says what is safe and how to go on."""


class StoreError(BestOfKError):
    """A store is damaged, foreign, or cannot be written."""


class MissingExtraError(BestOfKError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.what, self.extra = what, extra
        super().__init__(f"{what} needs an extra: pip install 'bestofk[{extra}]'.")

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.extra)


class BestOfKWarning(UserWarning):
    """The result stands, but read this first."""
