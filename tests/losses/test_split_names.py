import numpy as np
import pandas as pd
import pytest

from bestofk._base.errors import TableError
from bestofk.losses import read_losses
from bestofk.losses.columns import split_of, splits_among
from bestofk.splits.design import Design

VALUES = np.array([[0.5, 0.25, 0.75], [0.125, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("name", "number", "metric"),
    [
        ("split12_test_roc_auc", 12, "roc_auc"), ("fold3", 3, ""), ("Fold 3", 3, ""),
        ("cv_2", 2, ""), ("cv_fold_7", 7, ""), ("accuracy_fold1", 1, "accuracy"),
        ("fold1_f1", 1, "f1"), ("split4", 4, ""),
    ],
)  # fmt: skip
def test_names_of_splits(name, number, metric):
    split = split_of(name)
    assert split is not None
    assert (split.number, split.metric) == (number, metric)


@pytest.mark.parametrize(
    "name",
    ["svm", "fold", "folds5x", "split0_train_score", "manifold1x", "5", ""],
)
def test_names_of_no_split(name):
    assert split_of(name) is None


def test_a_single_column_is_no_row_of_splits():
    assert splits_among(["fold1", "svm"]) == {}
    assert splits_among(["fold1", "fold2", "fold 1"]) == {}


@pytest.mark.parametrize(
    "names",
    [["fold1", "fold2", "fold10"], ["split0_test_score", "split1_test_score", "split9_test_score"]],
)
@pytest.mark.parametrize("turned", [False, True])
def test_frames_of_splits_are_folds_however_they_are_turned(names, turned):
    frame = pd.DataFrame(VALUES, index=["nn", "svm"], columns=names)
    if turned:
        frame = frame.T
    losses = read_losses(frame, higher_is_better=False)
    assert losses.learners == ("nn", "svm")
    assert losses.design == Design(kind="cv", folds=3)
    assert losses.by_fold()[:, 0].tolist() == VALUES.tolist()


def test_cv_results_turned_round_leave_their_summaries_out():
    frame = pd.DataFrame(
        {
            "params": ["p", "q"],
            "mean_fit_time": [1.0, 2.0],
            **{f"split{i}_test_score": VALUES[:, i] for i in range(3)},
            "mean_test_score": [0.5, 0.4],
            "rank_test_score": [1, 2],
        }
    )
    losses = read_losses(frame.set_index("params").T)
    assert losses.learners == ("p", "q")
    assert losses.by_fold()[:, 0].tolist() == (1 - VALUES).tolist()
    assert (
        "Left out, as they are no splits: 'mean_fit_time', 'mean_test_score', 'rank_test_score'."
        in losses.account
    )
    assert read_losses(frame) == losses


def test_a_learner_and_a_fold_in_one_name_are_refused():
    columns = {"svm_fold1": [0.1], "svm_fold2": [0.2], "nn_fold1": [0.3], "nn_fold2": [0.3]}
    with pytest.raises(TableError, match="'svm_fold1' combine a learner and a fold"):
        read_losses(columns)


def test_the_metric_in_the_name_tells_the_direction():
    frame = pd.DataFrame(VALUES, index=["nn", "svm"], columns=[f"accuracy_fold{i}" for i in "123"])
    assert read_losses(frame).by_fold()[:, 0].tolist() == (1 - VALUES).tolist()
    with pytest.raises(TableError, match="cannot tell whether higher or lower"):
        read_losses(pd.DataFrame(VALUES, index=["nn", "svm"], columns=["fold1", "fold2", "fold3"]))
