"""Find tests that cannot fail, and random generators that tests of one module would share."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
SHORTEST_MATCH = 6
CHECKS = re.compile("assert|raises|warns|check|refused|fail")


def called_name(node):
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def problems(tree):
    """Return (line, problem) for each weak assertion of a module."""
    result = [
        (statement.lineno, "a module-level random generator")
        for statement in tree.body
        if called_name(getattr(statement, "value", None)) in ("default_rng", "RandomState")
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and isinstance(getattr(node.test, "op", None), ast.Or):
            result.append((node.lineno, "either outcome passes"))
        for keyword in getattr(node, "keywords", ()):
            pattern = getattr(keyword.value, "value", None)
            short = isinstance(pattern, str) and len(pattern) < SHORTEST_MATCH
            if keyword.arg == "match" and short:
                result.append((node.lineno, f"match={pattern!r} matches nearly anything"))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            inner = list(ast.walk(node))
            checks = any(isinstance(part, ast.Assert) for part in inner)
            if not checks and not any(CHECKS.search(called_name(part)) for part in inner):
                result.append((node.lineno, f"{node.name} checks nothing"))
    return result


def test_assertions_are_not_weak():
    weak = [
        f"{path.relative_to(TESTS)}:{line}: {problem}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for line, problem in problems(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert weak == []
