"""Data sets from arrays and data frames."""

import numpy as np
import pandas as pd
import pytest

from bestofk._base.errors import ArgumentError, BestOfKError
from bestofk.data import read_data


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "height": [1.5, np.nan, 1.8],
            "grade": pd.Categorical(
                ["low", "high", None], categories=["low", "middle", "high"], ordered=True
            ),
            "member": [True, False, True],
            "city": ["Rome", None, "Oslo"],
            "age": [30, 40, 50],
        }
    )


def test_kinds_categories_and_missing_cells_are_kept() -> None:
    source = frame()
    data = read_data(source, ["b", "a", "b"], name="people")
    assert data.kinds == {
        "height": "numeric",
        "grade": "nominal",
        "member": "nominal",
        "city": "nominal",
        "age": "numeric",
    }
    assert data.X["grade"].cat.ordered
    assert data.X["grade"].cat.categories.tolist() == ["low", "middle", "high"]
    assert data.n_missing == 3
    assert (data.n, data.d, len(data)) == (3, 5, 3)
    encoded = data.encoded()
    np.testing.assert_array_equal(encoded.cardinality, [0, 3, 2, 2, 0])
    np.testing.assert_array_equal(
        encoded.values,
        [[1.5, 0, 1, 1, 30], [np.nan, 2, 0, np.nan, 40], [1.8, np.nan, 1, 0, 50]],
    )
    np.testing.assert_array_equal(encoded.y, [1, 0, 1])
    pd.testing.assert_frame_equal(source, frame())
    assert "3 rows, 5 columns, 2 classes" in repr(data)


def test_classes_keep_their_declared_order() -> None:
    y = pd.Categorical(["b", "a", "b"], categories=["b", "z", "a"])
    data = read_data([[1.0], [2.0], [3.0]], y)
    assert data.classes.tolist() == ["b", "z", "a"]
    np.testing.assert_array_equal(data.encoded().y, [0, 2, 0])
    assert read_data([[1], [2], [3]], [10, 9, 10]).classes.tolist() == [9, 10]
    assert read_data([[1], [2], [3]], [True, False, True]).classes.tolist() == [False, True]


def test_stated_kinds_and_ignored_columns() -> None:
    source = pd.DataFrame({"code": [3, 1, 3], "text": ["1.5", None, "2"], "x": [1, 2, 3]})
    data = read_data(
        source, list("aba"), columns={"code": "category", "text": "number", "x": "ignore"}
    )
    assert data.kinds == {"code": "nominal", "text": "numeric"}
    assert data.X["code"].cat.categories.tolist() == [1, 3]
    np.testing.assert_array_equal(data.X["text"], [1.5, np.nan, 2.0])


def test_the_fingerprint_is_of_the_content() -> None:
    data = read_data(frame(), ["b", "a", "b"], name="one")
    assert data.fingerprint == read_data(frame(), ["b", "a", "b"], name="two").fingerprint
    other = frame()
    other.loc[0, "height"] = 1.6
    prints = {
        data.fingerprint,
        read_data(other, ["b", "a", "b"]).fingerprint,
        read_data(frame(), ["b", "b", "a"]).fingerprint,
        read_data(frame(), ["b", "a", "c"]).fingerprint,
        read_data(frame().rename(columns={"age": "years"}), ["b", "a", "b"]).fingerprint,
        read_data(frame(), ["b", "a", "b"], columns={"age": "category"}).fingerprint,
    }
    assert len(prints) == 6
    zero = read_data([[0.0], [1.0]], ["a", "b"]).fingerprint
    assert read_data([[-0.0], [1.0]], ["a", "b"]).fingerprint == zero


def test_regression_targets_stay_numbers() -> None:
    data = read_data([[1], [2]], [0.5, 2.5], task="regression")
    np.testing.assert_array_equal(data.y, [0.5, 2.5])
    assert data.classes.size == 0
    assert len(data.fingerprint) == 64
    with pytest.raises(ArgumentError, match="the target of 'data' is a number"):
        data.encoded()
    with pytest.raises(ArgumentError, match="y must hold a finite number in every row; got inf"):
        read_data([[1], [2]], [0.5, np.inf], task="regression")
    with pytest.raises(
        ArgumentError, match=r"numbers with fractions \(0.5 ...\).*task='regression'"
    ):
        read_data([[1], [2]], [0.5, 1.25], task="classification")


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (
            [[1], [2]],
            ["a", "a"],
            "at least two classes; all 2 rows are 'a'",
        ),
        ([[1], [2]], ["a"], "one target for each of the 2 rows of X; got shape (1,)"),
        (
            [[1], [2]],
            ["a", None],
            "Row 2, column 'y' must hold the target",
        ),
        ([1, 2], ["a", "b"], "two axes, rows and columns; got an array of shape (2,)"),
        ([[1.0], [np.inf]], ["a", "b"], "'x1' must hold finite numbers; got infinity in row 2"),
        (np.zeros((0, 2)), [], "at least one row"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), ["x", "y"], "got 'a' twice"),
    ],
)
def test_invalid_data_raise_one_sentence(X, y, sentence: str) -> None:
    with pytest.raises(BestOfKError) as caught:
        read_data(X, y)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
