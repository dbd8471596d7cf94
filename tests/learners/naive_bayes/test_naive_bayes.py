"""Naive Bayes: tables as fractions, the numeric grid against scipy, difficult data."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from bestofk.learners.naive_bayes import NaiveBayes


def test_nominal_tables_are_laplaces_fractions():
    # By hand: 5 rows, classes n (2) and y (3); "unused" is declared and held by no row.
    X = pd.DataFrame(
        {
            "sky": pd.Categorical(
                ["sun", "rain", "sun", "sun", None], categories=["rain", "sun", "unused"]
            ),
            "wind": ["no", "yes", "no", "yes", "no"],
        }
    )
    model = NaiveBayes().fit(X, ["n", "n", "y", "y", "y"])
    np.testing.assert_allclose(model.prior_, [3 / 7, 4 / 7], rtol=1e-15)
    sky = [[2 / 5, 1 / 5], [2 / 5, 3 / 5], [1 / 5, 1 / 5]]
    wind = [[2 / 4, 3 / 5], [2 / 4, 2 / 5]]
    np.testing.assert_allclose(model.table_, [*sky, *wind, [1, 1]], rtol=1e-15)
    products = [Fraction(3, 7) * Fraction(2, 5) / 2, Fraction(4, 7) * Fraction(3, 5) ** 2]
    row = pd.DataFrame({"sky": ["sun"], "wind": ["no"]})
    np.testing.assert_allclose(
        model.predict_proba(row)[0], [float(p / sum(products)) for p in products], rtol=1e-14
    )
    # The unknown sky is left out.
    row = pd.DataFrame({"sky": [None], "wind": ["no"]})
    products = [Fraction(3, 7) / 2, Fraction(4, 7) * Fraction(3, 5)]
    np.testing.assert_allclose(
        model.predict_proba(row)[0], [float(p / sum(products)) for p in products], rtol=1e-14
    )
    assert model.complexity() == 2 + 2 * 5


def test_numeric_factors_are_mean_densities_on_the_grid():
    x = np.array([1.0, 1.3, 2.2, 2.2, 5.1, 4.0, 6.5])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    model = NaiveBayes().fit(x[:, None], y)
    width = np.diff(np.unique(x)).mean()
    assert model.precision_[0] == pytest.approx(width, rel=1e-14)
    on_grid = np.round(x / width) * width
    for c in (0, 1):
        assert model.mean_[0, c] == pytest.approx(on_grid[y == c].mean(), rel=1e-12)
        assert model.deviation_[0, c] == pytest.approx(on_grid[y == c].std(), rel=1e-9)
    new = 3.3
    cell = np.round(new / width) * width + np.array([-0.5, 0.5]) * width
    factors = [
        np.diff(norm.cdf(cell, model.mean_[0, c], model.deviation_[0, c]))[0] / width
        for c in (0, 1)
    ]
    expected = model.prior_ * factors
    np.testing.assert_allclose(
        model.predict_proba([[new]])[0], expected / expected.sum(), rtol=1e-10
    )


def test_a_column_of_one_value_has_the_grid_of_a_hundredth():
    model = NaiveBayes().fit([[7.0], [7.0], [7.0]], [0, 1, 1])
    assert model.precision_[0] == 0.01
    np.testing.assert_array_equal(model.deviation_, [[0.01 / 6, 0.01 / 6]])
    assert model.predict([[7.0]]).tolist() == [1]


def test_far_values_do_not_end_in_zero_over_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    y = np.arange(40) % 2
    model = NaiveBayes().fit(X, y)
    shares = model.predict_proba(np.vstack([np.full(60, 1e6), np.full(60, -1e6)]))
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_ties_go_to_the_class_declared_first():
    X = pd.DataFrame({"a": list("xxzz")})
    for categories in (["u", "v"], ["v", "u"]):
        y = pd.Categorical(list("uvuv"), categories=categories)
        assert set(NaiveBayes().fit(X, y).predict(X)) == {categories[0]}


@pytest.mark.parametrize("kind", ["normal", "rounded", "whole", "units", "skewed", "far", "equal"])
def test_predictions_are_the_largest_products(kind):
    rng = np.random.default_rng(1)
    for n, d, c in ((40, 3, 2), (600, 9, 3), (3000, 4, 5)):
        y = rng.integers(0, c, n)
        X = rng.normal(size=(c, d))[y] + rng.normal(size=(n, d))
        if kind == "equal":
            X = rng.normal(size=(n, d))
        X = {
            "rounded": np.round(X, 1),
            "whole": np.round(3 * X),
            "units": X * 10.0 ** np.arange(-30, 30, 7)[:d],
            "skewed": np.exp(2 * X),
            "far": np.where(rng.random(X.shape) < 0.01, 50 * X, X) + 1e6,
        }.get(kind, X)
        model = NaiveBayes().fit(X, y)
        for rows in (X, 3 * X):
            largest = model.predict_proba(rows).argmax(axis=1)
            np.testing.assert_array_equal(model.predict(rows), largest)
        # the grid: the sum of the gaps between sorted values, from the smallest on
        gaps = [np.diff(np.sort(column)) for column in X.T]
        expected = [np.cumsum(gap[gap > 0])[-1] / (gap > 0).sum() for gap in gaps]
        np.testing.assert_array_equal(model.precision_, expected)
