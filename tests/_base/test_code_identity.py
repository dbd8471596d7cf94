"""The identity of code: name, settings, version of the package or digest of the source file."""

from __future__ import annotations

import importlib
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer

import bestofk as bk
from bestofk._base.code_identity import identify, package_of
from bestofk.run.fingerprints import learner_fingerprint
from bestofk.run.store.store import open_store

SOURCE = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from helping import cut


class Above(ClassifierMixin, BaseEstimator):
    def __init__(self, plus=0.125):
        self.plus = plus

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > cut() + self.plus).astype(int)
"""
Y = np.tile([0, 1], 20)
X = np.random.default_rng(3).normal(size=(40, 2)) + Y[:, None]


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Return a function that imports the learner from a folder, edited."""

    def imported(folder="a", old="", new=""):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / "edited.py").write_text(SOURCE.replace(old, new))
        (place / "helping.py").write_text("def cut():\n    return 0.5\n")
        for name in ("edited", "helping"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        monkeypatch.syspath_prepend(str(place))
        return importlib.import_module("edited")

    yield imported
    for name in ("edited", "helping"):
        sys.modules.pop(name, None)


def cells(learner, store):
    study = bk.compare(
        {"mine": learner, "other": GaussianNB()}, X, Y, cv="2x2", store=store, progress=False,
        execution=bk.Execution(engine="serial"),
    )  # fmt: skip
    assert not study.outcome.failures
    with open_store(store) as opened:
        return opened.n_cells()


def test_editing_the_file_refits_its_learners_and_no_others(load, tmp_path):
    store = tmp_path / "study.db"
    assert cells(load().Above(), store) == 8
    assert cells(load("b").Above(), store) == 8
    assert cells(load("c", "> cut()", ">= cut()").Above(), store) == 12
    assert cells(load("d", "import numpy as np", "import numpy as np  # a comment").Above(),
                 store) == 16  # fmt: skip


def test_settings_refit_and_random_states_do_not(load):
    Above = load().Above
    assert identify(Above()) != identify(Above(plus=0.25))
    forests = [RandomForestClassifier(random_state=seed) for seed in (None, 3)]
    assert identify(forests[0]) == identify(forests[1])
    votes = [VotingClassifier([("a", GaussianNB(var_smoothing=v))]) for v in (1e-9, 1e-8)]
    assert identify(votes[0]) != identify(votes[1])


def test_seeds_outlive_an_edit(load):
    before = learner_fingerprint(load().Above()).digest
    after = learner_fingerprint(load("b", "> cut()", ">= cut()").Above()).digest
    assert before.split("-")[0] == after.split("-")[0]
    assert before != after


def test_a_file_that_changes_after_its_import_is_not_identified(load, tmp_path):
    module = load()
    assert not identify(module.Above()).unknown
    (tmp_path / "a" / "edited.py").write_text(SOURCE + "# later\n")
    assert identify(module.Above()).unknown == "edited.py changed after it was imported"


def test_packages_are_identified_by_name_and_version():
    import sklearn

    assert package_of("sklearn.svm._classes") == f"sklearn {sklearn.__version__}"
    assert package_of("json").startswith("python 3.")
    assert package_of("bestofk.learners.c45") is None
    assert package_of(__name__) is None


def test_functions_are_distinguished_by_what_they_enclose():
    def plus(offset, sign=1):
        return lambda x: sign * x + offset

    assert identify(plus(1)) == identify(plus(1))
    assert identify(plus(1)) != identify(plus(2))
    pair = [lambda x: x + 1, lambda x: x + 2]
    assert identify(pair[0]) != identify(pair[1])
    assert identify(partial(np.add, 1)) != identify(partial(np.add, 2))
    assert identify(FunctionTransformer(np.log)) != identify(FunctionTransformer(np.exp))


def test_code_typed_at_a_prompt_is_identified_by_its_instructions():
    spaces = [{"__name__": "no_module"} for _ in range(3)]
    for space, body in zip(spaces, ("x + 1", "x + 1", "x + 2"), strict=True):
        exec(f"class Own:\n    def f(self, x):\n        return {body}\n", space)
    first, same, other = (identify(space["Own"]) for space in spaces)
    assert first == same
    assert first != other


def test_fitted_state_counts_only_if_it_is_not_cloned():
    fitted = LogisticRegression().fit(X, Y)
    assert identify(fitted) == identify(LogisticRegression())
    frozen = [FrozenEstimator(GaussianNB().fit(X, y)) for y in (Y, 1 - Y)]
    assert identify(frozen[0]) != identify(frozen[1])


def test_data_are_identified_by_their_content():
    assert identify(np.arange(3.0)) != identify(np.arange(3))
    assert identify({"a": 1, "b": {2, 3}}) == identify({"b": {3, 2}, "a": 1})
    assert identify([1, 2]) != identify((1, 2))


def test_unreadable_and_endless_objects_are_reported_and_never_equal():
    stream = (number for number in range(3))
    assert "generator, whose content cannot be read" in identify(stream).unknown
    endless = []
    endless.append(endless)
    assert identify(endless).unknown == "it is nested too deeply"
    assert identify(endless) != identify(endless)
