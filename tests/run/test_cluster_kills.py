"""A comparison on a cluster, by the commands of the documentation, survives kills.

The long form is ``python studies/cluster_kills.py``.
"""

import pytest

import cluster_kills


@pytest.mark.needs("linux", "the memory of processes is found in /proc")
def test_kills_and_a_lost_scheduler_change_no_loss():
    pytest.importorskip("distributed", reason="Dask is not installed")
    sizes = {"learners": 2, "datasets": 2, "plan": "3x4", "workers": 2, "nap": 0.2, "every": 1}
    words = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
    assert cluster_kills.main(words) == 0
