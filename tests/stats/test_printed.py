"""Bounds of p-values of printed tables hold for all joint outcomes, and are attained."""

import itertools

import numpy as np
import pytest

from bestofk.stats.pairwise import mcnemar, paired_t
from bestofk.stats.printed import mcnemar_bounds, paired_t_bounds, wrong_counts


def all_pvalues(wrong_a, wrong_b, n):
    """p-values of `mcnemar` on items, for every possible overlap of the wrong answers."""
    found = []
    for a, b in itertools.product(wrong_a, wrong_b):
        for both in range(max(0, a + b - n), min(a, b) + 1):
            items = np.zeros((2, n))
            items[0, :a] = 1
            items[1, a - both : a - both + b] = 1
            found.append(mcnemar(items[0], items[1], exact="auto").pvalue)
    return found


@pytest.mark.parametrize(
    ("wrong_a", "wrong_b", "n"),
    [([3], [9], 12), ([0], [0], 5), ([0], [7], 7), ([20], [31], 60), ([55], [58], 60),
     ([5, 6, 7], [6, 7], 40), ([30], [30], 200), ([14], [38], 120), ([10, 11], [45, 46, 47], 90)],
)  # fmt: skip
def test_mcnemar_bounds_are_those_of_all_joint_outcomes(wrong_a, wrong_b, n):
    p = all_pvalues(wrong_a, wrong_b, n)
    assert mcnemar_bounds(wrong_a, wrong_b, n) == pytest.approx((min(p), max(p)), rel=1e-12)


def test_the_true_pvalue_is_always_inside():
    rng = np.random.default_rng(2)
    for _ in range(100):
        n = int(rng.integers(5, 400))
        items = (rng.random((2, n)) < rng.random((2, 1))).astype(float)
        digits = int(rng.integers(2, 4))
        half = 0.5 * 10.0**-digits
        counts = [wrong_counts(round(row.mean(), digits), n, half) for row in items]
        assert all(row.sum() in possible for row, possible in zip(items, counts, strict=True))
        low, high = mcnemar_bounds(*counts, n)
        assert low <= mcnemar(*items, exact="auto").pvalue <= high


def test_paired_t_bounds_hold_and_are_attained():
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(3, 60))
        a, b = rng.normal(size=(2, n)) * rng.uniform(0.1, 2, (2, 1)) + rng.normal(size=(2, 1))
        difference = a.mean() - b.mean()
        deviations = a.std(ddof=1), b.std(ddof=1)
        low, high = paired_t_bounds((difference, difference), deviations, n)
        assert low <= paired_t(a, b).pvalue <= high
        # perfectly correlated items attain the ends
        scaled = (a - a.mean()) / deviations[0] * deviations[1] + b.mean()
        assert paired_t(a, scaled).pvalue == pytest.approx(low, rel=1e-6, abs=1e-12)
        opposite = 2 * b.mean() - scaled
        assert paired_t(a, opposite).pvalue == pytest.approx(high, rel=1e-6)


def test_many_counts_keep_the_smallest_and_the_largest_difference():
    # ranges of more counts than are tried one by one; brute force over all of them
    for wrong_a, wrong_b, n in (
        (range(10, 90), range(95, 180), 300),
    ):  # fmt: skip
        tried = [mcnemar_bounds([a], [b], n) for a in wrong_a for b in wrong_b]
        expected = min(low for low, _ in tried), max(high for _, high in tried)
        assert mcnemar_bounds(list(wrong_a), list(wrong_b), n) == pytest.approx(expected, rel=1e-12)
