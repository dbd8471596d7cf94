"""Every way in which a plan can end, one by one, stays within the bounds."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from bestofk.stopping import sign_bounds, signed_rank_bounds


@pytest.mark.parametrize("seed", range(12))
def test_no_end_of_a_plan_leaves_the_bounds_of_the_sign_test(seed):
    rng = np.random.default_rng(seed)
    done = rng.integers(-1, 2, int(rng.integers(0, 8))).astype(float)
    left = int(rng.integers(1, 5))
    bounds = sign_bounds(done, len(done) + left)
    seen = []
    for rest in product((-1.0, 0.0, 1.0), repeat=left):
        full = np.concatenate([done, rest])
        more, less = int((full > 0).sum()), int((full < 0).sum())
        # scipy's own exact test
        p = stats.binomtest(more, more + less).pvalue if more + less else 1.0
        assert bounds.low - 1e-12 <= p <= bounds.high + 1e-12
        seen.append(p)
    assert min(seen) == pytest.approx(bounds.low)
    assert max(seen) == pytest.approx(bounds.high)


@pytest.mark.parametrize("seed", range(12))
def test_no_end_of_a_plan_leaves_the_bounds_of_the_rank_sums(seed):
    rng = np.random.default_rng(100 + seed)
    done = rng.permutation(np.arange(1, 7))[: int(rng.integers(1, 6))] * rng.choice([-1.0, 1.0])
    left = int(rng.integers(1, 4))
    low, high = signed_rank_bounds(done, len(done) + left)
    for rest in product((-9.3, -3.5, -0.2, 0.2, 3.5, 9.3), repeat=left):
        full = np.concatenate([done, rest])
        ranks = stats.rankdata(np.abs(full))
        assert low <= ranks[full > 0].sum() <= high


def test_a_unit_without_a_difference_leaves_the_ranks_open():
    assert signed_rank_bounds(np.array([0.0, 1.0]), 4) == (0.0, 10.0)
