"""Measured error rates above alpha are in the result to which they apply."""

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk.cli.terminal import print_decision
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


def over_data_sets(n, *, learners=2, skewed=False):
    rng = np.random.default_rng(n)
    draw = rng.lognormal if skewed else rng.normal
    values = draw(size=(learners, n))
    if skewed:
        values[::2] *= -1
    return bk.Losses(values, dims=("algorithm", "dataset"))


@pytest.mark.parametrize("n", [3, 11, 29, 59])
def test_few_data_sets(n):
    decision = bk.order(over_data_sets(n))
    assert decision.caution.startswith("The chance of a wrong claim is larger if")
    assert f"which {n} data sets are too few to rule out" in decision.caution
    assert decision.caution in decision.explain()


def test_many_data_sets():
    assert bk.order(over_data_sets(70, learners=4)).caution == ""
    decision = bk.order(over_data_sets(70, skewed=True))
    assert "the differences are strongly skewed" in decision.caution
    assert bk.order(over_data_sets(150, skewed=True)).caution == ""


def test_tests_by_name_over_data_sets():
    table = over_data_sets(40)
    assert "skew-corrected-t" in bk.order(table, test="paired-t").caution
    assert bk.order(table, test="wilcoxon").caution == ""


FOLDS = bk.Losses(np.random.default_rng(1).random((3, 10, 10)), algorithms=["a", "b", "c"])


def test_uncalibrated_degrees_of_freedom():
    decision = bk.order(FOLDS, test="use-all-data")
    assert "55 percent of the cases" in decision.caution
    assert "Its t distribution has 99 degrees of freedom" in decision.explain()
    given = bk.order(FOLDS, test="use-all-data", df=10)
    assert given.caution == ""
    assert "10 degrees of freedom" in given.explain()
    with pytest.warns(bk.BestOfKWarning, match="nearest measurement"):
        assert bk.order(FOLDS, test="use-all-data", df="calibrated").caution == ""
    assert bk.order(FOLDS, test="sorted-runs").caution == ""


def test_five_halvings():
    values = np.random.default_rng(1).random((2, 5, 2))
    decision = bk.order(bk.Losses(values, design="5x2"))
    assert decision.test == "5x2cv-f"
    assert "Nearest neighbours" in decision.caution
    assert "10x5+nested" in decision.caution
    by_name = bk.order(bk.Losses(values, design="5x2"), test="5x2cv-t")
    assert "Nearest neighbours" in by_name.caution


def training_runs(*counts):
    rng = np.random.default_rng(4)
    rows = [
        (f"m{k}", seed, x) for k, n in enumerate(counts) for seed, x in enumerate(rng.random(n))
    ]
    return pd.DataFrame(rows, columns=["model", "seed", "accuracy"])


def test_training_runs(capsys):
    decision = bk.order(training_runs(5, 5))
    assert decision.test == "skew-corrected-welch-t"
    assert "which 5 runs are too few to rule out" in decision.caution
    assert "fewer runs" not in decision.caution
    assert bk.order(training_runs(130, 130)).caution == ""
    print_decision(bk.order(training_runs(10, 2)))
    out = " ".join(capsys.readouterr().out.split())
    assert "Caution: The chance of a wrong claim is larger if a learner with fewer runs" in out


def test_intervals_that_cover_too_rarely_are_not_reported():
    values = np.random.default_rng(1).random((2, 5, 2))
    halves = bk.Losses(values, design="5x2")
    few = (training_runs(10, 2), training_runs(9, 9), over_data_sets(9), nested(99, zero_one=False))
    for losses in (*few, halves, windows(0.95)):
        decision = bk.order(losses)
        assert not np.isfinite(decision.evidence.low).any()
        assert not np.isfinite(decision.evidence.high).any()
        assert "so there are none" in decision.caution
        assert "95 % interval" not in decision.explain().replace("(95 % interval 0.00 to 1.00)", "")
    for losses in (training_runs(10, 10), over_data_sets(10), windows(0.0)):
        decision = bk.order(losses)
        assert np.isfinite(decision.evidence.low).all()
        assert "95 % interval" in decision.explain()
    by_name = bk.order(over_data_sets(10), test="paired-t")
    assert "Intervals miss as often as claims are wrong." in by_name.explain()


