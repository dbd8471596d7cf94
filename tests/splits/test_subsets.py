"""Runs on parts of the rows: halves that share no row, and nested runs."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.splits import plan
from bestofk.splits.design import Design, Subsets

LABELS = ["a", "b", "b", "a", "c", "b", "a", "a", "b", "c"] * 4


def made(spec, n=40, y=LABELS, groups=None, **keywords):
    return plan(spec, **keywords).materialise(n, y, groups)


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        ("10x10+halves:10x5", "10x10+halves:10x5"),
        (" 10 X 10 + Halves : 4 × 3 ", "10x10+halves:4x3"),
        ("kfold:4+halves:3x2", "kfold:4+halves:3x2"),
        ("3x4+NESTED", "3x4+nested"),
    ],
)
def test_reads_and_spells(written, spec):
    assert plan(written).spec == spec
    assert plan(spec) == plan(written)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("loo+halves:3x2", "must follow runs of folds"),
        ("holdout:0.3+nested", "must follow runs of folds"),
        ("10x10+halfs:2x5", "written 'RUNSxFOLDS+halves:HALVINGSxFOLDS'"),
        ("10x10+halves:5", "written 'RUNSxFOLDS+halves:HALVINGSxFOLDS'"),
        ("10x10+nest", "written 'RUNSxFOLDS+nested', as in '10x5+nested'"),
        ("10x10+", "written 'RUNSxFOLDS+halves"),
        ("10x10+halves:1x5", "halvings of plan '10x10+halves:1x5' must be a whole number of at"),
        ("10x10+halves:5x1", "folds of the halves"),
        ("5x2+nested", "at least 3 folds; got 2"),
    ],
)
def test_refuses(spec, message):
    with pytest.raises(ArgumentError) as caught:
        plan(spec)
    assert message in str(caught.value)


def test_too_few_rows_for_the_folds_of_a_half():
    with pytest.raises(ArgumentError, match="at most half of the 9 rows; got 5"):
        made("2x3+halves:2x5", 9, LABELS[:9])


@given(n=st.integers(20, 60), seed=st.integers(0, 2**32), folds=st.integers(2, 10))
def test_the_two_sides_of_a_halving_are_the_rows(n, seed, folds):
    splits = plan(f"2x3+halves:3x{folds}", random_state=seed).materialise(n)
    marks = splits.subset_marks
    for halving in range(3):
        half, other = marks[2 * halving], marks[2 * halving + 1]
        assert ((half >= 0) ^ (other >= 0)).all()
        assert (half >= 0).sum() == n // 2
        for side in (half, other):
            sizes = np.bincount(side[side >= 0], minlength=folds)
            assert len(sizes) == folds
            assert sizes.max() - sizes.min() <= 1


def test_halves_leave_the_classes_to_chance_and_their_folds_do_not():
    y = np.repeat([0, 1], 50)
    splits = made("1x2+halves:40x5", 100, y)
    in_half = np.array([(y[marks >= 0]).sum() for marks in splits.subset_marks[0::2]])
    # hypergeometric: mean 25, sd sqrt(50 (1/2) (1/2) 50 / 99) = 2.51; of 40 draws within 0.7
    assert 1.8 < in_half.std() < 3.3
    for marks in splits.subset_marks:
        ones = np.bincount(marks[(marks >= 0) & (y == 1)], minlength=5)
        assert ones.max() - ones.min() <= 1


def test_training_and_test_rows_of_a_run_are_its_half():
    splits = made("2x4+halves:3x5")
    assert (splits.runs, splits.folds, splits.subset_runs) == (2, 4, 6)
    assert len(splits) == 2 * 4 + 6 * 5 == len(list(splits)) == len(list(splits.run_folds()))
    for run in range(2, 8):
        rows, alone = splits.half(run)
        tested = []
        for fold in range(5):
            train, test = splits.train(run, fold), splits.test(run, fold)
            assert not set(train) & set(test)
            assert sorted([*train, *test]) == rows.tolist()
            np.testing.assert_array_equal(rows[alone.train(0, fold)], train)
            np.testing.assert_array_equal(rows[alone.test(0, fold)], test)
            tested += test.tolist()
        assert sorted(tested) == rows.tolist()
    with pytest.raises(ArgumentError, match="must be below 8 and 5"):
        splits.train(8, 0)
    with pytest.raises(ArgumentError, match="must be below 8 and 4; got run 0, fold 4"):
        splits.test(0, 4)


def test_the_other_runs_are_those_of_the_plain_plan():
    plain, more = made("3x4", random_state=7), made("3x4+halves:4x5", random_state=7)
    np.testing.assert_array_equal(plain.marks, more.marks)
    assert more.design.with_(subsets=None) == plain.design
    assert more.main.subset_marks is None
    assert plain.main is plain
    assert plain.fingerprint != more.fingerprint


def test_fewer_halvings_are_the_first_of_more():
    few, many = made("3x4+halves:4x5"), made("6x4+halves:9x5")
    np.testing.assert_array_equal(few.subset_marks, many.subset_marks[:8])
    assert made("3x4+halves:4x5", random_state=1) != few
    other = [marks for marks in many.subset_marks if (marks >= 0).any()]
    assert len({marks.tobytes() for marks in other}) == 18


def test_nested_leaves_pairs_of_folds_out_together():
    splits = made("2x4+nested")
    assert splits.design.subsets == Subsets(kind="nested", runs=12, folds=2)
    number = 2
    for run in range(2):
        for i in range(4):
            for j in range(i + 1, 4):
                assert splits.shares_models(number)
                left = splits.test(run, i), splits.test(run, j)
                rest = sorted(set(range(40)) - set(left[0]) - set(left[1]))
                for fold in range(2):
                    np.testing.assert_array_equal(splits.test(number, fold), left[fold])
                    assert splits.train(number, fold).tolist() == rest
                number += 1
    assert number == 14 == splits.runs + splits.subset_runs
    assert not splits.shares_models(0)
    assert not made("2x4+halves:3x5").shares_models(3)
    pairs = splits.pairs_left_out([3, 5])
    np.testing.assert_array_equal(pairs.train(0, 1), splits.train(5, 0))
    both = np.union1d(splits.test(5, 0), splits.test(5, 1))
    np.testing.assert_array_equal(pairs.test(0, 1), both)
    np.testing.assert_array_equal(both[splits.folds_tested(5) == 1], splits.test(5, 1))


def test_groups_stay_on_one_side_and_in_one_fold():
    groups = np.repeat(np.arange(20), 2)
    splits = made("2x4+halves:5x3", 40, LABELS, groups)
    for marks in splits.subset_marks:
        for group in range(20):
            assert len(set(marks[groups == group])) == 1
    with pytest.raises(ArgumentError, match="half of the 4 groups"):
        made("2x4+halves:5x3", 40, LABELS, np.repeat(np.arange(4), 10))


def test_design_in_words_and_situations():
    design = made("2x4+halves:3x5").design
    assert design.situations(n_datasets=1) == ("halves", "repeated-kfold")
    assert design.situations(n_datasets=2) == ("datasets", "dataset-folds")
    assert "3 halvings of the rows, each half with 5-fold cross-validation" in design.describe()
    nested = made("2x4+nested").design
    assert nested.situations(n_datasets=1) == ("nested", "repeated-kfold")
    assert "nested cross-validation (12 pairs of folds left out together)" in nested.describe()
    assert design.test_share() == made("2x4").design.test_share()


@pytest.mark.parametrize(
    ("subsets", "message"),
    [
        ({"kind": "thirds", "runs": 4, "folds": 2}, "kind of subsets"),
        (
            {"kind": "halves", "runs": 5, "folds": 2},
            r"must be even \(two runs per halving\); got 5",
        ),
        ({"kind": "halves", "runs": 0, "folds": 2}, "runs of subsets"),
        ({"kind": "nested", "runs": 4, "folds": 0}, "folds of subsets"),
        ({"kind": "nested", "runs": 4, "folds": 3}, "must be 2, the pair; got 3"),
    ],
)
def test_subsets_refuse(subsets, message):
    with pytest.raises(ArgumentError, match=message):
        Design(kind="cv", runs=2, folds=4, subsets=Subsets(**subsets))
