"""The same table gives the same numbers and levels in every format."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from bestofk.data.tables import read_table

pl = pytest.importorskip("polars")

words = st.none() | st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"], exclude_characters="'"),
    min_size=1, max_size=6,
).filter(lambda text: text.strip() == text and not text.startswith(tuple("=+-@#")))  # fmt: skip
numbers = st.none() | st.integers(-(10**9), 10**9).map(lambda n: n / 1000)
rows = st.lists(
    st.fixed_dictionaries({
        "name": words, "x": numbers, "n": st.integers(-(10**6), 10**6), "right": st.booleans(),
        "money": st.sampled_from(["$1,204.50", "$3.00", "NA"]),
    }),
    min_size=1, max_size=8,
)  # fmt: skip


@settings(max_examples=8, deadline=None)
@given(rows=rows)
def test_the_same_table_in_every_format(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("same")
    frame = pd.DataFrame(rows)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    frame.to_csv(folder / "t.csv.gz", index=False)
    frame.to_excel(folder / "t.xlsx", index=False)
    frame.to_parquet(folder / "t.parquet")
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sources = [folder / name for name in ("t.tsv", "t.csv.gz", "t.xlsx", "t.parquet", "t.jsonl")]
    expected = read_table(folder / "t.csv")
    for source in (*sources, rows, frame, pl.DataFrame(rows, infer_schema_length=None)):
        table = read_table(source)
        for column in ("x", "n", "money"):
            np.testing.assert_array_equal(table.numbers(column), expected.numbers(column))
        for column in ("name", "right", "n", "money"):
            assert table.levels(column).names == expected.levels(column).names
            assert table.levels(column).codes.tolist() == expected.levels(column).codes.tolist()
            assert table.is_numeric(column) == expected.is_numeric(column)
