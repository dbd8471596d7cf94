"""A test that the caller wrote: what can be written down of it, and how it is known again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from bestofk.code_identity.identity import identify


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTest:
    """What a store keeps of a caller's test: code itself is neither kept nor imported.

    Attributes
    ----------
    name : str
        Its qualified name, such as ``"mytests.sign_of_medians"``.
    fingerprint : str
        A digest of its code and of all that it refers to, so that a changed one is noticed.
    """

    name: str
    fingerprint: str

    @classmethod
    def of(cls, test: Callable[..., Any]) -> StoredTest:
        """The name and the fingerprint of a callable."""
        inner = _inside(test)
        where = getattr(inner, "__module__", None) or "__main__"
        name = getattr(inner, "__qualname__", type(inner).__qualname__)
        return cls(name=f"{where}.{name}", fingerprint=identify(test).digest)


def _inside(test: Any) -> Any:
    while isinstance(test, partial):
        test = test.func
    return test
