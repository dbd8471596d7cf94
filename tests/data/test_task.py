import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.cli.app import run as main
from bestofk.data.schema import infer_task


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (list("abab"), "classification"),
        ([True, False], "classification"),
        (pd.Categorical([1, 2, 3]), "classification"),
        (np.array([0.5, 2.0]), "regression"),
        (np.array([0, 1, 1]), "classification"),
        (np.array([-1.0, 1.0]), "classification"),
        (np.array([1, 2, None], dtype=object), "classification"),
        (np.repeat(np.arange(20), 5), "classification"),
        (np.repeat(np.arange(21), 50), "regression"),
        (np.arange(3), "regression"),
        (np.array([1, "b"], dtype=object), "classification"),
    ],
)
def test_infer_task(y, task):
    assert infer_task(y, "auto")[0] == task


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60))
def test_few_whole_numbers_are_classes(values):
    task, guessed = infer_task(values, "auto")
    count = len(set(values))
    few = count <= 2 or (count <= 20 and 5 * count <= len(values))
    assert task == ("classification" if few else "regression")
    assert guessed == (count > 2)
    # the type does not matter, and what is stated holds
    assert infer_task(np.array(values, dtype=float), "auto") == (task, guessed)
    assert infer_task(values, "regression") == ("regression", False)


@pytest.fixture
def whole(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 2))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": np.round(20 * x[:, 0] + x[:, 1])})
    frame["y"] = frame["y"].astype(int)
    path = tmp_path / "numbers.csv"
    frame.to_csv(path, index=False)
    return path, frame


REGRESSORS = ["m=sklearn.dummy:DummyRegressor", "r=sklearn.linear_model:Ridge"]
QUICK = {"cv": "5x2", "progress": False}


def test_whole_numbers_are_a_regression_from_a_file_and_from_arrays(whole, capsys):
    path, frame = whole
    study = bk.compare(REGRESSORS, frame[["a", "b"]], frame["y"], **QUICK)
    assert study.recommended == "r"
    low, high = frame["y"].min(), frame["y"].max()
    kind = f"(a number, {low} to {high}; task='classification' predicts classes)"
    rest = "from 2 columns, 60 rows."
    assert study.explain().startswith(f"Predicting 'y' {kind} {rest}\n")
    learners = [word for spec in REGRESSORS for word in ("--learner", spec)]
    arguments = ["compare", str(path), "--cv", "5x2", "--set", "engine=serial", *learners]
    assert main(arguments) == 0
    output = capsys.readouterr().out
    kind = kind.replace("task='classification'", "--set task=classification")
    assert f"Note: Predicting 'y', the last column {kind}, {rest} " in " ".join(output.split())
    # the advice works
    assert (
        main(
            [*arguments[:6], "--set", "task=classification", "--learner", "max", "--learner", "nmc"]
        )
        == 0
    )


@pytest.mark.parametrize("data", ["data", "X and y"])
def test_stated_task_of_a_study(whole, data):
    path, frame = whole
    given = (str(path),) if data == "data" else (frame[["a", "b"]], frame["y"])
    study = bk.compare(["max", "nmc"], *given, **QUICK, task="classification")
    choice = ", the last column (44 classes)," if data == "data" else " (44 classes)"
    assert study.outcome.record.taken == (f"Predicting 'y'{choice} from 2 columns, 60 rows.",)
    assert study.scores.metric.name == "error"
    with pytest.raises(ArgumentError, match="'iris' is a data set for classification; got task"):
        bk.compare(["max", "nmc"], bk.read_data("iris"), **QUICK, task="regression")


def test_learners_of_the_other_kind_are_refused_before_the_first_fit(whole):
    _, frame = whole
    X, y = frame[["a", "b"]], frame["y"]
    with pytest.raises(ArgumentError) as caught:
        bk.compare(["max", "nmc"], X, y, **QUICK)
    assert str(caught.value) == (
        f"max is a classifier, and the target of 'data' holds numbers ({y.nunique()} different "
        "values): give regressors, or take the target as classes with task='classification'."
    )
    with pytest.raises(
        ArgumentError, match=r"m is a regressor, .* 2 classes: give classifiers[.]$"
    ):
        bk.compare(REGRESSORS, X, np.where(y > 0, "up", "down"), **QUICK)
    with pytest.raises(ArgumentError, match="or take the target as numbers with task='regression'"):
        bk.compare(REGRESSORS, X, (y > 0).astype(int), **QUICK)
    assert bk.compare(REGRESSORS, X, (y > 0).astype(int), **QUICK, task="regression").recommended
