"""Optuna trials: learners, folds and errors."""

import pandas as pd
import pytest

import bestofk as bk

# pandas before 3 rounds the last bit of some numbers


def test_splits_in_user_attributes_make_folds(golden):
    losses = bk.read_losses(golden("optuna/trials.csv"))
    frame = pd.read_csv(golden("optuna/trials.csv"), engine="python")
    done = frame[frame["state"] == "COMPLETE"]
    assert [1 - mean for mean in losses.means().values()] == pytest.approx(done["value"].tolist())
    assert "criterion=gini, max_depth=1 (trial 2)" in losses.learners
    account = " ".join(losses.account)
    assert "1 trial (1 pruned)" in account
    assert "each of 5 trials is a learner, named by its parameters" in account
    # the frame itself, with its times and states
    frame["datetime_start"] = pd.to_datetime(frame["datetime_start"])
    frame["duration"] = pd.to_timedelta(frame["duration"])
    assert bk.read_losses(frame).means() == pytest.approx(losses.means(), rel=1e-14)


def test_one_value_per_trial_compares_nothing(golden):
    with pytest.raises(bk.TableError, match=r"one value per trial.*set_user_attr"):
        bk.read_losses(golden("optuna/values.csv"))
    with pytest.raises(bk.TableError, match="fold='intermediate_values' if"):
        bk.read_losses(golden("optuna/reported.csv"))


def test_reported_values_are_folds_when_you_say_so(golden):
    path = golden("optuna/reported.csv")
    with pytest.raises(bk.TableError, match="higher_is_better=True"):
        bk.read_losses(path, fold="intermediate_values")
    losses = bk.read_losses(path, fold="intermediate_values", higher_is_better=True)
    assert losses.means() == pytest.approx(bk.read_losses(golden("optuna/trials.csv")).means())


def test_trials_of_one_learner_are_no_folds(golden):
    with pytest.raises(bk.TableError, match=r"4 trials have criterion='gini'.*not folds"):
        bk.read_losses(golden("optuna/trials.csv"), learner="criterion", higher_is_better=True)
    frame = pd.DataFrame({
        "number": range(4), "value": [0.1, 0.2, 0.3, 0.4], "state": "COMPLETE",
        "params_model": ["svm", "svm", "tree", "tree"], "user_attrs_fold": [0, 1, 0, 1],
    })  # fmt: skip
    losses = bk.read_losses(frame, learner="params_model", higher_is_better=False)
    assert losses.means() == pytest.approx({"svm": 0.15, "tree": 0.35})


def test_several_objectives_must_be_chosen():
    frame = pd.DataFrame({
        "number": range(2), "values_0": [0.1, 0.2], "values_1": [5, 6], "state": "COMPLETE",
        "params_model": ["svm", "tree"],
    })  # fmt: skip
    with pytest.raises(bk.TableError, match=r"2 metrics \(0 and 1\)"):
        bk.read_losses(frame, learner="model", higher_is_better=False)
    losses = bk.read_losses(frame, learner="model", metric="1", higher_is_better=False)
    assert losses.means() == {"svm": 5.0, "tree": 6.0}


def test_no_complete_trial(golden):
    frame = pd.read_csv(golden("optuna/trials.csv")).assign(state="FAIL")
    with pytest.raises(bk.TableError, match="no trial of the study is complete"):
        bk.read_losses(frame)
