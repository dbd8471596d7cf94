"""Source files as they parse: a function without its comments, and the names that it reads."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from bestofk._base.code_identity.bytecode import bare_code

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
_LEFT_OUT = frozenset({"ctx", "type_comment", "kind", "type_ignores"})
_CHANGING = frozenset(
    {
        "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert",
        "pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort", "update", "write",
    }
)  # fmt: skip
"""Methods that change what they are called on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFunction:
    """What the source says of one function, or of one statement of a module."""

    text: str
    """The same whatever its comments, docstrings and formatting."""
    chains: frozenset[tuple[str, ...]]
    """Names with the attributes that are read of them: ``np.linalg.norm`` as three."""
    imports: tuple[tuple[str, int, str, str], ...]
    """Imports inside: module, level, name or "", and what it is called."""
    writes: frozenset[str]
    """Names of its module that it changes."""
    writes_attributes: frozenset[str]
    """Attributes that it changes, if they are a class's: ``cls.count``, ``self.seen.append``."""


@dataclass(slots=True, eq=False)
class ParsedFile:
    """A source file, parsed once."""

    tree: ast.Module
    compiled: CodeType | None
    """What Python makes of it now, which need not be what was imported; None: taken for granted."""
    functions: dict[tuple[str, int], list[Function]]
    _found: dict[CodeType, ParsedFunction | None] = field(default_factory=dict)
    _assigned: dict[str, list[ParsedFunction]] = field(default_factory=dict)

    def function(self, code: CodeType) -> ParsedFunction | None:
        """The function with that code; None if the source is not, or no longer, that of the code.

        A file that was edited after it was imported does not say what runs.
        """
        if code not in self._found:
            node = self._node(code)
            self._found[code] = None if node is None else _parsed(node)
        return self._found[code]

    def _node(self, code: CodeType) -> Function | None:
        nodes = self.functions.get((code.co_name, code.co_firstlineno), [])
        if code.co_name == "<lambda>":
            nodes = [
                node
                for node in ast.walk(self.tree)
                if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
            ]
        if len(nodes) > 1:
            nodes = [node for node in nodes if _covers(node, code)]
        if len(nodes) != 1:
            return None
        if self.compiled is not None and not any(
            other.co_name == code.co_name
            and other.co_firstlineno == code.co_firstlineno
            and bare_code(other) == bare_code(code)
            for other in _codes(self.compiled)
        ):
            return None
        return nodes[0]

    def assigned(self, name: str) -> list[ParsedFunction]:
        """The statements of the module that assign to a name."""
        if name not in self._assigned:
            self._assigned[name] = [_parsed(one) for one in self.tree.body if _assigns(one, name)]
        return self._assigned[name]

    def assigned_in(self, qualname: str, name: str) -> list[ParsedFunction]:
        """The statements of the body of a class that assign to a name."""
        return [
            _parsed(one)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ClassDef) and node.name == qualname.rpartition(".")[2]
            for one in node.body
            if _assigns(one, name)
        ]


_FILES: dict[tuple[str, int, int, bool], ParsedFile | None] = {}


def parsed_file(name: str, names: dict[str, Any] | None = None, *, trusted: bool = False) -> Any:
    """The parsed source of a file, or of a cell of a notebook; None if there is none.

    `trusted`: nobody edits it while it runs, so that it need not be compiled to compare.
    """
    try:
        state = Path(name).stat()
        key = (name, state.st_mtime_ns, state.st_size, trusted)
    except (OSError, ValueError):
        linecache.checkcache(name)
        lines = linecache.getlines(name, names)
        key = (name, 0, hash("".join(lines)), trusted)
    if key not in _FILES:
        linecache.checkcache(name)
        text = "".join(linecache.getlines(name, names))
        _FILES[key] = _read(text, name, trusted) if text else None
    return _FILES[key]


def _read(text: str, name: str, trusted: bool) -> ParsedFile | None:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            compiled = None if trusted else compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions: dict[tuple[str, int], list[Function]] = {}
    for node in _definitions(tree.body):
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        functions.setdefault((node.name, first), []).append(node)
    return ParsedFile(tree=tree, compiled=compiled, functions=functions)


