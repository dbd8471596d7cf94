"""Listings of evaluations from openml-python."""

import json

import pandas as pd
import pytest

import bestofk as bk


def listing(golden, name="evaluations_per_fold.csv"):
    frame = pd.read_csv(golden(f"openml/{name}"))
    if "fold" in name:
        frame["values"] = frame["values"].map(json.loads)
    return frame


def test_lists_of_folds_in_a_frame(golden):
    losses = bk.read_losses(listing(golden))
    assert losses.datasets == ("iris", "soybean")
    assert (losses.design.runs, losses.design.folds) == (1, 4)
    assert any("1 run left out: a later run" in s for s in losses.account)
    assert "Higher is better, as the measure of OpenML says." in losses.account


def test_setups_of_a_flow_are_learners_of_their_own(golden):
    frame = listing(golden, "evaluations.csv")
    frame["flow_name"] = "one"
    losses = bk.read_losses(frame)
    assert sorted(losses.learners) == ["one (setup 10)", "one (setup 20)", "one (setup 30)"]


def test_a_measure_that_falls(golden):
    frame = listing(golden).assign(function="root_mean_squared_error")
    assert not bk.read_losses(frame).metric.higher_is_better


def test_two_measures_must_be_chosen(golden):
    frame = listing(golden)
    both = pd.concat([frame, frame.assign(function="kappa")])
    with pytest.raises(bk.TableError, match="choose one with metric='predictive_accuracy'"):
        bk.read_losses(both)
    assert bk.read_losses(both, metric="kappa").loss_name.endswith("kappa")


@pytest.mark.parametrize("cell", ["[1, 2", "[true]", "5", '["a"]', "[" * 10_000])
def test_values_that_are_none(golden, cell):
    frame = listing(golden)
    frame["values"] = frame["values"].map(str)
    frame.loc[1, "values"] = cell
    with pytest.raises(bk.TableError, match="must be an array with a number per fold"):
        bk.read_losses(frame)


def test_a_flow_that_was_not_run_on_a_task(golden):
    frame = listing(golden).drop(index=3)
    with pytest.raises(bk.TableError, match="missing='drop'"):
        bk.read_losses(frame)
    assert bk.read_losses(frame, missing="drop").datasets == ("iris",)
