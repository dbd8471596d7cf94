import numpy as np
import pytest

from bestofk.papers.data import read_in_file_order
from bestofk.papers.multitest.learners import prepare, prepared_of, recipe
from bestofk.papers.printed_figures import printed_table

TEXT = """height,answer,code,colour,class
1.5,yes,v3,red,b
,no,v1,blue,a
2.5,,v3,,b
4,yes,v10,red,c
"""


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text(TEXT)
    return read_in_file_order(path, "small")


def test_recipe_names_the_data_sets_of_table_1_in_its_order():
    assert tuple(recipe()) == printed_table("multitest", "1", "mean").rows
    assert {settings["learning_rate"] for settings in recipe().values()} == {0.1, 0.01, 0.001}


def test_numbers_codes_and_values_in_order_of_appearance(data):
    settings = {"learning_rate": 0.1, "numeric": ["answer", "code"], "codes": {"yes": 1, "no": 0}}
    prepared = prepared_of(data, settings)
    nan = np.nan
    expected = [[1.5, 1, 3, 0], [nan, 0, 1, 1], [2.5, nan, 3, nan], [4, 1, 10, 0]]
    np.testing.assert_array_equal(prepared.values, expected)
    assert prepared.cardinality.tolist() == [0, 0, 0, 2]
    assert prepared.y.tolist() == [0, 1, 0, 2]
    assert (prepared.n_classes, prepared.learning_rate, prepared.unknown) == (3, 0.1, True)


def test_codes_by_column_class_order_and_whole_columns(data):
    settings = {
        "learning_rate": 0.01,
        "numeric": ["answer"],
        "codes": {"answer": {"yes": 2, "no": 1}},
        "class_order": ["a", "b", "c"],
        "integer": ["answer"],
    }
    prepared = prepared_of(data, settings)
    np.testing.assert_array_equal(prepared.values[:, 1], [2, 1, np.nan, 2])
    assert prepared.y.tolist() == [1, 0, 1, 2]
    assert prepared.cardinality.tolist() == [0, 0, 3, 2]
    assert prepared.whole.tolist() == [False, True, False, False]


def test_columns_are_dropped(tmp_path):
    path = tmp_path / "segment.csv"
    path.write_text("hue_mean,x,class\n1,2,grass\n3,4,sky\n5,7,path\n")
    # the recipe of segment: hue_mean dropped, grass first, sky last but one
    prepared = prepare("segment", path)
    assert prepared.values.tolist() == [[2.0], [4.0], [7.0]]
    assert prepared.y.tolist() == [0, 5, 1]
