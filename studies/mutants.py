"""Test the tests: change the code in one place and run the tests that reach the place.

    python -m pytest -n auto --cov=bestofk --cov-context=test --junitxml=seconds.xml \\
        -o junit_family=xunit1
    python studies/mutants.py [--count 100] [--seed 0] [--jobs 2]

The first command needs pytest-cov. It writes which test reaches which line (.coverage) and how long
each test takes. The second draws as many mutants from each of stats, decide and run and applies
them to a copy of the tree. It runs at most 40 tests for each: those of the same package first, and
the fastest of them. Code of worker processes is not in .coverage, so it takes the tests that are
named after the module. Mutants of code that does not change are drawn again by the same seed.

Read the survivors: some change nothing that can be observed (block sizes, brackets of root
searches, thresholds between two methods with the same result).

A mutant is one of: < and <= exchanged (also > and >=, == and !=); + and -, * and / exchanged; a
number increased by 1; `and` and `or`, min and max exchanged; a `not` removed. Comparisons with a
rounding tolerance (`TOLERANCES`) are reversed instead.

Error messages, functions that produce text (`TEXT_FUNCTIONS`), annotations, decorators, the -1 of
`reshape` and loop counts (`for _ in range(...)`) are not changed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import multiprocessing
import os
import queue
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "bestofk"
PACKAGES = ("stats", "decide", "run")
EXCLUDED_FILES = {"registry.py", "__init__.py", "wording.py"}
EXCLUDED_FOLDERS = {"statements"}
TEXT_FUNCTIONS = ("explain", "describe", "to_dict", "to_frame", "_columns", "__repr__", "_words",
          "_sentence", "_note", "_share", "_explain_many", "_first_missing", "_tally", "_against",
          "_offer", "_found", "_unequal", "_plain")  # fmt: skip
TOLERANCES = {"noise", "slack", "tolerance", "tiny", "floor", "margin", "SNAP", "_ROUNDING"}

COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
           ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}  # fmt: skip
TURN = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
OPERATE = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
CPU_LIMIT = 60  # seconds more than the tests take; an endless loop counts as found
WALL_LIMIT = 900  # seconds; a deadlock counts as found
BATCHES = (slice(0, 8), slice(8, 40))
"""Tests that run in one process; most mutants are found by the first batch."""
FRESH = multiprocessing.get_context("forkserver")
# import what most tests need once
FRESH.set_forkserver_preload(
    ["pytest", "hypothesis.strategies", "scipy.stats", "scipy.optimize", "statsmodels.stats.anova",
     "statsmodels.stats.contingency_tables", "statsmodels.stats.multitest", "pandas", "mpmath",
     "statsmodels.stats.proportion", "sklearn.metrics", "scikit_posthocs", "baycomp"]
)  # fmt: skip
WRONG_COPY = 99
EXTREME = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


class Mutant(NamedTuple):
    path: Path
    function: str
    position: int

    def __str__(self) -> str:
        return f"{self.path.relative_to(PACKAGE)} {self.function} {self.position}"


class Mutator(ast.NodeTransformer):
    """Change the `target`-th position that can be changed; with None only count positions."""

    def __init__(self, target: int | None) -> None:
        self.target, self.seen, self.change, self.line = target, 0, "", 0

    def _hit(self, node: ast.expr, what: str) -> bool:
        hit = self.seen == self.target
        self.seen += 1
        if hit:
            self.change, self.line = f"line {node.lineno}: {what}", node.lineno
        return hit

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        names = {getattr(n, "id", "") for n in ast.walk(node)}
        change = {**COMPARE, **(TURN if names & TOLERANCES else {})}
        kind = type(node.ops[0])
        if kind in change and self._hit(node, f"{kind.__name__} -> {change[kind].__name__}"):
            node.ops[0] = change[kind]()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        kind = type(node.op)
        text = any(
            isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str)
            for side in (node.left, node.right)
        )
        change = OPERATE.get(kind)
        if change and not text and self._hit(node, f"{kind.__name__} -> {change.__name__}"):
            node.op = change()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        was, now = (ast.And, ast.Or) if isinstance(node.op, ast.And) else (ast.Or, ast.And)
        if self._hit(node, f"{was.__name__} -> {now.__name__}"):
            node.op = now()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self._hit(node, "not removed"):
            return node.operand
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr in EXTREME and self._hit(node, f"{node.attr} -> {EXTREME[node.attr]}"):
            node.attr = EXTREME[node.attr]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in EXTREME and self._hit(node, f"{node.id} -> {EXTREME[node.id]}"):
            node.id = EXTREME[node.id]
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = node.value
        counts = isinstance(value, int | float) and not isinstance(value, bool)
        if counts and self._hit(node, f"{value} -> {value + 1}"):
            return ast.copy_location(ast.Constant(value + 1), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = node.value and self.visit(node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        if ast.unparse(node.target) != "_":
            node.iter = self.visit(node.iter)
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self.visit(node.test)
        if not isinstance(node.body[-1], ast.Raise):
            node.body = [self.visit(statement) for statement in node.body]
        node.orelse = [self.visit(statement) for statement in node.orelse]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.func = self.visit(node.func)
        if not ast.unparse(node.func).endswith("reshape"):
            node.args = [self.visit(argument) for argument in node.args]
        else:
            node.args = [a if ast.unparse(a) == "-1" else self.visit(a) for a in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        return node if node.arg == "stacklevel" else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # messages are not statistics

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


def functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Return functions and methods by name, without those that produce text."""
    bodies = [("", tree.body)]
    bodies += [(f"{n.name}.", n.body) for n in tree.body if isinstance(n, ast.ClassDef)]
    return {
        prefix + node.name: node
        for prefix, body in bodies
        for node in body
        if isinstance(node, ast.FunctionDef) and not node.name.endswith(TEXT_FUNCTIONS)
    }


