"""A result carries a caution only if its own losses show that its test errs too often."""

import re

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
import bestofk.decide
from bestofk._base.errors import DesignError
from bestofk.evals.choosing import clustered_choice
from bestofk.splits.design import Design
from bestofk.splits.plans import plan as make_plan
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, PAIRWISE_TESTS


def over_data_sets(n, *, learners=2, skewed=False, sigma=1.0):
    rng = np.random.default_rng(n)
    values = rng.lognormal(sigma=sigma, size=(learners, n)) if skewed else rng.normal(
        size=(learners, n)
    )  # fmt: skip
    if skewed:
        values[::2] *= -1
    return bk.Scores(values, dims=("learner", "dataset"))


def nested_fits(sds, *, runs=10, rows=200):
    """Losses of rows that are wrong with probability .3, by models that add their own constant."""
    rng = np.random.default_rng(11)
    splits = make_plan(f"{runs}x5+nested").materialise(rows)
    wrong = rng.random((len(sds), rows)) < 0.3
    tested = [test for _, _, _, test in splits]
    values = np.array([wrong[:, test].mean(axis=1) for test in tested]).T
    main, pairs = values[:, : 5 * runs], values[:, 5 * runs :].reshape(len(sds), -1, 2)
    for part in (main[..., np.newaxis], pairs):
        part += np.array(sds)[:, np.newaxis, np.newaxis] * rng.standard_normal((*part.shape[:2], 1))
    return bk.Scores(
        main.reshape(-1, runs, 5), dims=("learner", "run", "fold"), design=splits.design,
        learners=[f"m{k}" for k in range(len(sds))],
        subset_values=pairs.reshape(len(sds), 1, -1, 2, 1),
    )  # fmt: skip


def test_caution_names_unstable_learners():
    # V = 2 * .21 / 200 = .0021, so VT of m1 is .1^2 = 5 V
    decision = bk.compare_scores(nested_fits([0.0, 0.1, 0.0]))
    assert decision.test == "nested-cv-t"
    assert "the error of m1 depends on a few training rows" in decision.decision.caution
    both = bk.compare_scores(nested_fits([0.1, 0.1, 0.0], runs=5)).decision.caution
    assert "the error of m1 and m0 depends" in both  # in the order of their means
    assert bk.compare_scores(nested_fits([0.0, 0.0, 0.0])).decision.caution == ""
    slight = bk.compare_scores(nested_fits([0.02, 0.02, 0.02], runs=3)).decision.caution
    assert "training rows" not in slight


@pytest.mark.parametrize("n", [3, 11, 29, 59, 120])
def test_few_data_sets_alone_are_no_caution(n):
    assert bk.compare_scores(over_data_sets(n)).decision.caution == ""
    assert bk.compare_scores(over_data_sets(n, learners=5)).decision.caution == ""


def test_extremely_skewed_data_sets_give_a_caution_with_one_rate():
    decision = bk.compare_scores(over_data_sets(40, skewed=True, sigma=3.0))
    assert decision.decision.caution.startswith(
        "The differences are extremely skewed (one of 40 data sets"
    )
    # 11 percent at 30 data sets and 10 at 200
    assert "about 11 percent of such results are wrong instead of 5." in decision.decision.caution
    assert decision.decision.caution in decision.explain()


def test_skewed_data_sets_give_a_caution_to_tests_that_ignore_it():
    table = over_data_sets(40, skewed=True)
    for test in ("paired-t", "permutation"):
        caution = bk.compare_scores(table, test=test).decision.caution
        assert f"which {test} ignores" in caution
        assert "skew-corrected-t" in caution
        assert bk.compare_scores(over_data_sets(40), test=test).decision.caution == ""
    assert bk.compare_scores(table, test="wilcoxon").decision.caution == ""
    assert bk.compare_scores(table).decision.caution == ""


FOLDS = bk.Scores(np.random.default_rng(1).random((3, 10, 10)), learners=["a", "b", "c"])


