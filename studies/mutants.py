"""Test the tests: change the code in one place and run the tests of its package.

    python studies/mutants.py [--count 100] [--seed 0] [--jobs 2] [--only PART]
    python studies/mutants.py --tests OLD/tests --record before.json
    python studies/mutants.py --record before.json

Draw as many mutants from each of stats, decide and run, apply them to a copy of the tree, and run
the tests: first those of the module, then those of its subpackage, then those of its package. Print
which mutants survive. Read the survivors: some change nothing that can be observed (block sizes,
brackets of root searches, thresholds between two methods with the same result).

`--tests` takes the tests of another checkout, which must pass on this source. `--record` writes the
test that found each mutant. A second call with the same file starts with these tests, so that it
only takes long if they are gone. Tests that start many processes (`PROCESS_TESTS`) run only for
the modules that they are named after.

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
import json
import multiprocessing
import os
import queue
import random
import resource
import shutil
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "bestofk"
PACKAGES = ("stats", "decide", "run")
EXCLUDED_FILES = {"registry.py", "__init__.py", "wording.py"}
EXCLUDED_FOLDERS = {"statements"}
PROCESS_TESTS = ("engines", "test_all_estimators.py", "test_clock.py", "test_kill_matrix.py",
                 "test_store_faults.py", "test_time_limits.py")  # fmt: skip
TEXT_FUNCTIONS = ("explain", "describe", "to_dict", "to_frame", "_columns", "__repr__", "_words",
          "_sentence", "_note", "_share", "_explain_many", "_first_missing", "_tally", "_against",
          "_offer", "_found", "_unequal", "_plain")  # fmt: skip
TOLERANCES = {"noise", "slack", "tolerance", "tiny", "floor", "margin", "SNAP", "_ROUNDING"}

COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
           ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}  # fmt: skip
TURN = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
OPERATE = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
TIME_LIMIT = 240  # CPU seconds; an endless loop counts as found
WALL_LIMIT = 1200  # seconds; a deadlock counts as found
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
        self.target, self.seen, self.change = target, 0, ""

    def _hit(self, node: ast.AST, what: str) -> bool:
        hit = self.seen == self.target
        self.seen += 1
        if hit:
            self.change = f"line {getattr(node, 'lineno', '?')}: {what}"
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


def mutated(mutant: Mutant) -> tuple[str, str]:
    """Return the changed source and a description of the change."""
    tree = ast.parse(mutant.path.read_text())
    mutator = Mutator(mutant.position)
    mutator.visit(functions(tree)[mutant.function])
    return ast.unparse(ast.fix_missing_locations(tree)), mutator.change


def mutants(package: str) -> list[Mutant]:
    return [
        Mutant(path, *position)
        for path in sorted((PACKAGE / package).rglob("*.py"))
        if path.name not in EXCLUDED_FILES and path.parent.name not in EXCLUDED_FOLDERS
        for position in positions(path)
    ]


def stages(path: Path, tests: Path) -> list[list[str]]:
    """Return the doctests and tests of a module, of its subpackage, and of its package."""
    name = path.relative_to(PACKAGE)
    package = tests / name.parts[0]
    own = sorted(package.rglob(f"test_{path.stem}.py"))
    folder = tests / name.parent
    stages = [[path.relative_to(ROOT).as_posix(), *(f"tests/{t.relative_to(tests)}" for t in own)]]
    left_out = [
        f"--ignore=tests/{found.relative_to(tests)}"
        for test in (*PROCESS_TESTS, *(one.name for one in own))
        for found in package.rglob(test)
    ]
    if folder != package and folder.is_dir():
        stages.append([f"tests/{name.parent}", *left_out])
        left_out = [*left_out, f"--ignore=tests/{name.parent}"]
    return [*stages, [f"tests/{name.parts[0]}", *left_out]]


def copy_of_tree(folder: Path, tests: Path) -> Path:
    for part in ("src", "studies", "benchmarks"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(tests, folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / part, folder / part)
    return folder


class FirstFailure:
    """Remember the first test that fails."""

    test = ""

    def pytest_runtest_logreport(self, report: object) -> None:
        if report.failed and not self.test:
            self.test = report.nodeid

    def pytest_collectreport(self, report: object) -> None:
        if report.failed and not self.test:
            self.test = report.nodeid


def run_tests(copy: Path, tests: list[str], time_limit: int, found_by: Path) -> None:
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
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-W", early, *tests]
    arguments += ["-o", "addopts=--import-mode=importlib --doctest-modules --strict-markers"]
    first = FirstFailure()
    outcome = int(pytest.main(arguments, plugins=[first]))
    if outcome == 0 and not sys.modules["bestofk"].__file__.startswith(str(copy)):
        outcome = WRONG_COPY
    found_by.write_text(first.test)
    os._exit(outcome)


def failure(copy: Path, tests: list[str], time_limit: int = TIME_LIMIT) -> str:
    """Return the test that fails, "limit" if the time is over, and "" if all pass."""
    found_by = copy / "found_by"
    found_by.write_text("limit")
    process = FRESH.Process(target=run_tests, args=(copy, tests, time_limit, found_by))
    process.start()
    process.join(WALL_LIMIT)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    if process.exitcode == WRONG_COPY:
        sys.exit("The tests do not import the copy of the package.")
    # 4: a recorded test is gone; 5: no tests collected
    return "" if process.exitcode in (0, 4, 5) else found_by.read_text() or "limit"


def try_out(mutant: Mutant, copies: queue.Queue[Path], known: str) -> tuple[str, str]:
    """Return the test that finds the mutant, or "", and the change."""
    text, change = mutated(mutant)
    copy = copies.get()
    target = copy / mutant.path.relative_to(ROOT)
    original = target.read_text()
    target.write_text(text)
    try:
        again = [[known]] if known not in ("", "limit") else []
        for tests in (*again, *stages(mutant.path, copy / "tests")):
            found = failure(copy, tests)
            if found:
                return found, change
    finally:
        target.write_text(original)
        copies.put(copy)
    return "", change


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="draw from paths that contain this text")
    parser.add_argument("--tests", type=Path, default=ROOT / "tests", help="another tests folder")
    parser.add_argument("--record", type=Path, help="file of the tests that found the mutants")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests first")
    options = parser.parse_args()
    drawn = []
    for number, package in enumerate(PACKAGES):
        pool = [one for one in mutants(package) if options.only in one.path.as_posix()]
        share = options.count * (number + 1) // len(PACKAGES) - len(drawn)
        drawn += random.Random(options.seed).sample(pool, min(share, len(pool)))
    record = options.record
    known = json.loads(record.read_text()) if record is not None and record.exists() else {}
    copies: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as workers:
        for job in range(options.jobs):
            copies.put(copy_of_tree(Path(folder) / str(job), options.tests.resolve()))
        if not options.unchecked:
            copy = copies.queue[0]
            for package in PACKAGES:
                tests = stages(PACKAGE / package / "__init__.py", copy / "tests")[-1]
                if failing := failure(copy, tests, 10 * TIME_LIMIT):
                    sys.exit(f"{failing} fails on the unchanged tree.")
        found = 0
        results = workers.map(lambda one: try_out(one, copies, known.get(str(one), "")), drawn)
        for number, (mutant, (test, change)) in enumerate(zip(drawn, results, strict=True), 1):
            found += bool(test)
            known[str(mutant)] = test
            if record is not None:
                record.write_text(json.dumps(known, indent=1))
            print(f"{number:3} {mutant} {change}: {test or 'SURVIVES'}", flush=True)
    print(f"mutants: {found} of {len(drawn)} found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