def positions(path: Path) -> list[tuple[str, int]]:
    """Return (function, number) of every position of a module that can be changed."""
    result = []
    for name, function in functions(ast.parse(path.read_text())).items():
        counter = Mutator(None)
        counter.visit(function)
        result += [(name, number) for number in range(counter.seen)]
    return result


def mutated(mutant: Mutant) -> tuple[str, str, list[range]]:
    """Return the changed source, a description, and the lines of the statement and function."""
    tree = ast.parse(mutant.path.read_text())
    function = functions(tree)[mutant.function]
    mutator = Mutator(mutant.position)
    mutator.visit(function)
    spans = []
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node.lineno <= mutator.line <= node.end_lineno:
            body = getattr(node, "body", None)
            header = body and node is not function and mutator.line < body[0].lineno
            spans.append(range(node.lineno, body[0].lineno if header else node.end_lineno + 1))
    spans.sort(key=len)
    whole = range(function.body[0].lineno, function.end_lineno + 1)
    return ast.unparse(ast.fix_missing_locations(tree)), mutator.change, [spans[0], whole]


def mutants(package: str) -> list[Mutant]:
    return [
        Mutant(path, *position)
        for path in sorted((PACKAGE / package).rglob("*.py"))
        if path.name not in EXCLUDED_FILES and path.parent.name not in EXCLUDED_FOLDERS
        for position in positions(path)
    ]


class Reached:
    """The tests that reach a line, and the seconds that each test takes."""

    def __init__(self, coverage: Path, seconds: Path) -> None:
        self.database = sqlite3.connect(coverage, check_same_thread=False)
        self.seconds: dict[str, float] = defaultdict(float)
        for case in ElementTree.parse(seconds).iter("testcase"):
            file = case.get("file", "")
            module = file.removesuffix(".py").replace("/", ".")
            within = case.get("classname", "").removeprefix(module).replace(".", "::")
            self.seconds[f"{file}{within}::{case.get('name')}"] += float(case.get("time", 0))

    def tests(self, mutant: Mutant, spans: list[range]) -> list[str]:
        """Return the tests of the first span that any test reaches, the best first."""
        name = mutant.path.relative_to(PACKAGE)
        rows = self.database.execute(
            "SELECT context, numbits FROM line_bits JOIN file ON file.id = file_id"
            " JOIN context ON context.id = context_id WHERE path LIKE ?",
            (f"%/src/bestofk/{name}",),
        ).fetchall()
        found: set[str] = set()
        for span in spans:
            found = found or {
                context.rpartition("|")[0]
                for context, bits in rows
                if any(line // 8 < len(bits) and bits[line // 8] >> line % 8 & 1 for line in span)
            }
        package = f"tests/{name.parts[0]}/"
        if not found & {*self.seconds}:
            found = {test for test in self.seconds if f"/test_{name.stem}.py::" in test}
        if not found:
            found = {test for test in self.seconds if test.startswith(f"tests/{name.parent}/")}
        return sorted(
            found & {*self.seconds},
            key=lambda test: (not test.startswith((package, f"src/bestofk/{name}")),
                              self.seconds[test], test),
        )[: BATCHES[-1].stop]  # fmt: skip


def copy_of_tree(folder: Path) -> Path:
    hidden = shutil.ignore_patterns(".git", ".venv", "_build", ".*_cache")
    return Path(shutil.copytree(ROOT, folder, ignore=hidden))


class Chosen:
    """Run only some tests, in their order, and remember the first that fails."""

    def __init__(self, tests: list[str]) -> None:
        self.tests, self.failed = tests, ""

    def pytest_collection_modifyitems(self, items: list[object]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.tests),
            key=lambda item: self.tests.index(item.nodeid),
        )

    def pytest_runtest_logreport(self, report: object) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    pytest_collectreport = pytest_runtest_logreport


