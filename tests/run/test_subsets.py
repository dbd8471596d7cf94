"""Plans with runs on parts of the rows, from `compare` to the decision and from a store."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.learners.registry import learner
from bestofk.losses.losses import Scores
from bestofk.run.fit import Evaluator
from bestofk.splits.design import Design

SERIAL = bk.Execution(engine="serial", progress=False)

NESTED = "3x4+nested"


def compared(plan, **more):
    asked = {"data": "iris", "execution": SERIAL} | more
    return bk.compare(["nmc", "nn", "c4.5"], cv=plan, **asked)


def test_degrees_of_freedom_are_fewer_than_models_and_rows():
    """Iris has 150 rows; the plan has 3 * 4 * 5 / 2 = 30 models."""
    decision = compared(NESTED).decision
    a, b = decision.problem.sample(decision.test_choice.axes)[:2]
    assert decision.test_choice(a, b, "two-sided").df == 29.0


def test_means_are_of_the_runs_on_all_rows():
    study, plain = compared(NESTED), compared("3x4")
    assert study.scores.means() == plain.scores.means()
    np.testing.assert_array_equal(study.scores.losses, plain.scores.losses)
    assert study.scores.design.with_(nested_runs=0) == plain.scores.design
    assert study.scores.subset_values.shape[2:4] == (18, 2)
    # a test that needs no parts of the rows gives what it gives without them
    same = compared(NESTED, test="corrected-repeated-kfold-t")
    pd.testing.assert_frame_equal(same.pairs, plain.pairs)


def test_resumes_and_shares_cells_with_the_plain_plan(tmp_path, monkeypatch):
    store = str(tmp_path / "study.db")
    plain = compared("3x4", store=store)
    counted = []
    whole = Evaluator.evaluate

    def counting(self, places, **how):
        for result in whole(self, places, **how):
            counted.append(result)
            yield result

    monkeypatch.setattr(Evaluator, "evaluate", counting)
    first = compared(NESTED, store=store)
    assert len(counted) == 3 * 36  # the runs on all rows were there
    counted.clear()
    second = compared(NESTED, store=store)
    assert counted == []
    assert second.scores == first.scores
    assert second.decision.ranking == first.decision.ranking
    assert first.scores.means() == plain.scores.means()


class CountsFits(GaussianNB):
    fits = 0

    def fit(self, X, y):
        CountsFits.fits += 1
        return super().fit(X, y)


def test_a_pair_of_folds_takes_one_fit():
    CountsFits.fits = 0
    bk.compare(
        {"one": CountsFits(), "max": learner("max")}, "iris", cv="2x3+nested", execution=SERIAL
    )
    assert CountsFits.fits == 2 * 3 + 2 * 3


def test_a_budget_that_ends_early_leaves_the_runs_on_all_rows(monkeypatch):
    from bestofk.run.live import Live

    in_rounds = Live.in_rounds

    def only_runs(task, items):
        return [place for place in in_rounds(task, items) if place.run < 3]

    monkeypatch.setattr(Live, "in_rounds", only_runs)
    study = compared(NESTED, budget=3600.0)
    assert study.decision.test == "corrected-repeated-kfold-t"
    assert study.scores.design.nested_runs == 0
    assert "Not every nested run was finished" in study.explain()


def test_losses_keep_their_parts():
    losses = compared(NESTED).scores
    some = losses.select(learners=["c4.5", "nmc"])
    np.testing.assert_array_equal(some.subset_values, losses.subset_values[[2, 0]])
    turned = losses.select(learners=["nn", "c4.5", "nmc"])
    np.testing.assert_array_equal(turned.subset_values, losses.subset_values[[1, 2, 0]])
    with pytest.raises(ValueError, match="read-only"):
        losses.subset_values[0] = 1.0
    other = losses.subset_values.copy()
    other[0, 0, 0, 0, 0] += 0.5
    changed = Scores(losses.losses, learners=losses.learners, datasets=losses.datasets,
                     design=losses.design, loss_name=losses.loss_name,
                     subset_values=other)  # fmt: skip
    assert changed != losses
    assert changed.fingerprint != losses.fingerprint


def test_losses_refuse_parts_that_do_not_fit():
    values = np.random.default_rng(0).random((2, 1, 2, 3, 1))
    design = Design(kind="cv", runs=2, folds=3, nested_runs=4)
    good = np.full((2, 1, 4, 2, 1), 0.5)
    assert Scores(values, design=design, subset_values=good).subset_values.shape == good.shape
    for given, words in (
        ({"design": design}, "need each other"),
        ({"subset_values": good}, "need each other"),
        ({"design": design, "subset_values": good[:, :, :2]}, "must have the shape"),
        ({"design": design, "subset_values": np.full_like(good, np.nan)}, "must be finite"),
        ({"design": design, "subset_values": good, "higher_is_better": True}, "must be losses"),
    ):
        with pytest.raises(ArgumentError, match=words):
            Scores(values, **given)
