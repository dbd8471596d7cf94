"""The Kruskal-Wallis test against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bestofk.stats.multiple import kruskal_wallis

TABLES = hnp.arrays(
    np.int64, st.tuples(st.integers(3, 6), st.integers(2, 9)), elements=st.integers(0, 4)
)


@settings(max_examples=50, deadline=None)
@given(TABLES)
def test_kruskal_wallis_with_ties_equals_scipy(losses):
    result = kruskal_wallis(losses)
    if losses.min() == losses.max():
        assert (result.statistic, result.pvalue) == (0.0, 1.0)
        return
    expected = stats.kruskal(*losses)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert result.df == len(losses) - 1
