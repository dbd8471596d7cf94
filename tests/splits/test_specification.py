"""Specifications: parsing, canonical spelling and errors with suggestions."""

import pytest

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.splits import PLANS, plan


@pytest.mark.parametrize(
    ("written", "spec", "kind", "runs", "folds", "share"),
    [
        ("5x2", "5x2", "cv", 5, 2, None),
        ("10x10", "10x10", "cv", 10, 10, None),
        ("group-10x10", "group-10x10", "cv", 10, 10, None),
        ("Group-kfold:5", "group-kfold:5", "cv", 1, 5, None),
        ("group-1x5", "group-kfold:5", "cv", 1, 5, None),
        ("group-10x5+nested", "group-10x5+nested", "cv", 10, 5, None),
        ("time:7", "time:7", "time", 1, 7, None),
        (" 10 × 3 ", "10x3", "cv", 10, 3, None),
        ("3X4", "3x4", "cv", 3, 4, None),
        ("1x7", "kfold:7", "cv", 1, 7, None),
        ("kfold:10", "kfold:10", "cv", 1, 10, None),
        ("KFold: 4", "kfold:4", "cv", 1, 4, None),
        ("holdout:0.33", "holdout:0.33", "holdout", 1, 1, 0.33),
        ("holdout:.5", "holdout:0.5", "holdout", 1, 1, 0.5),
        ("resample:30:0.10", "resample:30:0.1", "resample", 1, 30, 0.1),
        ("loo", "loo", "loo", 1, None, None),
        ("bootstrap:200", "bootstrap:200", "bootstrap", 1, 200, None),
    ],
)
def test_reads_and_spells(written, spec, kind, runs, folds, share):
    plan_ = plan(written)
    assert (plan_.spec, plan_.kind, plan_.runs, plan_.folds) == (spec, kind, runs, folds)
    assert plan_.test_fraction == share
    assert plan(plan_.spec) == plan_


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("kflod:5", "'kfold:5'"),
        ("k-fold:5", "'kfold:5'"),
        ("10-fold", "'kfold:10'"),
        ("5x2cv", "'5x2'"),
        ("hold-out:0.3", "'holdout:0.3'"),
        ("resampling:30:0.1", "'resample:30:0.1'"),
        ("bootstrp", "'bootstrap:200'"),
        ("lo", "'loo'"),
    ],
)
def test_did_you_mean(spec, meant):
    with pytest.raises(UnknownNameError, match="did you mean") as caught:
        plan(spec)
    assert meant in str(caught.value)


def test_unknown_plans_list_the_registered_ones():
    with pytest.raises(UnknownNameError) as caught:
        plan("banana")
    assert all(entry.example in str(caught.value) for entry in PLANS.values())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kfold:1", "folds of plan 'kfold:1' must be a whole number of at least 2"),
        ("0x5", "runs of plan '0x5' must be"),
        ("5x1", "at least 2; got 1"),
        ("kfold:ten", "written 'kfold:FOLDS', as in 'kfold:10'"),
        ("kfold:", "written 'kfold:FOLDS'"),
        ("kfold:2.5", "written 'kfold:FOLDS'"),
        ("resample:30", "written 'resample:SPLITS:SHARE'"),
        ("loo:3", "written 'loo'"),
        ("holdout:0", "strictly between 0 and 1"),
        ("holdout:1", "strictly between 0 and 1"),
        ("holdout:33", "strictly between 0 and 1"),
        ("holdout:nan", "strictly between 0 and 1"),
        ("bootstrap:0", "at least 1"),
        ("kfold", "written 'kfold:FOLDS', as in 'kfold:10'"),
        (10, "write 'kfold:10'"),
        (None, "plan must be a text such as"),
    ],
)
def test_refuses(spec, message):
    with pytest.raises(ArgumentError) as caught:
        plan(spec)
    assert message in str(caught.value)
