import json
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import bestofk as bk
from bestofk._base.errors import DesignError, UnknownNameError
from bestofk.splits.design import Design


def one(plan):
    (pair,) = plan.pairs
    return pair


def folds(K=3, runs=10, k=10, gap=0.02, seed=0, rows=300):
    rng = np.random.default_rng(seed)
    values = rng.normal(0.2, 0.05, (1, runs, k)) + rng.normal(0.0, 0.04, (K, runs, k))
    values += gap * np.arange(K)[:, None, None]
    design = Design(kind="cv", runs=runs, folds=k, n_train=rows - rows // k, n_test=rows // k)
    return bk.Scores(values, learners=["nn", "c4.5", "nmc", "svm", "nb"][:K], design=design)


def data_sets(n=12, K=3, gap=0.02, seed=1):
    rng = np.random.default_rng(seed)
    values = (
        rng.normal(0.2, 0.1, (1, n)) + rng.normal(0, 0.03, (K, n)) + gap * np.arange(K)[:, None]
    )
    return bk.Scores(values, dims=("learner", "dataset"))


def answers(n=200, K=2, seed=2):
    rng = np.random.default_rng(seed)
    rates = 0.2 + 0.05 * np.arange(K)[:, None]
    return bk.Scores((rng.random((K, n)) < rates).astype(float), dims=("learner", "instance"))


# --- from numbers ---------------------------------------------------------------------------


def test_the_corrected_t_test_by_hand():
    # noncentral t with 99 df at level .05 / 10; variance 1/100 + 1/9 of sd^2
    plan = bk.sample_size(
        design="10x10", rows=300, sd=0.05, learners=5, difference=0.06, family="all"
    )
    assert plan.level == pytest.approx(0.005)
    ncp = 0.06 / (0.05 * np.sqrt(0.01 + 1 / 9))
    c = stats.t.isf(0.0025, 99)
    assert one(plan).power == pytest.approx(stats.nct.sf(c, 99, ncp), abs=1e-6)
    # with any number of runs: normal, variance sd^2 / 9
    limit = (stats.norm.isf(0.0025) + stats.norm.isf(0.2)) * 0.05 / 3
    assert plan.limit == pytest.approx(limit, rel=1e-6)


def test_more_runs_stop_at_the_limit_and_more_rows_do_not():
    plan = bk.sample_size(design="10x10", rows=300, sd=0.05, difference=0.04)
    runs, rows = one(plan).needed
    assert plan.limit > 0.04
    assert (runs.unit, runs.count) == ("runs", None)
    assert "cannot show a difference this small" in runs.reason
    assert rows.count == int(np.ceil(300 * (plan.smallest_difference / 0.04) ** 2))
    assert "More runs cannot show a difference below 0.047; more rows can." in plan.explain()


def test_needed_runs_are_the_fewest_that_do():
    plan = bk.sample_size(design="2x10", sd=0.05, difference=0.05)
    runs = one(plan).needed[0].count
    for r, enough in ((runs, True), (runs - 1, False)):
        again = bk.sample_size(design=f"{r}x10", sd=0.05, difference=0.05)
        assert (one(again).power >= 0.8) is enough


@pytest.mark.parametrize("test", ["wilcoxon", "permutation", "paired-t"])
def test_needed_data_sets_are_the_fewest_that_do(test):
    plan = bk.sample_size(datasets=9, sd=0.05, difference=0.04, test=test)
    n = one(plan).needed[0].count
    for count, enough in ((n, True), (n - 1, False)):
        again = bk.sample_size(datasets=count, sd=0.05, difference=0.04, test=test)
        assert (one(again).power >= 0.8) is enough


def test_needed_instances_give_the_power():
    plan = bk.sample_size(instances=100, discordance=0.1, difference=0.04)
    (needed,) = one(plan).needed
    again = bk.sample_size(instances=needed.count, discordance=0.1, difference=0.04)
    assert 0.8 <= one(again).power < 0.82


def test_few_data_sets_cannot_show_anything_and_the_plan_says_how_many_could():
    # 2 / 2^n must be at most .05 / 4: n = 8
    plan = bk.sample_size(datasets=5, sd=0.05, learners=5, test="wilcoxon")
    assert plan.smallest_difference is None
    assert "at least 8 are needed" in plan.explain()
    more = bk.sample_size(datasets=8, sd=0.05, learners=5, test="wilcoxon")
    assert more.smallest_difference is not None
    assert bk.sample_size(datasets=5, sd=0.05, learners=5).smallest_difference > 0.2


def test_error_rates_are_learners_that_err_independently():
    plan = bk.sample_size(instances=200, error_rates=(0.2, 0.3), difference=0.1)
    expected = bk.sample_size(instances=200, discordance=0.2 * 0.7 + 0.3 * 0.8, difference=0.1)
    assert plan.pairs == expected.pairs


def test_discordance_and_rows_give_the_binomial_spread_of_a_fold():
    plan = bk.sample_size(design="10x10", rows=300, discordance=0.12)
    again = bk.sample_size(design="10x10", rows=300, sd=np.sqrt(0.12 / 30))
    assert plan.smallest_difference == pytest.approx(again.smallest_difference)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give one of design (such as '10x10'), datasets or instances; got none"),
        ({"design": "10x10", "datasets": 5}, "got design and datasets"),
        ({"design": "10x10"}, "sd, the standard deviation"),
        ({"design": "10x10", "sd": 0}, "sd must be a number above 0"),
        ({"design": "holdout:0.3", "sd": 1}, "give instances instead of design"),
        ({"design": "loo", "sd": 1}, "leave-one-out needs rows"),
        ({"design": "1x1", "sd": 1}, "folds"),
        ({"design": "resample:1:0.1", "sd": 1}, "use a plan with two"),
        ({"design": "10x10", "sd": 1, "test": "wilcoxon"}, "corrected-repeated-kfold-t"),
        ({"datasets": 1, "sd": 1}, "datasets must be a whole number of at least 2"),
        (
            {"datasets": 5, "sd": 1, "test": "sign"},
            "test must be one of 'permutation', 'paired-t', 'skew-corrected-t', 'wilcoxon'",
        ),
        ({"instances": 50}, "give discordance (the share"),
        ({"instances": 50, "discordance": 0.1, "difference": 0.2}, "at most the discordance"),
        ({"instances": 50, "discordance": 2}, "discordance must be strictly between 0 and 1"),
        ({"datasets": 5, "sd": 1, "difference": -1}, "difference must be a number above 0"),
        ({"datasets": 5, "sd": 1, "power": 1}, "power must be strictly between 0 and 1"),
        ({"datasets": 5, "sd": 1, "learners": 1}, "learners must be a whole number"),
        ({"datasets": 5, "sd": 1, "control": "a"}, "need losses"),
        ({"losses": [[0.1, 0.2], [0.2, 0.1]], "sd": 1}, "the losses determine sd"),
    ],
)
def test_sample_size_refuses_invalid_numbers(given, words):
    with pytest.raises(bk.BestOfKError, match=re.escape(words)):
        bk.sample_size(**given)


