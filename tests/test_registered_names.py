"""No code asks for a registered name: what differs between entries is a field of the entry.

Code that compares with the name of a test would treat a plugin's test differently.
"""

import ast
from pathlib import Path

import pytest

import bestofk
from bestofk.decide.registry import RULES
from bestofk.learners.registry import LEARNERS
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

SOURCE = Path(bestofk.__file__).parent
COMPARED = ("test", "correction", "rule", "name", "learner")
"""Variables and attributes that hold a registered name."""
NAMES = {*PAIRWISE_TESTS, *MULTIPLE_TESTS, *RULES, *CORRECTIONS, *LEARNERS}


def is_name(node):
    return getattr(node, "attr", getattr(node, "id", None)) in COMPARED


def texts(node):
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}


def comparisons(source):
    """Return (line, registered names) of each comparison with a registered name."""
    result = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith":
            sides = [node.func.value, *node.args]
        else:
            continue
        if any(map(is_name, sides)) and (matches := NAMES & texts(node)):
            result.append((node.lineno, sorted(matches)))
    return result


def test_nothing_registered_is_matched_by_its_name():
    result = {
        path.relative_to(SOURCE).as_posix(): comparisons(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert {path: lines for path, lines in result.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        'if order.rule == "multitest": pass',
        'if entry.name in ("mcnemar", "sign"): pass',
        'if order.correction != "none": pass',
        'if entry.name.startswith("kfold-t"): pass',
    ],
)
def test_comparisons_with_names_are_noticed(line):
    assert comparisons(line)
