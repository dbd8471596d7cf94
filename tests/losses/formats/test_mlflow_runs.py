"""MLflow runs: learners, folds and errors."""

import numpy as np
import pandas as pd
import pytest

import bestofk as bk


def runs(*rows, **shared):
    """A frame as search_runs gives it; a row is (run, name, parent, more columns)."""
    records = []
    for turn, (run, name, parent, more) in enumerate(rows):
        records.append({
            "run_id": run, "experiment_id": "1", "status": "FINISHED",
            "start_time": pd.Timestamp("2025-01-01", tz="UTC") + pd.Timedelta(turn, "s"),
            "tags.mlflow.runName": name, "tags.mlflow.parentRunId": parent, **shared, **more,
        })  # fmt: skip
    return pd.DataFrame(records)


def nested(folds=(0, 1), name=lambda who, fold: f"run {who}{fold}", **columns):
    rows = []
    for k, who in enumerate("ab"):
        rows.append((who, f"learner {who}", None, {"metrics.accuracy": 0.5}))
        for fold in folds:
            more = {"metrics.accuracy": 0.9 - k / 10 - fold / 100}
            more |= {key: value(fold) for key, value in columns.items()}
            rows.append((f"{who}{fold}", name(who, fold), who, more))
    return runs(*rows)


def test_parents_are_learners_and_children_folds():
    losses = bk.read_losses(nested(**{"params.fold": str}))
    assert losses.learners == ("learner a", "learner b")
    assert losses.values.reshape(2, 2) == pytest.approx(np.array([[0.1, 0.11], [0.2, 0.21]]))
    account = " ".join(losses.account)
    assert "parent runs are learners, their child runs folds" in account
    assert "Higher is better, as the name 'accuracy' says" in account


def test_folds_by_the_ends_of_names_where_no_parameter_numbers_them():
    backwards = nested(folds=(1, 0))
    assert bk.read_losses(backwards).values.reshape(2, 2) == pytest.approx(
        np.array([[0.1, 0.11], [0.2, 0.21]])
    )
    nameless = nested(name=lambda *_: "bold-fox")
    with pytest.raises(
        bk.TableError, match=r"the child runs have no fold numbers.*fold='start_time'"
    ):
        bk.read_losses(nameless)
    counted = bk.read_losses(nameless, fold="start_time")
    assert counted.values.reshape(2, 2) == pytest.approx(np.array([[0.1, 0.11], [0.2, 0.21]]))
    assert any("in the order in which the runs started" in s for s in counted.account)


def test_children_that_are_settings_of_a_search_are_no_folds():
    tuned = nested(**{"params.lr": lambda fold: f"0.{fold}", "params.fold": str})
    with pytest.raises(bk.TableError, match=r"differ in 'params.lr'.*settings of a search"):
        bk.read_losses(tuned)
    grid = nested(**{"metrics.rank_test_score": float})
    with pytest.raises(bk.TableError, match=r"candidates of a search.*cv_results\.csv"):
        bk.read_losses(grid, metric="accuracy")


def test_flat_runs_go_by_a_parameter_that_is_called_so_or_by_yours():
    flat = [
        (f"{who}{fold}", f"r{who}{fold}", None,
         {"metrics.f1": 0.5 + fold / 10, "params.lr": who, "params.fold": str(fold)})
        for who in "ab" for fold in (0, 1)
    ]  # fmt: skip
    with pytest.raises(bk.TableError, match=r"say what distinguishes the learners \('params.lr'"):
        bk.read_losses(runs(*flat))
    assert bk.read_losses(runs(*flat), learner="lr").learners == ("a", "b")
    named = runs(*flat).rename(columns={"params.lr": "params.model"})
    losses = bk.read_losses(named)
    assert losses.learners == ("a", "b")
    assert any("the learners are named by 'params.model'" in s for s in losses.account)


def test_failed_runs_are_noted_and_missing():
    frame = nested(**{"params.fold": str})
    frame.loc[frame["run_id"] == "a1", "status"] = "FAILED"
    with pytest.raises(
        bk.TableError, match=r"there is no loss for learner 'learner a', params\.fold"
    ):
        bk.read_losses(frame)
    losses = bk.read_losses(frame, missing="drop")
    assert losses.design.folds == 1
    assert any("1 run (1 FAILED)" in s for s in losses.account)
    with pytest.raises(bk.TableError, match="no MLflow run has finished"):
        bk.read_losses(frame.assign(status="RUNNING"))


def test_several_metrics_and_experiments_must_be_chosen():
    frame = nested(**{"params.fold": str, "metrics.loss": float})
    with pytest.raises(bk.TableError, match=r"2 metrics \(accuracy and loss\).*metric='accuracy'"):
        bk.read_losses(frame)
    assert not bk.read_losses(frame, metric="loss").metric.higher_is_better
    with pytest.raises(bk.UnknownNameError, match=r"no metric 'acuracy'.*'accuracy'"):
        bk.read_losses(frame, metric="acuracy")
    other = frame.assign(experiment_id="2")
    for column in ("run_id", "tags.mlflow.parentRunId"):
        other[column] += "x"
    two = pd.concat([frame, other])
    with pytest.raises(bk.TableError, match=r"2 experiments.*dataset='experiment_id'"):
        bk.read_losses(two, metric="loss")
    assert bk.read_losses(two, metric="loss", dataset="experiment_id").datasets == ("1", "2")
    first = bk.read_losses(two, metric="loss", where={"experiment_id": "2"})
    assert first.datasets == bk.read_losses(frame, metric="loss").datasets


def test_latest_of_repeated_parent_runs_is_used():
    first = nested(**{"params.fold": str})
    again = first.copy()
    for column in ("run_id", "tags.mlflow.parentRunId"):
        again[column] = again[column] + "-2"
    again["start_time"] += pd.Timedelta(1, "h")
    again["metrics.accuracy"] -= 0.3
    losses = bk.read_losses(pd.concat([first, again], ignore_index=True))
    assert losses.means()["learner a"] == pytest.approx(0.405)
    assert any("2 parent runs of learner 'learner a': the latest is used" in s
               for s in losses.account)  # fmt: skip


def test_names_are_data():
    frame = nested(**{"params.fold": str})
    hostile = "=cmd\x1b[2J<script>"
    frame["tags.mlflow.runName"] = frame["tags.mlflow.runName"].str.replace("learner a", hostile)
    assert bk.read_losses(frame).learners[0] == hostile
