"""The interval paper at a small size: significant shares, Type I error, tables, command."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk.papers.comparison import Request
from bestofk.papers.intervals.experiments import (
    STEPS,
    outlier_pieces,
    scalar_multiple,
    scalar_pairs,
    scalar_pieces,
)
from bestofk.papers.intervals.tables import (
    detail_table,
    dp_tables,
    first_table,
    null_table,
    significant_shares,
)

# Shares of all pairs found significant, means over dp > 0 of many draws, and three standard
# deviations of one draw, from an independent prototype.
EXPECTED = {
    "named": {
        "t": (0.514, 0.030),
        "Wilcoxon": (0.484, 0.057),
        "Bootstrap-A": (0.613, 0.021),
        "Bootstrap-A, Hochberg": (0.505, 0.030),
    },
    "as_printed": {"t": (0.676, 0.06), "Wilcoxon": (0.637, 0.10), "Bootstrap-A": (0.779, 0.05)},
}
SIMULATIONS = 12
ALL = tuple(range(len(STEPS)))


@pytest.fixture(scope="module")
def plain():
    return scalar_pieces("plain", Request(runs=2, seed=1), steps=ALL, simulations=SIMULATIONS)


@pytest.mark.parametrize("counting", list(EXPECTED))
def test_shares_significant_are_the_expected_ones(plain, counting):
    shares = significant_shares(scalar_pairs(plain, counting))
    for test, (expected, tolerance) in EXPECTED[counting].items():
        # 2 draws of 12 simulations: what the winners do is halved, what chance does is added
        assert abs(shares[test].mean() - expected) <= tolerance + 0.02, test


def test_bootstrap_a_gains_nothing_on_equal_terms(plain):
    shares = significant_shares(scalar_pairs(plain, "named"))
    assert shares["Bootstrap-A"].mean() > shares["t"].mean() + 0.05
    assert abs(shares["Bootstrap-A, Hochberg"].mean() - shares["t"].mean()) < 0.03


@pytest.mark.parametrize("counting", ["named", "as_printed"])
def test_tables_of_the_first_claim_stand_next_to_the_print(plain, counting):
    verdicts = scalar_pairs(plain, counting)
    multiple, pairs, average = dp_tables("2", scalar_multiple(plain, counting), verdicts, counting)
    assert multiple.ours.shape == (21, 3)
    assert pairs.ours.shape == (21, 6)
    assert np.isfinite(pairs.printed).all()
    # from dp = 0.05 on every test of all five finds the difference, as in print
    assert (multiple.ours[10:] == 100).all()
    printed = dict(zip(average.rows, average.printed[:, 2].round(3).tolist(), strict=True))
    right = {"named": (0.589, 0.692), "as_printed": (0.692, 0.589)}[counting]
    assert (printed["t"], printed["Wilcoxon"]) == right
    # two draws cannot judge a table whose shares vary between draws
    assert "not judged: 2 draws are too few" in pairs.summary()
    assert not pairs.compared.any()


def test_as_printed_explains_where_the_print_finds_nothing():
    evidence = scalar_pieces("table 1", Request(runs=1), steps=(6,), simulations=40)
    verdicts = scalar_pairs(evidence, "as_printed")
    del verdicts["Bootstrap-A, Hochberg"]
    table = detail_table("3", verdicts, exchanged=True, known=True)
    # with the winners of Table 1, A1 against A5 is certain, and yet the print never finds it
    assert table.ours[3, 0] == table.printed[3, 0] == 0
    named = scalar_pairs(evidence, "named")["t"]
    assert (named[0, 0, :, 3] == 0).all()


def test_table_1_follows_its_formula_but_its_samples_vary_like_one_repetition():
    errors, spread = first_table()
    assert errors.within.all()
    inside = (spread.printed >= spread.low) & (spread.printed <= spread.high)
    assert inside[:, 1].all()
    assert not inside[[0, 1, 4], 0].any()
    assert spread.verdict == "not judged"


def test_the_true_type_1_error_is_nominal_but_for_the_unadjusted_comparison():
    p = scalar_pieces("null", Request(runs=1, seed=4), steps=(0,), simulations=500)
    table = null_table(p)
    rates = dict(zip(table.rows, table.ours[:, 0].tolist(), strict=True))
    # exact binomial 99.9 % bounds of 500 simulations at 0.05 and 0.22
    for name in ("ANOVA", "Friedman", "Bootstrap-A, adjusted for five"):
        assert 0.02 <= rates[name] <= 0.088
    assert 0.16 <= rates["Bootstrap-A, not adjusted"] <= 0.284
    for name in ("t, a pair", "Wilcoxon, a pair", "Bootstrap-A, a pair"):
        assert 0.03 <= rates[name] <= 0.07


def test_tables_with_outliers():
    p = outlier_pieces(Request(runs=1, seed=2), steps=(6, 16), simulations=6)
    assert p.medians.t.shape == (1, 2, 6, 10)
    # a repetition in ten at 0.75 moves the means of the stochastic ones, not the medians
    shift = np.abs(p.means.differences - p.medians.differences).mean(axis=(0, 1, 2))
    assert shift[1] > 0.02  # A1, stochastic, against A3
    assert shift[7] < 0.005  # A3 against A4
