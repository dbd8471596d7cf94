"""Designs: sizes, situations and words."""

import pytest

from bestofk.errors import ArgumentError
from bestofk.plans import Design, plan


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
    assert design.situations(n_datasets=2) == ("datasets",)


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
