"""Parse source files into functions without comments, and the names that they read and write."""

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
_IGNORED_FIELDS = frozenset({"ctx", "type_comment", "kind", "type_ignores"})
_MUTATING_METHODS = frozenset(
    {
        "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert",
        "pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort", "update", "write",
    }
)  # fmt: skip
"""Methods that change their object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFunction:
    """The parsed source of a function or of a statement of a module."""

    text: str
    """Text that does not depend on comments, docstrings and formatting."""
    chains: frozenset[tuple[str, ...]]
    """Names with the attributes read from them, such as ``("np", "linalg", "norm")``."""
    imports: tuple[tuple[str, int, str, str], ...]
    """Imports inside the code: module, level, name or "", and the bound name."""
    writes: frozenset[str]
    """Names of its module that the code changes."""
    writes_attributes: frozenset[str]
    """Attributes of classes that the code changes: ``cls.count``, ``self.seen.append``."""


@dataclass(slots=True, eq=False)
class ParsedFile:
    """A source file, parsed once."""

    tree: ast.Module
    compiled: CodeType | None
    """The compiled file, which may differ from what was imported; None if it cannot."""
    functions: dict[tuple[str, int], list[Function]]
    _functions: dict[CodeType, ParsedFunction | None] = field(default_factory=dict)
    _assigned: dict[str, list[ParsedFunction]] = field(default_factory=dict)

    def function(self, code: CodeType) -> ParsedFunction | None:
        """Return the function with that code; None if the source does not match the code.

        The source does not match if the file was edited after the import.
        """
        if code not in self._functions:
            node = self._node(code)
            self._functions[code] = None if node is None else _parsed(node)
        return self._functions[code]

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
        """Return the statements of the module that assign a name."""
        if name not in self._assigned:
            self._assigned[name] = [
                _parsed(statement) for statement in self.tree.body if _assigns(statement, name)
            ]
        return self._assigned[name]

    def assigned_in(self, qualname: str, name: str) -> list[ParsedFunction]:
        """Return the statements of a class body that assign a name."""
        return [
            _parsed(statement)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ClassDef) and node.name == qualname.rpartition(".")[2]
            for statement in node.body
            if _assigns(statement, name)
        ]


_FILES: dict[tuple[str, int, int, bool], ParsedFile | None] = {}


def parsed_file(name: str, names: dict[str, Any] | None = None, *, trusted: bool = False) -> Any:
    """Return the parsed source of a file or a notebook cell; None if there is none.

    A `trusted` file is not edited while it runs, so it is not compiled for comparison.
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
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        functions.setdefault((node.name, first), []).append(node)
    return ParsedFile(tree=tree, compiled=compiled, functions=functions)


def _definitions(body: list[Any]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield all named functions, also inside other statements."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = getattr(node, name, None)
            if isinstance(inside, list):
                yield from _definitions(inside)


def _is_class(node: ast.expr) -> bool:
    """Return whether it may be a class: a name, ``type(self)`` or ``self.__class__``."""
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
    """Return whether all positions of the code lie inside the node."""
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
    """Return whether a statement binds a name, also by ``from ... import``."""
    return any(
        (isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store))
        or (
            isinstance(part, ast.ImportFrom)
            and any((alias.asname or alias.name) == name for alias in part.names)
        )
        for part in _outside_functions(node)
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
        writes=frozenset((reader.changed_names - reader.local_names) | reader.global_names),
        writes_attributes=frozenset(reader.attributes),
    )


def dumped(node: Any) -> str:
    r"""Return a syntax tree as text, without positions, comments, docstrings and ``pass``.

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
    """Collects the text of a syntax tree, the names in it, and the names that it changes."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.chains: set[tuple[str, ...]] = set()
        self.imports: list[tuple[str, int, str, str]] = []
        self.changed_names: set[str] = set()
        self.local_names: set[str] = set()
        self.global_names: set[str] = set()
        self.attributes: set[str] = set()
        self._behind: set[int] = set()

    def read(self, node: Any) -> None:
        """Read a node, a list of nodes, or a value of a node."""
        if isinstance(node, ast.AST):
            note = _NOTES.get(type(node))
            if note is not None:
                note(self, node)
            self._tree(node)
        elif isinstance(node, list):
            self.parts.append("[")
            for item in node:
                if not isinstance(item, ast.Pass):
                    self.read(item)
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
            if value is None or name in _IGNORED_FIELDS or value == []:
                continue
            self.parts.append(f"{name}=")
            if name == "body" and isinstance(node, _SCOPES):
                value = _without_docstring(value)
            self.read(value)
        self.parts.append(")")

    def name(self, node: ast.Name) -> None:
        """Note a name that is read or assigned."""
        if isinstance(node.ctx, ast.Store):
            self.local_names.add(node.id)
        if id(node) not in self._behind:
            self.chains.add((node.id,))

    def attribute(self, node: ast.Attribute) -> None:
        """Note a name with its attributes."""
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
        """Note a changed element, which changes its container."""
        if not isinstance(node.ctx, ast.Load):
            self._changes(node.value)

    def call(self, node: ast.Call) -> None:
        """Note a call of a method that changes its object."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATING_METHODS:
            self._changes(node.func.value)

    def _changes(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            self.changed_names.add(node.id)
        elif isinstance(node, ast.Attribute):
            self.attributes.add(node.attr)

    def argument(self, node: ast.arg) -> None:
        """Note a parameter, which is local."""
        self.local_names.add(node.arg)

    def declared(self, node: ast.Global) -> None:
        """Note a global name, which the code may change."""
        self.global_names.update(node.names)

    def plain_import(self, node: ast.Import) -> None:
        """Note ``import a.b``, which binds a and loads a.b."""
        for alias in node.names:
            top = alias.name.partition(".")[0]
            self.imports.append((alias.name if alias.asname else top, 0, "", alias.asname or top))
            if not alias.asname and top != alias.name:
                self.imports.append((alias.name, 0, "", ""))

    def import_from(self, node: ast.ImportFrom) -> None:
        """Note ``from .a import b as c``."""
        for alias in node.names:
            self.imports.append(
                (node.module or "", node.level, alias.name, alias.asname or alias.name)
            )


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
