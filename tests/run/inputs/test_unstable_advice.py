"""Advice about unstable learners and few rows: when it appears, and its text."""

import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import bestofk as bk
from bestofk.learners.registry import LEARNERS, learner
from bestofk.run.inputs import BETTER_TEST, FEW_ROWS, NESTED, advice_for_unstable, is_unstable
from bestofk.splits import plan
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

SCALED = make_pipeline(StandardScaler(), KNeighborsClassifier())


@pytest.mark.parametrize(
    "one",
    [
        "nn", "c4.5", learner("nn"), learner("c4.5"), KNeighborsClassifier(),
        DecisionTreeClassifier(), DecisionTreeRegressor(), ExtraTreeClassifier(), SCALED,
        GridSearchCV(SCALED, {}),
    ],
)  # fmt: skip
def test_unstable(one):
    assert is_unstable(one)


@pytest.mark.parametrize(
    "one",
    [
        "nmc", "logistic", "naive-bayes", "max", "mine", learner("nmc"), LogisticRegression(),
        RandomForestClassifier(), ExtraTreesClassifier(), NearestCentroid(),
        BaggingClassifier(DecisionTreeClassifier()),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)  # fmt: skip
def test_stable(one):
    assert not is_unstable(one)


def test_names_the_learners_the_plan_and_the_test():
    said = advice_for_unstable({"near": SCALED, "line": LogisticRegression()}, 5000, "10x10")
    assert said.startswith(
        "For unstable learners (near) the corrected t test errs on about 11 percent"
    )
    assert "'10x5+nested' (its test is nested-cv-t)" in said
    said = advice_for_unstable(["nn", "nmc", DecisionTreeClassifier()], 5000, plan("kfold:10"))
    assert said.startswith("For unstable learners (nn, DecisionTreeClassifier) the")


def test_few_rows():
    stable = ["nmc", "logistic"]
    assert advice_for_unstable(stable, FEW_ROWS, "10x10").startswith("With 300 rows")
    assert advice_for_unstable(stable, FEW_ROWS + 1, "10x10") is None


@pytest.mark.parametrize(
    ("rows", "spec"),
    [
        (100, "holdout:0.3"), (100, "loo"),
    ],
)  # fmt: skip
def test_says_nothing_where_it_does_not_apply(rows, spec):
    assert advice_for_unstable(["nn", "c4.5"], rows, spec) is None


@pytest.mark.parametrize(
    ("rows", "spec", "end"),
    [
        (
            100,
            "10x5+nested",
            "The test of the plan '10x5+nested' allows for it; it needs",
        ),
        (9, "kfold:3", "A plan whose test holds needs 10 rows or more."),
        (100, "5x2", "The plan '10x5+nested' (its test is nested-cv-t) came to at most 6"),
        (100, "resample:10:0.1", "(its test is nested-cv-t) came to at most 6"),
        (100, "bootstrap:20", "(its test is nested-cv-t) came to at most 6"),
    ],
)
def test_where_the_corrected_test_decides_after_all(rows, spec, end):
    assert end in advice_for_unstable(["nn", "c4.5"], rows, spec)


@pytest.mark.parametrize(
    ("spec", "test"),
    [
        ("kfold:10", "kfold-t"),
        ("kfold:10", "corrected-repeated-kfold-t"),
        ("resample:15:0.1", "resampled-t"),
        ("resample:15:0.1", "auto"),
        ("10x10", "auto"),
        ("5x2", "corrected-repeated-kfold-t"),
        ("2x5+nested", "corrected-repeated-kfold-t"),
    ],
)
def test_no_comparison_of_unstable_learners_loses_its_caution(spec, test):
    study = bk.compare(["nmc", "nn"], "iris", cv=spec, test=test, progress=False)
    assert study.decision.caution
    assert study.decision.caution in study.explain()


@pytest.mark.parametrize(
    ("spec", "test"), [("kfold:10", "kfold-t"), ("resample:15:0.1", "resampled-t")]
)
def test_stable_learners_do_not_excuse_a_test_that_is_wrong_for_all(spec, test):
    study = bk.compare(["nmc", "logistic"], "breast-cancer", cv=spec, test=test, progress=False)
    ((percent,),) = (caution.rates.values() for caution in PAIRWISE_TESTS[test].cautions)
    assert study.decision.caution == (
        f"{test} treats dependent losses as independent: about {percent} percent of such results "
        "are wrong instead of 5."
    )


def test_what_is_recommended_exists():
    design = plan(NESTED).materialise(60, [0, 1] * 30).design
    assert design.situations(n_datasets=1)[0] in PAIRWISE_TESTS[BETTER_TEST].covers
    assert {name for name, entry in LEARNERS.items() if entry.unstable} == {
        "nn",
        "c4.5",
        "nearest-neighbour",
        "furia",
        "decision-tree",
        "regression-tree",
    }
