"""Learners from the user's Python files."""

import sys

import pytest

from bestofk._base.errors import ArgumentError, BestOfKError
from bestofk.cli import main
from bestofk.learners import parse_learner
from bestofk.learners.specification import chosen_learners, learners_of_file

MODELS = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
import numpy as np
from bestofk.learners import learner_factory

class Always(ClassifierMixin, BaseEstimator):
    def __init__(self, label=0):
        self.label = label
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return np.full(len(X), self.classes_[self.label])

@learner_factory
def machine(C=1.0):
    return SVC(C=C)

def unmarked():
    raise AssertionError("called")

ready = SVC(C=7)
learners = {"first": Always(), "second": Always, "third": "nmc(scale='std')", "fourth": ready}
"""


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Create a working folder with a file of learners; restore path and modules afterwards."""
    (tmp_path / "my_models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    before, path = dict(sys.modules), list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - set(before):
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        ("./my_models.py:Always", "Always", "Always()"),
        ("my_models.py:Always(label=1)", "Always(label=1)", "Always(label=1)"),
        ("./my_models:ready", "ready", "SVC(C=7)"),
        ("m=./my_models.py:machine(C=2.5)", "m", "SVC(C=2.5)"),
        (
            "b=sklearn.ensemble:BaggingClassifier(estimator=./my_models.py:machine(C=3))",
            "b",
            "BaggingClassifier(estimator=SVC(C=3))",
        ),
    ],
)
def test_classes_instances_and_marked_factories(models, text, name, shown) -> None:
    chosen, estimator = parse_learner(text)
    assert chosen == name
    assert repr(estimator) == shown


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("./my_models.py:unmarked", "learner_factory"),
        ("./my_models.py:ready(C=1)", "is already an estimator"),
        ("./my_models.py:redy", "did you mean 'ready'"),
        ("./none.py:x", "There is no Python file './none.py'"),
        ("my_models:Always", "write './my_models.py:Always' to run it"),
        ("./my_models.py:machine(D=1)", "cannot be created"),
    ],
)
def test_learners_file_errors_name_the_problem(models, text, sentence) -> None:
    with pytest.raises(BestOfKError) as caught:
        parse_learner(text)
    assert sentence in str(caught.value)


def test_files_and_specifications_together(models) -> None:
    chosen = chosen_learners(["a=max"], ["my_models.py"])
    assert list(chosen) == ["a", "first", "second", "third", "fourth"]
    assert type(chosen["second"]).__name__ == "Always"
    assert chosen_learners([], []) is None
    with pytest.raises(ArgumentError, match="two learners are called 'first'"):
        chosen_learners(["first=max"], ["my_models.py"])


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("learners = 3", "a mapping or a list 'learners'"),
        ("x = 3", "got none"),
        ("learners = {'a': 'nmc'", "SyntaxError"),
        ("\nraise RuntimeError('no\\nluck')", "RuntimeError: no luck (line 2)"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("learners = ['max', 'max']", "Two learners are called 'max'"),
    ],
)
def test_a_file_that_does_not_do_is_one_sentence(tmp_path, monkeypatch, source, sentence) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "broken_models.py").write_text(source)
    with pytest.raises(ArgumentError) as caught:
        learners_of_file("broken_models.py")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_edited_file_is_run_again(models) -> None:
    assert len(learners_of_file("my_models.py")) == 4
    (models / "my_models.py").write_text("learners = ['max']")
    assert list(learners_of_file("my_models.py")) == ["max"]


def test_the_command_line_in_workers(models, fork_server) -> None:
    """Run the command of a user, with processes that must find the classes."""
    words = [
        "-m", "bestofk", "compare", "iris", "--learner", "my_models.py",
        "--learner", "nn=sklearn.neighbors:KNeighborsClassifier()", "--cv", "kfold:3",
        "--set", "n_jobs=1", "--set", "engine=processes", "--quiet",
    ]  # fmt: skip
    ran = fork_server.run(words)
    assert ran.returncode == 0, ran.stderr
    assert {"first", "second", "third", "fourth", "nn"} == set(ran.stdout.split())


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("class L:\n def __init__(self): raise KeyError('x')\n"
         " def fit(self): 0\n def predict(self): 0\n def get_params(self, deep=True): return {}",
         "cannot be created: KeyError"),
        ("class L:\n def fit(self): 0\n def predict(self): 0\n"
         " def get_params(self, deep=True): raise OSError('gone')",
         "its get_params raises OSError: gone"),
        ("def f(:", "SyntaxError"),
        ("import not_there_at_all", "ModuleNotFoundError"),
    ],
)  # fmt: skip
def test_learners_that_raise_are_one_line(tmp_path, monkeypatch, capfd, source, sentence) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "raising.py").write_text(source)
    assert main(["compare", "iris", "--learner", "max", "--learner", "x=./raising.py:L"]) == 2
    error_output = capfd.readouterr().err
    assert sentence in error_output
    assert "Traceback" not in error_output
    assert len(error_output.strip().splitlines()) == 1
