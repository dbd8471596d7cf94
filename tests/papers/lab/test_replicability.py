"""Replicability of a test on the user's own rows, against fits and a t test made here."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from bestofk._base.errors import ArgumentError
from bestofk.cli import main
from bestofk.data import read_data
from bestofk.papers import lab
from bestofk.papers.lab.simulation_task import SPLITS
from bestofk.splits.plans import plan

LEARNERS = [
    "sklearn.naive_bayes:GaussianNB",
    "sklearn.neighbors:KNeighborsClassifier(n_neighbors=9)",
]


def by_hand(repeats: int, alpha: float) -> list[int]:
    """Return the verdicts on breast-cancer: fit by fold, and take scipy's paired t test."""
    data = read_data("breast-cancer")
    X, y = data.X.to_numpy(), data.y.cat.codes.to_numpy()
    verdicts = []
    for repeat in range(repeats):
        key = np.random.SeedSequence(0, spawn_key=(SPLITS, 0, repeat))
        seed = int(key.generate_state(1, np.uint64)[0])
        splits = replace(plan("kfold:5", random_state=0), seed=seed).materialise(len(y), y)
        errors = np.empty((2, 5))
        for fold in range(5):
            test = splits.test(0, fold)
            train = np.setdiff1d(np.arange(len(y)), test)
            made = (GaussianNB(), KNeighborsClassifier(n_neighbors=9))
            for index, learner in enumerate(made):
                learner.fit(X[train], y[train])
                errors[index, fold] = np.mean(learner.predict(X[test]) != y[test])
        better = 1 if errors[0].mean() < errors[1].mean() else 2
        verdicts.append(better if ttest_rel(*errors).pvalue <= alpha else 0)
    return verdicts


def test_own_rows(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = by_hand(10, 0.1)
    pairs = list(itertools.combinations(verdicts, 2))
    words = ["papers", "measure", "replicability", "--data", "breast-cancer", "--test", "kfold-t",
             "--cv", "kfold:5", "--alpha", "0.1", "--quiet", "--json"]  # fmt: skip
    assert main([*words, *itertools.chain(*(["--learner", one] for one in LEARNERS))]) == 0
    found = json.loads(capsys.readouterr().out)
    names = {0: "none", 1: found["learners"][0], 2: found["learners"][1]}
    assert found["table"][0]["better"] == {names[k]: n for k, n in Counter(verdicts).items()}
    assert len(set(verdicts)) > 1
    (agreement,) = found["table"]
    assert agreement["rate"] == 0
    assert agreement["pairs"] == pytest.approx(np.mean([a == b for a, b in pairs]))
    assert (found["sets"], found["repeats"]) == (1, 10)


def test_given_rows_are_one_data_set() -> None:
    problem = lab.problem("given", data=read_data("iris"))
    with pytest.raises(ArgumentError, match="one data set: sets=1"):
        lab.replicability("kfold-t", ["max", "nmc"], problem, "kfold:5", sets=2)
