"""Designs: sizes, situations and descriptions."""

import pytest

from bestofk._base.errors import ArgumentError
from bestofk.splits import Design, plan


@pytest.mark.parametrize(
    ("spec", "situations"),
    [
        ("5x2", ("5x2", "repeated-kfold")),
        ("10x10", ("repeated-kfold",)),
        ("kfold:10", ("kfold",)),
        ("loo", ("kfold", "loo")),
        ("resample:30:0.1", ("resample",)),
        ("bootstrap:20", ("bootstrap",)),
        ("holdout:0.3", ()),
    ],
)
def test_situation_of_every_plan(spec, situations):
    design = plan(spec).materialise(23).design
    assert design.situations(n_datasets=1) == situations
    several = ("datasets",) if spec in ("loo", "holdout:0.3") else ("datasets", "dataset-folds")
    assert design.situations(n_datasets=2) == several


def test_test_share_is_what_the_rows_give():
    # 3 folds of 23 rows: 8, 8, 7 tested and 15, 15, 16 trained.
    assert plan("kfold:3").materialise(23).design.test_share() == pytest.approx(23 / 46)
    assert plan("resample:9:0.3").materialise(23).design.test_share() == pytest.approx(7 / 16)
    assert Design(kind="cv", folds=10).test_share() == pytest.approx(1 / 9)
    assert Design(kind="resample", folds=10).test_share() is None


def test_sizes_are_checked():
    with pytest.raises(ArgumentError, match="each of the 6 folds"):
        Design(kind="cv", runs=2, folds=3, n_test=(1, 2))
    assert Design(kind="cv", runs=2, folds=3, n_test=4).n_test == (4,) * 6


def test_dropping_folds_does_not_change_how_many_rows_the_others_had():
    ten = Design(kind="cv", folds=10)
    nine = ten.select([[True] * 4 + [False] + [True] * 5])
    assert (nine.folds, nine.planned_folds, nine.test_share()) == (9, 10, 1 / 9)
    assert nine.describe() == "one run of 10-fold cross-validation, with 9 folds left"
    # and it survives other changes, and a second loss
    again = nine.with_(repetitions=3).select([[False] + [True] * 8])
    assert (again.folds, again.test_share()) == (8, 1 / 9)
    assert ten.select([[True] * 10]) == ten
    # whole runs that are dropped leave their folds complete
    three = Design(kind="cv", runs=4, folds=5).select(
        [[True] * 5, [False] * 5, [True] * 5, [True] * 5]
    )
    assert three == Design(kind="cv", runs=3, folds=5)
    # sizes go with their folds: 23 rows in 3 folds of 8, 8 and 7
    rows = plan("2x3").materialise(23).design
    last = rows.select([[False] * 3, [False, True, True]])
    assert (last.n_test, last.n_train) == ((8, 7), (15, 16))
    assert last.describe() == "one run of 3-fold cross-validation, with 2 folds left"
    # random splits have no planned number to keep
    assert Design(kind="resample", folds=3).select([[True, True, False]]).planned_folds is None


def test_five_runs_of_two_folds_that_are_left_of_three_are_not_5x2():
    left = Design(kind="cv", runs=5, folds=3).select([[True, True, False]] * 5)
    assert left.situations(n_datasets=1) == ("repeated-kfold",)
    assert left.describe() == "5 runs of 3-fold cross-validation, with 2 folds of each left"


def test_selected_folds_must_form_a_table():
    design = Design(kind="cv", runs=2, folds=2)
    for which in ([[True, False], [True, True]], [[False, False]] * 2):
        with pytest.raises(ArgumentError, match="same folds in every run"):
            design.select(which)
    with pytest.raises(ArgumentError, match="must have the shape"):
        design.select([True, True])
    with pytest.raises(ArgumentError, match="planned_folds"):
        Design(kind="cv", folds=4, planned_folds=3)


def test_bootstrap_samples_count_the_distinct_rows():
    """1 - (1 - 1/n)^n of the rows are in a sample: 0.366 / 0.634 at n = 100."""
    splits = plan("bootstrap:400", stratified=False).materialise(100)
    distinct = [len(set(train)) for _, _, train, _ in splits]
    assert splits.design.n_train == tuple(distinct)
    assert splits.design.test_share() == pytest.approx(0.99**100 / (1 - 0.99**100), rel=0.02)
