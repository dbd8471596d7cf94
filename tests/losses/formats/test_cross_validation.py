"""Results of scikit-learn's cross_validate by learner."""

import json

import numpy as np
import pytest

import bestofk as bk


def result(*scores, **more):
    return {"fit_time": np.zeros(len(scores)), "score_time": np.zeros(len(scores)),
            "test_score": np.array(scores), **more}  # fmt: skip


def test_a_dictionary_of_results():
    losses = bk.read_losses({"a": result(0.75, 0.5, 1.0), "b": result(0.5, 0.25, 0.75)})
    assert losses.means() == pytest.approx({"a": 0.25, "b": 0.5})
    assert losses.design.folds == 3
    assert "Higher is better, as every scikit-learn scorer says." in losses.account


def test_a_negated_loss_stays_a_score(golden):
    path = golden("scikit-learn/cross_validate.json")
    losses = bk.read_losses(path, metric="neg_log_loss")
    stated = json.loads(path.read_text())
    assert losses.means()["bayes"] == pytest.approx(-np.mean(stated["bayes"]["test_neg_log_loss"]))


def test_single_cross_validate_result_raises():
    for source in (result(0.5, 0.75), result(0.5, 0.75, train_score=[1.0, 1.0])):
        with pytest.raises(
            bk.TableError, match="for one learner: pass those of all learners by name"
        ):
            bk.read_losses(source)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (result(0.5, test_score=[0.5, 0.75]), "must have 1 folds"),
        (result(0.5, 0.75, test_score=0.5), "a number per fold"),
    ],
)
def test_results_that_do_not_fit(wrong, said):
    with pytest.raises(bk.TableError, match=said):
        bk.read_losses({"a": wrong, "b": result(0.5, 0.75)})


def test_learners_with_other_folds_are_refused():
    with pytest.raises(bk.TableError, match="there is no loss for"):
        bk.read_losses({"a": result(0.5, 0.75, 0.5), "b": result(0.5, 0.75)})
