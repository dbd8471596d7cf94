"""Tails from counts of sizes: by counting every flip with whole numbers, and by the older ways."""

from fractions import Fraction

import numpy as np
import pytest

from bestofk.stats.null_distributions.sign_flips import flipped_tails, lattice_of, two_sided
from bestofk.stats.pairwise import permutation


def by_counting(numbers, total):
    """The share of all flips with so large a sum, exactly."""
    ways = {0: 1}
    for size, count in enumerate(numbers, start=1):
        for _ in range(count):
            grown: dict[int, int] = {}
            for at, number in ways.items():
                for to in (at - size, at + size):
                    grown[to] = grown.get(to, 0) + number
            ways = grown
    return Fraction(sum(n for at, n in ways.items() if at >= total), sum(ways.values()))


@pytest.mark.parametrize(
    "numbers", [[1], [7, 0, 2], [0, 0, 5], [30, 12], [40, 0, 0, 0, 9], [3, 3, 3, 3]]
)
def test_every_sum_has_its_exact_tail(numbers):
    reach = sum(size * count for size, count in enumerate(numbers, start=1))
    totals = np.arange(-reach - 2, reach + 3)
    found = flipped_tails(np.tile(numbers, (totals.size, 1)), totals)
    for total, p in zip(totals.tolist(), found.tolist(), strict=True):
        assert p == pytest.approx(float(by_counting(numbers, total)), rel=1e-12)


def test_far_tails_keep_their_digits():
    """All of 900 differences positive: one of 2^900 flips, or of 2^1800 below the range."""
    assert flipped_tails(np.array([[900]]), np.array([900]))[0] == pytest.approx(
        2.0**-900, rel=1e-10
    )
    assert 0 < flipped_tails(np.array([[1800]]), np.array([1800]))[0] < 1e-300


@pytest.mark.parametrize("n", [40, 700])
def test_it_is_what_convolving_block_by_block_gives(n):
    rng = np.random.default_rng(1)
    a = rng.binomial(4, 0.6, (6, n)) / 4
    b = rng.binomial(4, rng.uniform(0.4, 0.7, (6, 1)), (6, n)) / 4
    lattice = lattice_of(a, b)
    assert lattice.unit == pytest.approx(0.25)
    found = permutation(a, b)
    assert found.pvalue == pytest.approx(two_sided(a, b)[0], rel=1e-10)
    assert found.estimate == pytest.approx((a - b).mean(axis=1))
    greater = permutation(a, b, alternative="greater").pvalue
    less = permutation(a, b, alternative="less").pvalue
    # the observed sum counts on both sides
    assert (greater + less > 1 - 1e-12).all()
    assert np.minimum(1, 2 * np.minimum(greater, less)) == pytest.approx(found.pvalue)


def test_differences_without_a_unit_have_no_lattice():
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 3, 50))
    assert lattice_of(a, b) is None
    assert lattice_of(a, a) is None
    # one value off the grid is enough
    a, b = np.ones((1, 5000)), np.zeros((1, 5000))
    a[0, 4321] = 0.7531
    assert lattice_of(a, b) is None
