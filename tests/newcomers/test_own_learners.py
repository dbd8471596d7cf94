"""Users' learners: float32 networks, searches, their own classes, files of models."""

import html
import json
import textwrap

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import bestofk as bk

pytestmark = pytest.mark.usefixtures("preloaded_workers")
NET = '''
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Net(ClassifierMixin, BaseEstimator):
    """A net as PyTorch has them: arrays of float32, labels 0, 1, ... as whole numbers."""
    __module__ = "own_models"

    def fit(self, X, y):
        self._check(X)
        if not isinstance(y, np.ndarray) or y.dtype != np.int64:
            raise TypeError(f"can't convert np.ndarray of type {getattr(y, 'dtype', type(y))}")
        if y.max() >= len(np.unique(y)):
            raise IndexError(f"Target {y.max()} is out of bounds.")
        self.centres_ = np.stack([X[y == code].mean(axis=0) for code in range(y.max() + 1)])
        self.classes_ = np.arange(y.max() + 1)
        return self

    def predict(self, X):
        self._check(X)
        return ((X[:, None] - self.centres_) ** 2).sum(axis=2).argmin(axis=1)

    def _check(self, X):
        if not isinstance(X, np.ndarray) or X.dtype != np.float32:
            raise RuntimeError(f"expected scalar type Float but found {getattr(X, 'dtype', X)}")
'''


@pytest.fixture
def net():
    space = {"__name__": "own_models"}
    exec(compile(NET, "own_models.py", "exec"), space)
    return space["Net"]()


def test_arrays_of_float32_and_labels_stay_as_they_are(net, by_hand):
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    study = bk.compare(
        {"net": net, "most": "max"},
        X,
        y,
        cv="2x3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    assert study.outcome.left_out == {}
    np.testing.assert_array_equal(study.scores.losses[0].ravel(), by_hand(lambda: net, X, y, "2x3"))
    assert study.outcome.preparation["data"]["net"].explain() == "none"


def test_float64_is_not_converted_to_float32(net):
    X, y = load_iris(return_X_y=True)
    study = bk.compare(
        {"net": net, "most": "max", "nmc": "nmc"},
        X,
        y,
        cv="2x3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    assert "expected scalar type Float but found float64" in study.headline


def test_a_search_is_a_learner(by_hand):
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(SVC(), {"C": [0.1, 10.0]}, cv=3)
    study = bk.compare({"search": search, "svm": SVC()}, X, y, cv="2x3", progress=False)
    np.testing.assert_array_equal(
        study.scores.losses[0].ravel(), by_hand(lambda: search, X, y, "2x3")
    )


MODELS = """
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from bestofk.learners import learner_factory

class Broken(GaussianNB):
    def fit(self, X, y):
        raise ValueError("no licence found")

@learner_factory
def small(c=1.0):
    return make_pipeline(StandardScaler(), LogisticRegression(C=c))

scaled = make_pipeline(StandardScaler(), GaussianNB())
learners = {LEARNERS}
"""


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("{'a': scaled, 'b': GaussianNB, 'c': small()}", ["a", "b", "c"]),
        ("[scaled, GaussianNB(), 'max']", ["StandardScaler+GaussianNB", "GaussianNB", "max"]),
    ],
)
def test_a_file_of_models(run, tmp_path, written, names):
    file = tmp_path / "models.py"
    file.write_text(MODELS.replace("{LEARNERS}", written))
    code, out, err = run(
        "compare", "iris", "--learner", file, "--cv", "kfold:3", "--set", "engine=serial", "--json"
    )
    assert code == 0, err
    assert sorted(json.loads(out)["order"]) == sorted(names)


def test_names_of_a_file_in_the_working_folder(run, tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(MODELS.replace("{LEARNERS}", "[]"))
    monkeypatch.chdir(tmp_path)
    code, out, err = run(
        "compare", "iris", "--learner", "./own.py:scaled", "--learner", "bayes=./own.py:GaussianNB",
        "--learner", "./own.py:small(c=0.1)", "--cv", "kfold:3", "--set", "engine=serial", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert "bayes" in json.loads(out)["order"]
    # the hint of the other way of writing it works
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (elsewhere / "not_run_yet.py").write_text("scaled = 1 / 0\n")
    code, _, err = run("compare", "iris", "--learner", "not_run_yet:scaled", "--learner", "max")
    assert code == 2
    assert "write './not_run_yet.py:scaled' to run it" in err


def test_learners_that_fail_are_in_the_headline(run, tmp_path):
    file = tmp_path / "models.py"
    file.write_text(MODELS.replace("{LEARNERS}", "{'broken': Broken(), 'a': scaled, 'b': 'max'}"))
    code, out, _ = run("compare", "iris", "--learner", file, "--cv", "kfold:3")
    assert code == 0
    first = out.split("\n\n")[0]
    assert "Of the 3 learners given 1 failed (broken: 3 of 3 fits failed" in first
    assert "no licence found" in first


def test_nested_calls_are_parsed_and_never_evaluated(run):
    code, out, err = run(
        "compare", "iris", "--learner",
        "svm=sklearn.pipeline:make_pipeline(sklearn.preprocessing:StandardScaler(), "
        "sklearn.svm:SVC(C=10))",
        "--learner", "max", "--cv", "kfold:3", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["recommended"] == "svm"


def test_a_notebook_shows_the_screen_of_the_command_line(patients):
    frame, y = patients
    study = bk.compare({"svm": SVC(), "tree": "c4.5"}, frame, y, cv="2x3", progress=False)
    assert study._repr_html_() == f"<pre>{html.escape(str(study))}</pre>"
    assert "worse than the best by" in repr(study)


def test_progress_of_a_short_run_is_silent_in_a_pipe(run):
    arguments = textwrap.dedent("compare iris --learner max --learner nmc --cv kfold:3").split()
    code, _, err = run(*arguments)
    assert (code, err) == (0, "")
