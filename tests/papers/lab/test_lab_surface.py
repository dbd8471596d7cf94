"""The lab's public functions: bad input, own data, files, resumption, the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
import tests_table
from bestofk._base.errors import (
    ArgumentError,
    BestOfKError,
    DesignError,
    TableError,
    UnknownNameError,
)
from bestofk.papers import lab
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.calibration import read_calibration
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

SMALL = "binary(rows=40, attributes=3)"


PAIR = ["max", "naive-bayes"]


@pytest.mark.parametrize(
    ("asked", "kind", "says"),
    [
        ({"sets": 0}, ArgumentError, "sets must be a whole number of at least 1"),
        ({"alpha": 1.0}, ArgumentError, "alpha must be strictly between 0 and 1"),
        ({"alpha": ()}, ArgumentError, "at least one level"),
        ({"learners": ["nn", "again=nn"]}, ArgumentError, "the same learner as 'nn'"),
        ({"learners": ["nn", "nn"]}, ArgumentError, "Two learners are called 'nn'"),
        ({"learners": ["nn"]}, ArgumentError, "at least 2 learners"),
        ({"test": "5x2cv-t"}, DesignError, "covers five runs of two folds"),
        ({"cv": "time:5"}, ArgumentError, "a plan for independent rows"),
        ({"cv": "group-kfold:5"}, ArgumentError, "a plan for independent rows"),
        ({"test": "friedmann"}, UnknownNameError, "friedman"),
        ({"test": "looney"}, DesignError, "one loss per instance"),
        ({"problem": "binary(rows=2)"}, ArgumentError, "at least 4"),
        ({"problem": "binary(class_probability=1)"}, ArgumentError, "strictly between 0 and 1"),
        ({"problem": "network"}, ArgumentError, "needs paper="),
        ({"problem": "network(paper=1)"}, ArgumentError, "2, 3 or 4"),
        ({"problem": "shuffled"}, ArgumentError, "needs data="),
        ({"problem": "normal(means=(1,))"}, ArgumentError, "two or more"),
        ({"problem": 7}, ArgumentError, "a name such as 'binary'"),
        ({"df": -1}, ArgumentError, "above 0"),
        ({"alternative": "more"}, ArgumentError, "two-sided"),
        ({"engine": "cloud"}, ArgumentError, "engine"),
    ],
)
def test_bad_input_is_one_clear_sentence(asked: dict, kind: type[BestOfKError], says: str) -> None:
    call = {"test": "use-all-data", "learners": PAIR, "problem": SMALL, "cv": "2x4", **asked}
    call.setdefault("sets", 3)
    with pytest.raises(kind, match=re.escape(says)) as raised:
        lab.type1_error(**call)
    message = str(raised.value)
    assert message.count("\n") == 0


def test_learners_of_scikit_learn() -> None:
    learners = ["naive-bayes", "sklearn.tree:DecisionTreeClassifier(max_depth=2)"]
    generated = lab.simulate(learners, SMALL, "kfold:4", sets=3)
    assert generated.losses.shape == (3, 1, 2, 1, 1, 4, 1)
    assert np.array_equal(generated.losses, lab.simulate(learners, SMALL, "kfold:4", sets=3).losses)


def test_one_test_set_is_judged_by_its_instances() -> None:
    found = lab.type1_error("mcnemar", ["naive-bayes", "c4.5"], SMALL, "holdout:0.5", sets=20)
    assert found.simulation.losses.shape == (20, 1, 2, 1, 1, 20, 1)
    assert set(np.unique(found.simulation.losses)) == {0.0, 1.0}


def test_shuffled_labels_keep_the_classes() -> None:
    problem = lab.problem("shuffled", data=bk.read_data("wine"))
    drawn = problem.draw(np.random.default_rng(3))
    encoded = problem.encoded(np.random.default_rng(3))
    assert np.array_equal(drawn.encoded().y, encoded.y)
    assert np.array_equal(np.bincount(encoded.y), np.bincount(bk.read_data("wine").encoded().y))
    assert (encoded.y != bk.read_data("wine").encoded().y).any()


def test_calibration_file_and_its_use(tmp_path: Path) -> None:
    found = lab.calibrate("use-all-data", ["nmc", "nn"],
                          lab.problem("shuffled", data=bk.read_data("iris")), "3x5",
                          sets=60)  # fmt: skip
    path = tmp_path / "iris.json"
    found.save(path)
    assert read_calibration(path) == found
    assert json.loads(path.read_text())["df"] == found.df
    losses = bk.Scores(np.random.default_rng(0).random((2, 3, 5)))
    decided = bk.compare_scores(losses, test="use-all-data", test_options={"df": found})
    assert (
        decided.decision.evidence.pvalue[0]
        == bk.compare_scores(
            losses, test="use-all-data", test_options={"df": float(found.df)}
        ).decision.evidence.pvalue[0]
    )
    assert f"df {found.df}" in decided.decision.test_reason
    assert (
        bk.compare_scores(
            losses, test="use-all-data", test_options={"df": path}
        ).decision.test_reason
        == decided.decision.test_reason
    )
    with pytest.raises(ArgumentError, match="calibration is for the test 'use-all-data'"):
        bk.compare_scores(losses, test="sorted-runs", test_options={"df": found})
    table = bk.Scores(np.random.default_rng(0).random((2, 4, 5)))
    with pytest.warns(bk.BestOfKWarning, match="was calibrated on 3 runs"):
        bk.compare_scores(table, test="use-all-data", test_options={"df": found})
    broken = tmp_path / "broken.json"
    # a whole number beyond all floats
    for content in ("{}", path.read_text().replace('"alpha": 0.05', f'"alpha": 1{"0" * 400}')):
        broken.write_text(content)
        with pytest.raises(TableError, match="not a calibration"):
            bk.compare_scores(losses, test="use-all-data", test_options={"df": broken})


def test_critical_value_in_use() -> None:
    found = lab.calibrate("5x2cv-t", problem="normal(cv='5x2')", sets=2000)
    losses = bk.Scores(np.random.default_rng(0).random((2, 5, 2)), design="5x2")
    plain = bk.compare_scores(losses, test="5x2cv-t").decision.evidence.pvalue[0]
    scaled = bk.compare_scores(
        losses, test="5x2cv-t", test_options={"df": found}
    ).decision.evidence.pvalue[0]
    assert scaled == pytest.approx(min(1.0, plain * 0.05 / found.critical_value))


def test_what_cannot_be_calibrated_says_so() -> None:
    # the variance of two means has one degree of freedom, and the search begins at two
    found = lab.calibrate("runs", ["naive-bayes", "c4.5"], "binary(rows=60)", "5x2", sets=200)
    assert not found.calibratable
    assert "cannot be calibrated" in found.explain()
    with pytest.raises(DesignError, match="could not be calibrated"):
        bk.compare_scores(bk.Scores(np.random.default_rng(0).random((2, 5, 2)), design="5x2"),
                 test="runs", test_options={"df": found})  # fmt: skip


def test_agreement_by_hand() -> None:
    from bestofk.papers.lab.measures import agreement_of

    # of 10 verdicts 3 differ: pairs that agree (7*6 + 3*2) / 90
    one = agreement_of(np.array([[1] * 7 + [0] * 3, [0] * 10]))
    assert one["count"] == 1
    assert one["pairs"] == pytest.approx((48 / 90 + 1) / 2)


def test_search_of_networks() -> None:
    found = lab.search_network(difference=0.03, tolerance=0.01, training_sets=10, rows=150)
    truth = lab.estimate_truth(["naive-bayes", "c4.5"], found, n_train=150, random_state=99)
    assert abs(truth.means[0] - truth.means[1] - 0.03) < 0.01 + 4 * truth.error


def test_tables_of_all_tests(tmp_path: Path) -> None:
    generated = list(tests_table.rows_on_many_sets(5, 0))
    over_sets = {
        entry.name
        for entry in (*PAIRWISE_TESTS.values(), *MULTIPLE_TESTS.values())
        if "datasets" in entry.covers
    }
    assert {row["test"] for row in generated} == over_sets
    tests_table.write(tmp_path / "table", generated, "python studies/tests_table.py")
    assert "Made by `python studies/tests_table.py`" in (tmp_path / "table.md").read_text()
    assert (tmp_path / "table.csv").read_text().count("\n") == len(generated) + 1