# --- from losses ----------------------------------------------------------------------------


WIDENED = 1 + 2.4 / 300**0.5


def test_sample_size_of_losses_equals_that_of_their_standard_deviation():
    losses = folds(K=2)
    plan = bk.sample_size(losses)
    d = (losses.losses[0] - losses.losses[1]).ravel()
    # a decision on 300 rows multiplies the standard error by 1 + 2.4 / sqrt(300)
    sd = d.std(ddof=1) * WIDENED
    again = bk.sample_size(design="10x10", rows=300, sd=sd, difference=abs(d.mean()))
    for name in ("difference", "power", "smallest_difference", "limit"):
        assert getattr(one(plan), name) == pytest.approx(getattr(one(again), name), rel=1e-9)
    assert one(plan).estimate == pytest.approx(d.mean())


def test_random_splits():
    rng = np.random.default_rng(3)
    design = Design(kind="resample", folds=30, n_train=270, n_test=30)
    losses = bk.Scores(rng.normal(0.2, 0.05, (2, 30)), design=design)
    plan = bk.sample_size(losses)
    assert plan.unit == "splits"
    d = losses.losses[0].ravel() - losses.losses[1].ravel()
    again = bk.sample_size(design="resample:30:0.1", rows=300, sd=d.std(ddof=1) * WIDENED)
    assert plan.smallest_difference == pytest.approx(again.smallest_difference)
    assert plan.limit == pytest.approx(again.limit)


