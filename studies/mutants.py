"""Test the tests: change the code of the statistics in one place and run the tests.

    python studies/mutants.py [--count 60] [--seed 0] [--jobs 2] [--only PART]

Draw mutants from the modules of the statistics, run the tests on a copy of the tree (first those of
the module, then those of its package), and print which mutants survive. Read the survivors: some
change nothing that can be observed (block sizes, brackets of root searches, thresholds between two
methods with the same result).

A mutant is one of: < and <= exchanged (also > and >=, == and !=); + and -, * and / exchanged; a
number increased by 1; `and` and `or`, min and max exchanged; a `not` removed. Comparisons with a
rounding tolerance (`TOLERANCES`) are reversed instead.

Error messages, functions that produce text (`TEXT_FUNCTIONS`), annotations, decorators, the -1 of
`reshape` and loop counts (`for _ in range(...)`) are not changed.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import queue
import random
import resource
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "bestofk"
STATISTICS = (
    "tails.py", "intervals.py", "estimates.py", "adjust", "rearrange", "pairwise", "multiple",
    "ordering",
)  # fmt: skip
"""Modules and packages of the statistics. The tests of ``a/b.py`` are ``tests/a/test_b.py``."""
EXCLUDED_FILES = {"registry.py", "__init__.py", "sentences.py", "wording.py", "result.py"}
TEXT_FUNCTIONS = ("explain", "describe", "to_dict", "to_frame", "_columns", "__repr__", "_words",
          "_sentence", "_note", "_share", "_explain_many", "_first_missing", "_tally", "_against",
          "_offer", "_found", "_unequal", "_plain")  # fmt: skip
TOLERANCES = {"noise", "slack", "tolerance", "tiny", "floor", "margin", "SNAP", "_ROUNDING"}

COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
           ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}  # fmt: skip
TURN = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
OPERATE = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
TIME_LIMIT = 240  # seconds; an endless loop counts as killed
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
    tests: str
    function: str
    position: int


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


def modules() -> list[tuple[Path, str]]:
    """Return (module, tests of its package) of the statistics."""
    result = []
    for name in STATISTICS:
        home = PACKAGE / name
        files = [home] if home.is_file() else sorted(home.rglob("*.py"))
        tests = f"tests/test_{name}" if home.is_file() else f"tests/{name}"
        result += [
            (path, tests)
            for path in files
            if path.name not in EXCLUDED_FILES and path.parent.name != "words"
        ]
    return result


def own_tests(path: Path) -> list[str]:
    """Return the module itself (for its doctests) and the test file of its name."""
    name = path.relative_to(PACKAGE)
    tests = Path("tests", name.with_name(f"test_{name.name}"))
    own = [path.relative_to(ROOT).as_posix()]
    return [*own, tests.as_posix()] if (ROOT / tests).is_file() else own


def copy_of_tree(folder: Path) -> Path:
    for part in ("src", "tests", "pyproject.toml"):
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / part)
    return folder


def run_tests(copy: Path, tests: list[str], time_limit: int) -> None:
    """Run tests in a new process that has not imported the package yet."""
    import pytest

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
    outcome = int(pytest.main(arguments))
    if outcome == 0 and not sys.modules["bestofk"].__file__.startswith(str(copy)):
        outcome = WRONG_COPY
    os._exit(outcome)


def survives(copy: Path, tests: list[str], time_limit: int = TIME_LIMIT) -> bool:
    process = FRESH.Process(target=run_tests, args=(copy, tests, time_limit))
    process.start()
    process.join()
    if process.exitcode == WRONG_COPY:
        sys.exit("The tests do not import the copy of the package.")
    return process.exitcode in (0, 5)  # 5: no tests collected


def try_out(mutant: Mutant, copies: queue.Queue[Path]) -> tuple[bool, str]:
    """Return whether the mutant survives, and the change."""
    text, change = mutated(mutant)
    copy = copies.get()
    target = copy / mutant.path.relative_to(ROOT)
    original = target.read_text()
    target.write_text(text)
    try:
        own = own_tests(mutant.path)
        others = [mutant.tests, *(f"--ignore={test}" for test in own)]
        alive = survives(copy, own) and (mutant.tests in own or survives(copy, others))
    finally:
        target.write_text(original)
        copies.put(copy)
    return alive, change


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="draw from paths that contain this text")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests first")
    options = parser.parse_args()
    pool = [Mutant(path, tests, *at) for path, tests in modules() for at in positions(path)]
    pool = [mutant for mutant in pool if options.only in mutant.path.as_posix()]
    drawn = random.Random(options.seed).sample(pool, min(options.count, len(pool)))
    print(f"{len(drawn)} of {len(pool)} mutants, seed {options.seed}", flush=True)
    copies: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as workers:
        for job in range(options.jobs):
            copies.put(copy_of_tree(Path(folder) / str(job)))
        if not options.unchecked:
            for tests in sorted({mutant.tests for mutant in drawn}):
                if not survives(copies.queue[0], [tests], time_limit=10 * TIME_LIMIT):
                    sys.exit(f"{tests} fails on the unchanged tree.")
        killed = 0
        results = workers.map(lambda mutant: try_out(mutant, copies), drawn)
        for number, (mutant, (alive, change)) in enumerate(zip(drawn, results, strict=True), 1):
            killed += not alive
            name = mutant.path.relative_to(PACKAGE)
            verdict = "ALIVE " if alive else "killed"
            print(f"{number:3} {verdict} {name} {mutant.function} {change}", flush=True)
    print(f"mutants: {killed} of {len(drawn)} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
