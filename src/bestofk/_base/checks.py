"""Check arguments: each check returns the clean value or raises an error with advice."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, signature
from types import UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import Advice, ArgumentError, Part, argument

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
P = ParamSpec("P")
R = TypeVar("R")
RandomState = int | np.random.Generator | None


def refuse(where: str, must: str, got: object) -> ArgumentError:
    """Return an ArgumentError that names the argument, what it must be and its value."""
    shown = repr(got)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    return ArgumentError(argument(where), f" must be {must}; got {shown}.")


def refuse_named_table(value: Any, where: str) -> None:
    """Raise for data frames and tables of losses, whose names and orientation would be lost."""
    if hasattr(value, "columns") or hasattr(value, "by_dataset"):
        raise ArgumentError(
            f"{where} must be an array with the learners on the first axis; got a "
            f"{type(value).__name__}, whose names would be ignored: "
            "pass it to bestofk.compare_scores."
        )


def finite_array(value: Any, where: str, *, min_ndim: int = 1) -> Floats:
    """Return `value` as float64 without NaN or infinity, with at least `min_ndim` axes."""
    refuse_named_table(value, where)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(where, "an array of numbers", value) from None
    if array.ndim < min_ndim:
        raise ArgumentError(
            f"{where} must have at least {min_ndim} axes; got an array of shape {array.shape}."
        )
    bad = ~np.isfinite(array)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ArgumentError(
            f"{where} must be finite; got {array[at]} at position {at} "
            f"({int(bad.sum())} of {array.size} values are not)."
        )
    return array


def probability(value: Any, where: str) -> float:
    """Return `value` as a number strictly between 0 and 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise refuse(where, "a number between 0 and 1", value) from None
    if not 0.0 < number < 1.0:
        raise refuse(where, "strictly between 0 and 1", value)
    return number


def significance_level(value: Any, where: str = "alpha") -> float:
    """Return `value` as an error rate above 0 and at most 0.5."""
    number = probability(value, where)
    if number > 0.5:
        # most likely a confidence level
        raise refuse(where, "at most 0.5, such as 0.05 for 95 % confidence", value)
    return number


def positive(value: Any, where: str) -> float:
    """Return `value` as a finite number above 0."""
    number = at_least_zero(value, where, "a number above 0")
    if number == 0:
        raise refuse(where, "a number above 0", value)
    return number


def at_least_zero(value: Any, where: str, must: str) -> float:
    """Return `value` as a finite number of at least 0; otherwise say that it `must` be one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise refuse(where, must, value) from None
    if not (np.isfinite(number) and number >= 0):
        raise refuse(where, must, value)
    return number


def whole(value: Any, where: str, *, at_least: int) -> int:
    """Return `value` as an integer of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise refuse(where, f"a whole number of at least {at_least}", value)
    return int(value)


def one_of(value: Any, where: str, allowed: Collection[str]) -> str:
    """Return `value` if it is one of the `allowed` words."""
    if not isinstance(value, str) or value not in allowed:
        choices = ", ".join(map(repr, allowed))
        raise refuse(where, f"one of {choices}", value)
    return value


def side(value: Any) -> Alternative:
    """Return `value` as the name of an alternative hypothesis."""
    word = one_of(value, "alternative", ALTERNATIVES)
    return next(known for known in ALTERNATIVES if known == word)