def test_intervals_allow_for_skewed_losses():
    """The factors are those of docs/methods/intervals.md."""
    for losses, percent in (
        (over_data_sets(20), 12), (over_data_sets(20, learners=10, skewed=True), 25),
        (training_runs(20, 30), 12), (nested(100, zero_one=False), 24),
    ):  # fmt: skip
        decision = bk.order(losses)
        row, choice = decision.evidence.pair(0), decision.test_choice
        a, b = (decision.evidence.values[decision.evidence.names.index(x)] for x in (row.a, row.b))
        level = decision.evidence.family.interval_level()
        low, high = choice(a, b, "two-sided").confidence_interval(level)
        factor = decision.evidence.interval_factor
        assert round(100 * (factor - 1)) == percent
        assert (row.high - row.low) / (high - low) == pytest.approx(factor)
        assert f"they are {percent} % wider than those of the test" in decision.explain()
    assert bk.order(over_data_sets(120)).evidence.interval_factor == 1.0
    assert bk.order(nested(40, zero_one=True)).evidence.interval_factor == 1.0


def nested(rows, *, zero_one):
    rng = np.random.default_rng(rows)
    losses = (rng.random((2, rows)) < 0.3) if zero_one else rng.lognormal(size=(2, rows))
    splits = bk.plan("10x5+nested").materialise(rows)
    values = np.array([losses[:, test].mean(axis=1) for _, _, _, test in splits]).T
    return bk.Losses(
        values[:, :50].reshape(2, 10, 5), dims=("algorithm", "run", "fold"), design=splits.design,
        subset_values=values[:, 50:].reshape(2, 1, -1, 2, 1),
    )  # fmt: skip


def test_few_rows_with_losses_that_may_be_skewed():
    decision = bk.order(nested(40, zero_one=False))
    assert decision.test == "nested-cv-t"
    assert "which 40 rows are too few to rule out" in decision.caution
    assert bk.order(nested(40, zero_one=True)).caution == ""
    assert "which 300 rows are too few" in bk.order(nested(300, zero_one=False)).caution
    assert bk.order(nested(1000, zero_one=False)).caution == ""


def windows(rho, n=50, **sizes):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(2, n))
    for t in range(1, n):
        values[:, t] += rho * values[:, t - 1]
    return bk.Losses(values[:, None], design=bk.Design(kind="time", folds=n, **sizes))


def test_windows_that_depend_on_each_other():
    sizes = {"n_train": tuple(range(10, 510, 10)), "n_test": (10,) * 50}
    decision = bk.order(windows(0.9, **sizes))
    assert decision.test == "corrected-resampled-t"
    assert "lag-1 autocorrelation 0." in decision.caution
    assert "ewc-t" in decision.caution
    assert "autocorrelation" not in bk.order(windows(0.0, **sizes)).caution


def test_series_without_training_sizes():
    decision = bk.order(windows(0.9))
    assert decision.test == "ewc-t"
    assert "have the information of only" in decision.caution
    assert bk.order(windows(0.0)).caution == ""


def test_tables_of_rows_in_order_of_time_are_series():
    values = windows(0.9).values.reshape(2, -1)
    times = {
        "date": pd.date_range("2020-01-01", periods=50).strftime("%Y-%m-%d"),
        "step": range(50),
    }
    for column, cells in times.items():
        table = pd.DataFrame({column: cells, "arima": values[0], "prophet": values[1]})
        if column == "step":
            with pytest.raises(bk.TableError, match="points of learning curves") as refusal:
                bk.order(table, higher_is_better=False)
            assert "design='time'" in str(refusal.value)
        design = {"step": "time"}.get(column)
        decision = bk.order(table, higher_is_better=False, design=design)
        assert decision.test == "ewc-t"
        assert "have the information of only" in decision.caution
        np.testing.assert_array_equal(
            decision.evidence.pvalue, bk.order(windows(0.9)).evidence.pvalue
        )


def test_every_caution_states_a_measured_rate():
    for entry in PAIRWISE_TESTS.values():
        for caution in entry.cautions:
            assert ("percent" in caution.words) == bool(caution.words), entry.name
            assert bool(caution.words) >= (not caution.hides_intervals), entry.name


def test_claims_on_one_test_set_are_about_the_fitted_models():
    values = np.random.default_rng(3).integers(0, 2, (2, 60))
    held_out = bk.order(bk.Losses(values, dims=("algorithm", "instance")))
    assert "these fitted models" in held_out.select("estimand")[0].text
    assert "between learners" in bk.order(FOLDS).select("estimand")[0].text
    left_out = bk.compare(["nn", "nmc"], "iris", cv="loo", test="bayle-cv-z", progress=False)
    assert "these fitted models" in left_out.decision.select("estimand")[0].text
    plan = bk.plan_size(instances=200, discordance=0.2, difference=0.1)
    assert any("fitted models" in line for line in plan.assumptions)
