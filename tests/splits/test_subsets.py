"""Nested runs on parts of the rows."""

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.splits import plan

LABELS = ["a", "b", "b", "a", "c", "b", "a", "a", "b", "c"] * 4


def made(spec, n=40, y=LABELS, groups=None, **keywords):
    return plan(spec, **keywords).materialise(n, y, groups)


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        (" 10 X 10 + Nested ", "10x10+nested"),
        ("kfold:4+nested", "kfold:4+nested"),
        ("3x4+NESTED", "3x4+nested"),
    ],
)
def test_reads_and_spells(written, spec):
    assert plan(written).spec == spec
    assert plan(spec) == plan(written)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("holdout:0.3+nested", "written 'RUNSxFOLDS+nested'"),
        ("10x10+halves:10x5", "written 'RUNSxFOLDS+nested', as in '10x5+nested'"),
        ("10x10+nest", "written 'RUNSxFOLDS+nested', as in '10x5+nested'"),
        ("10x10+", "written 'RUNSxFOLDS+nested"),
        ("5x2+nested", "at least 3 folds; got 2"),
    ],
)
def test_refuses(spec, message):
    with pytest.raises(ArgumentError) as caught:
        plan(spec)
    assert message in str(caught.value)


def test_the_other_runs_are_those_of_the_plain_plan():
    plain, more = made("3x4", random_state=7), made("3x4+nested", random_state=7)
    np.testing.assert_array_equal(plain.marks, more.marks)
    assert more.design.with_(nested_runs=0) == plain.design
    assert more.main.subset_marks is None
    assert plain.main is plain
    assert plain.fingerprint != more.fingerprint


def test_nested_leaves_pairs_of_folds_out_together():
    splits = made("2x4+nested")
    assert splits.design.nested_runs == 12
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
    assert not made("2x4").shares_models(3)
    with pytest.raises(ArgumentError, match="must be below 14 and 2"):
        splits.train(14, 0)
    with pytest.raises(ArgumentError, match="must be below 14 and 4; got run 0, fold 4"):
        splits.test(0, 4)
    pairs = splits.pairs_left_out([3, 5])
    np.testing.assert_array_equal(pairs.train(0, 1), splits.train(5, 0))
    both = np.union1d(splits.test(5, 0), splits.test(5, 1))
    np.testing.assert_array_equal(pairs.test(0, 1), both)
    np.testing.assert_array_equal(both[splits.folds_tested(5) == 1], splits.test(5, 1))


def test_design_in_words_and_situations():
    nested = made("2x4+nested").design
    assert nested.situations(n_datasets=1) == ("nested", "repeated-kfold")
    assert "nested cross-validation (12 pairs of folds left out together)" in nested.describe()
    assert nested.situations(n_datasets=2) == ("datasets", "dataset-folds")
    assert nested.test_share() == made("2x4").design.test_share()