def test_sample_size_of_data_sets_equals_that_of_their_standard_deviation():
    losses = data_sets(K=2)
    plan = bk.sample_size(losses)
    assert plan.test == "skew-corrected-t"  # its intervals are widened, which must count once
    d = (losses.losses[0] - losses.losses[1]).ravel()
    again = bk.sample_size(datasets=12, sd=d.std(ddof=1), difference=abs(d.mean()))
    assert one(plan).smallest_difference == pytest.approx(one(again).smallest_difference)
    assert one(plan).power == one(again).power


def test_five_halvings_have_five_runs():
    rng = np.random.default_rng(4)
    losses = bk.Scores(rng.normal(0.2, 0.05, (3, 5, 2)), design="5x2")
    plan = bk.sample_size(losses, test="5x2cv-f")
    runs = plan.pairs[0].needed[0]
    assert (runs.now, runs.count, runs.reason) == (5, None, "the test needs exactly five runs")
    assert plan.limit is None


def test_one_outlier_changes_the_power_of_wilcoxon_little():
    losses = data_sets(n=20, K=2, gap=0.05)
    values = losses.losses[:, :, 0, 0, 0].copy()
    values[1, 3] += 5.0
    wild = bk.Scores(values, dims=("learner", "dataset"))
    tame, shaken = (one(bk.sample_size(x, test="wilcoxon")) for x in (losses, wild))
    assert shaken.smallest_difference < 1.5 * tame.smallest_difference
    assert shaken.difference < 1.5 * tame.difference


def test_answers_of_a_test_set():
    losses = answers()
    plan = bk.sample_size(losses)
    wrong = losses.losses[:, 0, 0, :, 0]
    disagree = (wrong[0] != wrong[1]).mean()
    assert plan.test == "mcnemar"
    again = bk.sample_size(instances=200, discordance=disagree, difference=one(plan).difference)
    assert one(plan).power == pytest.approx(one(again).power)
    assert one(plan).needed == one(again).needed


def test_a_test_that_thinks_runs_independent_gets_no_advice_on_runs():
    plan = bk.sample_size(folds(gap=0.001), test="use-all-data")
    runs, rows = plan.pairs[0].needed
    assert runs.count is None
    assert "share rows" in runs.reason
    assert rows.unit == "rows"
    plan = bk.sample_size(folds(gap=0.001), test_options={"df": 10.0})
    assert "degrees of freedom were measured" in plan.pairs[0].needed[0].reason


def test_tests_without_a_known_power_are_refused_by_name():
    with pytest.raises(DesignError, match="does not know the power of test 'sign'"):
        bk.sample_size(data_sets(), test="sign")


def test_unknown_numbers_of_rows_are_given_as_multiples():
    rng = np.random.default_rng(6)
    values = rng.normal(0.2, 0.05, (2, 10, 10))
    plan = bk.sample_size(values)
    rows = one(plan).needed[1]
    assert (rows.now, rows.count) == (None, None)
    assert rows.times > 1
    assert "times as many rows" in str(plan)
    assert one(bk.sample_size(values, rows=500)).needed[1].count == int(np.ceil(500 * rows.times))


def test_settled_pairs_need_no_more_data():
    plan = bk.sample_size(folds(gap=0.2))
    assert all(pair.settled and not pair.needed for pair in plan.pairs)
    assert "Every pair is settled" in plan.explain()


def test_an_order_brings_its_test_and_family():
    losses = folds(gap=0.01)
    plan = bk.sample_size(bk.compare_scores(losses, alpha=0.1))
    assert (plan.alpha, plan.family, plan.comparisons) == (0.1, "best", 2)
    assert plan == bk.sample_size(losses, alpha=0.1)
    plan = bk.sample_size(bk.compare_scores(losses, family="all", correction="bonferroni"))
    assert (plan.family, plan.correction, plan.comparisons) == ("all", "bonferroni", 3)


