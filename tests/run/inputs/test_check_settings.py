"""Settings that cannot lead to a decision are refused before the first fit."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import BestOfKError

sys.path.insert(0, str(Path(__file__).parents[1]))
import strange_learners as strange


def rows(n=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return np.column_stack([y + rng.normal(0, 0.6, n), rng.normal(size=n)]), y


CASES = {
    "a control that is missing": ({"family": "control"}, "name it with control="),
    "a control that nobody is": ({"family": "control", "control": "nmcc"}, "did you mean 'nmc'"),
    "the papers' family without a preference": ({"family": "preference"}, "none is stated"),
    "a correction for another family": (
        {"family": "control", "control": "nmc", "correction": "shaffer"},
        "for the two-sided tests of all pairs",
    ),
    "a test that does not cover the plan": ({"test": "5x2cv-f"}, "covers five runs of two folds"),
    "a test of all learners": ({"test": "friedman"}, "compares all learners at once"),
    "df for a test without": (
        {"cv": "5x2", "test_options": {"df": 4}},
        "df does not apply to test '5x2cv-f'",
    ),
    "one number per learner": (
        {"cv": "holdout:0.33", "scoring": "fit_time"},
        "depends on more than the predictions",
    ),
    "a rope on one test set": ({"cv": "holdout:0.33", "rope": 0.1}, "no Bayesian test covers"),
    "a preference for nobody": (
        {"prefer": ["nmc", "tree"]},
        "'tree', which is not one of the learners",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_fitted_for_what_cannot_be_decided(case, tmp_path):
    asked, words = CASES[case]
    log = tmp_path / "fits"
    learners = {"nmc": "nmc", "counted": strange.Counted(log=str(log))}
    given = {"cv": "2x3", **{name: asked[name] for name in ("cv", "scoring") if name in asked}}
    settings = bk.Settings(**{name: asked[name] for name in asked.keys() - given.keys()})
    with pytest.raises(BestOfKError, match=re.escape(words)):
        bk.compare(learners, *rows(), store=tmp_path / "s.db", settings=settings, **given)
    assert not log.exists()
