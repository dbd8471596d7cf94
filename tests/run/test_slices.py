"""`compare(by=)`: losses by slice equal those of a plain loop, and bad slices are refused."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, zero_one_loss
from sklearn.model_selection import PredefinedSplit
from sklearn.tree import DecisionTreeClassifier

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.cli import main

SERIAL = bk.Execution(engine="serial", progress=False)
LEARNERS = {"line": LogisticRegression(), "tree": DecisionTreeClassifier(random_state=0)}


@pytest.fixture(scope="module")
def frame():
    """The line is right everywhere except in the part west, which only a tree can learn."""
    rng = np.random.default_rng(0)
    part = np.array(["west", "north", "east", "south"])[np.arange(320) % 4]
    x = rng.normal(size=(320, 2))
    west = part == "west"
    y = np.where(np.where(west, x[:, 0] * x[:, 1], x.sum(axis=1)) > 0, "yes", "no")
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "is_west": west * 1, "part": part, "y": y})


def compared(frame, learners=LEARNERS, **options):
    return bk.compare(learners, frame, "y", execution=SERIAL, **options)


def test_means_of_slices_equal_those_of_a_loop(frame):
    """The expected values come from scikit-learn, fold by fold.

    The first row is a yes, so that the classes are not declared in sorted order.
    """
    data = frame.drop(columns="part")
    data = pd.concat([data[data.y == "yes"][:1], data[data.y != "yes"], data[data.y == "yes"][1:]])
    part = frame.part.loc[data.index].to_numpy()
    fold = np.arange(320) % 4
    learners = {"line": LogisticRegression(), "other": LogisticRegression(C=0.01)}
    cv = PredefinedSplit(fold)
    study = compared(data, learners, cv=cv, scoring="roc_auc", by=part)
    X, y = data.drop(columns="y").to_numpy(), data.y.to_numpy()
    for one in study.outcome.slices.slices:
        for name, learner in learners.items():
            values = []
            for train, test in cv.split():
                rows = test[part[test] == one.name]
                model = learner.fit(X[train], y[train])
                values.append(roc_auc_score(y[rows], model.decision_function(X[rows])))
            assert one.decision.means[name] == pytest.approx(np.mean(values))


def test_the_planted_slice_is_found_and_the_verdict_of_all_rows_is_unchanged(frame):
    sliced, plain = compared(frame, cv="kfold:10", by="part"), compared(frame, cv="kfold:10")
    west = next(one for one in sliced.outcome.slices.slices if one.name == "west")
    assert west.decision.candidates == ("tree",)
    assert sliced.scores.losses.tolist() == plain.scores.losses.tolist()
    assert plain.outcome.slices is None
    assert sliced.outcome.slices.headline in sliced.explain()
    assert set(sliced.to_dict()["by_slice"]) == set(sliced.by_slice)


def test_one_test_set_is_tested_by_its_rows(frame):
    data = frame.drop(columns="part")
    study = compared(data, cv="holdout:0.5", by=frame.part)
    train, test = (getattr(study.outcome.live.splits[0], name)(0, 0) for name in ("train", "test"))
    X, part = data.drop(columns="y").to_numpy(), frame.part.to_numpy()
    model = LogisticRegression().fit(X[train], data.y[train])
    for one in study.outcome.slices.slices:
        rows = test[part[test] == one.name]
        assert one.decision.means["line"] == pytest.approx(
            zero_one_loss(data.y[rows], model.predict(X[rows]))
        )
        assert one.decision.noun == "model"


def test_slices_that_are_too_small_are_named(frame):
    row = np.arange(320)
    part = np.where(row < 30, "early", np.where(row > 316, "rare", frame.part))
    cv = PredefinedSplit(row * 8 // 320)
    study = compared(frame.drop(columns="part"), cv=cv, by=part)
    assert study.outcome.slices.left_out == {
        "early": "7 of 8 test sets have no rows of this slice.",
        "rare": "A slice needs at least 25 rows; this one has 3.",
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "a"}, "2 to 200 different values; 'a' has 320"),
        ({"by": np.arange(320) // 2}, "No slice of 'by' is large enough"),
        ({"by": "part", "stop": "settled"}, "by does not apply to a comparison that stops early"),
        ({"by": "part", "scoring": "fit_time"}, "depends on more than the predictions"),
        ({"by": "prat"}, "did you mean 'part'"),
    ],
)
def test_bad_slices_are_refused_before_the_first_fit(frame, options, words):
    with pytest.raises(BestOfKError, match=words):
        compared(frame, **options)


def test_command_json_report_and_an_ignored_column(frame, tmp_path, capsys):
    path, page = str(tmp_path / "d.csv"), tmp_path / "r.html"
    frame.to_csv(path, index=False)
    command = ["compare", path, "--target", "y", "--learner", "nmc", "--learner", "nn", "--cv",
               "5x2", "--set", "engine=serial", "--by", "part"]  # fmt: skip
    assert main([*command, "--column", "part=ignore", "--report", str(page)]) == 0
    assert "Slices by part: " in capsys.readouterr().out
    assert "Slices by part" in page.read_text()
    assert main([*command, "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    assert len(stored["by_slice"]) == 4
    assert stored["notes"][0] == "Predicting 'y' (2 classes, 49 % yes) from 4 columns, 320 rows."
    assert main([*command[:-1], "y"]) == 2
    assert "is the target and cannot hold slices" in capsys.readouterr().err
