"""Columns, their declared values, and labels as codes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.data import Encoded, Schema


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=20))
def test_codes_give_the_values_back(cells: list[str | None]) -> None:
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    schema = Schema.of(frame)
    codes = schema.encode(frame)[:, 0]
    if all(cell is None for cell in cells):
        assert schema.categories == (None,)  # nothing known: as good as a number
        return
    declared = schema.categories[0]
    assert declared is not None
    assert declared == tuple(sorted({cell for cell in cells if cell is not None}))
    assert [None if np.isnan(c) else declared[int(c)] for c in codes] == cells


def test_a_reordered_or_larger_set_of_categories_is_matched_by_value() -> None:
    schema = Schema.of(pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["b", "a"])}))
    later = pd.DataFrame({"x": pd.Categorical(["a", "b", "c"], categories=["a", "b", "c"])})
    np.testing.assert_array_equal(schema.encode(later)[:, 0], [1, 0, np.nan])


def test_encoded_rows_must_fit_together() -> None:
    with pytest.raises(ArgumentError, match="must have 2 cardinalities and 3 class codes"):
        Encoded(
            values=np.zeros((3, 2)),
            cardinality=np.zeros(1, dtype=int),
            y=np.zeros(3, dtype=int),
            classes=np.array(["a"]),
        )
