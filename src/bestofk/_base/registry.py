"""Registries: tables of named entries that the CLI, docs, lab, report and tests read.

An entry states everything about the thing it names, so that no other code compares names. Packages
add entries with `Registry.add` or `offer`, in a module that they declare as an entry point of the
group ``bestofk.plugins``. bestofk imports that module when a registry is first listed or does not
contain a requested name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any, Generic, Literal, Protocol, TypeVar

from bestofk._base.errors import ArgumentError, BestOfKWarning, UnknownNameError

PLUGINS = "bestofk.plugins"
"""The group of entry points whose modules add entries."""


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str: ...


Check = Literal[
    "by design", "doubtful", "cannot be checked",
    "skewness", "enough units", "equal variances",
]  # fmt: skip
"""The status of an assumption: fixed, or checked on the losses."""
When = Literal[
    "always", "one data set", "several data sets", "windows in time", "groups", "df given",
    "df not given",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """An assumption of a test in a sentence, and how it is checked.

    `claim` and `why` may contain ``{test}``, ``{n}``, ``{units}`` (data sets, or instances),
    ``{design}``, ``{subsets}`` and ``{df}``, which the report fills in.
    """

    claim: str
    check: Check
    why: str = ""
    """The reason, or an addition to the outcome of a check."""
    when: When = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionEntry:
    """A named function of the library, with its source in the literature."""

    name: str
    function: str
    """Its location as ``package.module:name``; imported on use."""
    summary: str
    paper: str
    called: str = ""
    """Its name in the methods section of a paper, such as "McNemar's test"."""
    citations: tuple[str, ...] = ()
    """Keys of ``report/references.bib``, or of `bibtex`."""
    bibtex: str = ""
    """BibTeX entries of keys that are not in ``report/references.bib``."""
    explanation: tuple[str, ...] = ()
    """Three plain sentences: what it compares, when it is right, and when it is not."""
    historical: bool = False
    """True if it is mainly of interest to repeat published results; listed after the others."""

    def load(self) -> Callable[..., Any]:
        """Return the function."""
        function: Callable[..., Any] = resolve(self.function)
        return function


@cache
def parameters_of(function: str) -> frozenset[str]:
    """Return the names of the parameters of a function at ``package.module:name``."""
    return frozenset(signature(resolve(function)).parameters)


EntryT = TypeVar("EntryT", bound=Named)


class Registry(Mapping[str, EntryT], Generic[EntryT]):
    """Entries by name, in the order of definition; added entries come last."""

    def __init__(self, kind: str, *entries: EntryT) -> None:
        self.kind = kind
        self._entries = {entry.name: entry for entry in entries}
        if len(self._entries) != len(entries):
            raise ValueError(f"two entries of the registry of {kind}s share a name")
        self._shipped = frozenset(self._entries)

    def add(self, entry: EntryT) -> None:
        """Add an entry with a new name.

        Examples
        --------
        >>> from dataclasses import replace
        >>> from bestofk.stats.pairwise import PAIRWISE_TESTS
        >>> PAIRWISE_TESTS.add(replace(PAIRWISE_TESTS["sign"], name="my-sign"))
        >>> PAIRWISE_TESTS["my-sign"].covers
        ('datasets', 'test-set')
        >>> PAIRWISE_TESTS.remove("my-sign")
        """
        if entry.name in self._entries:
            raise ArgumentError(
                f"there is already a {self.kind} called {entry.name!r}: choose another name."
            )
        self._entries[entry.name] = entry

    def remove(self, name: str) -> None:
        """Remove an entry that was added; those of the library stay."""
        if name in self._shipped:
            raise ArgumentError(f"{self.kind} {name!r} is part of bestofk and cannot be removed.")
        del self._entries[self[name].name]

    @property
    def shipped(self) -> list[EntryT]:
        """The entries of the library, without those of plugins."""
        return [entry for name, entry in self._entries.items() if name in self._shipped]

    def __getitem__(self, name: str) -> EntryT:
        if name not in self:
            raise UnknownNameError(self.kind, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._add_offered()
        return iter(self._entries)

    def __len__(self) -> int:
        self._add_offered()
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if name not in self._entries:
            self._add_offered()
        return name in self._entries

    def _add_offered(self) -> None:
        """Add the entries of plugins."""
        load_plugins()
        for location in _offers.pop(self.kind, ()):
            for entry in resolve(location):
                self.add(entry)


def resolve(path: str) -> Any:
    """Import and return the object at ``package.module:name``."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


_offers: dict[str, list[str]] = {}


def offer(kind: str, location: str) -> None:
    """Offer the entries at ``package.module:name`` to the registry of a kind, such as "learner".

    They are imported when the registry is first listed or does not contain a requested name, so a
    plugin that offers entries costs nothing until then.
    """
    _offers.setdefault(kind, []).append(location)


_loaded = False


def load_plugins() -> None:
    """Import the plugin modules of installed packages, once per process."""
    global _loaded
    if _loaded:
        return
    _loaded = True  # a plugin reads registries while it is imported
    from importlib.metadata import entry_points
    from warnings import warn

    for point in entry_points(group=PLUGINS):
        try:
            point.load()
        except Exception as error:
            warn(
                f"plugin {point.value!r} could not be loaded and adds nothing: {error}",
                BestOfKWarning,
                stacklevel=3,
            )
