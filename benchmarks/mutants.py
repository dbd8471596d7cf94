"""Do the tests notice a change of the statistics? Small changes of the code, one at a time.

    python benchmarks/mutants.py [--count 60] [--seed 0] [--jobs 2] [--only PART]

Draws mutants from the modules of the statistics, runs the tests on a copy of the tree (those of
the changed module first, then those of its room), and prints which mutants live. Mutants that
change nothing that can be observed (equivalent ones) count as alive.

A mutant is one of: < and <= exchanged (so > and >=, == and !=); + and -, * and / exchanged; a
number raised by 1; `and` and `or`, min and max exchanged; a `not` left out. Comparisons with an
allowance for rounding (`ALLOWANCES`) are turned round instead, since at the allowance itself
either side is as good.

What is not the statistics is left out by rules that are fixed before anything is drawn: messages
(a branch that ends in `raise`, but not its condition) and functions that speak (`SPOKEN`);
annotations and decorators; the length that `reshape` finds for itself (any negative number says
so); how often an iteration goes round (`for _ in range(...)`); and what
`mutants_left_out.TUNING` names, place by place with its reason: sizes of blocks, nodes of
quadratures, brackets and steps of root searches, thresholds between methods that give the same
answer, guards against rounding, and numbers that stand in where a result is not used.

Measured on 16 November 2026 with a seed that had not been used before, `--count 60 --seed 4711`:
54 of 60 killed. Of the six, one changes nothing that can be observed (rows without any difference
go another way to the same p-value) and one widens a bound that is an estimate; tests were added
for the other four.
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

from mutants_left_out import TUNING

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "bestofk"
ROOMS = {
    "tails.py": ["tests/stats/test_tails.py", "tests/pairwise"],
    "intervals.py": ["tests/stats/test_intervals.py"],
    "estimates.py": ["tests/stats/test_estimates.py"],
    "adjust": ["tests/adjust"],
    "rearrange": ["tests/rearrange", "tests/stats/pairwise/test_permutation_tests.py",
                  "tests/stats/multiple/test_bootstrap.py"],
    "pairwise": ["tests/pairwise"],
    "multiple": ["tests/multiple"],
    "ordering": ["tests/ordering"],
}  # fmt: skip
# where the tests of a module do not bear its name
TESTED_IN = {
    "rearrange/contour.py": "tests/stats/null_distributions/test_inversion.py",
    "pairwise/units/walsh.py": "tests/stats/pairwise/test_signed_ranks.py",
    "pairwise/units/signed_rank_tails.py": "tests/stats/pairwise/test_signed_ranks.py",
    "pairwise/agreeing_interval.py": "tests/stats/pairwise/test_properties.py",
    "pairwise/calibration.py": "tests/lab/test_theory.py",
    "pairwise/bayesian/posterior.py": "tests/stats/pairwise/test_bayesian.py",
    "multiple/looney.py": "tests/stats/multiple/test_binary_tests.py",
    "multiple/sphericity.py": "tests/stats/multiple/test_analysis_of_variance.py",
    "multiple/interval_pvalues.py": "tests/stats/multiple/test_interval_bootstrap.py",
    "multiple/learners_table.py": "tests/stats/multiple/test_analysis_of_variance.py",
    "ordering/evidence/problem.py": "tests/decide/test_order.py",
    "ordering/evidence/as_problem.py": "tests/decide/test_order.py",
    "ordering/evidence/gather.py": "tests/decide/evidence/test_evidence.py",
    "ordering/evidence/posteriors.py": "tests/decide/evidence/test_evidence.py",
    "ordering/evidence/variance_factor.py": "tests/decide/evidence/test_evidence.py",
}
LEFT_OUT = {"registry.py", "__init__.py", "sentences.py", "wording.py", "result.py"}
SPOKEN = ("explain", "describe", "to_dict", "to_frame", "_columns", "__repr__", "_words",
          "_sentence", "_note", "_share", "_explain_many", "_first_missing", "_tally", "_against",
          "_offer", "_found", "_unequal", "_plain")  # fmt: skip
ALLOWANCES = {"noise", "slack", "tolerance", "tiny", "floor", "margin", "SNAP", "_ROUNDING"}

COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
           ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}  # fmt: skip
TURN = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
OPERATE = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
LONGEST = 240  # a mutant that never ends is noticed
FRESH = multiprocessing.get_context("forkserver")
# what most tests import, once for all of them
FRESH.set_forkserver_preload(
    ["pytest", "hypothesis.strategies", "scipy.stats", "scipy.optimize", "statsmodels.stats.anova",
     "statsmodels.stats.contingency_tables", "statsmodels.stats.multitest", "pandas", "mpmath",
     "statsmodels.stats.proportion", "sklearn.metrics", "scikit_posthocs", "baycomp"]
)  # fmt: skip
EXTREME = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


class Mutant(NamedTuple):
    path: Path
    tests: list[str]
    where: str
    place: int


class Mutator(ast.NodeTransformer):
    """Changes the `target`-th place that can be changed; counts places when it is None."""

    def __init__(self, target: int | None, tuning: set[str]) -> None:
        self.target, self.tuning = target, tuning
        self.seen, self.what, self.met = 0, "", set[str]()

    def visit(self, node: ast.AST) -> ast.AST:
        if self.tuning and isinstance(node, ast.stmt | ast.expr):
            text = ast.unparse(node)
            if text in self.tuning:
                self.met.add(text)
                return node
        return super().visit(node)

    def _hit(self, node: ast.AST, what: str) -> bool:
        hit = self.seen == self.target
        self.seen += 1
        if hit:
            self.what = f"line {getattr(node, 'lineno', '?')}: {what}"
        return hit

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        names = {getattr(n, "id", "") for n in ast.walk(node)}
        change = {**COMPARE, **(TURN if names & ALLOWANCES else {})}
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
        if isinstance(node.op, ast.Not) and self._hit(node, "not left out"):
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
    """Functions and methods that compute, by name; those that speak are left out."""
    bodies = [("", tree.body)]
    bodies += [(f"{n.name}.", n.body) for n in tree.body if isinstance(n, ast.ClassDef)]
    return {
        prefix + node.name: node
        for prefix, body in bodies
        for node in body
        if isinstance(node, ast.FunctionDef) and not node.name.endswith(SPOKEN)
    }


def tuning_of(path: Path) -> dict[str, dict[str, str]]:
    return TUNING.get(path.relative_to(PACKAGE).as_posix(), {})


def places(path: Path) -> list[tuple[str, int]]:
    known = functions(ast.parse(path.read_text()))
    tuning = tuning_of(path)
    if set(tuning) - set(known):
        sys.exit(f"mutants_left_out: {path.name} has no function {set(tuning) - set(known)}.")
    found = []
    for name, function in known.items():
        left_out = tuning.get(name, {})
        if "*" in left_out:
            continue
        counter = Mutator(None, set(left_out))
        counter.visit(function)
        if missed := set(left_out) - counter.met:
            sys.exit(f"mutants_left_out: {path.name}, {name} does not say {missed}.")
        found += [(name, place) for place in range(counter.seen)]
    return found


def mutated(mutant: Mutant) -> tuple[str, str]:
    tree = ast.parse(mutant.path.read_text())
    mutator = Mutator(mutant.place, set(tuning_of(mutant.path).get(mutant.where, {})))
    mutator.visit(functions(tree)[mutant.where])
    return ast.unparse(ast.fix_missing_locations(tree)), mutator.what


def modules() -> list[tuple[Path, list[str]]]:
    found = []
    for room, tests in ROOMS.items():
        home = PACKAGE / room
        files = [home] if home.is_file() else sorted(home.rglob("*.py"))
        found += [
            (path, tests)
            for path in files
            if path.name not in LEFT_OUT and path.parent.name != "words"
        ]
    return found


def own_tests(path: Path) -> list[str]:
    """The examples of a module and the tests written for it."""
    name = path.relative_to(PACKAGE)
    tests = Path(TESTED_IN.get(name.as_posix(), Path("tests", name.with_name(f"test_{name.name}"))))
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


def run_tests(copy: Path, tests: list[str], longest: int) -> None:
    """In a process of its own, which has imported nothing of the package yet."""
    import pytest

    # seconds of the processor: on a busy machine time on the clock would kill as well
    resource.setrlimit(resource.RLIMIT_CPU, (longest, longest))
    os.chdir(copy)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    os.environ["PYTHONPATH"] = str(copy / "src")
    sys.path.insert(0, str(copy / "src"))
    sys.dont_write_bytecode = True
    early = "ignore::pytest.PytestAssertRewriteWarning"  # of plugins that are imported already
    asked = ["-x", "-q", "-p", "no:cacheprovider", "-W", early, *tests]
    outcome = int(pytest.main(asked))
    if outcome == 0 and not sys.modules["bestofk"].__file__.startswith(str(copy)):
        outcome = 99  # another copy was tested
    os._exit(outcome)


def survives(copy: Path, tests: list[str], longest: int = LONGEST) -> bool:
    process = FRESH.Process(target=run_tests, args=(copy, tests, longest))
    process.start()
    process.join()
    if process.exitcode == 99:
        sys.exit("The tests do not import the copy of the package.")
    return process.exitcode in (0, 5)  # 5: no tests there


def try_out(mutant: Mutant, copies: queue.Queue[Path]) -> tuple[bool, str]:
    """Whether it lives, and what was changed."""
    text, what = mutated(mutant)
    copy = copies.get()
    target = copy / mutant.path.relative_to(ROOT)
    original = target.read_text()
    target.write_text(text)
    try:
        own = own_tests(mutant.path)
        rest = [test for test in mutant.tests if test not in own]
        known = [f"--ignore={test}" for test in own]
        alive = survives(copy, own) and not (rest and not survives(copy, [*rest, *known]))
    finally:
        target.write_text(original)
        copies.put(copy)
    return alive, what


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="draw from paths that hold this text")
    parser.add_argument("--unchecked", action="store_true", help="do not test the tree as it is")
    asked = parser.parse_args()
    missing = [
        test
        for test in {*TESTED_IN.values(), *(test for tests in ROOMS.values() for test in tests)}
        if not (ROOT / test).exists()
    ]
    if missing or any(not (PACKAGE / name).is_file() for name in TESTED_IN):
        sys.exit(f"ROOMS and TESTED_IN name what does not exist: {missing}.")
    pool = [Mutant(path, tests, *at) for path, tests in modules() for at in places(path)]
    pool = [mutant for mutant in pool if asked.only in mutant.path.as_posix()]
    drawn = random.Random(asked.seed).sample(pool, min(asked.count, len(pool)))
    print(f"{len(drawn)} of {len(pool)} mutants, seed {asked.seed}", flush=True)
    copies: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as workers:
        for job in range(asked.jobs):
            copies.put(copy_of_tree(Path(folder) / str(job)))
        if not asked.unchecked:
            used = sorted({test for mutant in drawn for test in mutant.tests})
            for test in used:
                if not survives(copies.queue[0], [test], longest=10 * LONGEST):
                    sys.exit(f"{test} fails on the tree as it is; nothing can be learnt.")
        killed = 0
        found = workers.map(lambda mutant: try_out(mutant, copies), drawn)
        for number, (mutant, (alive, what)) in enumerate(zip(drawn, found, strict=True), 1):
            killed += not alive
            name = mutant.path.relative_to(PACKAGE)
            verdict = "ALIVE " if alive else "killed"
            print(f"{number:3} {verdict} {name} {mutant.where} {what}", flush=True)
    print(f"mutants: {killed} of {len(drawn)} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
