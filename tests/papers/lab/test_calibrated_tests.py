"""The lab against the figures that were found by experiment for Bouckaert's calibrated tests.

Expected values and their tolerances (3 standard errors) are those of an independent prototype at
1,000 data sets: naive Bayes against C4.5, 300 rows, 10 binary attributes of probabilities from
U(0, 1), stratified folds. What takes longest is done on fewer data sets here, with bounds as wide
as their number asks for.
"""

from __future__ import annotations

from typing import Any

import pytest
from scipy import stats

from bestofk._base.errors import DesignError
from bestofk.papers import lab
from bestofk.papers.lab import Simulation
from bestofk.papers.lab.calibration import counts_by_df, unscaled_statistics

SETS = 1000
PERCENT = 0.01


@pytest.fixture(scope="module")
def null() -> Simulation:
    return lab.simulate(cv="10x10", sets=SETS, random_state=1)


def within(rate: Any, low: float, high: float) -> bool:
    """A count that a rate between the two may give, in percent, at 99.9 % each side."""
    least = stats.binom.ppf(1e-3, rate.n, max(low, 0) * PERCENT)
    most = stats.binom.ppf(1 - 1e-3, rate.n, high * PERCENT)
    return bool(least <= rate.count <= most)


@pytest.mark.parametrize(
    ("runs", "test", "df", "expected", "tolerance"),
    [
        (10, "use-all-data", 10, 4.9, 2.0),
        (10, "use-all-data", None, 55.0, 5.0),
        (1, "kfold-t", 6, 4.7, 2.0),
        (1, "kfold-t", None, 11.4, 3.0),
    ],
)
def test_type1(
    null: Simulation, runs: int, test: str, df: float | None, expected: float, tolerance: float
) -> None:
    result = lab.type1_error(test, simulation=null.first_runs(runs), df=df).at(0.05)
    assert abs(100 * result.rate - expected) <= tolerance


def test_type1_of_corrected_resampling() -> None:
    generated = lab.simulate(cv="resample:10:0.1", sets=SETS, random_state=1)
    result = lab.type1_error("corrected-resampled-t", simulation=generated)
    assert abs(100 * result.at(0.05).rate - 4.5) <= 2
    assert lab.calibrate("resampled-t", simulation=generated).df in (4, 5, 6)


CALIBRATED = {
    "use-all-data": {9, 10, 11},
    "folds-averaged-var": {10, 11},
    "runs-averaged-var": {10, 11},
    "sorted-runs": {9, 10},
    "folds-averaged-t": {8, 9, 10},
    "runs-averaged-t": {9, 10},
    "folds": {None, 2, 3},
    "runs": {None, 2, 3},
    "sorted-runs-averaged-var": {2, 3},
    "sorted-runs-averaged-t": {2, 3},
}


@pytest.mark.parametrize("variant", CALIBRATED)
def test_calibrated_df(null: Simulation, variant: str) -> None:
    result = lab.calibrate(variant, simulation=null)
    assert result.df in CALIBRATED[variant]
    assert result.calibratable == (result.df is not None)
    if result.df is not None:
        assert result.type1 <= 0.05
        assert (result.df_low or 2) <= result.df <= result.df_high
        above = lab.type1_error(variant, simulation=null, df=result.df + 1).at(0.05)
        assert above.rate > 0.05


def test_calibrated_df_of_one_run(null: Simulation) -> None:
    assert lab.calibrate("kfold-t", simulation=null.first_runs(1)).df in (5, 6)


def test_rates_by_df_are_what_the_test_itself_says(null: Simulation) -> None:
    statistics = unscaled_statistics(lab.outcomes(null, "use-all-data"), "two-sided")
    rates = counts_by_df(statistics, 0.05, "two-sided") / null.sets
    assert (rates[1:] >= rates[:-1]).all()
    for df in (2, 5, 11, 40, 99):
        result = lab.type1_error("use-all-data", simulation=null, df=df).at(0.05)
        assert result.rate == rates[df - 2]


# Table 2, use all data: 0, 1.2 +- 1, 2.7 +- 1.6 at class probabilities .1, .3 and .4
@pytest.mark.parametrize(
    ("probability", "expected", "tolerance"),
    [(0.1, 0.0, 0.0), (0.3, 1.2, 1.0), (0.4, 2.7, 1.6)],
)
def test_table_2(probability: float, expected: float, tolerance: float) -> None:
    problem = lab.problem("binary", class_probability=probability)
    generated = lab.simulate(problem=problem, sets=200, random_state=1)
    result = lab.type1_error("use-all-data", simulation=generated, df=10).at(0.05)
    assert within(result, expected - tolerance, expected + tolerance)


def test_replicability_of_use_all_data() -> None:
    generated = lab.simulate(cv="10x10", sets=60, repeats=10, random_state=1)
    result = lab.replicability("use-all-data", simulation=generated, df=10).at(0.05)
    assert within(result, 89, 92.8)
    assert result.pairs > result.rate


def test_replicability_of_five_by_two() -> None:
    generated = lab.simulate(cv="5x2", sets=90, repeats=10, random_state=1)
    result = lab.replicability("5x2cv-t", simulation=generated).at(0.05)
    assert within(result, 58, 64)


def test_the_networks_have_the_accuracies_of_the_paper() -> None:
    # printed: 87.84/90.61, 71.92/77.74 (naive Bayes / C4.5)
    for paper, accuracies in {2: (87.97, 90.65), 3: (71.87, 77.76), 4: (82.00, 93.25)}.items():
        truth = lab.estimate_truth(
            ["naive-bayes", "c4.5"], lab.problem("network", paper=paper), n_train=300,
            training_sets=150,
        )  # fmt: skip
        for mean, accuracy in zip(truth.means, accuracies, strict=True):
            assert abs(100 * (1 - mean) - accuracy) < 0.8
        assert truth.best == 1


def test_a_calibrated_critical_value_makes_the_sign_test_cover_folds(null, tmp_path):
    import numpy as np

    from bestofk.stats import pairwise

    with pytest.raises(DesignError, match="covers several data sets"):
        lab.outcomes(null, "sign")
    calibration = lab.calibrate("sign", simulation=null)
    # by definition: the sign test over all 100 folds, and the largest p that 5 % of them reach
    a, b = (null.losses[:, 0, k].reshape(SETS, 100) for k in (0, 1))
    p = np.asarray(pairwise.sign(a, b).pvalue)
    assert calibration.critical_value < 1e-5
    assert (p <= calibration.critical_value).mean() <= 0.05
    assert (p <= np.sort(p)[51]).mean() > 0.05
    path = tmp_path / "sign.json"
    calibration.save(path)
    result = lab.outcomes(null, "sign", df=str(path), alpha=0.05)
    assert result.rejected.mean() == pytest.approx(calibration.type1)
