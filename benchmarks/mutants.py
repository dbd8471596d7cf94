"""Do the tests notice a change of the statistics? Small changes of the code, one at a time.

    python benchmarks/mutants.py [--count 60] [--seed 0]

Draws mutants (a comparison, an operator or a constant changed) from the modules of the
statistics, runs the tests of the changed module's room on a copy of the tree, and prints which
mutants live. Mutants that change nothing that can be observed (equivalent ones) count as alive.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {
    "tails.py": ["tests/test_tails.py", "tests/pairwise"],
    "adjust.py": ["tests/test_adjust.py"],
    "intervals.py": ["tests/test_intervals.py"],
    "estimates.py": ["tests/test_estimates.py"],
    "rearrange": ["tests/test_rearrange.py", "tests/pairwise/test_permuted.py",
                  "tests/multiple/test_scalar_bootstrap.py"],
    "pairwise": ["tests/pairwise"],
    "multiple": ["tests/multiple"],
    "ordering": ["tests/ordering"],
}  # fmt: skip
LEFT_OUT = {"registry.py", "__init__.py", "sentences.py", "wording.py", "result.py"}

COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
           ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}  # fmt: skip
OPERATE = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


class Mutator(ast.NodeTransformer):
    """Changes the `target`-th place that can be changed; counts places when it is None."""

    def __init__(self, target: int | None) -> None:
        self.target, self.seen, self.what = target, 0, ""

    def _hit(self, node: ast.AST, what: str) -> bool:
        hit = self.seen == self.target
        self.seen += 1
        if hit:
            self.what = f"line {getattr(node, 'lineno', '?')}: {what}"
        return hit

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        kind = type(node.ops[0])
        if kind in COMPARE and self._hit(node, f"{kind.__name__} -> {COMPARE[kind].__name__}"):
            node.ops[0] = COMPARE[kind]()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        kind = type(node.op)
        text = isinstance(node.left, ast.JoinedStr | ast.Constant) and isinstance(
            getattr(node.left, "value", None), str
        )
        change = OPERATE.get(kind)
        if change and not text and self._hit(node, f"{kind.__name__} -> {change.__name__}"):
            node.op = change()
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = node.value
        counts = isinstance(value, int | float) and not isinstance(value, bool)
        if counts and self._hit(node, f"{value} -> {value + 1}"):
            return ast.copy_location(ast.Constant(value + 1), node)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # messages are not statistics

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


def functions_only(tree: ast.Module) -> list[ast.stmt]:
    """Functions that compute; those that speak are left out."""
    spoken = ("explain", "describe", "_numbers", "__repr__")
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name not in spoken
        and not node.name.endswith("_words")
    ]  # fmt: skip


def places(path: Path) -> list[tuple[str, int]]:
    found = []
    for function in functions_only(ast.parse(path.read_text())):
        counter = Mutator(None)
        counter.generic_visit(function)
        found += [(f"{function.name}@{function.lineno}", place) for place in range(counter.seen)]
    return found


def mutated(path: Path, where: str, place: int) -> tuple[str, str]:
    tree = ast.parse(path.read_text())
    for function in functions_only(tree):
        if f"{function.name}@{function.lineno}" == where:
            mutator = Mutator(place)
            mutator.generic_visit(function)
            return ast.unparse(ast.fix_missing_locations(tree)), mutator.what
    raise LookupError(where)


def modules() -> list[tuple[Path, list[str]]]:
    found = []
    for room, tests in ROOMS.items():
        home = ROOT / "src" / "bestofk" / room
        files = [home] if home.is_file() else sorted(home.glob("*.py"))
        found += [(path, tests) for path in files if path.name not in LEFT_OUT]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    pool = [(path, tests, *at) for path, tests in modules() for at in places(path)]
    drawn = random.Random(asked.seed).sample(pool, min(asked.count, len(pool)))
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        for part in ("src", "tests", "pyproject.toml"):
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy / part)
        for number, (path, tests, where, place) in enumerate(drawn, 1):
            target = copy / path.relative_to(ROOT)
            original = target.read_text()
            text, what = mutated(path, where, place)
            target.write_text(text)
            try:
                dead = not survives(copy, tests)
            finally:
                target.write_text(original)
            killed += dead
            name = path.relative_to(ROOT / "src")
            verdict = "killed" if dead else "ALIVE "
            print(f"{number:3} {verdict} {name} {where} {what}", flush=True)
    print(f"mutants: {killed} of {len(drawn)} killed")
    return 0


def survives(copy: Path, tests: list[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        run = subprocess.run(
            command, cwd=copy, capture_output=True, timeout=300, check=False,
            env={**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False  # a mutant that never ends is noticed
    return run.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