def run_tests(copy: Path, tests: list[str], time_limit: int, output: Path) -> None:
    """Run tests in a new process that has not imported the package yet."""
    import pytest

    os.setsid()
    # CPU seconds, because a busy machine stretches wall time
    resource.setrlimit(resource.RLIMIT_CPU, (time_limit, time_limit))
    os.chdir(copy)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    os.environ["PYTHONPATH"] = str(copy / "src")
    sys.path.insert(0, str(copy / "src"))
    sys.dont_write_bytecode = True
    early = "ignore::pytest.PytestAssertRewriteWarning"  # plugins that are already imported
    arguments = ["-q", "-p", "no:cacheprovider", "-W", early, "-x"]
    arguments += ["-o", "addopts=--import-mode=importlib --doctest-modules --strict-markers"]
    chosen = Chosen(tests)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    outcome = int(pytest.main([*arguments, *files], plugins=[chosen]))
    if outcome == 0 and not sys.modules["bestofk"].__file__.startswith(str(copy)):
        outcome = WRONG_COPY
    output.write_text(chosen.failed)
    os._exit(outcome)


def failure(copy: Path, tests: list[str], limit: float) -> str:
    """Return the first test that fails, "limit" if the time is over, and "" if all pass."""
    output = copy.with_suffix(".failures")
    output.write_text("limit")
    process = FRESH.Process(target=run_tests, args=(copy, tests, round(limit), output))
    process.start()
    process.join(WALL_LIMIT)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    if process.exitcode == WRONG_COPY:
        sys.exit("The tests do not import the copy of the package.")
    # 5: no such test
    return "" if process.exitcode in (0, 5) else output.read_text() or "limit"


def try_out(mutant: Mutant, reached: Reached, copies: queue.Queue[Path]) -> tuple[str, str]:
    """Return the test that finds the mutant, or "", and the change with the number of tests."""
    text, change, spans = mutated(mutant)
    tests = reached.tests(mutant, spans)
    copy = copies.get()
    target = copy / mutant.path.relative_to(ROOT)
    original = target.read_text()
    try:
        for batch in BATCHES:
            some = tests[batch]
            while some:
                limit = CPU_LIMIT + 3 * sum(reached.seconds[test] for test in some)
                target.write_text(text)
                found = failure(copy, some, limit)
                target.write_text(original)
                if not found:
                    break
                alone = [found] if found in some else some
                if not failure(copy, alone, limit):
                    return found, change
                # a test that fails without the change, too, finds nothing
                some = [test for test in some if test not in alone]
    finally:
        target.write_text(original)
        copies.put(copy)
    return "", f"{change}, {len(tests)} tests"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="draw from paths that contain this text")
    parser.add_argument("--coverage", type=Path, default=ROOT / ".coverage")
    parser.add_argument("--seconds", type=Path, default=ROOT / "seconds.xml")
    options = parser.parse_args()
    reached = Reached(options.coverage, options.seconds)
    drawn = []
    for number, package in enumerate(PACKAGES):
        pool = [one for one in mutants(package) if options.only in one.path.as_posix()]
        share = options.count * (number + 1) // len(PACKAGES) - len(drawn)
        pool.sort(key=lambda one: sha256(f"{options.seed} {one}".encode()).digest())
        drawn += pool[:share]
    copies: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as workers:
        for job in range(options.jobs):
            copies.put(copy_of_tree(Path(folder) / str(job)))
        found: dict[str, list[bool]] = defaultdict(list)
        results = workers.map(lambda one: try_out(one, reached, copies), drawn)
        for number, (mutant, (test, change)) in enumerate(zip(drawn, results, strict=True), 1):
            found[mutant.path.relative_to(PACKAGE).parts[0]].append(bool(test))
            print(f"{number:3} {mutant} {change}: {test or 'SURVIVES'}", flush=True)
    for package, hits in found.items():
        print(f"{package}: {sum(hits)} of {len(hits)} found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
