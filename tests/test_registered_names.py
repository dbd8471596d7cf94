"""No code matches what is registered by its name: facts stand in the entries.

Every text in the source that equals a registered name is looked at. It may stand in a registry or
an ``entries.py``; as the default of a parameter or of an option; in the file of the function that
it names, which puts it into its result; and in the few places listed below, which choose settings
of an experiment or defaults and ask nothing about an entry.
"""

import ast
import re
from pathlib import Path

import pytest

import bestofk
from bestofk.decide.registry import PROCEDURES
from bestofk.learners.registry import LEARNERS
from bestofk.splits.registry import PLANS
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

SOURCE = Path(bestofk.__file__).parent
WORDS = {"runs", "folds", "none", *PLANS}
"""Names that are also words: kinds of designs, parameters, "none". They count where they are
compared with the name of a test, a correction or a procedure."""
NAMED = ("test", "correction", "procedure", "variant", "name", "learner")
"""What such a word is then compared with."""
NAMES = {*PAIRWISE_TESTS, *MULTIPLE_TESTS, *PROCEDURES, *CORRECTIONS, *LEARNERS} - WORDS
QUOTED = re.compile("[\"'](?:" + "|".join(map(re.escape, sorted(NAMES | WORDS))) + ")[\"']")
"""A file without such a text needs no closer look."""
ALLOWED = {
    "papers": "published experiments name their tests, learners and corrections",
    "lab/tables/tests_table.py": "the settings of the measured tables",
    "lab/tables/claims_table.py": "the settings of the measured tables",
    "lab/tables/chosen_table.py": "the settings of the measured tables",
    "cli/measure.py": "learners where none is named",
    "cli/calibrate.py": "learners where none is named",
    "run/inputs.py": "learners where none is named; the plan and test that are advised instead",
    "decide/settings.py": "the procedure where none is named",
    "decide/order.py": "the correction where that of all pairs does not apply",
    "decide/power/sizes.py": "the correction where none is named",
    "decide/power/assumed.py": "the correction where none is named",
    "stats/adjust.py": "registers the corrections",
    "stats/pairwise/calibration.py": "the learners of the published table of degrees of freedom",
}


def literals(tree):
    """(text, line, node that holds it) of every text but docstrings, defaults and __all__."""
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                skipped |= {id(part) for part in ast.walk(default)} if default else set()
        if isinstance(node, ast.Call):
            for word in node.keywords:
                if word.arg == "default":
                    skipped |= {id(part) for part in ast.walk(word.value)}
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            skipped |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if (
                isinstance(child, ast.Constant)
                and isinstance(child.value, str)
                and id(child) not in skipped
            ):
                yield child.value, child.lineno, node


def own_names(path):
    """Names of the entries whose function the file holds."""
    module = ".".join(("bestofk", *path.relative_to(SOURCE).with_suffix("").parts))
    found = set()
    for registry in (PAIRWISE_TESTS, MULTIPLE_TESTS, PROCEDURES):
        found |= {name for name, e in registry.items() if e.function.startswith(f"{module}:")}
    families = {e.family.replace("-", "_") for e in CORRECTIONS.values()}
    if path.parent.name == "adjust" and path.stem in {"__init__", *families}:
        found |= set(CORRECTIONS)
    return found


def asks_for_a_name(node):
    """A comparison with the name of a test, a correction, a procedure or a learner."""
    if not isinstance(node, ast.Compare):
        return False
    return any(
        (isinstance(part, ast.Attribute) and part.attr in NAMED)
        or (isinstance(part, ast.Name) and part.id in NAMED)
        for part in ast.walk(node)
    )


def matched(path, text):
    """(line, name) of what is matched by name in a source file."""
    own = own_names(path)
    if own & set(PROCEDURES):
        own |= set(MULTIPLE_TESTS)  # a procedure names the one test of all learners that it makes
        own |= {"none"}
    found = []
    if not QUOTED.search(text):
        return found
    for value, line, node in literals(ast.parse(text)):
        if value in NAMES - own or (value in WORDS - own and asks_for_a_name(node)):
            found.append((line, value))
    return found


def test_nothing_registered_is_matched_by_its_name():
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        allowed = place in ALLOWED or place.split("/")[0] in ALLOWED
        if path.name not in ("registry.py", "entries.py") and not allowed:
            found[place] = matched(path, path.read_text(encoding="utf-8"))
    assert len(found) > 200
    assert {place: names for place, names in found.items() if names} == {}


@pytest.mark.parametrize("place", ALLOWED)
def test_no_exception_is_listed_in_vain(place):
    path = SOURCE / place
    files = path.rglob("*.py") if path.is_dir() else [path]
    assert any(matched(one, one.read_text(encoding="utf-8")) for one in files)


@pytest.mark.parametrize(
    "line",
    [
        'if order.procedure == "multitest": pass',
        'if entry.name in ("mcnemar", "sign"): pass',
        'FACTS = {"wilcoxon": 1}',
        'x = PAIRWISE_TESTS["paired-t"]',
        'if order.correction != "none": pass',
        'if entry.name.startswith("kfold-t"): pass',
    ],
)
def test_what_the_law_would_catch(line):
    assert matched(SOURCE / "report" / "page.py", line)


@pytest.mark.parametrize(
    "line",
    [
        'def f(*, correction="holm"): pass',
        'if design.kind == "loo": pass',
        'x = {"runs": 1, "folds": 2}',
    ],
)
def test_what_the_law_leaves_alone(line):
    assert not matched(SOURCE / "report" / "page.py", line)
