"""``name(setting=value, ...)`` as text: parsed into names and literals, never evaluated."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from bestofk.errors import ArgumentError

LONGEST = 10_000
"""Characters of a specification."""
DEEPEST = 30
"""Brackets inside brackets of a specification."""
_STRING = r"""[rRbBuUfF]{0,2}(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_PLACE = r"""[^\s,:=()\[\]{}'"]+"""
_TARGET = rf"(?<![\w.'\"]){_PLACE}:[A-Za-z_]\w*"
_STRINGS_AND_TARGETS = re.compile(rf"(?P<string>{_STRING})|(?P<target>{_TARGET})")


class Call(NamedTuple):
    """A name with its settings; values are literals, or calls again."""

    target: str
    arguments: tuple[Any, ...] = ()
    settings: dict[str, Any] = {}  # noqa: RUF012


def parse_call(text: str, kind: str, *, names: Iterable[str] = ()) -> Call:
    """The call that `text` describes; `kind` is what messages call it.

    Values are Python literals, calls of a ``module:name`` or of one of `names`.

    Examples
    --------
    >>> parse_call("nmc(scale='std')", "learner")
    Call(target='nmc', arguments=(), settings={'scale': 'std'})
    >>> parse_call("a.b:c(d:e, [1])", "learner").arguments
    (Call(target='d:e', arguments=(), settings={}), [1])
    """
    if len(text) > LONGEST:
        raise ArgumentError(
            f"A {kind} must be described in at most {LONGEST} characters; got {len(text)}."
        )
    target, bracket, rest = text.strip().partition("(")
    target = target.strip()
    if not target or (bracket and not rest.endswith(")")) or ")" in target:
        where = "a name or an import path" if kind == "learner" else "a name"
        raise ArgumentError(
            f"{kind.capitalize()} {_short(text)} must be {where}, then at most one pair of "
            "parentheses with parameters."
        )
    if not bracket:
        return Call(target)
    return _Arguments(rest[:-1], text, kind, names).call(target)


def without_modules(text: str) -> str:
    """The text with ``name`` for every ``module:name``.

    Examples
    --------
    >>> without_modules("a.b:f(c:g('d:e'))")
    "f(g('d:e'))"
    """
    return _STRINGS_AND_TARGETS.sub(
        lambda found: found["string"] or found["target"].rpartition(":")[2], text
    )


class _Arguments:
    """The arguments of one call as a tree of Python, with stand-ins for what it may refer to."""

    def __init__(self, arguments: str, text: str, kind: str, names: Iterable[str]) -> None:
        self.arguments, self.text, self.kind = arguments, text, kind
        self.targets: dict[str, str] = {}
        known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        # a name before "=" is that of a setting
        bare = rf"|(?P<name>(?<![\w.'\"-])(?:{known})(?![\w.'\":-])(?!\s*=))" if known else ""
        pattern = re.compile(_STRINGS_AND_TARGETS.pattern + bare)
        stem = "_target"
        while stem in arguments:
            stem += "_"

        def stand_in(found: re.Match[str]) -> str:
            if found["string"] is not None:
                return found["string"]
            word = f"{stem}{len(self.targets)}"
            self.targets[word] = found[0]
            return word

        self.python = pattern.sub(stand_in, arguments)

    def call(self, target: str) -> Call:
        tree = None
        if _depth(_STRINGS_AND_TARGETS.sub("", self.arguments)) <= DEEPEST:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a strange escape or call is refused below
                    tree = ast.parse(f"f({self.python})", mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                tree = None
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
            raise ArgumentError(
                f"The parameters of {self.kind} {_short(self.text)} must be written as "
                f"name=value, separated by commas; got {_short(self.arguments)}."
            )
        return self._call(target, tree)

    def _call(self, target: str, tree: ast.Call) -> Call:
        arguments = []
        for node in tree.args:
            if isinstance(node, ast.Starred):
                raise self._refused("must be written as name=value; got '*'.")
            arguments.append(self._value(node, "A parameter"))
        settings: dict[str, Any] = {}
        for keyword in tree.keywords:
            if keyword.arg is None:
                raise self._refused("must be written as name=value; got '**'.")
            if keyword.arg in settings:
                raise ArgumentError(
                    f"Parameter {keyword.arg!r} must be given once; {self.kind} "
                    f"{_short(self.text)} has it twice."
                )
            settings[keyword.arg] = self._value(keyword.value, f"Parameter {keyword.arg!r}")
        return Call(target, tuple(arguments), settings)

    def _refused(self, why: str) -> ArgumentError:
        return ArgumentError(f"The parameters of {self.kind} {_short(self.text)} {why}")

    def _value(self, node: ast.expr, what: str) -> Any:
        value: Callable[[ast.expr], Any] = lambda inner: self._value(inner, what)  # noqa: E731
        if isinstance(node, ast.Name) and node.id in self.targets:
            return Call(self.targets[node.id])
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in self.targets
        ):
            return self._call(self.targets[node.func.id], node)
        if isinstance(node, ast.List):
            return [value(inner) for inner in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple(value(inner) for inner in node.elts)
        if isinstance(node, ast.Dict) and all(node.keys):
            keys = [self._literal(key, what) for key in node.keys if key is not None]
            try:
                return dict(zip(keys, map(value, node.values), strict=True))
            except TypeError:
                pass  # a key that cannot be one
        return self._literal(node, what)

    def _literal(self, node: ast.expr, what: str) -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            try:
                written = ast.unparse(node)
            except RecursionError:
                written = self.arguments
            for word, target in self.targets.items():
                written = written.replace(word, target)
            raise ArgumentError(
                f"{what} of {self.kind} {_short(self.text)} must be a literal (a number, quoted "
                "text, True, False, None, a list, a tuple or a dictionary of such)"
                f"{' or package.module:Class(...)' if self.kind == 'learner' else ''}; got "
                f"{_short(written)}."
            ) from None


def _depth(text: str) -> int:
    """How deep the brackets of `text` stand in each other."""
    deepest = depth = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    # a long row of signs nests without brackets
    signs = max((len(run) for run in re.findall(r"[-+~]+", text.replace(" ", ""))), default=0)
    return max(deepest, signs)


def _short(text: str) -> str:
    return repr(text if len(text) <= 200 else text[:197] + "...")
