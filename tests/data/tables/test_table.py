import numpy as np
import pandas as pd
import pytest

from bestofk._base.errors import TableError
from bestofk.data.tables import Table


def test_from_columns_keeps_types_and_mixtures():
    table = Table.from_columns(
        {
            "n": [1, 2, None],
            "x": np.array([0.5, np.nan, 2.0]),
            "mixed": ["a", 1, 2.5],
            "truth": [True, None, False],
            "masked": np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
        }
    )
    assert table.text("mixed").tolist() == ["a", "1", "2.5"]
    assert table.text("n").tolist() == ["1", "2", None]
    assert table.missing("x").tolist() == [False, True, False]
    assert table.missing("masked").tolist() == [False, True, False]
    assert table.is_typed_number("n")
    assert not table.is_typed_number("mixed")
    assert table.account == ("the table: 3 rows of 5 columns.",)


def test_columns_of_unequal_length():
    with pytest.raises(TableError) as caught:
        Table.from_columns({"a": [1, 2], "b": [1]})
    assert str(caught.value) == (
        "the table: columns must have the same length; got 2 rows in 'a' and 1 in 'b'."
    )


def test_from_frame_keeps_a_named_index_only():
    frame = pd.DataFrame({"svm": [0.5, 0.25]}, index=pd.Index(["iris", "wine"]))
    assert Table.from_frame(frame).columns == ("column 1", "svm")
    assert Table.from_frame(frame.rename_axis("dataset")).columns == ("dataset", "svm")
    assert Table.from_frame(frame.reset_index(drop=True)).columns == ("svm",)
    assert Table.from_frame(frame.reset_index(drop=True).iloc[[1]]).columns == ("svm",)


def test_from_frame_refuses_what_has_no_single_name():
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(TableError, match="the data frame: two columns are named 'a'"):
        Table.from_frame(frame)
    frame.columns = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    with pytest.raises(TableError, match="must have one level of column names; got 2"):
        Table.from_frame(frame)


def test_rows_that_are_taken_keep_their_numbers():
    table = Table.from_columns({"a": ["1", "2", "x", "y" * 100]})
    taken = table.take(np.array([False, True, True, True]))
    assert taken.location(1, "a") == "the table: row 3, column 'a'"
    with pytest.raises(TableError, match=r"row 3, column 'a' must be a number; got 'x'\."):
        taken.numbers("a")
