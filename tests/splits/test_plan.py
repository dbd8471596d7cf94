"""Invariants of every plan, over random rows, labels and seeds."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.splits import Plan, Splits, plan
from bestofk.splits.folds import BOOTSTRAP, raw_keys
from bestofk.splits.splits import distinct_rows

SPECS = ("3x4", "5x2", "kfold:3", "holdout:0.33", "resample:7:0.25", "loo", "bootstrap:6")
seeds = st.integers(0, 2**64)


@st.composite
def labels(draw, least=6, most=40):
    n = draw(st.integers(least, most))
    return np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))


def spread(counts):
    return int(np.max(counts) - np.min(counts))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("stratified", [None, False])
@given(y=labels(), seed=seeds)
@settings(max_examples=15)
def test_every_plan_splits_cleanly(spec, stratified, y, seed):
    if spec.startswith("bootstrap") and stratified is None and np.bincount(y).max() < 2:
        return
    n = len(y)
    plan_ = plan(spec, stratified=stratified, random_state=seed)
    splits = plan_.materialise(n, y)
    order = []
    for i, (run, fold, train, test) in enumerate(plan_.splits(y, y)):
        order.append((run, fold))
        assert train.dtype == test.dtype == np.int64
        assert (np.diff(train) >= 0).all()
        assert (np.diff(test) > 0).all()
        assert len(test) > 0
        assert not set(train) & set(test)
        assert set(train) | set(test) == set(range(n))
        assert len(set(train)) == distinct_rows(train) == splits.design.n_train[i]
        assert len(test) == splits.design.n_test[i]
        np.testing.assert_array_equal(train, splits.train(run, fold))
        np.testing.assert_array_equal(test, splits.test(run, fold))
        if splits.design.kind == "bootstrap":
            assert len(train) == n
        else:
            assert len(set(train)) == len(train)
    assert order == [(r, f) for r in range(splits.runs) for f in range(splits.folds)]
    assert len(order) == len(splits)
    assert splits.design.stratified is (stratified is None and spec != "loo")


@given(y=labels(), seed=seeds, runs=st.integers(1, 3), folds=st.integers(2, 6))
def test_stratified_folds_differ_by_at_most_one(y, seed, runs, folds):
    splits = plan(f"{runs}x{folds}", random_state=seed).materialise(len(y), y)
    assert splits.fold_of.shape == (runs, len(y))
    for row in splits.fold_of:
        sizes = np.bincount(row, minlength=folds)
        assert spread(sizes) <= 1
        assert sorted(sizes, reverse=True) == sizes.tolist()
        for c in np.unique(y):
            assert spread(np.bincount(row[y == c], minlength=folds)) <= 1


@given(n=st.integers(2, 60), seed=seeds, data=st.data())
def test_plain_folds_have_the_printed_sizes(n, seed, data):
    # Ler: p = n mod k folds of m + 1 rows and q = k - p of m = floor(n / k).
    k = data.draw(st.integers(2, n))
    splits = plan(f"kfold:{k}", random_state=seed).materialise(n)
    m, p = divmod(n, k)
    assert splits.design.n_test == (m + 1,) * p + (m,) * (k - p)
    assert np.bincount(splits.fold_of[0]).tolist() == list(splits.design.n_test)
    assert splits.design.stratified is False


@given(y=labels(), seed=seeds, share=st.sampled_from([0.1, 0.25, 0.33, 0.5, 0.8]))
def test_stratified_random_splits_keep_the_shares(y, seed, share):
    n = len(y)
    splits = plan(f"resample:5:{share!r}", random_state=seed).materialise(n, y)
    n_test = int(np.floor(share * n + 0.5 + 1e-9))
    for _, _, _, test in splits:
        assert len(test) == n_test
        for c in np.unique(y):
            due = np.sum(y == c) * n_test / n
            assert np.floor(due) <= np.sum(y[test] == c) <= np.ceil(due)


def test_largest_remainders_win():
    # 7, 2 and 1 rows, 4 of 10 tested: due 2.8, 0.8, 0.4, so 3, 1, 0.
    y = ["a"] * 7 + ["b"] * 2 + ["c"]
    splits = plan("resample:20:0.4").materialise(10, y)
    for _, _, _, test in splits:
        assert [np.sum(np.array(y)[test] == c) for c in "abc"] == [3, 1, 0]
    assert splits.notes == ("Class 'c' (1 row) is never tested.",)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("3x4", "9x4"),
        ("kfold:4", "9x4"),
        ("holdout:0.3", "resample:9:0.3"),
        ("resample:4:0.3", "resample:9:0.3"),
        ("bootstrap:3", "bootstrap:9"),
    ],
)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("labelled", [False, True])
def test_a_shorter_plan_is_the_beginning_of_a_longer_one(short, long, grouped, labelled):
    n = 43
    y = np.arange(n) % 3 if labelled else None
    groups = np.arange(n) // 3 if grouped else None
    first = plan(short, random_state=9).materialise(n, y, groups)
    whole = plan(long, random_state=9).materialise(n, y, groups)
    np.testing.assert_array_equal(first.marks, whole.marks[: len(first.marks)])
    assert not np.array_equal(whole.marks[0], whole.marks[1])


def test_a_prefix_holds_across_blocks(monkeypatch):
    from bestofk.splits import folds as streams

    whole = plan("30x3").materialise(50, np.arange(50) % 4)
    monkeypatch.setattr(streams, "_MAX_KEYS", 120)
    assert plan("30x3").materialise(50, np.arange(50) % 4) == whole


@pytest.mark.parametrize("spec", SPECS)
def test_only_the_grouping_of_labels_matters(spec):
    y = np.array([2, 0, 0, 1, 2, 2, 0, 1, 1, 2, 0, 2])
    names = np.array(["zebra", "ant", "cow"])
    first = plan(spec).materialise(12, y)
    forms = [
        y.tolist(),
        y.astype(float),
        y.astype(np.uint8),
        names[y],
        names[y].tolist(),
        names[y].astype(object),
        y[:, None],
        -7 * y,
    ]
    for form in forms:
        again = plan(spec).materialise(12, form)
        assert again == first
        assert again.fingerprint == first.fingerprint


def test_data_frames_and_categories():
    pd = pytest.importorskip("pandas")
    y = pd.Series(["b", "a", "b", "a", "c", "c", "b", "a"])
    frame = pd.DataFrame({"x": np.arange(8.0)})
    plain = plan("2x3").materialise(8, y.to_numpy())
    for form in (y, y.astype("category"), y.astype("string"), y.to_frame()):
        for (_, _, _, got), (_, _, _, expected) in zip(
            plan("2x3").splits(frame, form), plain, strict=True
        ):
            np.testing.assert_array_equal(got, expected)
    # Categories are labels even when they are fractions; so are intervals of pd.cut.
    binned = pd.Series([0.5, 1.5] * 4).astype("category")
    assert plan("2x3").materialise(8, binned).design.stratified is True
    assert plan("2x3").materialise(8, pd.cut(frame["x"], 2)).design.stratified is True
    missing = pd.Series([1, None, 2, 1, 2, 1, 2, 1], dtype="Int64")
    with pytest.raises(ArgumentError, match="row 1 is missing"):
        plan("2x3").materialise(8, missing)


def test_rows_are_counted_in_anything_with_rows():
    sparse = pytest.importorskip("scipy.sparse")
    expected = list(plan("kfold:2").splits(np.zeros((7, 2))))
    for X in (sparse.csr_matrix((7, 2)), [[0]] * 7, np.zeros((7, 2, 3))):
        for got, row in zip(plan("kfold:2").splits(X), expected, strict=True):
            np.testing.assert_array_equal(got[3], row[3])
    with pytest.raises(ArgumentError, match="X must be something with rows"):
        plan("kfold:2").splits(7)


@pytest.mark.parametrize(
    ("y", "stratified"),
    [
        ([0, 1, 0, 1], True),
        ([True, False, True, False], True),
        (["a", "b", "a", "b"], True),
        ([0.0, 1.0, 0.0, 1.0], True),
        ([0.5, 1.0, 0.0, 1.0], False),
        (np.array([0.5, 1.0, 0.0, 1.0], dtype=object), False),
        (np.array(["2020-01-01"] * 4, dtype="datetime64[D]"), False),
        (None, False),
    ],
)
def test_stratified_for_labels_only(y, stratified):
    assert plan("kfold:2").materialise(4, y).design.stratified is stratified


def test_the_seed_matters_and_the_fingerprint_tells():
    y = np.arange(30) % 3
    seen = {
        plan(spec, stratified=s, random_state=seed).materialise(n, y[:n]).fingerprint
        for spec in ("3x4", "4x4", "3x5", "resample:3:0.3", "resample:3:0.31", "bootstrap:3")
        for s in (True, False)
        for seed in (0, 1, 2**70)
        for n in (30, 29)
    }
    # 0.31 of 30 and 29 rows is 9 as is 0.3: the specification keeps them apart.
    assert len(seen) == 6 * 2 * 3 * 2
    assert plan("1x4").materialise(30, y) == plan("kfold:4").materialise(30, y)
    assert plan(" 3X4 ").materialise(30, y) == plan("3×4").materialise(30, y)


def test_seeds_of_every_sort():
    rng = np.random.default_rng(4)
    from_generator = plan("5x2", random_state=rng)
    assert from_generator.seed == plan("5x2", random_state=np.random.default_rng(4)).seed
    assert from_generator.seed != plan("5x2", random_state=rng).seed
    assert plan("5x2", random_state=None).seed != plan("5x2", random_state=None).seed
    assert plan("5x2", random_state=np.int32(3)) == plan("5x2", random_state=3)
    for bad in (-1, 1.5, "x", True):
        with pytest.raises(ArgumentError, match="random_state must be"):
            plan("5x2", random_state=bad)


def test_splits_are_a_read_only_value():
    splits = plan("3x4").materialise(20, np.arange(20) % 2)
    with pytest.raises(ValueError, match="read-only"):
        splits.fold_of[0, 0] = 1
    with pytest.raises(AttributeError):
        splits.n = 3
    again = pickle.loads(pickle.dumps(splits))
    assert again == splits
    assert hash(again) == hash(splits)
    assert splits != "3x4"
    assert isinstance(splits, Splits)
    for run, fold in ((3, 0), (0, 4)):
        with pytest.raises(ArgumentError, match="below 3 and 4"):
            splits.train(run, fold)
    with pytest.raises(ArgumentError, match="run must be"):
        splits.test(-1, 0)
    assert plan("holdout:0.5").materialise(20).fold_of is None


def test_a_plan_is_a_value_and_comes_back():
    tenfold = plan("10x10", random_state=7)
    assert plan(tenfold) is tenfold
    assert plan(tenfold.spec, random_state=7) == tenfold
    assert isinstance(tenfold, Plan)
    assert str(tenfold) == "10x10"
    assert pickle.loads(pickle.dumps(tenfold)) == tenfold
    assert hash(tenfold) == hash(plan("10x10", random_state=7))


def test_small_classes_are_spread_with_a_note():
    y = ["a"] * 20 + ["b"] * 3 + ["c"]
    splits = plan("4x5").materialise(24, y)
    assert splits.notes == (
        "Classes 'b' (3 rows), 'c' (1 row) have fewer rows than the 5 folds, so some folds test "
        "none of their rows.",
        "Class 'c' (1 row) is predicted by models trained without it.",
    )
    for row in splits.fold_of:
        assert len(set(row[20:23])) == 3
    assert plan("kfold:3").materialise(24, ["a"] * 21 + ["b"] * 3).notes == ()
    many = plan("kfold:3").materialise(24, [str(i) for i in range(24)])
    assert "and 21 more have fewer rows" in many.notes[0]


def test_every_partition_is_as_likely():
    # Four rows in two halves: three partitions, 3,000 runs. 4.5 standard deviations.
    fold_of = plan("3000x2", random_state=11).materialise(4).fold_of
    mates = (fold_of[:, 1:] == fold_of[:, :1]).sum(axis=0)
    assert mates.sum() == 3000
    assert np.abs(mates - 1000).max() < 4.5 * np.sqrt(3000 * 2 / 9)


def test_notes_for_odd_targets():
    single = plan("kfold:2").materialise(6, ["a"] * 6)
    assert single.notes == ("All rows are of class 'a': stratification has no effect.",)
    assert single.design.stratified is True
    np.testing.assert_array_equal(single.fold_of, plan("kfold:2").materialise(6).fold_of)
    quantity = plan("kfold:2").materialise(30, np.arange(30))
    assert "are treated as a quantity" in quantity.notes[0]
    assert quantity.design.stratified is False
    drawn = plan("bootstrap:50").materialise(2)
    assert drawn.design.n_test == (1,) * 50
    # Sample 0 of 3 rows, drawn again as often as it takes, uses fresh keys of its own stream.
    for seed in range(40):
        keys = raw_keys(seed, BOOTSTRAP, 0, 60).reshape(20, 3) % 3
        first = next(row for row in keys.tolist() if len(set(row)) < 3)
        assert plan("bootstrap:1", random_state=seed).materialise(3).train(0, 0).tolist() == (
            sorted(first)
        )


@pytest.mark.parametrize(
    ("spec", "n", "y", "options", "message"),
    [
        ("kfold:5", 4, None, {}, "at most as many folds as there are rows .4.; got 5"),
        ("kfold:2", 1, None, {}, "at least 2 rows"),
        ("loo", 0, None, {}, "at least 2 rows"),
        ("kfold:2", -3, None, {}, "number of rows must be a whole number"),
        ("holdout:0.01", 20, None, {}, "leaves none to test"),
        ("holdout:0.99", 20, None, {}, "leaves none to train on"),
        ("kfold:2", 4, [0, 1, 0], {}, "y must hold one value for each of the 4 rows; got 3"),
        ("kfold:2", 4, [[0, 1]] * 4, {}, "one value per row; got shape"),
        ("kfold:2", 4, [[0], [1, 2], [3], [4]], {}, "different lengths"),
        ("kfold:2", 4, [0, None, 1, 0], {}, "no missing values; row 1"),
        ("kfold:2", 4, [0.0, 1.0, float("nan"), 0.0], {}, "no missing values; row 2"),
        ("kfold:2", 4, None, {"stratified": True}, "needs the labels y"),
        ("kfold:2", 4, [0.5, 1, 2, 3], {"stratified": True}, "needs class labels"),
        ("bootstrap:3", 4, ["a", "b", "c", "d"], {}, "class of at least 2 rows"),
    ],
)
def test_refuses(spec, n, y, options, message):
    with pytest.raises(ArgumentError, match=message):
        plan(spec, **options).materialise(n, y)


def test_refuses_at_once_not_at_the_first_split():
    with pytest.raises(ArgumentError, match="at most as many"):
        plan("kfold:5").splits(np.zeros((4, 1)))
    with pytest.raises(ArgumentError, match="stratified must be"):
        plan("kfold:5", stratified="yes")


def test_unhashable_labels_raise():
    y = np.empty(4, dtype=object)
    y[:] = [[0], [1], [0], [1]]
    with pytest.raises(ArgumentError, match="cannot be hashed"):
        plan("kfold:2").materialise(4, y)


def test_leave_one_out_ignores_the_seed():
    a, b = (plan("loo", random_state=s).materialise(9, np.arange(9) % 2) for s in (0, 1))
    assert a.fingerprint == b.fingerprint
    assert a.fold_of.tolist() == [list(range(9))]
    assert a.design.kind == "loo"
    assert a.notes == ()