def generator(random_state: RandomState) -> np.random.Generator:
    """Return a Generator from a seed, a Generator (used as it is) or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or (
        isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    ):
        if random_state is not None and random_state < 0:
            raise refuse("random_state", "at least 0", random_state)
        return np.random.default_rng(random_state)
    raise refuse("random_state", "a whole number, a numpy Generator or None", random_state)


def names_arguments(**parts: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function name the argument that an unknown keyword stands for.

    - `parts`: By argument: the public dataclass of its value, whose fields are looked up too. They
      are arguments themselves if it is the ``**`` argument, which may also be those of a function.

    Examples
    --------
    >>> @names_arguments()
    ... def draw(*, random_state=0): ...
    >>> draw(seed=3)
    Traceback (most recent call last):
    bestofk._base.errors.ArgumentError: draw has no argument 'seed': write random_state=....
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = []
        for name, parameter in signature(function).parameters.items():
            if parameter.kind is not Parameter.VAR_KEYWORD:
                known += [name] if name != "self" else []
                continue
            for part in parts.pop(name):
                is_class = isinstance(part, type)
                known += (
                    [one.name for one in fields(part)] if is_class else signature(part).parameters
                )

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            unknown = [name for name in kwargs if name not in known]
            if unknown:
                name = function.__qualname__.removesuffix(".__init__")
                raise unknown_arguments(name, unknown, known, parts)
            return function(*args, **kwargs)

        return checked

    return decorate


def unknown_arguments(
    function: str,
    unknown: Iterable[str],
    known: Collection[str],
    parts: Mapping[str, Any] | None = None,
) -> ArgumentError:
    """Return one sentence about unknown keywords, with the arguments that work."""
    from bestofk._base.synonyms import meant

    inside: dict[str, Part] = {
        field.name: f"{argument}=bk.{kind.__name__}({field.name}=...)"
        for argument, kind in (parts or {}).items()
        for field in fields(kind)
    }
    places = inside | {name: Advice(name, ...) for name in known}
    advice: dict[Part, None] = {}
    for name in unknown:
        names = (inside.keys() & {name}, known, inside)
        near = next((one for some in names for one in meant(name, some, most=1, cutoff=0.7)), None)
        if near is None:
            listed = ", ".join(sorted(known))
            return ArgumentError(
                f"{function} has no argument {name!r}: its arguments are {listed}."
            )
        advice[places[near]] = None
    listed = " or ".join(map(repr, unknown))
    separated = [part for one in advice for part in (" and ", one)][1:]
    return ArgumentError(f"{function} has no argument {listed}: write ", *separated, ".")


def check_fields(value: Any) -> None:
    """Raise ValueError unless all fields of a dataclass have the types of their annotations.

    Check what was read from a file, and not the arguments of a caller. Numbers must be finite.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", [("x", float), ("names", tuple[str, ...])])
    >>> check_fields(Point(1, ("a",)))
    >>> check_fields(Point(1, ("a", 2)))
    Traceback (most recent call last):
    ValueError: names has a wrong type
    """
    owner: Any = type(value)
    for name, kind in _types_of(owner).items():
        if not _is_of(getattr(value, name), kind):
            raise ValueError(f"{name} has a wrong type")


@cache
def _types_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_of(value: Any, kind: Any) -> bool:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, UnionType):
        return any(_is_of(value, part) for part in parts)
    if origin is tuple:
        kinds = parts[:1] * len(value) if parts[1:] == (...,) and type(value) is tuple else parts
        return type(value) is tuple and len(value) == len(kinds) and all(map(_is_of, value, kinds))
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(
            _is_of(key, parts[0]) and _is_of(part, parts[1]) for key, part in value.items()
        )
    if is_dataclass(kind):
        if type(value) is kind:
            check_fields(value)
        return type(value) is kind
    if kind is float:
        return type(value) in (int, float) and abs(value) <= sys.float_info.max
    # json reads surrogates, which no text in a database or page can have
    return type(value) is kind and (kind is not str or value.isascii() or _is_unicode(value))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


MISSING = ("refuse", "drop", "allow")
"""Handling of missing cells: raise an error; use what all learners have; allow gaps."""


def missing_word(value: Any, known: tuple[str, ...] = MISSING) -> str:
    """Return one word of `MISSING`; None means ``"refuse"``.

    Examples
    --------
    >>> missing_word(None), missing_word("drop")
    ('refuse', 'drop')
    """
    return "refuse" if value is None else one_of(value, "missing", known)
