import pickle

import numpy as np
import pandas as pd
import pytest

from bestofk._base.errors import TableError
from bestofk.data.tables import Table, read_table


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
    assert table.numeric_share("mixed") == pytest.approx(2 / 3)
    assert table.account == ("the table: 3 rows of 5 columns.",)


def test_unequal_and_nested_columns():
    with pytest.raises(TableError) as caught:
        Table.from_columns({"a": [1, 2], "b": [1]})
    assert str(caught.value) == (
        "the table: columns must have the same length; got 2 rows in 'a' and 1 in 'b'."
    )
    with pytest.raises(TableError) as caught:
        Table.from_columns({"a": [1, [2]]})
    assert str(caught.value) == (
        "the table: row 2, column 'a' must be a single value; got a nested one."
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


def test_frames_of_any_type_become_columns():
    frame = pd.DataFrame(
        {
            "category": pd.Categorical(["b", "a"]),
            "nullable": pd.array([1, None], dtype="Int64"),
            "objects": pd.Series(["x", 2], dtype=object),
            "text": ["p", None],
        }
    )
    table = Table.from_frame(frame)
    assert table.text("category").tolist() == ["b", "a"]
    assert table.text("nullable").tolist() == ["1", None]
    assert table.text("objects").tolist() == ["x", "2"]
    assert table.text("text").tolist() == ["p", None]


def test_whole_floats_read_as_whole_labels():
    assert Table.from_columns({"fold": [0.0, 1.0, np.nan]}).text("fold").tolist() == [
        "0",
        "1",
        None,
    ]
    assert Table.from_columns({"fold": [0.5, 1.0]}).text("fold").tolist() == ["0.5", "1.0"]


def test_a_table_survives_pickling(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n\n1,x\n")
    table = pickle.loads(pickle.dumps(read_table(path)))
    assert table.location(0, "b") == "t.csv: line 3, column 'b'"


def test_long_content_is_cut_in_the_message():
    table = Table.from_columns({"a": ["1", "y" * 100]})
    with pytest.raises(TableError) as caught:
        table.numbers("a")
    assert str(caught.value) == (
        f"the table: row 2, column 'a' must be a number; got '{'y' * 57}...'."
    )


def test_infinities_are_numbers_here():
    assert Table.from_columns({"a": ["inf", "-Infinity"]}).numbers("a").tolist() == [
        np.inf,
        -np.inf,
    ]


def test_input_arrays_are_not_written():
    values = np.array([1.0, np.nan])
    Table.from_columns({"a": values}).numbers("a")[:] = 7.0
    assert values[0] == 1.0
