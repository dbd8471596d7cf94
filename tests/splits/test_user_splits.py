"""User splits: checks, names and recognised designs."""

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as ms

from bestofk._base.errors import ArgumentError
from bestofk.splits import plan

N = 60
Y = np.arange(N) % 3
GROUPS = np.arange(N) // 5

SPLITTERS = [
    (ms.KFold(4), "cv", 1, 4),
    (ms.KFold(4, shuffle=True, random_state=1), "cv", 1, 4),
    (ms.RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), "cv", 2, 3),
    (ms.RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0), "cv", 5, 2),
    (ms.StratifiedKFold(3), "cv", 1, 3),
    (ms.GroupKFold(3), "cv", 1, 3),
    (ms.StratifiedGroupKFold(3), "cv", 1, 3),
    (ms.LeaveOneGroupOut(), "cv", 1, 12),
    (ms.LeaveOneOut(), "loo", 1, 60),
    (ms.TimeSeriesSplit(5), "time", 1, 5),
    (ms.TimeSeriesSplit(4, gap=2, max_train_size=20), "time", 1, 4),
    (ms.ShuffleSplit(6, test_size=0.25, random_state=0), "resample", 1, 6),
    (ms.ShuffleSplit(6, test_size=0.2, train_size=0.5, random_state=0), "resample", 1, 6),
    (ms.StratifiedShuffleSplit(5, test_size=0.2, random_state=3), "resample", 1, 5),
    (ms.GroupShuffleSplit(8, test_size=0.25, random_state=3), "resample", 1, 8),
    (ms.PredefinedSplit(np.arange(N) % 4), "cv", 1, 4),
    (ms.PredefinedSplit(np.arange(N) % 5 - 1), "resample", 1, 4),
    (ms.PredefinedSplit(np.where(np.arange(N) < 45, -1, 0)), "holdout", 1, 1),
    (ms.ShuffleSplit(1, test_size=0.25, random_state=0), "holdout", 1, 1),
    (ms.LeavePGroupsOut(2), "resample", 1, 66),
]


@pytest.mark.parametrize(("splitter", "kind", "runs", "folds"), SPLITTERS, ids=repr)
def test_splitter_design_is_recognised(splitter, kind, runs, folds):
    grouped = "Group" in type(splitter).__name__
    groups = GROUPS if grouped else None
    pairs = list(splitter.split(np.zeros((N, 1)), Y, groups))
    splits = plan(splitter).materialise(N, Y, groups)
    assert (splits.design.kind, splits.runs, splits.folds) == (kind, runs, folds)
    assert splits.design.groups == (12 if grouped else None)
    assert len(splits) == len(pairs)
    for (_, _, train, test), (wanted_train, wanted_test) in zip(splits, pairs, strict=True):
        np.testing.assert_array_equal(train, np.sort(wanted_train))
        np.testing.assert_array_equal(test, np.sort(wanted_test))
    assert splits.design.n_train == tuple(len(train) for train, _ in pairs)
    assert splits.design.n_test == tuple(len(test) for _, test in pairs)
    # the same splits as pairs, in lists, in masks and from a generator: the same plan
    masks = [[np.isin(np.arange(N), side) for side in pair] for pair in pairs]
    lists = [(train.tolist(), test[::-1].tolist()) for train, test in pairs]
    for given_pairs in (pairs, masks, lists, (pair for pair in pairs)):
        assert plan(given_pairs).materialise(N, Y, groups).fingerprint == splits.fingerprint


def test_windows_in_time_are_those_of_scikit_learn():
    for n, windows in ((60, 5), (61, 5), (11, 10), (100, 3)):
        ours = plan(f"time:{windows}").materialise(n)
        theirs = ms.TimeSeriesSplit(windows).split(np.zeros(n))
        for (_, _, train, test), (wanted_train, wanted_test) in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(train, wanted_train)
            np.testing.assert_array_equal(test, wanted_test)
    with pytest.raises(ArgumentError, match=r"windows of plan 'time:10' must be fewer than"):
        plan("time:10").materialise(10)


