"""Names of learners and data sets: text, not empty, each once."""

from __future__ import annotations

from collections.abc import Iterable

from bestofk.errors import ArgumentError


def clean_names(
    names: Iterable[object] | None, count: int, where: str, kind: str, *, alone: str | None = None
) -> tuple[str, ...]:
    """`names` as a tuple of `count` distinct texts, or ``"0"``, ``"1"``, ... when None.

    A name may hold any character but NUL and halves of surrogate pairs, which no file could
    carry, and no blanks around it, which readers drop.
    """
    if names is None:
        if alone is not None and count == 1:
            return (alone,)
        return tuple(str(i) for i in range(count))
    if isinstance(names, str):
        raise ArgumentError(f"{where} must be a list of names; got the text {names!r}.")
    clean = tuple(str(name) for name in names)
    if len(clean) != count:
        raise ArgumentError(
            f"{where} must hold one name for each of the {count} {kind}s of values; got "
            f"{len(clean)}."
        )
    seen: dict[str, int] = {}
    for position, name in enumerate(clean):
        if not name.strip():
            raise ArgumentError(f"{where} must not be empty; the name at position {position} is.")
        if name != name.strip() or "\0" in name or not _encodable(name):
            raise ArgumentError(
                f"{where} must be text without blanks around it that UTF-8 can hold; got {name!r} "
                f"at position {position}."
            )
        if name in seen:
            raise ArgumentError(
                f"{where} must be distinct; got {name!r} at positions {seen[name]} and {position}."
            )
        seen[name] = position
    return clean


def _encodable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
