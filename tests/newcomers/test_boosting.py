"""XGBoost, LightGBM and CatBoost with text labels and categories."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import VotingClassifier

import bestofk as bk

PACKAGES = ("xgboost", "lightgbm", "catboost")
WHY = "not installed (pip install 'bestofk[boosting]'): its test skips"


def learner(package, **settings):
    module = pytest.importorskip(package, reason=f"{package} is {WHY}")
    make = {
        "xgboost": lambda: module.XGBClassifier(n_estimators=5, n_jobs=1, **settings),
        "lightgbm": lambda: module.LGBMClassifier(
            n_estimators=5, n_jobs=1, min_child_samples=3, **settings
        ),
        "catboost": lambda: module.CatBoostClassifier(iterations=5, thread_count=1, **settings),
    }
    return make[package]()


def losses_of(study, name):
    values = study.scores.losses[list(study.scores.learners).index(name)]
    return values.ravel()


@pytest.mark.parametrize("package", PACKAGES)
def test_labels_that_are_words_and_missing_cells(package, patients, by_hand, tmp_path, monkeypatch):
    frame, y = patients
    numbers = frame[["age"]].assign(late=np.arange(len(frame)) % 7)
    model = learner(package)
    monkeypatch.chdir(tmp_path)
    study = bk.compare(
        {"boosted": model, "most": "max"},
        numbers,
        y,
        cv="2x3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    assert study.outcome.left_out == {}
    if package == "catboost":  # its seed is set in every fit, and matters
        assert losses_of(study, "boosted").mean() < losses_of(study, "most").mean()
    else:
        codes = (y == "well").astype(int)
        expected = by_hand(lambda: learner(package), numbers, codes, "2x3")
        np.testing.assert_array_equal(losses_of(study, "boosted"), expected)
    done = study.outcome.preparation["data"]["boosted"]
    assert done.codes == (package == "xgboost")
    assert done.filled == 0
    assert list(tmp_path.iterdir()) == []  # nothing is written next to the user's files


@pytest.mark.parametrize("package", PACKAGES)
def test_categories_are_handed_as_categories(package, patients, capfd):
    frame, y = patients
    settings = {"enable_categorical": True} if package == "xgboost" else {}
    study = bk.compare(
        {"boosted": learner(package, **settings), "most": "max"},
        frame,
        y,
        cv="kfold:3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    assert study.outcome.left_out == {}
    done = study.outcome.preparation["data"]["boosted"]
    assert done.one_of_n == 0
    assert losses_of(study, "boosted").mean() < 0.4  # the share of the rarer class is 0.5
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


def test_what_is_handed_to_lightgbm_is_what_its_manual_asks_for(patients, by_hand):
    frame, y = patients
    frame = frame[["ward", "age", "smoker"]]
    by_manual = frame.assign(smoker=frame["smoker"].astype("category"))
    expected = by_hand(lambda: learner("lightgbm", verbose=-1), by_manual, y, "2x3")
    study = bk.compare(
        {"boosted": learner("lightgbm"), "most": "max"},
        frame,
        y,
        cv="2x3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    np.testing.assert_array_equal(losses_of(study, "boosted"), expected)


def test_xgboost_without_categories_gets_columns_of_zeros_and_ones(patients):
    frame, y = patients
    study = bk.compare(
        {"boosted": learner("xgboost"), "c4.5": "c4.5"},
        frame,
        y,
        cv="kfold:3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    assert study.outcome.preparation["data"]["boosted"].one_of_n == 4
    assert study.outcome.left_out == {}


def test_names_of_columns_that_the_packages_refuse(patients):
    frame, y = patients
    odd = frame[["age"]].rename(columns={"age": 'age[0] <"years">: {}, x'}).assign(other=1.0)
    models = {package: learner(package) for package in ("xgboost", "lightgbm")}
    models["both"] = VotingClassifier(list(models.items()))
    study = bk.compare(
        models, odd, y, cv="kfold:3", progress=False, execution=bk.Execution(engine="serial")
    )
    assert study.outcome.left_out == {}


def test_on_the_command_line_with_a_search_inside(patients, run, tmp_path):
    pytest.importorskip("xgboost", reason=f"xgboost is {WHY}")
    frame, y = patients
    file = tmp_path / "patients.csv"
    pd.concat([frame, pd.Series(y, name="outcome")], axis=1).to_csv(file, index=False)
    code, out, err = run(
        "compare", file, "--learner", "xgb=xgboost:XGBClassifier(n_estimators=3)",
        "--learner",
        "search=sklearn.model_selection:GridSearchCV(estimator=xgboost:XGBClassifier("
        "n_estimators=2), param_grid={'max_depth': [1, 2]}, cv=2)",
        "--cv", "kfold:3", "--set", "engine=serial", "--json",
    )  # fmt: skip
    assert code == 0, err
    study = json.loads(out)
    assert study["failures"] == []
