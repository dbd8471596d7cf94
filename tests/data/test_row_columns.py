"""Groups, weights and folds: by column name or as arrays, excluded from the features."""

import numpy as np
import pandas as pd
import pytest

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.data import read_data, with_row_columns

FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, 3.0, 4.0],
        "patient": ["p", "p", "q", "q"],
        "share": [1, 2, 3, 0],
        "fold": [0, 1, 0, -1],
    }
)
Y = ["a", "b", "a", "b"]


def test_named_column_is_excluded_from_features():
    data = read_data(FRAME, Y, groups="patient", sample_weight="share", folds="fold")
    assert list(data.X.columns) == ["size"]
    assert data.groups.tolist() == ["p", "p", "q", "q"]
    assert data.sample_weight.tolist() == [1.0, 2.0, 3.0, 0.0]
    assert (data.folds.name, data.folds.tolist()) == ("fold", [0, 1, 0, -1])
    assert data.predicted.endswith("from 1 column, 4 rows in 2 groups.")
    later = with_row_columns(read_data(FRAME, Y), groups="patient", sample_weight="share")
    assert list(later.X.columns) == ["size", "fold"]
    assert with_row_columns(later, groups="patient").groups is later.groups
    assert list(FRAME.columns) == ["size", "patient", "share", "fold"]


def test_one_column_in_two_roles_and_arrays():
    data = read_data(FRAME, Y, groups="fold", folds="fold")
    assert "fold" not in data.X.columns
    from_arrays = read_data(FRAME[["size"]], Y, groups=FRAME["patient"], sample_weight=[1, 1, 1, 2])
    assert from_arrays.groups.name == "patient"
    assert from_arrays.d == 1


def test_fingerprint_includes_weights_but_not_groups():
    plain = read_data(FRAME[["size"]], Y)
    grouped = with_row_columns(plain, groups=[1, 1, 2, 2])
    weighted, other = (
        with_row_columns(plain, sample_weight=w) for w in ([1, 1, 1, 1], [1, 1, 1, 2])
    )
    assert plain.fingerprint == grouped.fingerprint
    assert len({plain.fingerprint, weighted.fingerprint, other.fingerprint}) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": [1, 2]}, "one value for each of the 4 rows"),
        ({"groups": ["a", None, "b", "c"]}, r"no missing values; row 2 is missing \(1 of 4\)"),
        ({"sample_weight": [1, 1, -1, 1]}, "0 or more; got -1 in row 3"),
        ({"sample_weight": [1, 1, np.inf, 1]}, "0 or more; got inf in row 3"),
        ({"sample_weight": [0, 0, 0, 0]}, "all are 0"),
        ({"sample_weight": "patient"}, "numbers, one for each row"),
        ({"groups": 3}, "or name a column; got 3"),
    ],
)
def test_invalid_row_columns_raise(given, message):
    with pytest.raises(ArgumentError, match=message):
        read_data(FRAME, Y, **given)


def test_unknown_column_and_no_feature_left():
    with pytest.raises(UnknownNameError, match="did you mean 'patient'"):
        read_data(FRAME, Y, groups="patiant")
    with pytest.raises(ArgumentError, match="must be a column to learn from"):
        read_data(FRAME[["patient"]], Y, groups="patient")
    assert read_data("iris").groups is None


def test_from_a_file_whose_last_column_holds_groups(tmp_path):
    file = tmp_path / "visits.csv"
    file.write_text("size,fold,ill,share,patient\n1,0,no,1,p\n2,1,yes,2,q\n3,1,no,1,7\n")
    data = read_data(file, groups="patient", sample_weight="share", folds="fold")
    assert data.y.name == "ill"  # the last column that is left
    assert list(data.X.columns) == ["size"]
    assert data.groups.tolist() == ["p", "q", "7"]
    with pytest.raises(ArgumentError, match="'ill' is the target and cannot hold groups"):
        read_data(file, target="ill", groups="ill")
    with pytest.raises(LookupError, match="did you mean 'patient'"):
        read_data(file, groups="patent")
    file.write_text("size,ill,patient\n1,no,p\n2,yes,\n")
    with pytest.raises(ArgumentError, match=r"groups must have no missing values; row 2 is"):
        read_data(file, target="ill", groups="patient")
