"""Bootstrap-A against fractions, enumeration, numpy's permutations and the theory itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats.bootstrap import bootstrap_a
from bestofk.stats.pairwise.permutation_tests import permutation

WORKED = [[1, 2, 3, 4], [2, 2, 5, 4], [3, 4, 5, 6]]


def all_rearrangements(table):
    """P-values of all learners over all permutations of every column, in fractions."""
    learners = len(table)
    lower, upper, count = [0] * learners, [0] * learners, 0
    observed = [sum(row) for row in table]
    for columns in product(*(list(permutations(c)) for c in zip(*table, strict=True))):
        totals = [sum(c[a] for c in columns) for a in range(learners)]
        count += 1
        for a in range(learners):
            lower[a] += totals[a] <= observed[a]
            upper[a] += totals[a] >= observed[a]
    return [
        min(Fraction(1), 2 * Fraction(min(lo, up), count))
        for lo, up in zip(lower, upper, strict=True)
    ]


def test_the_worked_example():
    """8/81, 8/9 and 4/81."""
    result = bootstrap_a(WORKED)
    np.testing.assert_allclose(result.pvalues, [8 / 81, 8 / 9, 4 / 81], rtol=1e-15)
    np.testing.assert_allclose(result.adjusted_pvalues, [24 / 81, 1, 12 / 81], rtol=1e-15)
    np.testing.assert_allclose(result.estimates, [2.5, 3.25, 4.5])


@pytest.mark.parametrize("denominator", [1, 10])
def test_full_enumeration_of_permutations(denominator):
    """The definition itself: 3!^4 and 4!^3 families of permutations."""
    rng = np.random.default_rng(31)
    for shape in ((3, 4), (4, 3), (2, 6)):
        whole = rng.integers(0, 8, size=shape)
        truth = all_rearrangements(whole.tolist())
        got = bootstrap_a(whole / denominator).pvalues
        np.testing.assert_allclose(got, [float(p) for p in truth], rtol=1e-14)


def test_folds_and_repetitions_stay_together():
    losses = np.random.default_rng(3).random((4, 6, 5, 3))
    result = bootstrap_a(losses)
    np.testing.assert_allclose(result.estimates, losses.mean(axis=(1, 2, 3)))
    np.testing.assert_array_equal(result.pvalues, bootstrap_a(losses.mean(axis=(2, 3))).pvalues)
    np.testing.assert_array_equal(result.pvalues, bootstrap_a(losses.reshape(4, 6, 15)).pvalues)


def within_chance(pvalues, drawn, m, error=0.0, chance=1e-6):
    """Whether the drawn p-values can come from these, each tail being binomial."""
    hits = drawn / 2 * (m + 1) - 1
    low = stats.binom.ppf(chance, m, np.maximum(pvalues - error, 0) / 2)
    high = stats.binom.isf(chance, m, np.minimum((pvalues + error) / 2, 1))
    # a p-value of 1 stands for any tail of at least a half
    return ((hits >= low) | (drawn >= 1)) & ((hits <= high) | (pvalues + error >= 1))


def test_a_million_random_rearrangements():
    losses = np.random.default_rng(0).random((5, 64)) + 0.03 * np.array([[2, 0, 4, 1, 1]]).T
    exact = bootstrap_a(losses)
    drawn = bootstrap_a(losses, method="resample", resamples=1_000_000, random_state=11)
    assert within_chance(exact.pvalues, drawn.pvalues, 1_000_000).all()


def test_means_of_the_same_folds_in_another_order_are_ties():
    """Means of shuffled folds differ in the last bit; they are the same mean."""
    rng = np.random.default_rng(1)
    folds = rng.random((70, 10))
    losses = np.stack([rng.permuted(folds, axis=1) for _ in range(3)])
    assert np.ptp(losses.mean(axis=2), axis=0).max() > 0
    assert bootstrap_a(losses).pvalues.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("n_datasets", [5, 60, 400])
def test_the_best_everywhere_is_never_p_zero(n_datasets):
    """Best of 5 on every data set: both tails by hand, 5^-D, down to 1e-279."""
    losses = np.random.default_rng(2).random((5, n_datasets)) + 1.0
    losses[3] = 0.5
    truth = 2 * float(Fraction(1, 5**n_datasets))
    assert bootstrap_a(losses).pvalues[3] == pytest.approx(truth, rel=1e-10)
    drawn = bootstrap_a(losses, method="resample", resamples=99, random_state=0).pvalues
    assert drawn[3] >= 2 / 100


@pytest.mark.parametrize("shape", [(2, 1), (2, 2), (7, 1), (60, 12)])
def test_degenerate_shapes(shape):
    losses = np.random.default_rng(2).random(shape)
    result = bootstrap_a(losses)
    assert result.pvalues.shape == shape[:1]
    assert ((result.pvalues > 0) & (result.pvalues <= 1)).all()
    assert result.explain()
    if shape[1] == 1:
        # one draw of n values: the k-th smallest has tail k/n
        ranks = stats.rankdata(losses[:, 0])
        tail = np.minimum(ranks, shape[0] + 1 - ranks) / shape[0]
        np.testing.assert_allclose(result.pvalues, np.minimum(1, 2 * tail), rtol=1e-14)


def test_sixty_learners_against_random_rearrangements():
    losses = np.random.default_rng(2).random((60, 12)) + np.linspace(0, 0.3, 60)[:, None]
    exact = bootstrap_a(losses)
    drawn = bootstrap_a(losses, method="resample", resamples=20_000, random_state=1)
    assert within_chance(exact.pvalues, drawn.pvalues, 20_000, chance=1e-8).all()


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(1, 20), st.integers(0, 10_000))
def test_labels_units_and_shifts_do_not_matter(learners, n_datasets, seed):
    rng = np.random.default_rng(seed)
    losses = rng.integers(0, 40, size=(learners, n_datasets)) / 40
    p = bootstrap_a(losses).pvalues
    order = rng.permutation(learners)
    np.testing.assert_allclose(bootstrap_a(losses[order]).pvalues, p[order], rtol=1e-12)
    columns = rng.permutation(n_datasets)
    np.testing.assert_allclose(bootstrap_a(losses[:, columns]).pvalues, p, rtol=1e-12)
    np.testing.assert_allclose(bootstrap_a(100 * losses).pvalues, p, rtol=1e-12)
    np.testing.assert_allclose(bootstrap_a(losses + rng.random(n_datasets)).pvalues, p, rtol=1e-12)
    np.testing.assert_allclose(bootstrap_a(1 - losses).pvalues, p, rtol=1e-12)


def test_two_learners_are_the_sign_flip_test():
    a, b = np.random.default_rng(8).random((2, 25))
    flips = permutation(a, b).pvalue
    result = bootstrap_a([a, b])
    np.testing.assert_allclose(result.pvalues, [flips, flips], rtol=1e-13)


def test_resampling_is_deterministic_and_leaves_no_trace():
    losses = np.random.default_rng(8).random((3, 9))
    original = losses.copy()
    runs = [
        bootstrap_a(losses, method="resample", resamples=500, random_state=4).pvalues
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*runs)
    np.testing.assert_array_equal(losses, original)
    assert bootstrap_a(losses, method="resample", resamples=500).resamples == 500
    assert bootstrap_a(losses).resamples == 0


def test_extreme_magnitudes():
    losses = np.random.default_rng(8).random((3, 6))
    p = bootstrap_a(losses).pvalues
    for power in (1020, -1000):
        result = bootstrap_a(np.ldexp(losses, power))
        np.testing.assert_array_equal(result.pvalues, p)
        assert np.isfinite(result.estimates).all()


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([1.0, 2.0], "losses must have the axes"),
        ([[1.0, 2.0]], "at least 2 learners"),
        (np.ones((2, 2, 2, 2, 2)), "got an array of shape"),
        (np.ones((2, 0)), "got an array of shape"),
        ([[1.0, np.nan], [1.0, 2.0]], "missing='allow'"),
        ([[1.0, np.inf], [1.0, 2.0]], "losses must be finite"),
        ([["a", "b"], ["c", "d"]], "an array of numbers"),
    ],
)
def test_bad_losses_are_refused(losses, message):
    with pytest.raises(ArgumentError, match=message):
        bootstrap_a(losses)
