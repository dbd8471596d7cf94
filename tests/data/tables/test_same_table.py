"""A small form of studies/same_readers.py, and the cases that it found."""

import json

import pandas as pd
import pytest

import bestofk as bk

same_readers = pytest.importorskip("same_readers", reason="polars is not installed")


@pytest.mark.parametrize("table", range(12))
def test_the_same_table_in_every_format(table, tmp_path) -> None:
    assert same_readers.differences(20261118, table, tmp_path)[1] == {}


@pytest.mark.parametrize("period", [3, 100])
def test_booleans_have_one_fingerprint(period, tmp_path) -> None:
    rows = [
        {"b": i % period == 1, "no": False, "t": "xyz"[i % 3], "y": "uv"[i % 2]} for i in range(12)
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    sources = rows, pd.DataFrame(rows), tmp_path / "t.jsonl", tmp_path / "t.csv"
    assert len({bk.read_data(source, "y").fingerprint for source in sources}) == 1
