"""Statements about the whole source: messages name options that exist, and names stay names."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import click
import pytest

import bestofk
from bestofk.cli.app import bestofk as command_line
from bestofk.cli.registry import COMMANDS
from bestofk.decide.registry import RULES
from bestofk.learners.registry import LEARNERS
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(bestofk.__file__).parent
FOREIGN = {"--help", "--log", "--output"}
"""Options of all commands, and of lm-evaluation-harness."""


@cache
def nodes():
    """Return (file, node) of every node of the source except docstrings."""
    result = []
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        left = [ast.parse(path.read_text(encoding="utf-8"))]
        while left:
            node = left.pop()
            result.append((file, node))
            parts = list(ast.iter_child_nodes(node))
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
                first = node.body[0]
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    parts.remove(first)
            left.extend(parts)
    return result


@cache
def texts():
    """Return (file, line, text) of every string of the source except docstrings."""
    result, parts = [], set()
    for file, node in nodes():
        if isinstance(node, ast.JoinedStr):
            parts |= {*node.values}
            text = "".join(
                part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
            result.append((file, node.lineno, text))
        elif isinstance(getattr(node, "value", None), str) and node not in parts:
            result.append((file, node.lineno, node.value))
    return result


def options_of(command, context):
    for option in command.params:
        if isinstance(option, click.Option):
            yield from (*option.opts, *option.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from options_of(command.get_command(context, name), context)


def test_options_in_messages_exist():
    context = click.Context(command_line)
    known = {
        option
        for verb in COMMANDS
        for option in options_of(command_line.get_command(context, verb), context)
    }
    assert [
        (file, line, option)
        for file, line, text in texts()
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+(?![a-z{-])", text)
        if option not in known | FOREIGN and " " in text
    ] == []


def test_keywords_in_messages_exist():
    used, known = set(), set()
    for file, node in nodes():
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "use":
            used |= {(file, node.lineno, argument.arg) for argument in node.keywords}
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            known |= {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            known.add(node.target.id)
    assert len(used) > 50
    assert [one for one in sorted(used) if one[2] not in known] == []


def test_no_sentence_names_a_keyword_in_its_text():
    advice = re.compile(
        r"(?<![\w.<{\"'(-])([a-z][a-z_]+)=(?=\.\.\.|'|\{\}|True\b|False\b|None\b|[ .,;)])"
    )
    assert [
        (file, line, name)
        for file, line, text in texts()
        if re.search(r"[a-z] [a-z]+ [a-z]", text) and "``" not in text
        if not file.startswith("report/figures")
        for name in advice.findall(text)
    ] == []


def test_no_two_public_classes_share_a_name():
    names = Counter(node.name for _, node in nodes() if isinstance(node, ast.ClassDef))
    assert len(names) > 200
    assert [name for name, count in names.items() if count > 1 and name[0] != "_"] == []


COMPARED = ("test", "correction", "rule", "name", "learner")
"""Variables and attributes that hold a registered name."""
NAMES = {*PAIRWISE_TESTS, *MULTIPLE_TESTS, *RULES, *CORRECTIONS, *LEARNERS}


def registered_names(node):
    """Return the registered names with which this node compares a variable."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith":
        sides = [node.func.value, *node.args]
    else:
        return set()
    if not any(getattr(side, "attr", getattr(side, "id", None)) in COMPARED for side in sides):
        return set()
    return NAMES & {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}


def test_nothing_registered_is_matched_by_its_name():
    """What differs between entries is a field: a plugin's entry is treated like ours."""
    found = [(file, node.lineno, registered_names(node)) for file, node in nodes()
             if registered_names(node)]  # fmt: skip
    assert found == []


@pytest.mark.parametrize(
    "line",
    ['order.rule == "multitest"', 'entry.name in ("mcnemar", "sign")', 'rule != "best"',
     'entry.name.startswith("kfold-t")'],
)  # fmt: skip
def test_comparisons_with_names_are_noticed(line):
    assert registered_names(ast.parse(line, mode="eval").body)


def test_the_changelog_and_the_citation_have_the_current_version():
    version = bestofk.__version__
    assert f"\n## {version} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f'\nversion: "{version}"\n' in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
