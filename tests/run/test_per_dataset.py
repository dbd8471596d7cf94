"""One run on several data sets, decided on each: the same decisions as runs of their own."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import bestofk as bk
from bestofk.decide.multitest_order import AS_PUBLISHED

DATA = ["iris", "wine", "breast-cancer"]
LEARNERS = ["max", "nmc", "logistic", "nn"]
PUBLISHED = bk.Settings(prefer="complexity", **AS_PUBLISHED)


def run(data, store=None, **options):
    execution = bk.Execution(engine="serial", progress=False, store=store)
    return bk.compare(LEARNERS, data, execution=execution, **options)


def decided(result):
    """Return everything that a decision says of its learners, without the seconds."""
    table = result.table.drop(columns=["fit_time", "predict_time"])
    return result.recommended, result.order, result.test, table.to_dict(), result.pairs.to_dict()


@pytest.mark.parametrize(
    "options",
    [
        {"cv": "5x2", "settings": PUBLISHED},
        {"cv": "5x2", "settings": bk.Settings(rule="test-first", prefer="listed")},
        {"cv": "2x5+nested", "margin": 0.02},
        {"cv": "holdout:0.5"},
    ],
    ids=["as published", "test-first", "default rule", "one test set"],
)
def test_decisions_are_those_of_single_runs(options):
    result = run(DATA, per_dataset=True, **options)
    assert list(result.by_dataset) == DATA
    for name, part in result.by_dataset.items():
        assert repr(decided(part)) == repr(decided(run(name, **options))), name


def test_the_summary_counts_the_decisions_and_the_store_repeats_it(tmp_path):
    store = tmp_path / "study.db"
    result = run(DATA, store, cv="5x2", settings=PUBLISHED, per_dataset=True)
    best = [part.recommended for part in result.by_dataset.values()]
    counts = result.table.set_index("name")["recommended_on"].to_dict()
    assert counts == {name: best.count(name) for name in LEARNERS}
    assert result.order[0] == max(LEARNERS, key=best.count)
    found = result.to_dict()
    assert found["rules"]["multitest"] == dict(zip(DATA, best, strict=True))
    assert set(found["rules"]) == {
        "multitest", "test-first", "anova-choice", "newman-keuls-choice",
    }  # fmt: skip
    test_first = bk.Settings(**{**AS_PUBLISHED, "rule": "test-first", "family": None},
                             prefer="complexity")  # fmt: skip
    first = run("wine", cv="5x2", settings=test_first)
    assert found["rules"]["test-first"]["wine"] == first.recommended
    means = result.scores.by_dataset()
    single = run("wine", cv="5x2", settings=PUBLISHED).scores.means()
    assert dict(zip(result.order, means[:, 1], strict=True)) == pytest.approx(single)
    again = bk.open_study(store)
    assert again.to_dict()["by_dataset"] == found["by_dataset"]
    assert again.explain() == result.explain()
    strict = bk.open_study(store, alpha=1e-6)
    assert [part.settings.alpha for part in strict.by_dataset.values()] == [1e-6] * 3
    page = result.report(tmp_path / "page.html").read_text()
    for text in (
        "The recommended learner on each data set",
        "Mean error by data set",
        "test-first</th>",
        "Each data set was decided by itself, by MultiTest (",
        "and a preference for the simplest, at level 0.05.",
    ):
        assert text in page
    assert result.by_dataset["wine"].fit_recommended().predict([[13.0] * 13]).shape == (1,)


class Picky(ClassifierMixin, BaseEstimator):
    """Predicts the first class, but cannot be fitted to the 13 columns of wine."""

    def fit(self, X, y):
        if X.shape[1] == 13:
            raise ValueError("thirteen columns")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


def test_a_data_set_without_a_fit_is_named_and_the_others_are_decided():
    execution = bk.Execution(engine="serial", progress=False)
    learners = {"one": Picky(), "two": Picky()}
    result = bk.compare(learners, ["iris", "wine"], cv="5x2", per_dataset=True, execution=execution)
    assert list(result.by_dataset) == ["iris"]
    assert result.headline.startswith("Use one on 1 of 2 data sets. wine: No learner could be")
    # 50 of the 150 rows of iris are of the first class
    assert result.scores.by_dataset(missing="allow")[0].tolist()[0] == pytest.approx(2 / 3)


def test_stop_is_refused():
    with pytest.raises(bk.BestOfKError, match="stop does not apply to per_dataset"):
        run(DATA, per_dataset=True, stop="settled")
