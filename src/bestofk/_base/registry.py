"""A registry: a table of named entries that CLI, docs, lab, report and tests all read.

An entry states everything about what it names; nothing else matches it by its name. Packages add
entries of their own with `Registry.add`, in a module that they name as an entry point of the group
``bestofk.plugins``: it is imported when a registry is first listed, or asked for a name that it
does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Literal, Protocol, TypeVar

from bestofk._base.errors import ArgumentError, BestOfKWarning, UnknownNameError

PLUGINS = "bestofk.plugins"
"""The group of entry points whose modules add entries."""


class Named(Protocol):
    """Anything that can stand in a registry."""

    @property
    def name(self) -> str: ...


Check = Literal[
    "by design", "doubtful", "cannot be checked",
    "skewness", "enough units", "equal variances",
]  # fmt: skip
"""How an assumption stands: always so, or as the losses at hand show."""
When = Literal[
    "always", "one data set", "several data sets", "windows in time", "groups", "df given",
    "df not given",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """What a test takes for granted, in a sentence, and how it is looked at.

    `claim` and `why` may hold ``{test}``, ``{n}``, ``{units}`` (data sets, or instances),
    ``{design}``, ``{subsets}`` and ``{df}``, which the report fills in.
    """

    claim: str
    check: Check
    why: str = ""
    """The reason; after what a check of the losses found, an addition to it."""
    when: When = "always"


Speed = Literal["vectorised", "drawn", "one by one"]
"""Many tables at once; many at once, each by random draws; one table at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionEntry:
    """A named function of the library, and whose idea it is."""

    name: str
    function: str
    """Where it is, as ``package.module:name``; imported on use."""
    summary: str
    paper: str
    doi: str | None = None
    family: str = ""
    """The file or package that holds it and its kind, in words with hyphens; else its name."""
    called: str = ""
    """What the methods section of a paper calls it, such as "McNemar's test"."""
    citations: tuple[str, ...] = ()
    """Keys of ``report/references.bib``, or of `bibtex`."""
    bibtex: str = ""
    """BibTeX entries of keys that ``report/references.bib`` lacks."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", self.family or self.name)

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        found: Callable[..., Any] = resolve(self.function)
        return found


EntryT = TypeVar("EntryT", bound=Named)


class Registry(Mapping[str, EntryT], Generic[EntryT]):
    """Entries by name, in the order in which they are written down, then as they were added."""

    def __init__(self, kind: str, *entries: EntryT) -> None:
        self.kind = kind
        self._entries = {entry.name: entry for entry in entries}
        if len(self._entries) != len(entries):
            raise ValueError(f"two entries of the registry of {kind}s share a name")
        self._shipped = frozenset(self._entries)

    def add(self, entry: EntryT) -> None:
        """Add an entry of yours; its name must be new.

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
                f"the name of a new {self.kind} must not be taken; got {entry.name!r}, which is."
            )
        self._entries[entry.name] = entry

    def remove(self, name: str) -> None:
        """Take back an entry that was added; those of the library stay."""
        if name in self._shipped:
            raise ArgumentError(f"{self.kind} {name!r} is part of bestofk and cannot be removed.")
        del self._entries[self[name].name]

    def __getitem__(self, name: str) -> EntryT:
        if name not in self:
            raise UnknownNameError(self.kind, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter(self._entries)

    def __len__(self) -> int:
        load_plugins()
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if name not in self._entries:
            load_plugins()
        return name in self._entries


def resolve(path: str) -> Any:
    """The object at ``package.module:name``, imported only now."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


_loaded = False


def load_plugins() -> None:
    """Import the modules that installed packages name as entry points, once per process."""
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
