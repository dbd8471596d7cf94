"""Settings that cannot lead to a decision are refused before the first fit."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import bestofk as bk
from bestofk._base.errors import BestOfKError


class Counted(GaussianNB):
    """Counts its fits in a file, since models may be copied."""

    def __init__(self, log=""):
        super().__init__()
        self.log = log

    def fit(self, X, y):
        with Path(self.log).open("a") as lines:
            lines.write("fit\n")
        return super().fit(X, y)


def rows(n=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return np.column_stack([y + rng.normal(0, 0.6, n), rng.normal(size=n)]), y


def compared(learners, X, y, *, cv="2x3", scoring=None, store=None, execution=None, **settings):
    return bk.compare(
        learners,
        X,
        y,
        cv=cv,
        scoring=scoring,
        store=store,
        progress=False,
        settings=bk.Settings(**settings),
        execution=execution or bk.Execution(engine="serial"),
    )


CASES = {
    "a control that is missing": ({"family": "control"}, "name it with control="),
    "a control that nobody is": ({"family": "control", "control": "nmcc"}, "did you mean 'nmc'"),
    "a control without its family": ({"control": "nmc"}, "control applies to family='control'"),
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
    "an option that does not apply": (
        {"rule": "anova-choice", "margin": 0.1},
        "margin does not apply to rule 'anova-choice'",
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
    learners = {"nmc": "nmc", "counted": Counted(log=str(log))}
    X, y = rows()
    with pytest.raises(BestOfKError, match=re.escape(words)):
        compared(learners, X, y, store=tmp_path / "s.db", **asked)
    assert not log.exists()
