"""The nulls that once broke the level, in small."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import level_holes
from bestofk.splits import plan


@pytest.mark.parametrize("name", level_holes.NULLS)
def test_every_null_yields_decisions_of_both_rules(name):
    case = next(level_holes.NULLS[name](np.random.default_rng(0), 8))
    assert case.before.shape == case.now.shape
    assert case.before.dtype == case.now.dtype == bool
    assert len(case.row()) == len(level_holes.HEAD)


def test_level_on_groups_whose_size_decides_who_is_better():
    """100 groups of 4 or 16 rows; dealt with large groups first, the rate was 23 percent."""
    rng = np.random.default_rng(1)
    sets, claims = 200, 0
    for seed in range(sets):
        large = rng.random(100) < 0.5
        of = np.repeat(np.arange(100), np.where(large, 16, 4))
        # 16 * 0.2 = 4 * 0.8, so both learners have the same expected loss
        d = np.where(large, 0.2, -0.8)[of] + 0.5 * rng.normal(size=len(of))
        splits = plan("10x5+nested", random_state=seed).materialise(len(of), None, of)
        claims += level_holes.nested(splits.marks, d, splits.design.groups)
    assert claims <= stats.binom.ppf(0.9999, sets, 0.06)
