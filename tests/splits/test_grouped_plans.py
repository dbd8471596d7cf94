"""Plans with groups: no group on both sides, balanced folds, notes on limits."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.splits import plan


@st.composite
def grouped(draw):
    n_groups = draw(st.integers(6, 12))
    sizes = draw(st.lists(st.integers(1, 9), min_size=n_groups, max_size=n_groups))
    groups = np.repeat(np.arange(n_groups), sizes)
    order = np.array(draw(st.permutations(range(len(groups)))))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=len(groups), max_size=len(groups))))
    return groups[order], y


@given(data=grouped(), seed=st.integers(0, 10**6))
@settings(max_examples=30)
def test_folds_differ_by_no_more_than_the_largest_group(data, seed):
    groups, _ = data
    splits = plan("2x4", random_state=seed).materialise(len(groups), None, groups)
    for row in splits.fold_of:
        sizes = np.bincount(row, minlength=4)
        assert sizes.max() - sizes.min() <= np.bincount(groups).max()


@given(data=grouped(), seed=st.integers(0, 10**6))
@settings(max_examples=30)
def test_test_part_is_within_a_group_of_its_share(data, seed):
    groups, _ = data
    n, largest = len(groups), np.bincount(groups).max()
    splits = plan("resample:5:0.4", random_state=seed).materialise(n, None, groups)
    for size in splits.design.n_test:
        assert abs(size - 0.4 * n) <= largest


def test_stratified_and_grouped_is_better_than_grouped_alone():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    y = np.repeat(rng.random(60) < 0.2, 5).astype(int)  # whole groups of one class

    def unevenness(splits):
        shares = [y[test].mean() for _, _, _, test in splits]
        return np.mean(np.abs(np.array(shares) - y.mean()))

    for spec in ("10x5", "resample:40:0.25"):
        with_y = plan(spec).materialise(300, y, groups)
        without = plan(spec, stratified=False).materialise(300, y, groups)
        assert unevenness(with_y) < unevenness(without) / 2
        assert with_y.design.stratified is True
        assert "only approximately" in " ".join(with_y.notes)


def test_a_rare_class_is_spread_over_the_folds():
    # 40 groups of 10 rows, 8 of them with one row of a rare class: two such groups a fold.
    groups = np.arange(400) // 10
    y = np.where((groups % 5 == 0) & (np.arange(400) % 10 == 3), "rare", "common")
    splits = plan("20x4").materialise(400, y, groups)
    for row in splits.fold_of:
        assert np.bincount(row[y == "rare"], minlength=4).tolist() == [2, 2, 2, 2]
        assert np.bincount(row).tolist() == [100] * 4


def test_identical_runs_are_noted():
    splits = plan("5x3").materialise(9, None, np.repeat([0, 1, 2], 3))
    assert splits.notes == (
        "Only 1 of the 5 runs differ: the groups allow no other even division into folds.",
    )
    free = plan("5x3").materialise(300, None, np.arange(300) // 3)
    assert free.notes == ()
    assert len({row.tobytes() for row in free.fold_of}) == 5


def test_leave_one_group_out():
    splits = plan("loo").materialise(6, None, ["b", "a", "b", "c", "c", "c"])
    assert [test.tolist() for _, _, _, test in splits] == [[0, 2], [1], [3, 4, 5]]
    assert splits.design.kind == "cv"
    assert splits.design.folds == 3
    assert "left out as a whole" in splits.notes[0]


def test_bootstrap_draws_whole_groups():
    groups = np.repeat(np.arange(8), np.arange(1, 9))
    splits = plan("bootstrap:10").materialise(len(groups), np.arange(36) % 2, groups)
    for _, _, train, _ in splits:
        counts = np.bincount(train, minlength=36)
        times = [set(counts[groups == g]) for g in range(8)]
        assert all(len(t) == 1 for t in times)
        assert sum(t.pop() for t in times) == 8
    assert splits.design.stratified is False
    assert any("not stratified" in note for note in splits.notes)


def test_refuses():
    with pytest.raises(
        ArgumentError, match=r"at most as many folds as there are groups \(3\); got 4"
    ):
        plan("kfold:4").materialise(9, None, np.repeat([0, 1, 2], 3))
    with pytest.raises(ArgumentError, match="at least 2 groups"):
        plan("kfold:2").materialise(4, None, ["a"] * 4)
    with pytest.raises(ArgumentError, match="groups must hold one value for each of the 4 rows"):
        plan("kfold:2").materialise(4, None, ["a", "b"])


def test_groups_are_dealt_whatever_their_size():
    """Large groups may meet in one fold: 5 of 25 groups are large, and there are 5 folds."""
    sizes = np.where(np.arange(25) % 5 == 0, 8, 2)
    groups = np.repeat(np.arange(25), sizes)
    folds = plan("200x5").materialise(len(groups), None, groups).marks
    first_rows = np.cumsum(sizes) - sizes
    large = folds[:, first_rows[::5]]
    # if large groups came first, each fold would hold one of them in every run
    together = sum(len(set(run)) < 5 for run in large.tolist())
    assert together > 100


def test_unequal_groups_count_as_fewer_equal_ones():
    groups = np.repeat(np.arange(20), [16] * 4 + [4] * 16)
    splits = plan("2x5").materialise(len(groups), None, groups)
    # Bell and McCaffrey's degrees of freedom of these sizes, plus 1
    assert splits.design.groups == 9
    assert "worth 9 of equal size" in splits.design.describe()
    equal = plan("2x5").materialise(100, None, np.arange(100) // 5)
    assert equal.design.groups == 20
