"""From cells to a decision: failed and dropped learners come first, and options are passed on."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import bestofk as bk

sys.path.insert(0, str(Path(__file__).parent))
import strange_learners as strange

SERIAL = bk.Execution(engine="serial", progress=False)

QUICK = {"execution": SERIAL}


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.column_stack([y + rng.normal(0, 0.6, n), rng.normal(size=n)])
    return X, np.where(y == 1, "yes", "no")


def test_left_out_learners_are_in_the_first_paragraph():
    X, y = rows()
    learners = {"max": "max", "broken": strange.Raises(), "nmc": "nmc"}
    study = bk.compare(learners, X, y, cv="4x5", **QUICK)
    first = study.explain().split("\n")[1]
    assert first == study.headline
    assert "Of the 3 learners given 1 failed (broken: 20 of 20 fits failed (raised: " in first
    assert "and 2 were compared." in first
    assert json.loads(json.dumps(study.to_dict(), allow_nan=False))["headline"] == first


def test_dropped_runs_are_in_the_first_paragraph():
    X, y = rows()
    # the row is in one test fold of every run: one fit of five fails in each
    learners = {"max": "max", "unlucky": strange.FailsWithout(row=X[0, 0]), "nmc": "nmc"}
    study = bk.compare(learners, X, y, cv="4x12", **QUICK)
    assert not study.outcome.left_out
    assert "Four fits of unlucky failed." in study.headline
    assert "4 of 48 folds were dropped" in study.headline
    held = json.loads(json.dumps(study.to_dict(), allow_nan=False))
    assert any("4 of 48 folds were dropped" in note for note in [held["headline"]])


def test_a_lost_fold_of_one_run_keeps_the_design():
    X, y = rows()
    learners = {"max": "max", "unlucky": strange.FailsWithout(row=X[0, 0])}
    study = bk.compare(learners, X, y, cv="kfold:12", **QUICK)
    design = study.scores.design
    assert (design.kind, design.folds, design.planned_folds) == ("cv", 11, 12)
    assert study.decision.test == "corrected-repeated-kfold-t"
    assert "1 of 12 folds was dropped" in study.headline


def test_losses_outlive_a_decision_that_is_no_longer_possible():
    X, y = rows()
    learners = {"max": "max", "nmc": "nmc", "broken": strange.Raises()}
    control = bk.compare(
        learners, X, y, cv="4x5", **QUICK, settings=bk.Settings(family="control", control="broken")
    )
    assert "the control, broken, is among those that failed" in control.headline
    assert control.decision is None
    assert control.headline.startswith("Nothing can be decided: ")
    assert control.scores.losses.size
    json.loads(json.dumps(control.to_dict(), allow_nan=False))


def test_random_state_reaches_the_decision():
    data = ["iris", "wine", "breast-cancer"]
    several = bk.compare(
        ["max", "nmc"], data, cv="kfold:3", test="hierarchical-bayes", random_state=7, **QUICK
    )
    assert several.decision.test_choice.arguments["random_state"] == 7


ASKED = {
    "rule": "most-wins",
    "test": "use-all-data",
    "test_options": {"df": 7.0},
    "alpha": 0.2,
    "correction": "bonferroni",
    "margin": 0.3,
    "rope": 0.02,
}


def test_every_option_reaches_the_decision():
    X, y = rows()
    asked = {name: value for name, value in ASKED.items() if name != "rule"}
    asked |= {"prefer": ["nn", "nmc", "max"]}
    study = bk.compare(["max", "nmc", "nn"], X, y, cv="3x4", settings=bk.Settings(**asked), **QUICK)
    direct = bk.compare_scores(study.scores, **asked)
    assert bk.Result(study.decision).to_dict() == direct.to_dict()
    assert (study.decision.alpha, study.decision.correction) == (0.2, "bonferroni")
    options = direct.settings
    assert (direct.test, options.margin, options.rope) == ("use-all-data", 0.3, 0.02)
    assert study.decision.test_choice.arguments["df"] == 7.0
    wins = bk.compare(
        ["max", "nmc", "nn"], X, y, cv="3x4", **QUICK, settings=bk.Settings(rule="most-wins")
    )
    assert wins.decision.rule == "most-wins"


@pytest.mark.parametrize(
    ("loss", "name", "higher"),
    [
        ("accuracy", "accuracy", True),
        ("auc", "AUC", True),
        ("neg_log_loss", "log loss", False),
        ("brier", "Brier score", False),
    ],
)
def test_verdicts_are_in_the_users_metric(loss, name, higher):
    X, y = rows(90)
    learners = {"nb": GaussianNB(), "dummy": DummyClassifier(), "lr": LogisticRegression()}
    study = bk.compare(learners, X, y, scoring=loss, cv="2x3", **QUICK)
    assert study.scores.metric.name == name
    assert study.scores.metric.higher_is_better is higher
    assert f"mean {name} of learners" in study.explain()
    shown = study.decision.means
    means = study.scores.losses.mean(axis=(1, 2, 3, 4))
    expected = 1 - means if higher else means
    assert sorted(shown.values()) == pytest.approx(sorted(expected))