def test_uncalibrated_degrees_of_freedom():
    decision = bk.compare_scores(FOLDS, test="use-all-data")
    assert "about 55 percent of such results are wrong" in decision.decision.caution
    assert "Its t distribution has 99 degrees of freedom" in decision.explain()
    given = bk.compare_scores(FOLDS, test="use-all-data", test_options={"df": 10})
    assert given.decision.caution == ""
    assert "10 degrees of freedom" in given.explain()
    with pytest.warns(bk.BestOfKWarning, match="nearest measurement"):
        assert (
            bk.compare_scores(
                FOLDS, test="use-all-data", test_options={"df": "calibrated"}
            ).decision.caution
            == ""
        )
    assert bk.compare_scores(FOLDS, test="sorted-runs").decision.caution == ""


def training_runs(*counts):
    rng = np.random.default_rng(4)
    rows = [
        (f"m{k}", seed, x) for k, n in enumerate(counts) for seed, x in enumerate(rng.random(n))
    ]
    return pd.DataFrame(rows, columns=["model", "seed", "accuracy"])


def test_training_runs_have_a_note_and_no_caution():
    for counts in ((5, 5), (10, 2), (60, 60)):
        decision = bk.compare_scores(training_runs(*counts))
        assert decision.test == "skew-corrected-welch-t"
        assert decision.decision.caution == ""
        assert np.isfinite(decision.decision.evidence.low).all()
        (note,) = decision.decision.test_choice.notes
        assert note.startswith("The runs share one test set")


def nested(rows, *, zero_one):
    rng = np.random.default_rng(rows)
    losses = (rng.random((2, rows)) < 0.3) if zero_one else rng.lognormal(size=(2, rows))
    splits = make_plan("10x5+nested").materialise(rows)
    values = np.array([losses[:, test].mean(axis=1) for _, _, _, test in splits]).T
    return bk.Scores(
        values[:, :50].reshape(2, 10, 5), dims=("learner", "run", "fold"), design=splits.design,
        subset_values=values[:, 50:].reshape(2, 1, -1, 2, 1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("losses", "factor"),
    [
        (over_data_sets(20), 1 + 2.5 / 20),
        # visibly skewed: 1 + log10(10) times as much
        (over_data_sets(20, learners=10, skewed=True), 1 + 5.0 / 20),
        (training_runs(20, 30), 1 + 2.5 / 20),
        (nested(100, zero_one=False), 1 + 2.4 / 10),
        (nested(1000, zero_one=False), 1.0),
        (nested(40, zero_one=True), 1.0),
        (FOLDS, 1.0),
    ],
)
def test_pvalues_and_intervals_are_widened_alike(losses, factor):
    """The factors are those of docs/methods/intervals.md."""
    decision = bk.compare_scores(losses)
    evidence, choice = decision.decision.evidence, decision.decision.test_choice
    assert choice.arguments.get("widened", 1.0) == pytest.approx(factor)
    plain = choice.function(
        evidence.values[evidence.first], evidence.values[evidence.second],
        **{**choice.arguments, **({"widened": 1.0} if factor > 1 else {})},
    )  # fmt: skip
    (result,) = evidence.results["two-sided"]
    np.testing.assert_allclose(result.standard_error, factor * np.asarray(plain.standard_error))
    assert (evidence.pvalue >= np.asarray(plain.pvalue) - 1e-12).all()
    low, high = plain.confidence_interval(evidence.family.interval_level())
    wide, narrow = evidence.high - evidence.low, np.asarray(high) - np.asarray(low)
    assert (wide >= factor * narrow - 1e-12).all()


def test_a_left_skewed_best_of_twelve_data_sets_is_covered():
    """Of 20,000 such studies 94.7 percent are covered, and 91.8 percent without the factor."""
    rng = np.random.default_rng(6)
    losses = rng.normal(scale=0.5, size=(600, 2, 12))
    losses[:, 0] -= rng.lognormal(size=(600, 12)) - np.exp(0.5)
    # an interval excludes 0 exactly if the p-value is at most 0.05
    many = bestofk.decide.order_many(losses[..., None, None, None])
    # the standard error of 600 studies is 0.9 percent
    assert np.mean(many.pvalue[:, 0, 1] > 0.05) >= 0.93


def windows(rho, n=50, **sizes):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(2, n))
    for t in range(1, n):
        values[:, t] += rho * values[:, t - 1]
    return bk.Scores(values[:, None], design=Design(kind="time", folds=n, **sizes))


def test_windows_that_depend_on_each_other():
    sizes = {"n_train": tuple(range(10, 510, 10)), "n_test": (10,) * 50}
    decision = bk.compare_scores(windows(0.9, **sizes))
    assert decision.test == "corrected-resampled-t"
    assert "lag-1 autocorrelation 0." in decision.decision.caution
    assert "ewc-t" in decision.decision.caution
    assert bk.compare_scores(windows(0.0, **sizes)).decision.caution == ""


