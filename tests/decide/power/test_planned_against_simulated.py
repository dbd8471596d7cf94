"""Planned power equals simulated power under the model that each test assumes.

The cases are those of studies/planned_power.py; studies/results/planned_power.md has all of them.
"""

import pytest
from scipy import stats

import planned_power

SIMULATIONS = 2000
POINTS = 0.03


def agrees(row):
    """Whether a power within three points of the planned one could give what was simulated."""
    count = round(row.simulated * row.simulations)
    low = stats.binom.ppf(5e-5, row.simulations, max(row.planned - POINTS, 0.0))
    high = stats.binom.ppf(1 - 5e-5, row.simulations, min(row.planned + POINTS, 1.0))
    return low <= count <= high


@pytest.mark.parametrize("learners", [2, 5])
@pytest.mark.parametrize("case", planned_power.CASES, ids=lambda case: case.name)
def test_planned_power_equals_simulated_power(case, learners):
    rows = list(planned_power.measure_case(case, learners, SIMULATIONS))
    assert len(rows) >= 5
    assert [round(row.planned, 2) for row in rows[:4]] == [0.3, 0.5, 0.8, 0.95]
    for row in rows:
        assert agrees(row), row


def test_the_table_has_a_row_for_each_design():
    rows = list(planned_power.measure_case(planned_power.CASES[6], 2, 200))
    table = planned_power.markdown(rows).splitlines()
    assert table[2].startswith("| 15 data sets, paired t | 2 | ")
    assert table[-1].startswith("The largest gap is ")
