"""The power that is planned is the power that comes out, from the model that each test assumes.

The cases are those of benchmarks/planned_power.py, whose full table stands in docs/use/how-many.md.
"""

import importlib.util
import sys
from pathlib import Path

import pytest
from scipy import stats

_PATH = Path(__file__).resolve().parents[3] / "benchmarks" / "planned_power.py"
_SPEC = importlib.util.spec_from_file_location("planned_power", _PATH)
planned_power = importlib.util.module_from_spec(_SPEC)
sys.modules["planned_power"] = planned_power
_SPEC.loader.exec_module(planned_power)

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
def test_planned_power_comes_out(case, learners):
    rows = list(planned_power.measure_case(case, learners, SIMULATIONS))
    assert len(rows) >= 5
    assert [round(row.planned, 2) for row in rows[:4]] == [0.3, 0.5, 0.8, 0.95]
    for row in rows:
        assert agrees(row), row


def test_the_table_has_a_row_for_each_design():
    rows = list(planned_power.measure_case(planned_power.CASES[4], 2, 200))
    table = planned_power.markdown(rows).splitlines()
    assert table[2].startswith("| 15 data sets, paired t | 2 | ")
    assert table[-1].startswith("The largest gap is ")