def test_series_that_depend_on_each_other_have_wider_intervals_and_no_caution():
    decision = bk.compare_scores(windows(0.9))
    assert decision.test == "ewc-t"
    assert decision.decision.caution == ""
    values = windows(0.9).losses.reshape(2, -1)
    plain = bk.stats.pairwise.ewc_t(*values)
    # the series may have the information of one independent loss
    (result,) = decision.decision.evidence.results["two-sided"]
    assert result.standard_error[0] > 2 * plain.standard_error
    assert bk.compare_scores(windows(0.0)).decision.caution == ""


def test_slow_changes_of_a_short_series_give_a_caution():
    rng = np.random.default_rng(3)
    d = np.repeat([1.0, -1.0, 1.0, 1.0], 25) + rng.normal(size=100)
    losses = bk.Scores(np.stack([d, np.zeros(100)])[:, None], design=Design(kind="time", folds=100))
    caution = bk.compare_scores(losses).decision.caution
    assert re.match("The differences change slowly: 100 losses are worth about [0-9]+ ", caution)
    assert "about 20 percent of such results are wrong" in caution


def of_items(scores, clusters=None, test="cluster-t"):
    labels = np.arange(scores.shape[1]) if clusters is None else clusters
    losses = bk.Scores(1.0 - scores, dims=("learner", "instance"), learners=["a", "b"])
    return bk.compare_scores(
        losses, test=clustered_choice(test, clusters=labels, unit=1.0)
    ).decision.caution


def test_few_items_of_a_model_with_scores_at_one_end_give_a_caution():
    rng = np.random.default_rng(1)
    usual = np.clip(0.05 + 0.01 * rng.normal(size=12), 0.02, 1.0)
    caution = of_items(np.stack([np.zeros(12), usual]))
    assert "Nearly all scores of a are at one end of the scale" in caution
    assert "about 16 percent" in caution
    assert of_items(np.stack([usual + 0.01 * rng.random(12), usual])) == ""


def test_right_or_wrong_answers_in_clusters_are_not_called_skewed():
    labels = np.repeat(np.arange(30), np.repeat([1, 12], 15))
    rng = np.random.default_rng(1)
    answers = (rng.random((2, len(labels))) < 0.5) * 1.0
    assert of_items(answers, labels, "cluster-sign-flip") == ""
    graded = np.stack([rng.beta(0.1, 0.9, 60), np.full(60, 0.1)])
    assert "which cluster-sign-flip ignores" in of_items(graded, test="cluster-sign-flip")


def test_every_caution_has_a_measured_rate_for_this_number_of_units():
    for entry in (*PAIRWISE_TESTS.values(), *CLUSTERED_TESTS.values()):
        assert all(caution.rates for caution in entry.cautions), entry.name


def test_claims_on_one_test_set_are_about_the_fitted_models():
    values = np.random.default_rng(3).integers(0, 2, (2, 60))
    held_out = bk.compare_scores(bk.Scores(values, dims=("learner", "instance")))
    assert "these fitted models" in held_out.decision.select("evidence")[0].text
    assert "mean loss of learners" in bk.compare_scores(FOLDS).decision.select("evidence")[0].text
    left_out = bk.compare(["nn", "nmc"], "iris", cv="loo", test="bayle-cv-z", progress=False)
    assert "these fitted models" in left_out.decision.select("evidence")[0].text
    plan = bk.sample_size(instances=200, discordance=0.2, difference=0.1)
    assert any("fitted models" in line for line in plan.assumptions)


def test_signed_rank_bayes_needs_ten_data_sets_and_promises_no_error_rate(on_data_sets):
    rng = np.random.default_rng(4)
    few = on_data_sets(rng.random((3, 9)))
    with pytest.raises(DesignError, match="fewer than 10 data sets; got 9"):
        bk.compare_scores(few, test="signed-rank-bayes")
    enough = on_data_sets(rng.random((3, 10)))
    text = bk.compare_scores(
        enough, test="signed-rank-bayes", test_options={"samples": 500}
    ).explain()
    assert "no error rate is promised" in text
    assert "wrong claim" not in text
