"""Code objects without what does not run: lines, files, docstrings, addresses."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType
from typing import Any

_HAS_DOCSTRING = 0x4000000
"""A flag of Python 3.13 and later; before, the first constant of a function is its docstring."""
_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_BY_NAME = frozenset(
    dis.opmap[name]
    for name in ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_CLASSDEREF")
    if name in dis.opmap and name != "LOAD_CLASSDEREF"
)


@lru_cache(maxsize=4096)
def bare_code(code: CodeType) -> tuple[Any, ...]:
    """All of a code object that decides what it does; its repr is the same in every process.

    Examples
    --------
    >>> def one(x):
    ...     'What it does.'
    ...     return [y for y in x]
    >>> def other(x):
    ...     return [y for y in x]  # a comment
    >>> bare_code(one.__code__)[1:] == bare_code(other.__code__)[1:]
    True
    """
    return (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & ~_HAS_DOCSTRING,
        code.co_code,
        tuple(_bare(constant) for constant in _constants(code)),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_exceptiontable,
    )


def _constants(code: CodeType) -> tuple[Any, ...]:
    held = code.co_consts
    if not held or not isinstance(held[0], str) or code.co_name.startswith("<"):
        return held
    # a class's first constant is its qualified name, which a function does not have
    if not code.co_flags & 0x2:
        return held
    return (None, *held[1:])


def _bare(constant: Any) -> Any:
    if isinstance(constant, CodeType):
        return bare_code(constant)
    if isinstance(constant, tuple):
        return ("tuple", *map(_bare, constant))
    if isinstance(constant, frozenset):
        return ("set", *sorted(repr(_bare(one)) for one in constant))
    return (type(constant).__name__, repr(constant))


@lru_cache(maxsize=4096)
def global_names(code: CodeType) -> frozenset[str]:
    """Names that the code, or code inside it, looks up in its module.

    Examples
    --------
    >>> sorted(global_names((lambda x: [len(y) for y in x.rows]).__code__))
    ['len']
    """
    found: set[str] = set()
    extended = 0
    for place in range(0, len(code.co_code), 2):
        operation, argument = code.co_code[place], code.co_code[place + 1] | extended
        if operation == dis.EXTENDED_ARG:
            extended = argument << 8
            continue
        extended = 0
        if operation == _LOAD_GLOBAL:
            found.add(code.co_names[argument >> 1])
        elif operation in _BY_NAME:
            found.add(code.co_names[argument])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= global_names(constant)
    return frozenset(found)
