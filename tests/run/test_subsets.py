"""Plans with runs on parts of the rows, from `compare` to the decision and from a store."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bestofk as bk
from bestofk._base.errors import ArgumentError, DesignError
from bestofk.learners.registry import learner
from bestofk.losses.losses import Scores
from bestofk.run.fit import Evaluator
from bestofk.splits import plan
from bestofk.splits.design import Design

NESTED = "3x4+nested"


def compared(plan, **more):
    asked = {"data": "iris", "progress": False, "execution": bk.Execution(engine="serial")} | more
    return bk.compare(["nmc", "nn", "c4.5"], cv=plan, **asked)


@pytest.mark.parametrize(
    ("spec", "test"), [(NESTED, "nested-cv-t"), ("loo", "corrected-repeated-kfold-t")]
)
def test_the_plan_chooses_the_test(spec, test):
    assert compared(spec, test="auto").decision.test == test


def test_leave_one_out_takes_the_test_of_single_rows():
    assert compared("loo", test="bayle-cv-z").decision.test == "bayle-cv-z"
    with pytest.raises(DesignError, match="covers leave-one-out; the losses are"):
        compared("3x4", test="bayle-cv-z")


def test_tests_without_their_plan_are_refused():
    with pytest.raises(DesignError, match="covers runs of k folds and pairs of folds"):
        compared("3x4", test="nested-cv-t")
    with pytest.raises(DesignError, match="An array has no design"):
        bk.compare_scores(np.random.default_rng(0).random((3, 4, 5)), test="nested-cv-t")


@pytest.mark.parametrize(("spec", "df"), [("12x5+nested", 149.0), (NESTED, 29.0)])
def test_degrees_of_freedom_are_fewer_than_models_and_rows(spec, df):
    """Iris has 150 rows; the plans have 12 * 5 * 6 / 2 = 180 and 3 * 4 * 5 / 2 = 30 models."""
    decision = compared(spec).decision
    a, b = decision.problem.sample(decision.test_choice.axes)[:2]
    assert decision.test_choice(a, b, "two-sided").df == df


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


def test_a_store_gives_the_study_back(tmp_path):
    from bestofk.run.store.store import open_store

    store = str(tmp_path / "study.db")
    study = compared(NESTED, store=store)
    with open_store(store) as kept:
        again = bk.open_study(kept)
        assert kept.study(1).n_cells == 3 * 48
    assert again.scores == study.scores
    assert again.decision.test == study.decision.test
    assert "not finished" not in again.explain()


class CountsFits:
    """Counts how often it is fitted; predicts the first class."""

    fits = 0

    def get_params(self, deep=True):
        return {}

    def set_params(self, **params):
        return self

    def fit(self, X, y):
        CountsFits.fits += 1
        self.first = np.unique(y)[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.first)


def test_a_pair_of_folds_takes_one_fit():
    CountsFits.fits = 0
    bk.compare(
        {"one": CountsFits(), "max": learner("max")},
        "iris",
        cv="2x3+nested",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    assert CountsFits.fits == 2 * 3 + 2 * 3


def test_a_budget_that_ends_early_leaves_the_runs_on_all_rows(monkeypatch):
    from bestofk.run.comparison_task import ComparisonTask

    in_rounds = ComparisonTask.in_rounds

    def only_runs(task, items):
        return [place for place in in_rounds(task, items) if place.run < 3]

    monkeypatch.setattr(ComparisonTask, "in_rounds", only_runs)
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


def test_nested_keeps_its_level_where_the_corrected_test_does_not():
    """Equal nearest neighbours on their own columns, 60 rows: 120 pairs, seeded.

    The corrected test rejects about 10 percent of such pairs. Bounds by the binomial distribution
    with one chance in 10,000 of a false alarm on each side.
    """
    from bestofk.data.schema import Encoded
    from bestofk.learners.base import predict_subsets
    from bestofk.stats.pairwise.nested_cv import nested_cv_t
    from bestofk.stats.pairwise.resampled import corrected_repeated_kfold_t

    nearest, sets, n = learner("nn"), 120, 60
    flat = np.empty((sets, 2, 5 * 5 + 5 * 20))
    for number in range(sets):
        rng = np.random.default_rng([9, number])
        y = (rng.random(n) < 0.5).astype(np.int64)
        splits = plan("5x5+nested", random_state=number).materialise(n, y)
        tests = [splits.test(run, fold) for run, fold in splits.run_folds()]
        for k in range(2):
            values = rng.standard_normal((n, 3)) + np.where(y, 0.4, -0.4)[:, np.newaxis]
            encoded = Encoded(values=values, cardinality=np.zeros(3, dtype=np.int64), y=y,
                              classes=np.array(["0", "1"]))  # fmt: skip
            codes = [*nearest._predict_plan(encoded, splits.main),
                     *predict_subsets(nearest, encoded, splits, list(range(5, 55)))]  # fmt: skip
            flat[number, k] = [np.mean(c != y[t]) for c, t in zip(codes, tests, strict=True)]
    a, b = flat[:, 0], flat[:, 1]
    ours = int((nested_cv_t(a, b, runs=5, folds=5).pvalue <= 0.05).sum())
    runs = [x[:, :25].reshape(sets, 5, 5) for x in (a, b)]
    naive = int((corrected_repeated_kfold_t(*runs).pvalue <= 0.05).sum())
    assert ours <= stats.binom.ppf(1 - 1e-4, sets, 0.06)
    assert naive > ours
