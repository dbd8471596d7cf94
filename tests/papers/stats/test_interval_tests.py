"""P-intervals of paired tests equal a search over grids, and grow with the intervals."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats.interval_tests import (
    INTERVAL_TESTS,
    _at_corners,
    interval_pvalues,
    interval_test,
)

SCIPY = {
    "paired-t": lambda d, side: stats.ttest_1samp(d, 0, axis=1, alternative=side).pvalue,
    "wilcoxon": lambda d, side: np.array(
        [stats.wilcoxon(x, alternative=side, method="exact").pvalue for x in d]
    ),
    "sign": lambda d, side: np.array(
        [stats.binomtest(int((x > 0).sum()), len(x), alternative=side).pvalue for x in d]
    ),
}
SCIPY["kfold-t"] = SCIPY["paired-t"]
SCIPY["permutation"] = lambda d, side: np.array(
    [stats.permutation_test((x,), np.mean, permutation_type="samples", n_resamples=np.inf,
                            alternative=side).pvalue for x in d]
)  # fmt: skip
"""Independent p-values of differences without zeros and ties."""


def boxes(n, seed, shift=0.0, width=0.5):
    rng = np.random.default_rng(seed)
    middle = rng.normal(shift, 1, size=n)
    half = width * rng.random(n)
    return middle - half, middle + half


def grid(low, high, points):
    return np.array(
        list(product(*(np.linspace(a, b, points) for a, b in zip(low, high, strict=True))))
    )


def ends(low, high, test, alternative="two-sided"):
    return interval_test([low, high], np.zeros((2, len(low))), test=test,
                         alternative=alternative).pvalues[0]  # fmt: skip


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("test", ["sign", "permutation"])
def test_monotone_tests_equal_a_grid(test, alternative):
    for seed in range(3):
        low, high = boxes(5, seed, shift=0.4 * (seed % 3), width=0.8)
        p = SCIPY[test](grid(low, high, 3 if test != "permutation" else 2), alternative)
        expected = [p.min(), p.max()]
        assert ends(low, high, test, alternative) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_function_is_tried_at_the_corners(alternative):
    """scipy's sign test, which is called row by row, gives the interval of ours."""

    def binomial(a, b, alternative="two-sided"):
        return stats.binomtest(int((a > b).sum()), len(a), alternative=alternative)

    for seed in range(3):
        low, high = boxes(6, seed, shift=seed, width=0.5)
        expected = ends(low, high, "sign", alternative)
        assert ends(low, high, binomial, alternative) == pytest.approx(expected)
    named = interval_test([low, high], np.zeros((2, 6)), test=binomial)
    assert named.test == "binomial"


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_t_test_equals_a_fine_grid(alternative):
    for seed in range(12):
        low, high = boxes(3, seed, shift=seed % 3, width=0.6)
        p = SCIPY["paired-t"](grid(low, high, 25), alternative)
        low_p, high_p = ends(low, high, "paired-t", alternative)
        # a grid misses the extremes inside the box by a little, never the other way
        assert low_p <= p.min() + 1e-12
        assert high_p >= p.max() - 1e-12
        assert low_p == pytest.approx(p.min(), abs=0.01)
        assert high_p == pytest.approx(p.max(), abs=0.01)


def test_the_largest_p_of_the_t_test_is_attained_at_a_corner():
    for seed in range(20):
        low, high = boxes(6, seed, shift=3.0, width=0.7)
        corners = grid(low, high, 2)
        expected = SCIPY["paired-t"](corners, "two-sided").max()
        assert ends(low, high, "paired-t")[1] == pytest.approx(expected, rel=1e-9)


def test_the_search_of_corners_equals_all_corners():
    """14 intervals have more corners than are tried; compare with all of them."""
    for seed in range(10):
        low, high = boxes(14, seed, shift=-3.0, width=1.0)
        d = np.where((np.arange(2**14)[:, None] >> np.arange(14)) & 1, high, low)
        best = (d.sum(axis=1) / np.sqrt(np.square(d).sum(axis=1))).max()
        assert _at_corners(low, high) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("test", INTERVAL_TESTS)
