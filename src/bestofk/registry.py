"""A registry: a literal table of named entries that CLI, docs, lab and tests all read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from bestofk.errors import UnknownNameError


class Named(Protocol):
    """Anything that can stand in a registry."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionEntry:
    """A named function of the library, and whose idea it is."""

    name: str
    function: str
    """Where it is, as ``package.module:name``; imported on use."""
    summary: str
    paper: str
    doi: str | None = None

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        found: Callable[..., Any] = resolve(self.function)
        return found


EntryT = TypeVar("EntryT", bound=Named)


class Registry(Mapping[str, EntryT], Generic[EntryT]):
    """Entries by name, in the order in which they are written down."""

    def __init__(self, kind: str, *entries: EntryT) -> None:
        self.kind = kind
        self._entries = {entry.name: entry for entry in entries}
        if len(self._entries) != len(entries):
            raise ValueError(f"two entries of the registry of {kind}s share a name")

    def __getitem__(self, name: str) -> EntryT:
        try:
            return self._entries[name]
        except (KeyError, TypeError):
            raise UnknownNameError(self.kind, name, self._entries) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries


def resolve(path: str) -> Any:
    """The object at ``package.module:name``, imported only now."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
