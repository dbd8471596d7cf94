"""Data passed to compare: groups, weights and user-defined splits."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as ms
from sklearn.naive_bayes import GaussianNB

import bestofk as bk
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.cli import main
from bestofk.data import read_data
from bestofk.run.inputs import default_plan
from bestofk.run.store.store import open_store
from bestofk.splits.plans import plan as make_plan

LEARNERS = {"nb": GaussianNB(), "smooth": GaussianNB(var_smoothing=1.0)}
QUICK = {"progress": False}
N = 60


def visits(n=N, groups=12, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame["patient"] = [f"p{i % groups}" for i in range(n)]
    y = np.where(frame["a"] + rng.normal(size=n) > 0, "yes", "no")
    return frame, y


def test_groups_are_never_ignored():
    X, y = visits()
    for asked in (None, "10x5", "group-10x5+nested", "holdout:0.3", ms.GroupKFold(4), "loo"):
        study = bk.compare(LEARNERS, X, y, groups="patient", cv=asked, **QUICK)
        assert "groups" in study.scores.design.describe()
        assert "patient" not in str(study.outcome.record.datasets[0].columns)
        assert study.outcome.record.datasets[0].columns == 3
    assert study.decision.test_choice.arguments["units"] == 12
    with pytest.raises(ArgumentError, match=r"No group may train and test.*'group-kfold:5'"):
        bk.compare(LEARNERS, X, y, groups="patient", cv=ms.KFold(5), **QUICK)
    with pytest.raises(ArgumentError, match=r"needs groups: pass groups="):
        bk.compare(LEARNERS, X.drop(columns="patient"), y, cv="group-kfold:5", **QUICK)


def test_the_plan_where_none_is_named_keeps_groups_whole():
    X, y = visits()
    study = bk.compare(LEARNERS, X, y, groups="patient", **QUICK)
    assert study.outcome.record.plan == "group-10x5+nested"
    assert study.decision.test == "nested-cv-t"
    # no more degrees of freedom than the groups have
    assert study.decision.test_choice.arguments["rows"] == 12
    few, y = visits(groups=4)
    assert (
        bk.compare(LEARNERS, few, y, groups="patient", **QUICK).outcome.record.plan
        == "group-kfold:4"
    )
    assert default_plan(rows=99, groups=3) == "group-kfold:3"
    assert default_plan(rows=99, groups=30, datasets=3) == "group-10x10"
    assert default_plan(rows=99, groups=12, budget=60.0) == "group-10x5"


def test_one_split_of_groups_is_tested_by_groups():
    X, y = visits()
    study = bk.compare(LEARNERS, X, y, groups="patient", cv="holdout:0.34", **QUICK)
    tested = study.scores.design
    assert tested.describe().startswith("one test set of 4 groups")
    plain = bk.compare(LEARNERS, X, y, groups="patient", cv=ms.GroupShuffleSplit(
        1, test_size=0.34, random_state=0), scoring="zero-one", **QUICK)  # fmt: skip
    assert plain.scores.design.folds == plain.scores.design.groups
    # the mean over groups, weighted by their rows, is the mean over rows
    splits = make_plan("holdout:0.34").materialise(N, y, X["patient"].to_numpy())
    train, test = splits.train(0, 0), splits.test(0, 0)
    features = X.drop(columns="patient").to_numpy()
    wrong = GaussianNB().fit(features[train], y[train]).predict(features[test]) != y[test]
    assert study.scores.losses[0].mean() == pytest.approx(wrong.mean())


def test_a_splitter_and_its_pairs_are_the_same_study(tmp_path):
    X, y = visits()
    X = X.drop(columns="patient")
    splitter = ms.RepeatedKFold(n_splits=3, n_repeats=2, random_state=1)
    options = {**QUICK, "store": tmp_path / "s.db"}
    one = bk.compare(LEARNERS, X, y, cv=splitter, **options)
    other = bk.compare(LEARNERS, X, y, cv=list(splitter.split(X, y)), **options)
    assert one.outcome.record.digest == other.outcome.record.digest
    assert one.outcome.record.plan == other.outcome.record.plan
    assert one.outcome.record.plan == "your splits"
    assert one.decision.test == "corrected-repeated-kfold-t"
    np.testing.assert_array_equal(one.scores.losses, other.scores.losses)
    # what the first ran, the second found
    assert bk.open_study(tmp_path / "s.db").explain() == one.explain()
    with open_store(tmp_path / "s.db") as store:
        assert len(store.studies()) == 1


@pytest.mark.parametrize(
    ("asked", "test"),
    [
        (ms.TimeSeriesSplit(5), "corrected-resampled-t"),
        ("time:5", "corrected-resampled-t"),
        (ms.KFold(4), "corrected-repeated-kfold-t"),
        (ms.ShuffleSplit(8, test_size=0.2, random_state=0), "corrected-resampled-t"),
        (ms.ShuffleSplit(8, test_size=12, train_size=24, random_state=0), "corrected-resampled-t"),
        (ms.RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0), "5x2cv-f"),
        (ms.PredefinedSplit(np.arange(N) % 5 - 1), "corrected-resampled-t"),
        (ms.PredefinedSplit(np.where(np.arange(N) < 40, -1, 0)), "mcnemar"),
    ],
    ids=str,
)  # fmt: skip
def test_each_design_has_its_test_and_is_read_back(asked, test, tmp_path):
    X, y = visits()
    store = tmp_path / "s.db"
    study = bk.compare(LEARNERS, X[["a", "b"]], y, cv=asked, store=store, **QUICK)
    assert study.decision.test == test
    assert study.explain()
    assert (
        json.loads(json.dumps(study.to_dict(), allow_nan=False))["recommended"] == study.recommended
    )
    if study.outcome.record.design.kind != "holdout":
        assert bk.open_study(store).explain() == study.explain()


def test_several_data_sets_have_groups_by_name(tmp_path):
    sets = []
    for seed in range(3):
        X, y = visits(seed=seed)
        sets.append(read_data(X, y, name=f"set {seed}"))
    study = bk.compare(LEARNERS, sets, groups="patient", cv="group-kfold:3", **QUICK)
    assert study.scores.losses.shape == (2, 3, 1, 3, 1)
    with pytest.raises(ArgumentError, match="must be the name of a column that they have"):
        bk.compare(LEARNERS, data=sets, groups=np.arange(N), **QUICK)
    with pytest.raises(UnknownNameError, match="groups column 'doctor' in 'set 0'"):
        bk.compare(LEARNERS, data=sets, groups="doctor", **QUICK)
    X, y = visits(groups=9)
    odd = [*sets[:2], read_data(X, y, name="odd")]
    with pytest.raises(ArgumentError, match="same number of splits on all data sets"):
        bk.compare(LEARNERS, odd, groups="patient", cv=ms.LeaveOneGroupOut(), **QUICK)


def test_the_command_line_has_the_same(tmp_path, capsys):
    X, y = visits()
    X["share"], X["fold"], X["ill"] = 1.0 + np.arange(N) % 3, np.arange(N) % 4, y
    X = X[["a", "b", "fold", "ill", "share", "patient"]]
    file = tmp_path / "visits.csv"
    X.to_csv(file, index=False)
    words = ["compare", str(file), "--learner", "nmc", "--learner",
             "lr=sklearn.linear_model:LogisticRegression()", "--json"]  # fmt: skip

    def answer(*more):
        code = main([*words, *more])
        out, err = capsys.readouterr()
        return code, json.loads(out) if code == 0 else err

    code, held = answer(
        "--groups", "patient", "--set", "sample_weight=share", "--cv", "group-kfold:5"
    )
    assert code == 0
    assert "nmc accepts no weights" in json.dumps(held)
    code, held = answer("--cv", "predefined:fold", "--target", "ill")
    assert code == 0
    assert held["plan"] == "predefined:fold"
    code, err = answer("--groups", "patients")
    assert code != 0
    assert "did you mean 'patient'" in err
    code, err = answer("--cv", "group-kfold:5", "--target", "ill")
    assert code != 0
    assert "--groups ..." in err
    assert "Traceback" not in err
