"""Plugins: the four entries of the contributing page work wherever built-in entries do.

The package is written to a temporary folder with the metadata of an installed one, and found by
processes that have the folder on their path.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import bestofk
from bestofk._base.errors import ArgumentError, BestOfKWarning
from bestofk._base.registry import PLUGINS
from bestofk.stats.pairwise import PAIRWISE_TESTS, PairwiseTest

TESTS = Path(__file__).resolve().parent
PAGE = (TESTS.parent / "docs" / "contributing.md").read_text(encoding="utf-8")
TOYS = ("toy-z", "lowest-mean", "rarest", "striped")


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """Write the package of the contributing page to a folder."""
    folder = tmp_path_factory.mktemp("installed")
    package = folder / "toys"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for block in re.findall(r"^```python\n(# toys/.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        path = folder / block.splitlines()[0].removeprefix("# ")
        path.write_text(block)
    (points,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    entries = tomllib.loads(points)["project"]["entry-points"][PLUGINS]
    assert set(entries) == set(TOYS)
    assert {path.stem for path in package.glob("*.py")} == {
        "__init__", *(module.removeprefix("toys.") for module in entries.values())
    }  # fmt: skip
    metadata = folder / "toys-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1\n")
    lines = [f"[{PLUGINS}]", *(f"{name} = {module}" for name, module in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def python(toys):
    """Run Python with the package installed, and return its output."""
    path = [str(toys), str(Path(bestofk.__file__).parents[1])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}

    def run(*arguments):
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    return run


def test_the_checks_of_the_page_pass_on_its_entries(toys, python, tmp_path):
    (block,) = re.findall(r"^```python\n(# test_toys.py.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "test_toys.py").write_text(block)
    assert "1 passed" in python("-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path)


LISTS = """
from bestofk.cli import main
for kind in ("tests", "rules", "learners", "plans"):
    print(f"--- {kind}")
    main(["list", kind])
    print(f"--- {kind} as JSON")
    main(["list", kind, "--json"])
print("--- compare")
import sys
main(sys.argv[1:])
"""


def test_listings_comparisons_and_reports_have_plugins(python, tmp_path):
    page = tmp_path / "report.html"
    printed = python(
        "-c", LISTS, "compare", "iris", "--learner", "rarest", "--learner", "max",
        "--learner", "nmc", "--cv", "striped:5", "--set", "test=toy-z",
        "--set", "rule=lowest-mean", "--report", page, "--json", "--set", "n_jobs=1",
    )  # fmt: skip
    out = dict(part.split("\n", 1) for part in re.split("^--- ", printed, flags=re.M)[1:])
    verbs = ("tests", "rules", "learners", "plans")
    for verb, toy in zip(verbs, TOYS, strict=True):
        assert toy in out[verb]
        assert toy in [row["name"] for row in json.loads(out[f"{verb} as JSON"])[verb]]
    result = json.loads(out["compare"])
    assert (result["settings"]["rule"], result["test"]) == ("lowest-mean", "toy-z")
    assert result["recommended"] == "nmc"
    text = re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))
    assert "toy-z" in text
    assert "lowest-mean" in text
    assert "nan" not in text.split()


def test_an_entry_is_added_and_removed():
    entry = PairwiseTest(
        name="a-new-one", function="math:fsum", summary="a sum", covers=("kfold",), paper="none"
    )
    PAIRWISE_TESTS.add(entry)
    try:
        assert PAIRWISE_TESTS["a-new-one"] is entry
        assert "a-new-one" in list(PAIRWISE_TESTS)
        with pytest.raises(ArgumentError, match="there is already a pairwise test"):
            PAIRWISE_TESTS.add(entry)
    finally:
        PAIRWISE_TESTS.remove("a-new-one")
    assert "a-new-one" not in PAIRWISE_TESTS
    with pytest.raises(ArgumentError, match="cannot be removed"):
        PAIRWISE_TESTS.remove("sign")


def test_a_broken_plugin_is_reported_and_adds_nothing(monkeypatch):
    from importlib import metadata

    from bestofk._base import registry

    point = metadata.EntryPoint(name="broken", value="no_such_toys.at_all", group=PLUGINS)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point])
    monkeypatch.setattr(registry, "_loaded", False)
    with pytest.warns(BestOfKWarning, match="'no_such_toys.at_all' could not be loaded"):
        len(PAIRWISE_TESTS)


LIGHT = """
import sys
import bestofk
from bestofk.cli import main
main(["--help"])
assert "bestofk.papers" not in sys.modules
import bestofk.papers.plugin
heavy = {"click", "matplotlib", "numpy", "pandas", "scipy", "sklearn"} & set(sys.modules)
assert heavy <= {"click"}, heavy
"""


def test_the_plugin_of_the_papers_costs_nothing_until_its_entries_are_needed(python):
    assert "compare" in python("-c", LIGHT)


def test_the_entries_of_the_papers_are_found_by_name():
    from bestofk.cli.registry import COMMANDS
    from bestofk.decide.registry import RULES
    from bestofk.learners.registry import LEARNERS
    from bestofk.stats.multiple import MULTIPLE_TESTS

    found = {
        "use-all-data": PAIRWISE_TESTS, "looney": MULTIPLE_TESTS, "test-first": RULES,
        "nmc": LEARNERS, "papers": COMMANDS,
    }  # fmt: skip
    for name, registry in found.items():
        entry = registry[name]
        assert entry.name == name


BROKEN = """
import numpy as np
from sklearn.dummy import DummyClassifier
from bestofk.plugins import PairwiseResult, Ruled, decision_from, paired_losses, tested

