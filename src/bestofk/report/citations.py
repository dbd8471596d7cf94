"""Whose method it is: words for a methods paragraph, and the BibTeX that belongs to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bestofk.adjust import Correction
    from bestofk.registry import FunctionEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A method as a paper names it, with the keys of its references."""

    words: str
    keys: tuple[str, ...] = ()
    bibtex: str = ""
    """Entries of keys that our references lack."""


def cited_test(name: str) -> Cited:
    """A test of two or of all learners; one without an entry is called by its name."""
    from bestofk.multiple.registry import MULTIPLE_TESTS
    from bestofk.pairwise.registry import PAIRWISE_TESTS

    for registry in (PAIRWISE_TESTS, MULTIPLE_TESTS):
        if name in registry:
            return _cited(registry[name], f"the test {name}")
    return Cited(words=f"the test {name}")


def cited_procedure(name: str) -> Cited:
    """A procedure; one without an entry is called by its name."""
    from bestofk.ordering.registry import PROCEDURES

    return _cited(PROCEDURES[name], name) if name in PROCEDURES else Cited(words=name)


def cited_correction(name: str) -> Cited:
    """A correction."""
    from bestofk.adjust import CORRECTIONS

    return _cited(CORRECTIONS[name], name)


def _cited(entry: FunctionEntry | Correction, words: str) -> Cited:
    return Cited(words=entry.called or words, keys=entry.citations, bibtex=entry.bibtex)


class Bibliography:
    """The references of a text, as they are cited."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._entries = dict(bibliography())

    def cite(self, one: Cited) -> None:
        """Take up the references of a method."""
        self._entries |= {k: v for k, v in _split(one.bibtex).items() if k not in self._entries}
        self._keys |= dict.fromkeys(one.keys)

    def bibtex(self) -> str:
        """What was cited, each entry once; empty where nothing was."""
        return "".join(f"{self._entries[key]}\n\n" for key in self._keys)[:-1]

    def reference(self, key: str) -> str:
        """``Author and Author, year`` for running text."""
        return reference(self._entries[key])


@cache
def bibliography() -> dict[str, str]:
    """BibTeX entries by key."""
    return _split(files("bestofk.report").joinpath("references.bib").read_text(encoding="utf-8"))


def _split(text: str) -> dict[str, str]:
    entries = re.split(r"\n(?=@)", text.strip()) if text.strip() else []
    return {re.match(r"@\w+\{([^,]+),", entry)[1]: entry.strip() for entry in entries}  # type: ignore[index]


def reference(entry: str) -> str:
    """``Author and Author, year`` for running text, from BibTeX.

    Examples
    --------
    >>> [reference(bibliography()[key]) for key in ("nadeau2003inference", "yildiz2006ordering")]
    ['Nadeau and Bengio, 2003', 'Yıldız and Alpaydın, 2006']
    """
    people = re.search(r"author = \{(.+?)\},\n", entry)[1].split(" and ")  # type: ignore[index]
    names = [_plain(person.split(",")[0]) for person in people]
    year = re.search(r"year = \{(\d+)\}", entry)
    who = names[0] if len(names) == 1 else " and ".join(names[:2])
    if len(names) > 2:
        who = f"{names[0]} et al."
    return f"{who}, {year[1]}" if year else who


def _plain(name: str) -> str:
    """A name without the marks of TeX."""
    for mark, letter in ((r"{\i}", "ı"), (r"{\v{s}}", "š"), (r"{\'e}", "é"), (r"{\'a}", "á"),
                         (r"{\'i}", "í")):  # fmt: skip
        name = name.replace(mark, letter)
    return name
