"""A small form of studies/store_faults.py."""

import pytest

pytestmark = pytest.mark.needs("posix", "the faults strike in forks")


@pytest.mark.parametrize("case", range(16))
def test_a_fault_loses_nothing(case, tmp_path):
    from store_faults import KINDS, run_case

    # run_case checks the store itself
    assert run_case(7, case, tmp_path).startswith(KINDS[case % len(KINDS)])
