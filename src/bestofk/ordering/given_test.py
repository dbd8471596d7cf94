"""A test that the caller wrote: what can be written down of it, and how it is known again."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTest:
    """What a store keeps of a caller's test: code itself is neither kept nor imported.

    Attributes
    ----------
    name : str
        Its qualified name, such as ``"mytests.sign_of_medians"``.
    fingerprint : str
        A digest of its source, so that a changed one is noticed.
    """

    name: str
    fingerprint: str

    @classmethod
    def of(cls, test: Callable[..., Any]) -> StoredTest:
        """The name and the fingerprint of a callable."""
        inner = _inside(test)
        where = getattr(inner, "__module__", None) or "__main__"
        name = getattr(inner, "__qualname__", type(inner).__qualname__)
        return cls(name=f"{where}.{name}", fingerprint=_fingerprint(test))


def _inside(test: Any) -> Any:
    while isinstance(test, partial):
        test = test.func
    return test


def _fingerprint(test: Any) -> str:
    bound = b""
    while isinstance(test, partial):
        bound += repr((test.args, sorted(test.keywords.items()))).encode()
        test = test.func
    held = test if hasattr(test, "__code__") or isinstance(test, type) else type(test)
    try:
        text = inspect.getsource(held).encode()
    except (OSError, TypeError):
        # typed at a prompt, or compiled
        code = getattr(test, "__code__", None)
        text = b"" if code is None else code.co_code + repr(code.co_names).encode()
    return hashlib.sha256(bound + text).hexdigest()[:16]
