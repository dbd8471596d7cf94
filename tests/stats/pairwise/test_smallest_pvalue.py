"""Smallest possible p-values against the tests themselves and calculations by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise import PAIRWISE_TESTS, fewest_units, smallest_pvalue

DISCRETE = [entry for entry in PAIRWISE_TESTS.values() if entry.smallest_pvalue is not None]
every_discrete = pytest.mark.parametrize("entry", DISCRETE, ids=lambda entry: entry.name)


def call(entry, a, b, alternative="two-sided"):
    more = {"random_state": 0} if entry.random else {}
    return entry.load()(a, b, alternative=alternative, **entry.arguments, **more)


def test_which_tests_are_discrete():
    names = {entry.name for entry in DISCRETE}
    assert names == {"sign", "wilcoxon", "permutation", "mcnemar"}
    assert all(entry.discrete for entry in DISCRETE)


@every_discrete
@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 30])
def test_all_wins_give_the_smallest(entry, n):
    b = np.zeros(n)
    a = b + 1.0 if entry.zero_one else b + np.arange(1, n + 1)
    assert call(entry, a, b).pvalue == pytest.approx(entry.smallest_pvalue(n), rel=1e-9)
    if not entry.zero_one:
        for side in ("greater", "less"):
            sign = 1 if side == "greater" else -1
            got = call(entry, sign * a, b, side).pvalue
            assert got == pytest.approx(smallest_pvalue(n, side), rel=1e-9)


@every_discrete
@pytest.mark.parametrize("n", [2, 5, 9])
def test_nothing_gives_less(entry, n):
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, 2 if entry.zero_one else 5, (2, 500, n)).astype(float)
    assert (call(entry, a, b).pvalue >= entry.smallest_pvalue(n) * (1 - 1e-12)).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sign", {}),
        ("wilcoxon", {}),
        ("wilcoxon", {"method": "normal"}),
        ("wilcoxon", {"zeros": "split"}),
        ("permutation", {"random_state": 0}),
        ("mcnemar", {}),
        ("mcnemar", {"exact": True}),
        ("paired-t", {}),
        ("paired-t", {"resolution": 1e-3}),
        ("signed-rank-bayes", {"random_state": 0, "samples": 200}),
    ],
)
def test_no_number_of_units_makes_a_pvalue_of_0(name, options):
    # 2^-n leaves the range of numbers from n = 1075 on
    entry = PAIRWISE_TESTS[name]
    n = 100_000 if name in ("sign", "mcnemar", "wilcoxon", "paired-t") else 3_000
    b = np.zeros(n)
    a = b + 1.0 if entry.zero_one else b + np.arange(1, n + 1) / n
    for alternative, other in (("two-sided", None), ("greater", "less"), ("less", "greater")):
        first, second = (b, a) if alternative == "less" else (a, b)
        result = entry.load()(first, second, alternative=alternative, **options)
        assert 0.0 < result.pvalue < 0.05
        if other and not entry.bayesian:
            assert entry.load()(first, second, alternative=other, **options).pvalue == 1.0


def test_by_hand():
    assert smallest_pvalue(5) == 2 / 32
    assert smallest_pvalue(5, "less") == 1 / 32
    assert (smallest_pvalue(0), smallest_pvalue(1)) == (1.0, 1.0)
    assert smallest_pvalue(10**9) == np.finfo(float).tiny
    for bad in (-1, 2.5, "7", True):
        with pytest.raises(ArgumentError, match="n must be"):
            smallest_pvalue(bad)


def test_fewest_units():
    # one comparison: 2 / 2^6 = 0.031; three pairs: 6 / 2^7 = 0.047; ten: 20 / 2^9 = 0.039
    assert [fewest_units(smallest_pvalue, m) for m in (1, 3, 10)] == [6, 7, 9]
    assert fewest_units(lambda n: smallest_pvalue(n, "greater"), 10) == 8
    assert fewest_units(smallest_pvalue, 1, alpha=0.9) == 2
    for m, alpha in ((1, 0.05), (45, 0.01), (499_500, 0.05)):
        n = fewest_units(smallest_pvalue, m, alpha)
        assert m * smallest_pvalue(n) <= alpha < m * smallest_pvalue(n - 1)
    with pytest.raises(ArgumentError, match="comparisons"):
        fewest_units(smallest_pvalue, 0)
