"""Answer keywords that people type from habit with the argument to write instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from bestofk._base.errors import Advice, ArgumentError, Part

P = ParamSpec("P")
R = TypeVar("R")
Replace = Callable[[Any, Mapping[str, Any]], Part]
"""Return what to write for a value; the second argument holds all keywords of the call."""
Habit = str | Part | Replace
"""An argument that takes the same value; or a text or advice; or a function that returns one."""
_MAX_SHOWN = 40
_LITERALS = (bool, int, float, str, type(None))


def answers_habits(habits: Mapping[str, Habit]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function name the replacement of a keyword that it does not have.

    - `habits`: By keyword: the name of the argument to use instead; advice or a text (with a space
      in it); or a function of the value and of all keywords that returns one of these.

    Examples
    --------
    >>> @answers_habits({"seed": "random_state"})
    ... def draw(*, random_state=0): ...
    >>> draw(seed=3)
    Traceback (most recent call last):
    bestofk._base.errors.ArgumentError: draw has no argument 'seed': write random_state=3.
    >>> draw(random_stat=3)
    Traceback (most recent call last):
    bestofk._base.errors.ArgumentError: draw has no argument 'random_stat': write random_state=3.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(function).parameters.values()
        known = {one.name for one in parameters if one.kind is not Parameter.VAR_KEYWORD}
        is_open = any(one.kind is Parameter.VAR_KEYWORD for one in parameters)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            unknown = [
                name for name in kwargs if name not in known and (name in habits or not is_open)
            ]
            if unknown:
                raise unknown_keywords(function.__name__, unknown, kwargs, habits, known)
            return function(*args, **kwargs)

        return checked

    return decorate


def unknown_keywords(
    function: str,
    unknown: list[str],
    keywords: Mapping[str, Any],
    habits: Mapping[str, Habit],
    known: Set[str],
) -> ArgumentError:
    """Return one sentence about all unknown keywords of a call."""
    replacements: list[Part] = []
    absent = []
    for name in unknown:
        replacement = _replacement(name, keywords, habits, known)
        if replacement is None:
            absent.append(name)
        elif replacement not in replacements:
            replacements.append(replacement)
    if absent:
        listed = ", ".join(sorted(known))
        return ArgumentError(
            f"{function} has no argument {_listed(absent, 'or')}: its arguments are {listed}."
        )
    parts: list[Part] = [f"{function} has no argument {_listed(unknown, 'or')}: write "]
    for number, replacement in enumerate(replacements):
        last = number == len(replacements) - 1
        parts += ["" if not number else " and " if last else ", ", replacement]
    return ArgumentError(*parts, ".")


def _replacement(
    name: str, keywords: Mapping[str, Any], habits: Mapping[str, Habit], known: Set[str]
) -> Part | None:
    value = keywords[name]
    habit = habits.get(name)
    if habit is None:
        from difflib import get_close_matches

        near = [one for one in sorted(known) if len(name) > 3 and one.startswith(name.lower())]
        near = near or get_close_matches(name.lower(), sorted(known), n=1, cutoff=0.7)
        return None if not near else Advice(near[0], shown(value))
    if callable(habit):
        return habit(value, keywords)
    if isinstance(habit, Advice) or " " in habit:
        return habit
    return Advice(habit, shown(value))


def shown(value: Any) -> Any:
    """Return a value that a message can repeat; an Ellipsis for any other."""
    if isinstance(value, _LITERALS) or (
        isinstance(value, list | tuple) and all(isinstance(one, _LITERALS) for one in value)
    ):
        return value if len(repr(value)) <= _MAX_SHOWN else ...
    return ...


def _listed(names: list[str], word: str) -> str:
    quoted = [repr(name) for name in names]
    if len(quoted) == 1:
        return quoted[0]
    return f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"
