"""Fingerprints of code change with every edit that can change a number, and with no other edit."""

import importlib.util
import json
import os
import pickle
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer

import bestofk as bk
from bestofk._base.code_identity import identity
from bestofk._base.code_identity.bytecode import package_of
from bestofk._base.code_identity.identity import identify
from bestofk.lab.simulation_task import SetEvaluator
from bestofk.run.experiment import learner_fingerprint
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parent))
from edited_learners import HELPING, LATELY, SOURCE

Y = np.tile([0, 1], 20)
X = np.random.default_rng(3).normal(size=(40, 2)) + Y[:, None]
FILES = {"edited.py": SOURCE, "helping.py": HELPING, "lately.py": LATELY}


def load(folder, edits=()):
    """Return the module with edits (file, old, new)."""
    texts = dict(FILES)
    for file, old, new in edits:
        assert old in texts[file], old
        texts[file] = texts[file].replace(old, new)
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name in ("edited", "helping", "lately"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    sys.path.insert(0, str(folder))
    try:
        importlib.import_module("lately")
        return importlib.import_module("edited")
    finally:
        sys.path.remove(str(folder))
        for name in ("edited", "helping"):
            sys.modules.pop(name, None)


def run(module, store, **options):
    scoring = bk.metric(module.loss, higher_is_better=False)
    asked = {"scoring": scoring, "data": X, "target": Y, "learner": module.learner, **options}
    learners = {"mine": asked.pop("learner"), "other": GaussianNB()}
    execution = bk.Execution(engine="serial", threads=asked.pop("threads", 1))
    study = bk.compare(
        learners, **asked, cv="2x2", store=store, progress=False, execution=execution
    )
    assert not study.failures
    with open_store(store) as opened:
        return opened.n_cells()


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A store with the fits of the unedited module."""
    folder = tmp_path_factory.mktemp("first")
    assert run(load(folder), folder / "study.db") == 8
    return folder / "study.db"


@pytest.fixture
def store(first, tmp_path):
    yield Path(shutil.copy(first, tmp_path / "study.db"))
    for name in ("edited", "helping", "lately"):
        sys.modules.pop(name, None)


EDITED = {
    "the body of the learner": ("edited.py", "> self.cut_ + self", ">= self.cut_ + self"),
    "its class attribute": ("edited.py", "level = 0.5", "level = 0.75"),
    "its base class": ("edited.py", "np.median(X[:, 0])", "np.mean(X[:, 0])"),
    "a helper": ("edited.py", "deeper(values) + OFFSET", "deeper(values) - OFFSET"),
    "a helper of the helper": ("edited.py", "values * 1.0", "values * 1.5"),
    "a global number": ("edited.py", "OFFSET = 0.25", "OFFSET = 0.250000001"),
    "a global table": ("edited.py", "[1.0, 2.0]", "[1.0, 2.5]"),
    "a global array": ("edited.py", "np.arange(3.0)", "np.arange(4.0)"),
    "a global set": ("edited.py", '"epsilon"}', '"eta"}'),
    "a closure": ("edited.py", "made_loss(1.0)", "made_loss(2.0)"),
    "the body of the loss": ("edited.py", "y_true != y_pred)", "y_true == y_pred)"),
    "a default": ("edited.py", "plus=0.125", "plus=0.25"),
    "a default of a keyword": ("edited.py", "times=1.0", "times=2.0"),
    "a default of the loss's helper": ("edited.py", "penalty=0.0", "penalty=0.1"),
    "a decorator": ("edited.py", "return 1.0 * function", "return 2.0 * function"),
    "no decorator": ("edited.py", "    @scaled\n", ""),
    "a function of another file": ("helping.py", "value * RATE", "value - RATE"),
    "a global of another file": ("helping.py", "RATE = 1.0", "RATE = 2.0"),
    "a function by way of its module": ("helping.py", "value + 0.0", "value + 1.0"),
    "a function that is imported late": ("lately.py", "return value", "return value + 1"),
    "the default of a setting": ("edited.py", "power=1", "power=3"),
    "where a list starts": ("edited.py", "CALLS = []", "CALLS = [1]"),
}
SAME = {
    "a comment": ("edited.py", "# a comment", "# another comment"),
    "no comment": ("edited.py", "        # a comment\n", ""),
    "a docstring": ("edited.py", '"""Learn."""', '"""Learn well."""'),
    "the docstring of a class": ("edited.py", '"""A learner."""', '"""Something."""'),
    "formatting": ("edited.py", "np.median(X[:, 0])", "(np.median( X[: , 0] ) )"),
    "quotes": ("edited.py", '"first"', "'first'"),
    "blank lines": ("edited.py", "\n\n\ndef helper", "\n\n\n\n\n\ndef helper"),
    "a function that nobody calls": ("edited.py", "values - 1", "values - 2"),
    "such a one elsewhere": ("helping.py", "def elsewhere(value):", "def elsewhere(value, x=1):"),
    "the order of a set": ("edited.py", '{"alpha", "beta", ', '{"beta", "alpha", '),
}


@pytest.mark.parametrize("edit", EDITED.values(), ids=EDITED)
def test_an_edit_that_can_change_results_is_detected(store, tmp_path, edit):
    assert run(load(tmp_path / "code", [edit]), store) > 8


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_an_edit_that_cannot_change_results_is_ignored(store, tmp_path, edit):
    assert run(load(tmp_path / "code", [edit]), store) == 8


def test_the_order_of_definitions_and_another_folder_do_not_matter(store, tmp_path):
    begin, end = SOURCE.index("def deeper"), SOURCE.index("def helper")
    last = SOURCE.index("def unused")
    moved = SOURCE[:begin] + SOURCE[end:last] + SOURCE[begin:end] + SOURCE[last:]
    methods = moved.index("    def middle"), moved.index("class Cutting")
    fit = moved.index("    def fit")
    middle = moved[methods[0] : methods[1]].rstrip() + "\n\n"
    moved = moved[:fit] + middle + moved[fit : methods[0]].rstrip() + "\n\n\n" + moved[methods[1] :]
    assert run(load(tmp_path / "other", [("edited.py", SOURCE, moved)]), store) == 8


def test_data_that_a_learner_changes_count_with_their_initial_value(store, tmp_path):
    module = load(tmp_path / "code")
    before = identify(module.learner)
    assert run(module, store) == 8
    sys.modules["edited"] = module
    pickle.dumps(module.learner.fit(X, Y))  # which changes the class
    assert module.CALLS
    assert identify(module.learner) == before
    module.OFFSET = 0.5  # data that the learner only reads count with their current value
    assert identify(module.learner) != before


def test_settings_data_threads_and_costs_are_detected(first, store, tmp_path):
    module = load(tmp_path / "code")
    one_more = X.copy()
    one_more[0, 0] = np.nextafter(one_more[0, 0], 9)
    base = {"scoring": [[0, 1], [1, 0]]}
    run(module, first.parent / "costs.db", **base)
    for change in (
        {"learner": module.Cutting(power=2)},
        {"learner": module.Cutting(chosen=lambda x: x)},
        {"data": one_more},
        {"data": X.astype(np.float32).astype(float)},
        {"threads": 2},
        {"scoring": "zero-one"},
    ):
        assert run(module, shutil.copy(store, tmp_path / "one.db"), **change) > 8, change
    for costs in ([[0, 1 + 1e-9], [1, 0]], [[0, 1], [1, 1e-300]]):
        copy = shutil.copy(first.parent / "costs.db", tmp_path / "one.db")
        assert run(module, copy, scoring=costs) == 16
        assert run(module, copy, scoring=costs) == 16


def test_labels_of_another_type_are_other_data(store, tmp_path):
    module = load(tmp_path / "code")
    assert run(module, store, target=Y.astype(str)) == 16


def test_seeds_outlive_an_edit_and_stored_failures_do_not_come_back(tmp_path):
    module = load(tmp_path / "code")
    edited = load(tmp_path / "code", [EDITED["a helper"]])
    before, after = learner_fingerprint(module.learner), learner_fingerprint(edited.learner)
    assert before.digest != after.digest
    assert before.digest.partition("-")[0] == after.digest.partition("-")[0]


PACKAGE = "def number():\n    return 1\n\n\nclass Scaler:\n    pass\n"


def installed(folder, version, body=PACKAGE, *, url=None):
    """A package as pip installs it."""
    package, about = folder / "somepackage", folder / f"somepackage-{version}.dist-info"
    for old in folder.glob("somepackage*"):
        shutil.rmtree(old)
    package.mkdir(parents=True)
    about.mkdir()
    (package / "__init__.py").write_text(body)
    digest = str(hash(body))
    (about / "RECORD").write_text(
        f"somepackage/__init__.py,sha256={digest},{len(body)}\n{about.name}/RECORD,,\n"
    )
    (about / "METADATA").write_text(f"Name: somepackage\nVersion: {version}\n")
    if url is not None:
        (about / "direct_url.json").write_text(json.dumps(url))


CALLING = """
import sys
sys.path.insert(0, sys.argv[1])
import somepackage
from bestofk._base.code_identity import identity
from bestofk._base.code_identity.identity import identify
def loss(a, b):
    return somepackage.number()
print(identify(loss).digest, identify(somepackage.Scaler()).digest)
"""


def in_another_process(folder):
    done = subprocess.run(
        [sys.executable, "-c", CALLING, str(folder)], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_package_is_its_name_and_version(tmp_path):
    installed(tmp_path, "1.2.3")
    first = in_another_process(tmp_path)
    other_body = PACKAGE.replace("return 1", "return 2")
    installed(tmp_path, "1.2.3", other_body)
    assert in_another_process(tmp_path) == first
    installed(tmp_path, "1.2.4", other_body)
    second = in_another_process(tmp_path)
    assert not set(first) & set(second)
    # installed from a folder: the code may change without the version
    url = {"url": "file:///somewhere", "dir_info": {}}
    installed(tmp_path, "1.2.4", url=url)
    third = in_another_process(tmp_path)
    installed(tmp_path, "1.2.4", other_body, url=url)
    assert not set(third) & set(in_another_process(tmp_path))
    # not installed: its source counts
    shutil.rmtree(next(tmp_path.glob("*.dist-info")))
    fourth = in_another_process(tmp_path)
    (tmp_path / "somepackage" / "__init__.py").write_text(PACKAGE + "# a comment\n")
    fifth = in_another_process(tmp_path)
    assert fourth[0] != fifth[0]
    assert fourth[1] == fifth[1]


def test_packages_are_identified_by_their_files():
    from importlib.metadata import version

    assert package_of("sklearn.linear_model") == f"scikit_learn {version('scikit-learn')}"
    assert package_of("scipy.stats") == f"scipy {version('scipy')}"
    assert package_of("bestofk.learners.base") is None
    assert package_of(__name__) is None


FRESH = """
import sys
sys.path[:0] = [sys.argv[1]]
from bestofk._base.code_identity import identity
from bestofk._base.code_identity.identity import identify
import helping, values
print([identify(getattr(values, name)).digest for name in values.SHOWN])
"""
VALUES = """
import functools, re, logging, threading, dataclasses, enum, collections, pathlib
import numpy as np
import helping

LOG, LOCK = logging.getLogger(__name__), threading.Lock()
HERE = pathlib.Path(__file__).parent
WORDS = {"one", "two", "three", "four", "five", "six"}

@dataclasses.dataclass(frozen=True)
class Setting:
    words: frozenset = frozenset({"a", "b", "c", "d"})
    size: int = 3

class Kind(enum.Enum):
    ONE = "one"
    TWO = "two"

class Tree:
    def __init__(self):
        self.me, self.rows, self.kind = self, np.eye(2), Kind.ONE
    def grow(self, x):
        LOG.info("growing")
        with LOCK:
            return [helping.shifted(y) for y in x if y in {"u", "v", "w"}], WORDS, HERE
    def again(self):
        return Tree()

def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

typed = {}
exec("def typed(x):\\n    return [y for y in x if y in {'a', 'b', 'c'}] or (lambda: x)", typed)
typed = typed["typed"]
bound = Tree().grow
twice = functools.partial(sorted, key=lambda x: {"p": 1, "q": 2}.get(x))
counted = collections.Counter("abracadabra")
pattern = re.compile("a+")
settings = Setting()
comprehension = lambda x: [{y: [z for z in x]} for y in x]
SHOWN = ["Setting", "settings", "Kind", "Tree", "even", "odd", "typed", "bound", "twice",
         "counted", "pattern", "comprehension"]
"""


def test_ten_fresh_interpreters_agree(tmp_path):
    children = []
    for seed in range(10):
        folder = tmp_path / f"machine{seed}"
        folder.mkdir()
        (folder / "values.py").write_text(VALUES)
        (folder / "helping.py").write_text(HELPING)
        environment = {**os.environ, "PYTHONHASHSEED": str(seed * 1000 + 1)}
        children.append(
            subprocess.Popen(
                [sys.executable, "-c", FRESH, str(folder)],
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
                cwd=folder,
            )
        )
    outputs = [child.communicate(timeout=60)[0] for child in children]
    assert all(child.returncode == 0 for child in children)
    assert len(set(outputs)) == 1
    digests = outputs[0].strip("[]\n").split(", ")
    assert len(set(digests)) == len(digests) == 12


def test_objects_that_cannot_be_fingerprinted_are_reported_and_not_reused(tmp_path):
    with Path(__file__).open() as file:
        chosen = partial(next, file)
        learner = load(tmp_path / "code").Cutting(chosen=chosen)
        assert "TextIOWrapper" in identify(learner).unknown
        store = tmp_path / "study.db"
        learners = {"mine": learner, "other": GaussianNB()}
        counts = []
        for _ in range(2):
            study = bk.compare(
                learners,
                X,
                Y,
                cv="2x2",
                store=store,
                progress=False,
                execution=bk.Execution(engine="serial"),
            )
            counts.append(open_and_count(store))
            assert any("computes them again" in note for note in study.notes)
    assert counts == [8, 12]


def open_and_count(store):
    with open_store(store) as opened:
        return opened.n_cells()


def test_source_edited_after_the_import_does_not_count(tmp_path):
    module = load(tmp_path / "code")
    before = identify(module.helper)
    path = tmp_path / "code" / "edited.py"
    path.write_text(SOURCE.replace("deeper(values) + OFFSET", "deeper(values) - OFFSET"))
    stale = identify(module.helper)
    path.write_text(SOURCE)
    assert identify(module.helper) == before
    edited = load(tmp_path / "code", [EDITED["a helper"]])
    assert stale != identify(edited.helper)


def test_misleading_names_do_not_count():
    import functools

    @functools.wraps(np.mean)
    def one(x):
        return 1

    @functools.wraps(np.mean)
    def other(x):
        return 2

    assert len({identify(one), identify(other), identify(np.mean)}) == 3


def test_functions_of_libraries_and_compiled_ones():
    from scipy.special import expit

    settings = [np.log1p, np.sqrt, expit, len, sorted, np.mean, "text".upper, "other".upper]
    results = [identify(FunctionTransformer(each)) for each in settings]
    assert len(set(results)) == len(results)
    assert not any(each.unknown for each in results)
    assert identify(LogisticRegression(random_state=1)) == identify(LogisticRegression())
    assert identify(LogisticRegression(C=1.0)) != identify(LogisticRegression(C=1.0 + 1e-12))


def test_the_state_of_a_frozen_estimator_counts():
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator
    first, other = GaussianNB().fit(X, Y), GaussianNB().fit(X[::2], Y[::2])
    assert identify(first) == identify(other)
    assert identify(frozen(first)) != identify(frozen(other))


def test_the_state_of_an_estimator_counts_unless_it_is_cloned():
    first, other = GaussianNB().fit(X, Y), GaussianNB().fit(X[::2], Y[::2])

    def judged_by(judge):
        return lambda y_true, y_pred: judge.score(y_pred, y_true)

    assert identify(judged_by(first)) != identify(judged_by(other))
    assert identify(judged_by(first)) == identify(judged_by(first))
    voting = [VotingClassifier([("a", each)]) for each in (first, other)]
    assert identify(voting[0]) == identify(voting[1])


def test_functions_on_one_line_are_distinguished():
    pair = (lambda x: x + 1, lambda x: x + 2)
    same = (lambda y: 0, lambda x: x + 1)
    assert identify(pair[0]) != identify(pair[1])
    assert identify(pair[0]) == identify(same[1])


def test_a_learner_of_a_file_is_the_same_in_another_folder(tmp_path, store):
    first, second = load(tmp_path / "one"), load(tmp_path / "two")
    for number, module in enumerate((first, second)):
        module.Cutting.__module__ = f"learners_{number}"  # like files of learners
    assert learner_fingerprint(first.learner) == learner_fingerprint(second.learner)


def test_cyclic_and_very_deep_lists():
    ring = [1]
    ring.append(ring)
    assert identify(ring) == identify(ring)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert identify(deep).unknown


def test_other_imports_do_not_change_a_learner():
    # functions import their kernel at the first call
    import importlib
    import pkgutil

    import bestofk
    from bestofk.learners.specification import learner
    from bestofk.run.experiment import learner_fingerprint

    names = ("max", "nmc", "logistic", "c4.5", "nn", "naive-bayes", "tan", "voted-perceptron")
    script = (
        "from bestofk.learners.specification import learner\n"
        "from bestofk.run.experiment import learner_fingerprint\n"
        f"print(*(learner_fingerprint(learner(name)).digest for name in {names}))"
    )
    few = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    for module in pkgutil.walk_packages(bestofk.__path__, "bestofk."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert few.stdout.split() == [learner_fingerprint(learner(name)).digest for name in names]
    assert len(set(few.stdout.split())) == 8


@pytest.mark.parametrize("name", identity._WITHOUT_EFFECT)
def test_modules_without_effect_exist(name):
    assert importlib.util.find_spec(f"bestofk.{name}") is not None


def test_a_comparison_does_not_change_the_identity_of_bestofk():
    digest = identity._own_digest.__wrapped__
    before = digest(SetEvaluator)
    bk.compare(["logistic", "naive-bayes"], "wine", cv="2x2", n_jobs=2)
    assert digest(SetEvaluator) == before