def test_intervals_of_p_grow_with_the_width(test):
    rng = np.random.default_rng(5)
    middle, half = rng.normal(0.6, 1, size=8), rng.random(8)
    before = None
    for scale in (0.0, 0.1, 0.2, 0.4, 0.8, 1.6):
        p = ends(middle - scale * half, middle + scale * half, test)
        if before is not None:
            assert p[0] <= before[0] + 1e-12
            assert p[1] >= before[1] - 1e-12
        before = p
    assert before[1] == 1.0


@pytest.mark.parametrize("test", INTERVAL_TESTS)
def test_width_zero_is_the_test_itself(test):
    d = np.array([0.3, -0.1, 0.25, 0.4, 0.2, 0.15, 0.05])
    expected = SCIPY[test](d[None], "two-sided")[0]
    assert ends(d, d, test) == pytest.approx([expected, expected])


def test_batches_mixtures_and_equal_differences():
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 3, 4, 9)), rng.random((1, 4, 9))
    a.sort(axis=0)
    scalar = np.stack([b, b])
    many, _ = interval_pvalues(a, scalar, test="paired-t")
    assert many.shape == (3, 4, 2)
    one = interval_test(a[:, 1, 2], scalar[:, 0, 2], test="paired-t").pvalues
    assert many[1, 2] == pytest.approx(one[0])
    # all differences can be equal: an infinite statistic, p = 0
    assert ends(np.array([1.0, 1.2]), np.array([1.5, 1.6]), "paired-t")[0] == 0.0
    # nothing differs: p = 1
    for test in INTERVAL_TESTS:
        assert ends(np.zeros(4), np.zeros(4), test).tolist() == [1.0, 1.0]


def test_verdicts_words_and_refusals():
    low, high = boxes(6, 1, shift=3.0)
    result = interval_test([low, high], np.zeros((2, 6)), names=("net", "tree"))
    assert result.verdicts == ("significant",)
    assert "net and tree: significant (p = 0.031" in result.explain()
    assert list(result.to_frame()["verdict"]) == ["significant"]
    with pytest.raises(ArgumentError, match="lower ends above"):
        interval_test([high, low], np.zeros((2, 6)))
    with pytest.raises(ArgumentError, match="must have the shape"):
        interval_test(np.zeros((3, 6)), np.zeros((2, 6)))


def signed_ranks(d, alternative):
    """Wilcoxon's exact p-value without zeros, over all signs."""
    d = d[d != 0]
    ranks = stats.rankdata(np.abs(d))
    null = np.array([np.dot(ranks, signs) for signs in product((0, 1), repeat=len(d))])
    greater, less = (null >= ranks[d > 0].sum()).mean(), (null <= ranks[d > 0].sum()).mean()
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2 * min(greater, less))}[
        alternative
    ]


@pytest.mark.parametrize(
    ("low", "high", "corners", "attained"),
    [
        # the grid of halves has every order, tie and zero of these boxes
        ([2, 2, 3, -1, -1], [3, 3, 4, 1, 1], 0.25, 0.3125),
        ([3, -2, 3, 3, -2], [5, -2, 5, 5, -1], 0.25, 0.3125),
        ([-1, -3, 4, 2, 4], [1, -2, 6, 2, 4], 0.375, 0.4375),
        ([4, 4, -1, -2], [6, 6, 1, -2], 0.5, 0.625),
        ([-2, 1, -2, -3, -2], [-2, 3, -2, -1, -2], 0.5625, 0.75),
    ],
)
def test_ties_and_zeros_inside_the_box_count_for_wilcoxon(low, high, corners, attained):
    for alternative in ("two-sided", "greater", "less"):
        inside = [np.arange(2 * a, 2 * b + 1) for a, b in zip(low, high, strict=True)]
        p = [signed_ranks(np.array(d), alternative) for d in product(*inside)]
        found = ends(np.array(low, float), np.array(high, float), "wilcoxon", alternative)
        assert found == pytest.approx([min(p), max(p)], abs=1e-12)
        if alternative == "two-sided":
            assert max(signed_ranks(np.array(d), alternative) for d in (low, high)) == corners
            assert found[1] == attained