def always(a, b, *, alternative="two-sided"):
    a, b = paired_losses(a, b, axes=1)
    p = 0.01 + 0.0 * (a.mean(axis=-1) - b.mean(axis=-1))
    return PairwiseResult(test="always", statistic=p, pvalue=p, df=None, estimate=p,
                          alternative=alternative)

def first_row(problem, settings):
    order = np.argsort(problem.names)[:: 1 if problem.means()[0] < 1 else -1]
    return decision_from(problem, settings, *tested(problem, settings), Ruled(order[0], order))

class Writes(DummyClassifier):
    def predict(self, X):
        X.iloc[0, 0] = 0.0
        return super().predict(X)

def unseeded(n, *, runs, folds, **_):
    return np.random.default_rng().integers(0, folds, (runs, n))
"""


@pytest.mark.parametrize(
    ("check", "entry", "sentence"),
    [
        ("check_pairwise_test",
         {"function": "broken:always", "covers": ("kfold",)}, "equal losses must have p = 1"),
        ("check_rule", {"function": "broken:first_row", "takes_test": True}, "the unit of"),
        ("check_learner", {"estimator": "broken:Writes"}, "must not write their input"),
        ("check_plan", {"function": "broken:unseeded", "pattern": "always:FOLDS", "kind": "cv",
                        "example": "always:5", "takes": ("folds",)}, "a seed must give the same"),
    ],
)  # fmt: skip
def test_a_check_finds_what_is_wrong(check, entry, sentence, monkeypatch):
    from bestofk import plugins, testing

    module = ModuleType("broken")
    monkeypatch.setitem(sys.modules, "broken", module)
    exec(BROKEN, module.__dict__)
    kinds = {"check_pairwise_test": "PairwiseTest", "check_rule": "Rule",
             "check_learner": "Learner", "check_plan": "PlanEntry"}  # fmt: skip
    kind = getattr(plugins, kinds[check])
    registry = plugins._REGISTRIES[kind]
    plugins.register(kind(name="always", summary="broken", paper="none", **entry))
    try:
        with pytest.raises(AssertionError, match=sentence):
            getattr(testing, check)("always")
    finally:
        registry.remove("always")