def test_bootstrap_samples_of_your_own_are_recognised():
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(4):
        drawn = rng.integers(N, size=N)
        pairs.append((drawn, np.setdiff1d(np.arange(N), drawn)))
    splits = plan(pairs).materialise(N)
    assert splits.design.kind == "bootstrap"
    for (_, _, train, test), (drawn, left) in zip(splits, pairs, strict=True):
        np.testing.assert_array_equal(train, np.sort(drawn))
        np.testing.assert_array_equal(test, left)


def half(n, first):
    rows = np.arange(n)
    return [(rows[first:], rows[:first]), (rows[:first], rows[first:])]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "at least one split"),
        ([(np.arange(5), np.arange(4, 10))], r"in split 1 1 row does \(row 4\)"),
        ([(np.arange(5), [])], "test rows of split 1 must be row numbers .* at least one"),
        ([([], np.arange(5))], "training rows of split 1 must be row numbers .* at least one"),
        ([(np.arange(5), [5, 6, 6])], "row 6 appears twice"),
        ([(np.arange(5), [5, 60])], r"from 0 to 59.*got \[5, 60\]"),
        ([(np.arange(5), [-1])], r"from 0 to 59.*got \[-1\]"),
        ([(np.arange(5), [5.5])], "must be row numbers"),
        ([(np.arange(5), np.ones(9, dtype=bool))], "a boolean for each of the 60 rows"),
        ([(np.arange(5), [5]), (np.arange(5), [5])], "Split 2 repeats split 1"),
        ([np.arange(5)], "split 1 is not a pair"),
        ([(np.arange(5), "ab")], "must be row numbers"),
    ],
)
def test_invalid_splits_raise_one_sentence(pairs, message):
    with pytest.raises(ArgumentError, match=message):
        plan(pairs).materialise(N)


def test_left_out_rows_are_noted():
    pairs = [(np.arange(0, 20), np.arange(20, 30)), (np.arange(20, 40), np.arange(0, 10))]
    said = " ".join(plan(pairs).materialise(N).notes)
    assert "20 of the 60 rows are in no split." in said
    assert "20 of the 60 rows are never tested." in said


@pytest.mark.parametrize(
    "pairs",
    [
        # one test part, whatever trains: its luck is in every split
        [(np.delete(np.arange(10, N), slice(i, i + 9)), np.arange(10)) for i in range(8)],
        # sizes that differ too much for one correction
        [(np.arange(5, N), np.arange(5)), (np.arange(30), np.arange(30, N)),
         (np.arange(10, N), np.arange(4))],
    ],
)  # fmt: skip
def test_splits_without_a_structure_have_no_test(pairs):
    design = plan(pairs).materialise(N).design
    assert design.kind == "splits"
    assert design.situations(n_datasets=1) == ()


def test_divided_groups_raise():
    for given_plan in (ms.KFold(3, shuffle=True, random_state=0), half(N, 33)):
        with pytest.raises(ArgumentError, match=r"No group may .*'group-kfold:5'"):
            plan(given_plan).materialise(N, Y, GROUPS)


def test_a_column_of_folds():
    frame = pd.DataFrame({"x": np.arange(N), "Fold+1": np.arange(N) % 4})
    splits = plan("predefined:Fold+1").materialise(N, X=frame)
    assert (splits.spec, splits.design.kind, splits.folds) == ("predefined:Fold+1", "cv", 4)
    np.testing.assert_array_equal(splits.fold_of[0], np.arange(N) % 4)
    words = frame.assign(part=np.where(np.arange(N) < 40, "train", "Test"))
    one = plan("predefined:part").materialise(N, X=words)
    assert one.design.kind == "holdout"
    np.testing.assert_array_equal(one.test(0, 0), np.arange(40, N))
    for column, message in (
        (np.where(np.arange(N) < 20, "train", np.where(np.arange(N) < 40, "valid", "test")),
         "must hold train and test, or at least 2 numbers"),
        (np.zeros(N), r"at least 2 numbers.*got 0\.0"),
        (-np.ones(N), r"at least 2 numbers.*got -1\.0"),
        (np.where(np.arange(N) < 3, np.nan, 1), "must have no missing values"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=message):
            plan("predefined:part").materialise(N, X=words.assign(part=column))
    with pytest.raises(LookupError, match="column of folds 'part'"):
        plan("predefined:part").materialise(N, X=frame)
    with pytest.raises(ArgumentError, match="needs the column 'part'"):
        plan("predefined:part").materialise(N)
