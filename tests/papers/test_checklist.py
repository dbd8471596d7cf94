"""Every row of the checklist: its command or test computes the thing, and shows its figure."""

import ast
import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import checklist
from bestofk.cli.app import bestofk
from bestofk.papers.registry import REPRODUCTIONS

ROOT = Path(__file__).parents[2]
ROWS = checklist.rows()
DONE = [row for row in ROWS if not row.name.startswith("not done: ")]
TESTS = [row for row in DONE if row.source.startswith("tests/")]
LONG = [row for row in DONE if row.long]
QUICK = sorted({row.source for row in DONE if not row.long} - {row.source for row in TESTS})


def figures(command):
    return {row.figure for row in ROWS if row.source == command}


def test_every_row_computes_something_or_says_why_not():
    # 246 items were found in the texts; the others divide some of them
    assert len(ROWS) >= 246
    for row in ROWS:
        if row not in DONE:
            assert (row.source, row.figure) == ("-", "-"), row
            continue
        assert row.figure, row
        assert re.match(r"bestofk \w|python studies/|tests/[\w/]+\.py::test_", row.source), row


@cache
def module(path):
    """Return the functions of a test file, and its constants, as source."""
    source = (ROOT / path).read_text()
    tree, lines = ast.parse(source), source.splitlines()
    constants = [ast.get_source_segment(source, node) for node in tree.body
                 if isinstance(node, ast.Assign)]  # fmt: skip
    tests = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            tests[node.name] = "\n".join([*constants, *lines[first - 1 : node.end_lineno]])
    return tests


@pytest.mark.parametrize("source", sorted({row.source for row in TESTS}))
def test_cited_tests_exist_and_compare_the_figure(source):
    path, name = source.split("::")
    tests = module(path)
    assert name in tests
    assert "mark.skip(" not in tests[name]
    missing = {one for one in figures(source) if checklist.plain(one) not in
               checklist.plain(tests[name])}  # fmt: skip
    assert not missing


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("command", QUICK)
def test_commands_print_the_figure(command):
    done = CliRunner().invoke(bestofk, shlex.split(command)[1:])
    assert done.exit_code == 0, (done.output, done.exception)
    output = checklist.plain(done.output)
    assert not {one for one in figures(command) if checklist.plain(one) not in output}


@pytest.mark.parametrize("command", sorted({row.source for row in LONG}))
def test_figures_of_long_commands_are_published_and_their_options_exist(command):
    pages = [path for path in (ROOT / "docs" / "papers").rglob("*.md") if path != checklist.PAGE]
    pages += (ROOT / "studies" / "results").glob("paper_*.md")
    published = " ".join(checklist.plain(path.read_text()) for path in pages)
    assert not {one for one in figures(command) if checklist.plain(one) not in published}
    words = shlex.split(command)
    if words[0] == "python":
        assert (ROOT / words[1]).is_file()
        return
    assert words[:3] == ["bestofk", "papers", "reproduce"]
    paper, options = REPRODUCTIONS[words[3]], list(zip(words[4::2], words[5::2], strict=True))
    assert {name for name, _ in options} <= {"--runs", "--table", "--variant"}
    assert {value for name, value in options if name == "--table"} <= set(paper.tables)
    assert {value for name, value in options if name == "--variant"} <= set(dict(paper.variants))
