"""Refused calls, and the alternatives that the messages offer."""

import numpy as np
from exact_tables import NAMES, folds, instances, sets

import bestofk as bk
from bestofk.splits.design import Design

TABLE = folds((0.3, 0.2, 0.21))
MEANS = sets((0.3, 0.2, 0.21))


def refused():
    asked = {
        "family='control' without a control": {"family": "control"},
        "an unknown control": {"family": "control", "control": "nm"},
        "a control without its family": {"control": "nmc"},
        "an unknown family": {"family": "some"},
        "a correction for all pairs in another family": {
            "family": "control",
            "control": "nmc",
            "correction": "shaffer",
        },
        "family='preference' without a preference": {"family": "preference"},
        "an unknown correction": {"correction": "sidak"},
        "most wins in one direction": {
            "rule": "most-wins",
            "family": "preference",
            "prefer": "listed",
        },
        "a margin of 0": {"margin": 0},
        "a negative rope": {"rope": -0.01},
        "an unknown rule": {"rule": "multi-test"},
        "a rule that wants scores": {"rule": "roc-hull"},
        "an unknown test": {"test": "t-test"},
        "a test that does not cover the design": {"test": "5x2cv-t"},
        "a test of all learners": {"test": "friedman"},
        "df for a test without": {"test": "correlated-t", "test_options": {"df": 3}},
        "a direction of the test": {"test_options": {"alternative": "greater"}},
        "an unknown learner in the preference": {"prefer": ["nmc", "tree"]},
        "a learner twice": {"prefer": ["nmc", "nmc"]},
        "a word as the preference": {"prefer": "fit_time"},
        "a price that is missing": {"prefer": {"nmc": 1}},
        "a price that is no number": {"prefer": {"nmc": 1, "logistic": "cheap", "c4.5": 2}},
        "alpha beyond 1": {"alpha": 5},
    }
    for heading, arguments in asked.items():
        yield heading, lambda arguments=arguments: bk.compare_scores(TABLE, **arguments)
    yield (
        "few data sets for a posterior",
        lambda: bk.compare_scores(sets((0.3, 0.2), n=6), test="signed-rank-bayes"),
    )
    yield "few data sets for a rope", lambda: bk.compare_scores(sets((0.3, 0.2), n=6), rope=0.01)
    yield (
        "a rope on one test set",
        lambda: bk.compare_scores(instances([[0, 1] * 9] * 2), rope=0.01),
    )
    yield "one number per learner", lambda: bk.compare_scores(bk.Scores([[0.1], [0.2]]))
    yield "one learner", lambda: bk.compare_scores(folds((0.2,)))
    yield (
        "unknown sizes",
        lambda: bk.compare_scores(
            folds((0.3, 0.2), runs=1, design=Design(kind="resample", folds=10))
        ),
    )
    values = MEANS.losses[:, :, 0, 0, 0].copy()
    values[0, 3] = np.nan
    table = bk.Scores(values, dims=("learner", "dataset"), learners=NAMES[:3], missing="allow")
    yield "missing cells", lambda: bk.compare_scores(table)
    values = values.copy()
    values[:, 1:] = np.nan
    values[0, 1:] = 0.2
    one = bk.Scores(values, dims=("learner", "dataset"), missing="allow")
    yield "one complete data set", lambda: bk.compare_scores(one, missing="drop")


def refusals():
    """The sentences."""
    for heading, call in refused():
        try:
            call()
        except bk.BestOfKError as refusal:
            yield heading, str(refusal)
        else:
            yield heading, "NOT REFUSED"
