"""Compared learners, fitted on all rows for raw rows; and the estimator that compares."""

from __future__ import annotations

import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import bestofk as bk
from bestofk._base.errors import ArgumentError, UnknownNameError

SERIAL = bk.Execution(engine="serial", progress=False)
QUICK = {"cv": "kfold:3", "execution": SERIAL}


def customers(n=90):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "customer_id": [f"c{i}" for i in range(n)],
            "age": rng.normal(40, 10, n),
            "city": rng.choice(["Bern", "Genf", "Chur"], n),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "gold": rng.random(n) < 0.5,
            "visits": rng.integers(0, 9, n),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::9, "city"] = None
    frame["churn"] = np.where((frame.city == "Bern") ^ (rng.random(n) < 0.2), "yes", "no")
    return frame


@pytest.fixture(scope="module")
def study():
    learners = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "boosting": HistGradientBoostingClassifier(
            max_iter=5, min_samples_leaf=5, categorical_features="from_dtype"
        ),
        "nmc": "nmc",
        "c4.5": "c4.5",
        "forest": RandomForestClassifier(n_estimators=5),
    }
    return bk.compare(learners, customers(), "churn", **QUICK)


@pytest.mark.parametrize("name", ["logistic", "boosting", "nmc", "c4.5", "forest"])
def test_the_pipeline_repeats_the_folds_from_raw_rows(study, name):
    frame = customers()
    X, y = frame.drop(columns="churn"), frame.churn.to_numpy()
    model, splits = study.fit_recommended(name), study.outcome.live.splits[0]
    assert isinstance(model, Pipeline)
    place = study.scores.learners.index(name)
    # a forest has another seed in every fold; the first one is that of the pipeline
    for fold in range(1 if name == "forest" else 3):
        train, test = splits.train(0, fold), splits.test(0, fold)
        again = clone(model).fit(X.iloc[train], y[train])
        error = np.mean(again.predict(X.iloc[test]) != y[test])
        assert error == pytest.approx(study.scores.losses[place, 0, 0, fold, 0], abs=1e-12)


@pytest.mark.parametrize("name", ["logistic", "boosting", "nmc"])
def test_raw_rows(study, name):
    model = study.fit_recommended(name)
    rows = customers().drop(columns=["churn", "customer_id"]).iloc[:12]
    plain = model.predict(rows)
    assert set(plain) <= {"yes", "no"}
    turned = rows[rows.columns[::-1]].assign(extra=1.0)
    np.testing.assert_array_equal(model.predict(turned), plain)
    written = rows.assign(since=rows.since.dt.strftime("%Y-%m-%d"), gold=rows.gold.astype(str))
    np.testing.assert_array_equal(model.predict(written), plain)
    strange = rows.copy()
    strange["city"] = "Paris"
    strange["visits"] = np.nan
    strange["since"] = pd.NaT
    assert len(model.predict(strange)) == 12
    with pytest.raises(ArgumentError, match=r"lacks 2 columns .*: 'age' and 'city'"):
        model.predict(rows.drop(columns=["age", "city"]))
    with pytest.raises(ArgumentError, match=r"'age' must hold numbers.*'old'"):
        model.predict(rows.assign(age="old"))


def test_a_new_process_and_scikit_learn(study, tmp_path):
    model = study.fit_recommended()
    frame = customers()
    X, y = frame.drop(columns="churn"), frame.churn
    assert cross_val_score(model, X, y, cv=3).mean() > 0.5
    joblib.dump(model, tmp_path / "model.joblib")
    X.head(20).to_csv(tmp_path / "new.csv", index=False)
    script = (
        "import joblib, pandas; model = joblib.load('model.joblib'); "
        "print(' '.join(model.predict(pandas.read_csv('new.csv'))))"
    )
    run = [sys.executable, "-c", script]
    out = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert out.stdout.split() == model.predict(X.head(20)).tolist()


@pytest.mark.parametrize("labels", [[-1, 1], [False, True], [1.0, 2.0]])
def test_labels_keep_their_type(labels):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    y = np.array(labels)[(X[:, 0] > 0) * 1]
    study = bk.compare([GaussianNB(), DecisionTreeClassifier()], X, y, **QUICK)
    predicted = study.fit_recommended("GaussianNB").predict(X)
    assert predicted.dtype == y.dtype
    assert np.mean(predicted == y) > 0.8


def test_weights_and_seeds():
    rng = np.random.default_rng(5)
    X, w = rng.normal(size=(60, 3)), rng.integers(1, 5, 60).astype(float)
    y = X[:, 0] + rng.normal(size=60)
    learners = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_features=1)}
    study = bk.compare(learners, X, y, sample_weight=w, **QUICK)
    np.testing.assert_allclose(
        study.fit_recommended("ridge").predict(X), Ridge().fit(X, y, sample_weight=w).predict(X)
    )
    first, second = (study.fit_recommended("tree").predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_study_from_a_store(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    learners = {"bayes": GaussianNB(), "forest": RandomForestClassifier(n_estimators=3)}
    run = bk.compare(learners, X, y, store=tmp_path / "s.db", **QUICK)
    with pytest.raises(ArgumentError, match="repeat the comparison with the same store"):
        bk.open_study(tmp_path / "s.db").fit_recommended("forest")
    again = bk.compare(learners, X, y, store=tmp_path / "s.db", **QUICK)
    one, other = (study.fit_recommended("forest").predict_proba(X) for study in (run, again))
    np.testing.assert_array_equal(one, other)
    with pytest.raises(UnknownNameError, match="no learner 'wood'"):
        run.fit_recommended("wood")


def test_several_data_sets_need_a_name():
    study = bk.compare(["max", "nmc"], ["iris", "wine"], **{**QUICK, "cv": "kfold:2"})
    with pytest.raises(ArgumentError, match="data='iris'"):
        study.fit_recommended("nmc")
    assert study.fit_recommended("nmc", "wine").n_features_in_ == 13


TWO = {
    "classifier": [GaussianNB(), DecisionTreeClassifier(max_depth=3)],
    "regressor": [Ridge(), DecisionTreeRegressor(max_depth=3)],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", TWO)
def test_best_of_k_is_a_scikit_learn_estimator(kind):
    model = bk.BestOfK(TWO[kind], cv="kfold:2", n_jobs=1)
    assert (is_classifier(model), is_regressor(model)) == (
        kind == "classifier",
        kind != "classifier",
    )
    check_estimator(model)


def test_best_of_k_in_scikit_learn():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    model = bk.BestOfK(TWO["classifier"], cv="kfold:2", execution=SERIAL)
    fitted = clone(model).fit(X, y)
    assert fitted.recommended_ == fitted.result_.recommended
    assert fitted.classes_.tolist() == ["down", "up"]
    assert fitted.predict_proba(X).shape == (80, 2)
    assert fitted.score(X, y) > 0.9
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=2).mean() > 0.7
    search = GridSearchCV(model, {"prefer": [None, ["GaussianNB"]]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    frame = customers()
    raw = bk.BestOfK(["nmc", "c4.5"], cv="kfold:2", execution=SERIAL)
    raw.fit(frame.drop(columns="churn"), frame.churn)
    assert set(raw.predict(frame.drop(columns="churn").iloc[:5, ::-1])) <= {"yes", "no"}
