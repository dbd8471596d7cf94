"""The identity of anything that runs: source, settings and all that both refer to.

Code of installed, versioned packages is known by their names and versions. Of everything else the
parsed source counts (the bytecode where there is none), with closures, defaults, base classes, and
the functions, classes and data of its module that it refers to, and theirs.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from functools import cache
from typing import Any

from bestofk.code_identity.walk import Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What stands for a piece of code and its settings.

    Attributes
    ----------
    digest : str
        16 hexadecimal digits: the same in every process and on every machine as long as what runs
        is the same. Where that cannot be known, a new one every time.
    unknown : str
        Why it cannot be known, such as "it holds an open file (TextIOWrapper)"; else empty.
    """

    digest: str
    unknown: str = ""


def identify(*values: Any) -> Identity:
    """The identity of functions, classes, instances and data.

    Examples
    --------
    >>> def scaled(factor):
    ...     return lambda x: factor * x
    >>> identify(scaled(2)) == identify(scaled(2)), identify(scaled(2)) == identify(scaled(3))
    (True, False)
    >>> from sklearn.naive_bayes import GaussianNB
    >>> identify(GaussianNB()) == identify(GaussianNB(var_smoothing=1e-9))
    True
    """
    walk = Walk(own=_own)
    found = walk.digest(values)
    if walk.depends_on_what_it_changes:
        # what code changes while it runs is no part of what it is: then its first value counts
        again = Walk(own=_own, writes=walk.writes, writes_attributes=walk.writes_attributes)
        found, walk = again.digest(values), again
    if walk.unknown:
        return Identity(digest=uuid.uuid4().hex[:16], unknown=walk.unknown[0])
    return Identity(digest=found)


@cache
def _own(value: Any) -> str:
    """The digest of a function or class of ours, which nobody changes while it runs."""
    walk = Walk(own=None)
    found = walk.digest((value,))
    if walk.depends_on_what_it_changes:
        found = Walk(own=None, writes=walk.writes, writes_attributes=walk.writes_attributes).digest(
            (value,)
        )
    return found


def text_digest(text: str, content: bytes = b"") -> str:
    """16 hexadecimal digits of a text and bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") + content).hexdigest()[:16]
