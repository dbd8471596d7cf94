"""Expected values: Miller's published example, and simulation of the plan."""

import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.evals import items_needed
from bestofk.evals.item_plan import detectable_errors


def test_the_published_example():
    """Miller 2024: variance of the difference 1/9, three points, power .8: 969 questions."""
    assert items_needed(0.03, between=1 / 9) == 969


def test_epochs_divide_their_own_variance():
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    expected = z**2 * (0.1 + 0.2 / 4 + 0.3 / 2) / 0.05**2
    found = items_needed(0.05, between=0.1, within=(0.2, 0.3), epochs=(4, 2))
    assert found == int(np.ceil(expected))
    assert detectable_errors(0.05) == pytest.approx(z)


def test_the_planned_items_have_the_power():
    rng = np.random.default_rng(1)
    n = items_needed(0.2, between=0.5)
    d = rng.normal(0.2, np.sqrt(0.5), (4000, n))
    power = (stats.ttest_1samp(d, 0.0, axis=1).pvalue <= 0.05).mean()
    # standard error .006; t instead of normal costs a little
    assert power == pytest.approx(0.8, abs=0.025)


def test_no_difference_cannot_be_planned_for():
    with pytest.raises(ArgumentError, match="difference"):
        items_needed(0.0, between=1.0)
