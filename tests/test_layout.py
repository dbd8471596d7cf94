"""Laws of the tests themselves: where they stand, and that each of them can fail."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bestofk.cli.app import VERBS

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "bestofk"
FILES = sorted(TESTS.rglob("test_*.py"))

# Files that bear the name of no module: laws and accounts that cut across a room or all rooms.
ACROSS = {
    "adjust/test_wrong_claims.py", "cli/test_measure_tables.py", "lab/test_calibrated_tests.py",
    "lab/test_lab_surface.py", "lab/test_theory.py", "learners/test_learner_laws.py",
    "learners/test_weka.py", "learners/nearest_neighbour/test_nearest_neighbour_kernels.py",
    "multiple/test_multiple_laws.py", "ordering/test_audit_cases.py",
    "ordering/test_wrong_claims.py", "pairwise/test_interval_laws.py", "pairwise/test_laws.py",
    "pairwise/test_unstable.py", "papers/test_printed_intervals.py",
    "papers/test_published_tables.py", "papers/multitest/test_paper_learners.py",
    "planning/test_planned_against_simulated.py", "planning/test_power_functions.py",
    "plans/test_golden_splits.py", "plans/test_grouped_plans.py",
    "report/figures/test_figures.py", "report/figures/test_layouts.py",
    "report/figures/test_snapshots.py", "report/test_one_number.py",
    "report/test_page_layout.py",
    "report/test_report_contents.py", "run/test_all_estimators.py",
    "run/test_clock.py", "run/test_costs.py", "run/test_kill_matrix.py",
    "run/test_strange_learners.py", "run/test_time_limits.py",
    "run/test_failures.py", "run/test_resume.py",
    "run/test_show.py", "run/test_store_faults.py", "run/test_subsets.py",
    "run/inputs/test_unstable_advice.py", "test_class_names.py", "test_contract.py",
    "test_docs.py", "test_layout.py",
    "test_measured_docs.py", "transcript/test_transcript.py", "ordering/test_procedure_laws.py",
    "cli/test_hostile_names.py", "cli/test_resource_bombs.py",
    "learners/test_hostile_specifications.py", "test_registered_names.py", "test_plugins.py",
    "plans/test_plan_laws.py", "kernels/test_build.py", "kernels/test_each_kernel.py",
    "kernels/test_hostile_data.py", "test_english.py", "losses/test_door.py", "test_advice.py",
    "run/test_other_metrics.py",
    "kernels/test_same_bits.py", "kernels/test_signatures.py", "learners/c45/test_cuts.py",
    "learners/logistic/test_exponential.py",
    "newcomers/test_boosting.py", "newcomers/test_brought_learners.py",
    "newcomers/test_data_sets.py", "newcomers/test_frames.py",
    "ordering/evidence/test_evidence_once.py", "presenting/test_result_laws.py",
}  # fmt: skip
# the modules of these verbs hold several
LISTINGS = {"tests", "procedures", "plans", "learners", "problems", "losses"}
SHORTEST_MATCH = 6
LARGEST_RELATIVE = 0.05


def module_of(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def has_module(path: Path) -> bool:
    """A module or a room of that name in the room of the test."""
    named = SOURCE / path.relative_to(TESTS).with_name(path.stem.removeprefix("test_"))
    return named.with_suffix(".py").is_file() or named.is_dir()


def test_every_file_of_tests_names_a_module():
    unknown = {module_of(path) for path in FILES if not has_module(path)}
    assert unknown - ACROSS == set()
    assert {name for name in ACROSS if not (TESTS / name).is_file()} == set()


def test_every_verb_has_a_file_of_tests():
    for verb in set(VERBS) - LISTINGS:
        assert (TESTS / "cli" / f"test_{verb}.py").is_file(), verb
    assert (TESTS / "cli" / "test_listings.py").is_file()


def trees():
    for path in sorted(TESTS.rglob("*.py")):
        yield module_of(path), ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.AST) -> str:
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def weak_places(tree: ast.Module) -> list[tuple[int, str]]:
    """Lines of checks that (nearly) cannot fail, and of generators that tests would share."""
    found = []
    for statement in tree.body:
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and called(value) in (
            "default_rng",
            "RandomState",
        ):
            found.append((statement.lineno, "a generator that all tests of the file share"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            if isinstance(node.test, ast.Constant | ast.Tuple):
                found.append((node.lineno, "an assertion of what is always true"))
            if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
                found.append((node.lineno, "either outcome will do"))
        for keyword in getattr(node, "keywords", ()):
            value = getattr(keyword.value, "value", None)
            if keyword.arg == "match" and isinstance(value, str) and len(value) < SHORTEST_MATCH:
                found.append((node.lineno, f"match={value!r} matches nearly anything"))
            if (
                called(node) in ("approx", "assert_allclose")
                and keyword.arg in ("rel", "rtol")
                and isinstance(value, float)
                and value > LARGEST_RELATIVE
            ):
                found.append((node.lineno, f"{keyword.arg}={value} is too wide"))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            checks = any(
                isinstance(inner, ast.Assert)
                or re.search("assert|raises|warns|check|refused|fail", called(inner))
                for inner in ast.walk(node)
            )
            if not checks:
                found.append((node.lineno, f"{node.name} checks nothing"))
    return found


def test_every_check_can_fail():
    weak = [f"{name}:{line}: {why}" for name, tree in trees() for line, why in weak_places(tree)]
    assert [line for line in weak if line.split(":")[0] not in WIDE] == []


WIDE = {
    # smallest p-values of distributions that are approximated so far out
    "pairwise/units/test_wilcoxon.py",
    "rearrange/test_inversion.py",
    # a kurtosis of drawn numbers
    "problems/test_drawn_losses.py",
}


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("rng = np.random.default_rng(3)", "share"),
        ("def test_x():\n    assert a or b", "either"),
        ("def test_x():\n    assert (a, 'words')", "always"),
        ("def test_x():\n    with raises(E, match='y'): f()", "anything"),
        ("def test_x():\n    assert a == approx(1, rel=0.5)", "wide"),
        ("def test_x():\n    f()", "nothing"),
    ],
)
def test_weak_checks_are_seen(code, why):
    ((_, said),) = weak_places(ast.parse(code))
    assert why in said


def test_what_the_mutants_name_exists():
    """The maps of benchmarks/mutants.py name code and tests by their place."""
    script = TESTS.parent / "benchmarks" / "mutants.py"
    command = [sys.executable, str(script), "--count", "0", "--unchecked"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