def test_families():
    losses = folds(K=5)
    best = bk.sample_size(losses)
    assert (best.comparisons, best.level, len(best.pairs)) == (4, pytest.approx(0.0125), 10)
    assert "(0.05 over 4 comparisons of each learner)" in best.explain()
    assert bk.sample_size(losses, family="all").level == pytest.approx(0.005)
    control = bk.sample_size(losses, family="control", control="nmc")
    assert (control.comparisons, control.level) == (4, pytest.approx(0.0125))
    assert all("nmc" in (pair.first, pair.second) for pair in control.pairs)
    assert "over 4 comparisons with the control" in control.explain()
    prefer = bk.sample_size(losses, family="preference")
    assert prefer.level == pytest.approx(0.01)
    assert "one-sided, at level 0.005" in prefer.explain()
    assert bk.sample_size(losses, correction="none").level == pytest.approx(0.05)
    with pytest.raises(UnknownNameError, match="no learner 'x'"):
        bk.sample_size(losses, family="control", control="x")


# --- what is said ---------------------------------------------------------------------------


def test_sample_size_ignores_rounding_error():
    values = np.array(folds(K=2).losses[:, 0, :, :, 0])
    values[1] = values[0][::-1, ::-1] + 3e-17
    plan = bk.sample_size(values)
    assert one(plan).difference == 0.0
    assert "none" in str(plan)
    assert "e-1" not in plan.explain()


def test_sample_size_gives_up_beyond_a_thousand_times_the_rows():
    values = np.array(folds(K=2, gap=0.0).losses[:, 0, :, :, 0])
    values[1] += values[0].mean() - values[1].mean() + 1e-5
    plan = bk.sample_size(values)
    assert one(plan).needed[1].reason == "more than 1000 times as many would be needed"
    assert "1,000 times as many or more" in str(plan)


@pytest.mark.parametrize("kind", ["same", "shifted"])
@pytest.mark.parametrize("shape", [(3, 10, 10), (3, 5, 2), (3, 4)])
def test_learners_without_spread_give_no_nan_and_no_warning(kind, shape):
    rng = np.random.default_rng(8)
    base = rng.integers(1, 9, shape[1:]) / 16.0
    shift = 0.0 if kind == "same" else 0.25
    values = np.stack([base + shift * k for k in range(3)])
    tables = [values]
    if len(shape) == 2:
        tables.append(bk.Scores(values, dims=("learner", "dataset")))
    for table in tables:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for test in ("auto", *(["5x2cv-f"] if shape[1:] == (5, 2) else [])):
                plan = bk.sample_size(table, test=test)
                text = json.dumps(plan.to_dict(), allow_nan=False) + plan.explain()
                assert not re.search(r"\bnan\b", text)
                plan.to_frame()


# --- invariants -----------------------------------------------------------------------------------


@given(scale=st.sampled_from([1e-6, 0.01, 100.0, 1e6]), kind=st.sampled_from(["folds", "sets"]))
@settings(max_examples=8)
def test_the_unit_of_the_loss_does_not_matter(scale, kind):
    losses = folds(gap=0.01) if kind == "folds" else data_sets(gap=0.01)
    bigger = bk.Scores(
        losses.losses * scale, dims=losses.dims, learners=losses.learners, design=losses.design
    )
    a, b = bk.sample_size(losses), bk.sample_size(bigger)
    for x, y in zip(a.pairs, b.pairs, strict=True):
        assert y.power == pytest.approx(x.power, abs=1e-9)
        assert y.smallest_difference == pytest.approx(scale * x.smallest_difference, rel=1e-6)
        assert [n.count for n in y.needed] == [n.count for n in x.needed]


@given(power=st.floats(0.3, 0.95), learners=st.integers(2, 8))
@settings(max_examples=15)
def test_the_smallest_difference_is_shown_with_the_power_asked_for(power, learners):
    for design in (
        {"design": "10x10", "sd": 0.05},
        {"design": "5x2", "sd": 0.05},
        {"datasets": 30, "sd": 0.05},
        {"instances": 300, "discordance": 0.2},
    ):
        plan = bk.sample_size(power=power, learners=learners, **design)
        again = bk.sample_size(
            power=power, learners=learners, difference=plan.smallest_difference, **design
        )
        assert one(again).power == pytest.approx(power, abs=2e-3)
