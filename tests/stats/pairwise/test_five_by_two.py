"""Expected values: exact fractions with mpmath tails, and mlxtend's formulas."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise import five_by_two_f, five_by_two_t

counts = arrays(np.int64, (5, 2), elements=st.integers(0, 60))


def exact_parts(a, b):
    d = [[Fraction(float(x)) - Fraction(float(y)) for x, y in zip(*rows, strict=True)]
         for rows in zip(a, b, strict=True)]  # fmt: skip
    s = sum((x - (x + y) / 2) ** 2 + (y - (x + y) / 2) ** 2 for x, y in d)
    return d, s


@given(counts, counts)
def test_equals_exact_arithmetic(a, b):
    d, s = exact_parts(a, b)
    squares = sum(x * x for row in d for x in row)
    t, f = five_by_two_t(a, b), five_by_two_f(a, b)
    if s == 0:
        assert t.statistic == (0.0 if d[0][0] == 0 else np.copysign(np.inf, float(d[0][0])))
        assert t.pvalue == (1.0 if d[0][0] == 0 else 0.0)
        assert f.pvalue == (1.0 if sum(x for row in d for x in row) == 0 else 0.0)
        return
    assert t.statistic == pytest.approx(float(d[0][0]) / float(s / 5) ** 0.5, rel=1e-12)
    assert f.statistic == pytest.approx(float(squares / (2 * s)), rel=1e-12)
    assert t.estimate == pytest.approx(float(sum(x for r in d for x in r) / 10), abs=1e-12)
    x = mpmath.mpf(5) / (5 + mpmath.mpf(t.statistic) ** 2)
    assert t.pvalue == pytest.approx(
        float(mpmath.betainc(2.5, 0.5, 0, x, regularized=True)), rel=1e-11
    )
    if t.estimate != 0:
        assert f.pvalue == pytest.approx(stats.f.sf(f.statistic, 10, 5), rel=1e-11)
    else:  # no side, no claim
        assert f.pvalue == 1.0


def test_agrees_with_mlxtend():
    """mlxtend runs estimators; handed the same halves, its numbers must be ours."""
    from mlxtend.evaluate import combined_ftest_5x2cv, paired_ttest_5x2cv
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0.2).astype(int)
    first, second = LogisticRegression(), DummyClassifier(strategy="most_frequent")
    draws = np.random.RandomState(11)
    losses = np.empty((2, 5, 2))
    for run in range(5):
        seed = draws.randint(low=0, high=32767)
        halves = train_test_split(X, y, test_size=0.5, random_state=seed)
        for fold, (train, test) in enumerate((((0, 2), (1, 3)), ((1, 3), (0, 2)))):
            for learner, model in enumerate((first, second)):
                model.fit(halves[train[0]], halves[train[1]])
                score = model.score(halves[test[0]], halves[test[1]])
                losses[learner, run, fold] = 1 - score
    t, p = paired_ttest_5x2cv(first, second, X, y, random_seed=11)
    f, p_f = combined_ftest_5x2cv(first, second, X, y, random_seed=11)
    ours, ours_f = five_by_two_t(*losses), five_by_two_f(*losses)
    assert ours.statistic == pytest.approx(-t, rel=1e-9)  # scores there, losses here
    assert ours.pvalue == pytest.approx(p, rel=1e-9)
    assert ours_f.statistic == pytest.approx(f, rel=1e-9)
    assert ours_f.pvalue == pytest.approx(p_f, rel=1e-9)


@given(counts, counts)
def test_f_takes_its_side_from_the_mean(a, b):
    """p_F / 2 on the side of the mean, 1 - p_F / 2 on the other."""
    two, greater, less = (
        five_by_two_f(a, b, alternative=word) for word in ("two-sided", "greater", "less")
    )
    total = int((a - b).sum())
    assert two.direction == greater.direction == np.sign(total)
    assert two.statistic == greater.statistic == less.statistic >= 0
    if total == 0:
        alike = 1.0 if (a == b).all() else 0.5
        assert (two.pvalue, greater.pvalue, less.pvalue) == (1.0, alike, alike)
        return
    tail = stats.f.sf(two.statistic, 10, 5)
    towards, away = (greater, less) if total > 0 else (less, greater)
    assert towards.pvalue == pytest.approx(tail / 2, rel=1e-11)
    assert away.pvalue == pytest.approx(1 - tail / 2, rel=1e-11)


def reorderings():
    """The five runs turned and reversed, the folds swapped in every subset of the runs."""
    for start, step in product(range(5), (1, -1)):
        runs = np.roll(np.arange(5), start)[::step]
        for swaps in product((0, 1), repeat=5):
            yield runs[:, None], np.array([[s, 1 - s] for s in swaps])


@given(counts, counts)
@settings(max_examples=10)
def test_f_knows_no_order_of_runs_and_folds(a, b):
    """320 orders at once: the same p-value on every side, direction and interval."""
    index = tuple(np.stack(axis) for axis in zip(*reorderings(), strict=True))
    many_a, many_b = a[index] / 60, b[index] / 60
    for word in ("two-sided", "greater", "less"):
        single = five_by_two_f(a / 60, b / 60, alternative=word)
        many = five_by_two_f(many_a, many_b, alternative=word)
        assert many.pvalue.shape == (320,)
        np.testing.assert_allclose(many.pvalue, single.pvalue, rtol=1e-10)
        np.testing.assert_array_equal(many.direction, single.direction)
        for got, want in zip(many.confidence_interval(), single.confidence_interval(), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_interval_is_centred_on_the_first_difference():
    rng = np.random.default_rng(2)
    a, b = rng.random((5, 2)), rng.random((5, 2))
    low, high = five_by_two_t(a, b).confidence_interval(0.95)
    assert (low + high) / 2 == pytest.approx(a[0, 0] - b[0, 0])
    for edge in (low, high):  # the test of the shifted losses is on the border of rejection
        assert five_by_two_t(a - edge, b).pvalue == pytest.approx(0.05, rel=1e-9)
    low = five_by_two_t(a, b, alternative="greater").confidence_interval(0.9).low
    assert five_by_two_t(a - low, b, alternative="greater").pvalue == pytest.approx(0.1, rel=1e-9)


@given(counts, counts, st.sampled_from([0.2, 0.5, 0.8, 0.9, 0.95, 0.99]))
def test_f_interval_holds_the_estimate_and_never_contradicts_the_pvalue(a, b, level):
    a, b = a / 60, b / 60
    for word in ("two-sided", "greater", "less"):
        r = five_by_two_f(a, b, alternative=word)
        low, high = r.confidence_interval(level)
        if word == "two-sided" or level >= 0.5:
            assert low <= r.estimate <= high
        if abs(r.pvalue - (1 - level)) > 1e-9 and r.estimate != 0:
            assert (low <= 0 <= high) == (r.pvalue > 1 - level)


def test_one_sided_f_intervals_invert_the_test():
    rng = np.random.default_rng(2)
    a, b = rng.random((5, 2)), rng.random((5, 2))
    assert "rule out a one-sided 5x2cv-f" in five_by_two_f(a, b, alternative="less").explain()
    assert five_by_two_f(a, b).note == ""
    for level in (0.3, 0.8, 0.95):
        low = five_by_two_f(a, b, alternative="greater").confidence_interval(level).low
        estimate = five_by_two_f(a, b).estimate
        at = five_by_two_f(a - low - 1e-12, b, alternative="greater").pvalue
        if level > 0.5 and low < estimate:
            assert at == pytest.approx(1 - level, rel=1e-6)
        high = five_by_two_f(b, a, alternative="less").confidence_interval(level).high
        assert high == pytest.approx(-low)


def test_refuses_other_designs():
    for shape in ((10,), (2, 5), (5, 3), (4, 2)):
        with pytest.raises(ArgumentError):
            five_by_two_t(np.zeros(shape), np.zeros(shape))
