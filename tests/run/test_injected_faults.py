"""A small form of studies/store_faults.py."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the faults need fork")


@pytest.mark.parametrize("case", range(16))
def test_a_fault_loses_nothing(case, tmp_path):
    from store_faults import KINDS, run_case

    # run_case checks the store itself
    assert run_case(7, case, tmp_path).startswith(KINDS[case % len(KINDS)])
