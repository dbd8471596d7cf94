"""Optuna's SQLite storage."""

import shutil
import sqlite3

import pytest

import bestofk as bk


def changed(golden, tmp_path, *statements):
    path = shutil.copy(golden("optuna/optuna.db"), tmp_path)
    with sqlite3.connect(path) as base:
        for statement in statements:
            base.execute(statement)
    base.close()
    return path


def test_the_storage_and_the_frame_say_the_same(golden):
    storage = bk.read_losses(golden("optuna/optuna.db"))
    assert storage.means() == bk.read_losses(golden("optuna/trials.csv")).means()
    assert "Higher is better, as the study says." in storage.account


def test_the_direction_of_the_study_counts(golden, tmp_path):
    path = changed(golden, tmp_path, "UPDATE study_directions SET direction = 'MINIMIZE'")
    with pytest.raises(bk.TableError, match="the study minimises, but columns such as"):
        bk.read_losses(path)
    losses = bk.read_losses(path, fold="intermediate_values")
    assert not losses.metric.higher_is_better
    assert "Lower is better, as the study says." in losses.account


def test_several_studies_must_be_chosen(golden, tmp_path):
    path = changed(
        golden, tmp_path,
        "INSERT INTO studies VALUES (2, 'other')",
        "INSERT INTO trials (trial_id, number, study_id, state) VALUES (99, 0, 2, 'COMPLETE')",
    )  # fmt: skip
    with pytest.raises(bk.TableError, match=r"2 studies \(trees and other\).*'study_name'"):
        bk.read_losses(path)
    assert len(bk.read_losses(path, where={"study_name": "trees"}).learners) == 5


def test_no_trials(golden, tmp_path):
    with pytest.raises(bk.TableError, match="contains no trials"):
        bk.read_losses(changed(golden, tmp_path, "DELETE FROM trials"))
