"""Users' data sets: horse.csv, regressions, several data sets of different kinds."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, make_friedman1

import bestofk as bk

DATA = os.environ.get("BESTOFK_DATA")
HORSE = Path(DATA or "", "uci", "horse.csv")


@pytest.mark.skipif(not DATA or not HORSE.is_file(), reason="BESTOFK_DATA holds no horse.csv")
def test_horse_with_its_missing_cells_and_words(run):
    code, out, err = run(
        "compare", HORSE, "--learner", "c4.5", "--learner", "logistic", "--learner",
        "sklearn.linear_model:LogisticRegression(max_iter=200)", "--learner",
        "hgb=sklearn.ensemble:HistGradientBoostingClassifier(max_iter=5)", "--cv", "kfold:3",
        "--json",
    )  # fmt: skip
    assert code == 0, err
    study = json.loads(out)
    assert study["failures"] == []


def regressions():
    rng = np.random.default_rng(5)
    X, y = load_diabetes(return_X_y=True)
    return {
        "diabetes": (X[:120], y[:120]),  # whole numbers
        "friedman": make_friedman1(80, random_state=0),
        "counts": (X[:80, :3], rng.poisson(np.exp(3 + 5 * X[:80, 2])).astype(int)),
        "prices": (X[:80, :3], np.round(100 + 900 * X[:80, 2] + rng.normal(0, 5, 80), 2)),
        "single": (X[:80, :3], (10 * X[:80, 2] + 0.5).astype(np.float32)),
    }


@pytest.mark.parametrize("name", sorted(regressions()))
def test_five_regressions_with_whole_and_fractional_targets(name, run, tmp_path):
    X, y = regressions()[name]
    from bestofk.data import read_data

    data = read_data(X, y, name=name, task="regression")
    learners = [
        "mean=sklearn.dummy:DummyRegressor()",
        "ridge=sklearn.linear_model:Ridge(alpha=0.01)",
    ]
    study = bk.compare(learners, data, cv="2x3", progress=False)
    assert study.outcome.left_out == {}
    assert study.scores.losses[1].mean() < study.scores.losses[0].mean()
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(amount=y)
    file = tmp_path / f"{name}.csv"
    table.to_csv(file, index=False)
    options = [word for learner in learners for word in ("--learner", learner)]
    code, out, err = run(
        "compare", file, "--set", "task=regression", *options, "--cv", "2x3", "--json"
    )
    assert code == 0, err
    if y.dtype != np.float32:  # which text does not keep
        by_file = {row["name"]: row["mean"] for row in json.loads(out)["table"]}
        for place, learner in enumerate(("mean", "ridge")):
            assert by_file[learner] == pytest.approx(study.scores.losses[place].mean(), rel=1e-9)


def test_three_data_sets_of_different_kinds(patients, run, tmp_path):
    frame, y = patients
    pd.concat([frame, pd.Series(y, name="class")], axis=1).to_csv(
        tmp_path / "mixed.csv", index=False
    )
    rng = np.random.default_rng(0)
    pd.DataFrame(
        {"a": rng.choice(["u", "v"], 40), "b": rng.choice(["p", "q", "r"], 40),
         "class": rng.choice(["no", "yes"], 40)}
    ).to_csv(tmp_path / "words.csv", index=False)  # fmt: skip
    code, out, err = run(
        "compare", tmp_path / "mixed.csv", tmp_path / "words.csv", "iris", "--learner", "c4.5",
        "--learner", "tree=sklearn.tree:DecisionTreeClassifier()", "--cv", "kfold:3",
        "--set", "test=wilcoxon", "--json",
    )  # fmt: skip
    assert code == 0, err
    study = json.loads(out)
    assert study["failures"] == []
