"""Folders and databases of MLflow."""

import shutil

import numpy as np
import pytest

import bestofk as bk


def test_the_folder_and_the_frame_say_the_same(mlruns, golden):
    frame = bk.read_losses(golden("mlflow/search_runs.csv"))
    for path in (mlruns, mlruns.parent, golden("mlflow/mlflow.db")):
        losses = bk.read_losses(path)
        assert losses.means() == pytest.approx(frame.means())
    assert sorted(losses.learners) == ["bayes", "majority", "tree"]


def children(mlruns):
    return sorted(path.parent for path in mlruns.rglob("metrics/accuracy"))


def test_the_last_step_of_a_metric_counts_as_mlflow_shows_it(mlruns):
    before = bk.read_losses(mlruns).values
    for folder in children(mlruns):
        value = float((folder / "accuracy").read_text().split()[1])
        (folder / "accuracy").write_text(f"5 0.0 0\n4 {value} 2\n6 0.1 1\n")
    losses = bk.read_losses(mlruns)
    assert np.array_equal(losses.values, before)
    assert any("Only the last step of 'accuracy'" in s and "child run" in s for s in losses.account)
    (folder / "accuracy").write_text("now 0.5 0\n")
    with pytest.raises(bk.TableError, match="line 1 must be a time, a value and a step"):
        bk.read_losses(mlruns)


def test_deleted_runs_and_links_are_not_read(mlruns, tmp_path):
    folder = children(mlruns)[0].parent
    secret = tmp_path / "secret"
    secret.write_text("7")
    (folder / "params" / "stolen").symlink_to(secret)
    assert "stolen" not in str(bk.read_losses(mlruns).account)
    meta = folder / "meta.yaml"
    meta.write_text(meta.read_text().replace("stage: active", "stage: deleted"))
    with pytest.raises(bk.TableError, match="there is no loss for"):
        bk.read_losses(mlruns)


def test_an_empty_store_says_so(mlruns):
    for folder in [path.parent for path in mlruns.glob("*/*/meta.yaml")][1:]:
        shutil.rmtree(folder)
    with pytest.raises(bk.TableError, match="MLflow"):
        bk.read_losses(mlruns)
