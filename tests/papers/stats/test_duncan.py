"""Duncan's test: critical values against two independent sources, and windows by hand."""

import numpy as np
import pytest

from bestofk.papers.stats import duncan, newman_keuls
from bestofk.papers.stats.range_tests import duncan_critical_values

HARTER = [3.151, 3.293, 3.376, 3.430, 3.465, 3.489, 3.505, 3.516, 3.522]
"""Windows of 2 to 10 means, 10 degrees of freedom, level 5 % (Harter 1960, Biometrics 16)."""


def test_critical_values_are_the_printed_ones():
    assert duncan_critical_values(0.05, 10, 10.0).round(3).tolist() == HARTER


def test_a_critical_value_is_at_least_that_of_a_smaller_window():
    # with few degrees of freedom the quantiles themselves decrease
    values = duncan_critical_values(0.05, 12, 4.0)
    assert (np.diff(values) >= 0).all()


def test_duncan_separates_what_newman_keuls_does_not():
    """Four means 0, 1, 2, 3 with MSE 1 and L = 4: t = 6, 4, 2 for windows of 4, 3 and 2.

    df = 12. Newman-Keuls: 4.199, 3.773, 3.081. Duncan: 3.313, 3.225, 3.081 (Harter 1960).
    """
    deviations = np.array([-1.0, 1.0, -1.0, 1.0]) * np.sqrt(3 / 4)
    tables = np.arange(4.0)[:, None] * 1.7 / 2 + deviations
    sizes = {window.size: window.critical_value for window in duncan(tables).windows}
    assert sizes[4] == pytest.approx(3.313, abs=0.001)
    assert sizes[3] == pytest.approx(3.225, abs=0.001)
    assert len(newman_keuls(tables).underlines) < len(duncan(tables).underlines)
    assert "Duncan test at level 0.05" in duncan(tables).explain()