def _definitions(body: list[Any]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions with names, wherever statements may stand."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = getattr(node, name, None)
            if isinstance(inside, list):
                yield from _definitions(inside)


def _is_class(node: ast.expr) -> bool:
    """It may be a class: a name, ``type(self)`` or ``self.__class__``, but not ``self``."""
    if isinstance(node, ast.Name):
        return node.id != "self"
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__"
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _covers(node: Function, code: CodeType) -> bool:
    """All that the code says of its columns lies in the node."""
    body = node.body if isinstance(node, ast.Lambda) else node
    begin, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    known = [
        (line, column, last, right)
        for line, last, column, right in code.co_positions()
        if line is not None and last is not None and column is not None and right is not None
        if (column, right) != (0, 0)
    ]
    return bool(known) and all(
        begin <= (line, column) and (last, right) <= end for line, column, last, right in known
    )


def _assigns(node: ast.stmt, name: str) -> bool:
    """A statement binds a name; an import only if what it binds is from another file."""
    return any(
        (isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store))
        or (
            isinstance(one, ast.ImportFrom)
            and any((alias.asname or alias.name) == name for alias in one.names)
        )
        for one in _outside_functions(node)
    )


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, (*_SCOPES, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _outside_functions(child)


def _parsed(node: Function | ast.stmt) -> ParsedFunction:
    reader = _Reader()
    reader.read(node)
    return ParsedFunction(
        text="".join(reader.parts),
        chains=frozenset(reader.chains),
        imports=tuple(reader.imports),
        writes=frozenset((reader.changed - reader.local) | reader.shared),
        writes_attributes=frozenset(reader.attributes),
    )


def dumped(node: Any) -> str:
    r"""A syntax tree as text, without positions, comments, docstrings and ``pass``.

    Examples
    --------
    >>> one = ast.parse("def f(x):\n    'Says why.'\n    return (x  + 1)  # more")
    >>> dumped(one) == dumped(ast.parse("def f(x): return x+1"))
    True
    """
    reader = _Reader()
    reader.read(node)
    return "".join(reader.parts)


class _Reader:
    """Reads a syntax tree once: its text, the names in it, and what it changes."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.chains: set[tuple[str, ...]] = set()
        self.imports: list[tuple[str, int, str, str]] = []
        self.changed: set[str] = set()
        self.local: set[str] = set()
        self.shared: set[str] = set()
        self.attributes: set[str] = set()
        self._behind: set[int] = set()

    def read(self, node: Any) -> None:
        """A node, a list of nodes, or what stands in a node."""
        if isinstance(node, ast.AST):
            note = _NOTES.get(type(node))
            if note is not None:
                note(self, node)
            self._tree(node)
        elif isinstance(node, list):
            self.parts.append("[")
            for one in node:
                if not isinstance(one, ast.Pass):
                    self.read(one)
                    self.parts.append(",")
            self.parts.append("]")
        else:
            self.parts.append(repr(node))

    def _tree(self, node: ast.AST) -> None:
        if isinstance(node, ast.Constant):
            self.parts.append(f"{type(node.value).__name__}:{node.value!r}")
            return
        self.parts.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is None or name in _LEFT_OUT or value == []:
                continue
            self.parts.append(f"{name}=")
            if name == "body" and isinstance(node, _SCOPES):
                value = _without_docstring(value)
            self.read(value)
        self.parts.append(")")

    def name(self, node: ast.Name) -> None:
        """A name that is read or, in a function, its own."""
        if isinstance(node.ctx, ast.Store):
            self.local.add(node.id)
        if id(node) not in self._behind:
            self.chains.add((node.id,))

    def attribute(self, node: ast.Attribute) -> None:
        """A name with the attributes that lead on from it."""
        if not isinstance(node.ctx, ast.Load):
            if _is_class(node.value):
                self.attributes.add(node.attr)
            self._changes(node.value)
        if id(node) in self._behind:
            return
        attributes = [node.attr]
        inner = node.value
        while isinstance(inner, ast.Attribute):
            self._behind.add(id(inner))
            attributes.append(inner.attr)
            inner = inner.value
        self._behind.add(id(inner))
        if isinstance(inner, ast.Name):
            self.chains.add((inner.id, *attributes[::-1]))

    def subscript(self, node: ast.Subscript) -> None:
        """An element that is changed changes what holds it."""
        if not isinstance(node.ctx, ast.Load):
            self._changes(node.value)

    def call(self, node: ast.Call) -> None:
        """A method that changes what it is called on."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            self._changes(node.func.value)

    def _changes(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            self.changed.add(node.id)
        elif isinstance(node, ast.Attribute):
            self.attributes.add(node.attr)

    def argument(self, node: ast.arg) -> None:
        """A parameter is a function's own."""
        self.local.add(node.arg)

    def declared(self, node: ast.Global) -> None:
        """A name of the module that is changed."""
        self.shared.update(node.names)

    def plain_import(self, node: ast.Import) -> None:
        """``import a.b`` binds a, and loads a.b."""
        for one in node.names:
            top = one.name.partition(".")[0]
            self.imports.append((one.name if one.asname else top, 0, "", one.asname or top))
            if not one.asname and top != one.name:
                self.imports.append((one.name, 0, "", ""))

    def import_from(self, node: ast.ImportFrom) -> None:
        """``from .a import b as c``."""
        for one in node.names:
            self.imports.append((node.module or "", node.level, one.name, one.asname or one.name))


_NOTES: dict[type, Callable[[_Reader, Any], None]] = {
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute,
    ast.Subscript: _Reader.subscript,
    ast.Call: _Reader.call,
    ast.arg: _Reader.argument,
    ast.Global: _Reader.declared,
    ast.Import: _Reader.plain_import,
    ast.ImportFrom: _Reader.import_from,
}


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body
