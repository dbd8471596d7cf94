"""The reproduction at a small size. The data sets are not part of the project: see BESTOFK_DATA."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from bestofk.papers.comparison import Request
from bestofk.papers.multitest.tables import reproduce
from bestofk.run.store.store import open_store

DATA = os.environ.get("BESTOFK_DATA")


needs_data = pytest.mark.skipif(
    not (DATA and Path(DATA, "uci").is_dir()),
    reason="BESTOFK_DATA names no folder with uci/: bestofk papers fetch uci --to DIR",
)


@needs_data
def test_one_run_is_near_the_print():
    account = reproduce(Request(variant="paper", runs=1, data=Path(DATA)))
    means, third = (
        next(table for table in account.tables if table.table.startswith(start))
        for start in ("Table 1, mean", "Table 3")
    )
    # ten folds: the printed deviations, 2.5 on average and 9 at most, over the root of five or so
    assert np.abs(means.ours - means.printed).mean() < 1.2
    assert np.abs(means.ours - means.printed).max() < 8
    # 30 decisions a procedure, most of them certain
    assert np.abs(third.ours - third.printed).max() < 15
    assert set(account.figures) == {"Fig. 2", "Fig. 3, hepatitis", "Fig. 4, pendigits"}
    json.dumps(account.to_dict(), allow_nan=False)


@needs_data
def test_a_store_and_processes_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("bestofk.papers.multitest.tables._RUNS_PER_PIECE", 2)
    arguments = {"variant": "shared", "tables": ("fig3",), "data": Path(DATA)}
    first = reproduce(Request(**arguments, runs=3)).to_dict()
    store = str(tmp_path / "kept.db")
    reproduce(Request(**arguments, runs=2, store=store))
    with open_store(store, read_only=True) as opened:
        assert opened.n_arrays() == 5
    again = reproduce(Request(**arguments, runs=3, store=store, jobs=2)).to_dict()
    assert again == first
    # each of the five learners had a finished piece of two runs, and needed one of a single run
    with open_store(store, read_only=True) as opened:
        assert opened.n_arrays() == 10
