"""DeLong's test and the jackknife t test."""

from __future__ import annotations

from fractions import Fraction
from math import floor, sqrt

import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise import (
    auc_components,
    delong,
    jackknife_components,
    jackknife_t,
    paired_t,
)
from bestofk.stats.pairwise.one_test_set import effective_df

POSITIVE = np.array([True] * 4 + [False] * 5)
SCORES = np.array([[8, 7, 6, 3, 5, 4, 2, 1, 0], [8, 5, 4, 3, 7, 6, 2, 1, 1]])


def exact_delong(positive, first, second):
    """Return the areas, the variance of their difference and its df, from DeLong (1988).

    The squares of the rows' shares in the difference add up to the variance; the df are
    2 (sum of the squares)^2 / (sum of their squares) - 1, rounded down.
    """

    def psi(x, y):
        return Fraction(1) if x > y else Fraction(1, 2) if x == y else Fraction(0)

    parts = []
    for scores in (first, second):
        ups = [int(s) for s, up in zip(scores, positive, strict=True) if up]
        downs = [int(s) for s, up in zip(scores, positive, strict=True) if not up]
        v10 = [sum(psi(x, y) for y in downs) / len(downs) for x in ups]
        v01 = [sum(psi(x, y) for x in ups) / len(ups) for y in downs]
        parts.append((sum(v10) / len(v10), v10, v01))

    squares = []
    for a, b in ((parts[0][side], parts[1][side]) for side in (1, 2)):
        centred = [x - y - parts[0][0] + parts[1][0] for x, y in zip(a, b, strict=True)]
        squares += [x * x / len(a) / (len(a) - 1) for x in centred]
    variance = sum(squares)
    df = floor(2 * variance**2 / sum(x * x for x in squares) - 1)
    return parts[0][0], parts[1][0], variance, min(max(df, 1), len(squares) - 1)


def test_delong_equals_exact_arithmetic():
    first, second, variance, df = exact_delong(POSITIVE, *SCORES)
    assert first == Fraction(9, 10)
    result = delong(*auc_components(POSITIVE, SCORES))
    assert result.estimate == pytest.approx(float(second - first), abs=1e-15)
    t = float(second - first) / sqrt(variance)
    assert result.statistic == pytest.approx(t, rel=1e-12)
    assert result.df == df
    assert result.pvalue == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-10)
    assert result.standard_error == pytest.approx(sqrt(variance), rel=1e-12)


def test_many_models_at_once_are_the_models_one_by_one():
    rng = np.random.default_rng(3)
    y = rng.random(60) < 0.4
    scores = np.round(rng.normal(size=(4, 60)) + y, 1)
    together = auc_components(y, scores)
    for row, model in zip(together, scores, strict=True):
        np.testing.assert_array_equal(row, auc_components(y, model))
    from sklearn.metrics import roc_auc_score

    areas = [roc_auc_score(y, model) for model in scores]
    np.testing.assert_allclose(1 - together.mean(axis=1), areas, rtol=1e-12)


def test_weights_count_as_copies_of_rows():
    copies = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1])
    rows = np.repeat(np.arange(9), copies)
    weighted = auc_components(POSITIVE, SCORES, sample_weight=copies)
    repeated = auc_components(POSITIVE[rows], SCORES[:, rows])
    np.testing.assert_allclose(weighted.mean(axis=1), repeated.mean(axis=1), rtol=1e-12)


def test_copies_within_groups_are_no_more_evidence():
    groups = np.tile(np.arange(9), 4)
    y, scores = np.tile(POSITIVE, 4), np.tile(SCORES, 4)
    single = auc_components(POSITIVE, SCORES, groups=np.arange(9))
    grouped = auc_components(y, scores, groups=groups)
    np.testing.assert_allclose(grouped, single, rtol=1e-10)
    assert delong(*auc_components(y, scores)).pvalue < delong(*grouped).pvalue


@pytest.mark.parametrize(
    ("positive", "scores", "words"),
    [
        (np.ones(9, bool), SCORES[0], "0 with the negative class"),
        (np.arange(9) == 2, SCORES[0], "1 with the positive class"),
        (POSITIVE, [np.nan, *SCORES[0][1:]], "scores"),
        (POSITIVE, SCORES[0][:5], "9 values on the last axis"),
        (POSITIVE.astype(int), SCORES[0], "array of bool"),
    ],
)
def test_refusals(positive, scores, words):
    with pytest.raises(ArgumentError, match=words):
        auc_components(positive, scores)


def test_the_jackknife_of_a_mean_has_the_statistic_of_the_paired_t_test():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 25))
    parts = [jackknife_components(x.mean(), (x.sum() - x) / 24) for x in (a, b)]
    ours, plain = jackknife_t(*parts), paired_t(a, b)
    assert ours.statistic == pytest.approx(plain.statistic, rel=1e-9)
    # 2 (sum e^2)^2 / sum e^4 - 1, rounded down
    squares = np.square(a - b - (a - b).mean())
    assert ours.df == floor(2 * squares.sum() ** 2 / (squares**2).sum() - 1)
    assert ours.test == "jackknife-t"


@pytest.mark.parametrize("unlike", [False, True])
def test_level_of_delong_with_six_positives(unlike):
    """Two models with the same AUC; the normal distribution rejects in 9 to 14 percent."""
    rng = np.random.default_rng(9)
    y = np.arange(200) < 6
    sets, rejected = 500, 0
    spread = np.array([[1.0], [3.0 if unlike else 1.0]])
    # the AUC is P(Z < 0.7) for both models
    gain = 0.7 * np.sqrt(1 + spread**2)
    for _ in range(sets):
        noise = rng.normal(size=(2, 200))
        parts = auc_components(y, np.where(y, gain + spread * noise, noise))
        rejected += delong(*parts).pvalue <= 0.05
    assert rejected <= stats.binom.ppf(0.9999, sets, 0.06)


def test_effective_df_counts_the_units_that_carry_the_variance():
    # six equal squares among 200: 2 * 6^2 / 6 - 1
    assert effective_df(np.array([1.0] * 6 + [0.0] * 194)) == 11
    assert effective_df(np.array([1.0, 0.0, 0.0])) == 1
    assert effective_df(np.zeros(5)) == 1
    # no more than n - 1
    assert effective_df(np.ones(5)) == 4
    assert effective_df(np.array([1e-200] * 5)) == 4
