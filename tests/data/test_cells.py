"""The rule for the cells of a column (expected values written by hand)."""

import numpy as np
import pandas as pd
import pytest

from bestofk.data.cells import MISSING_TEXTS, coded_texts, read_numbers

NAN = float("nan")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", " 2.5 ", "-1e-3", "+4"], [1, 2.5, -0.001, 4]),
        (["inf", "-inf", "1"], [np.inf, -np.inf, 1]),
        (["1", "NA", "?", "", None, "<NA>"], [1, NAN, NAN, NAN, NAN, NAN]),
        (["52,345", "1,204,000", "7"], [52345, 1204000, 7]),
        (["52,345", "1,204.5"], [52345, 1204.5]),
        (["1.234,56", "1.234"], [1234.56, 1234]),
        (["1,5", "2", "10,25"], [1.5, 2, 10.25]),
        (["1,234", "0,500"], [1.234, 0.5]),
        (["1 234", "1\u202f234\u202f567", "5"], [1234, 1234567, 5]),
        (["1’234.50", "12"], [1234.5, 12]),
        (["$5.31", "-$1,204.50", "$.5"], [5.31, -1204.5, 0.5]),
        (["3,50 €", "12 €"], [3.5, 12]),
        (["45.3%", "5 %"], [0.453, 0.05]),
        ([1, 2.5, None], [1, 2.5, NAN]),
        ([1, "2", " 3 "], [1, 2, 3]),
        (pd.Series([1, None], dtype="Int64"), [1, NAN]),
        (pd.Series(["1", "2", "1"], dtype="category"), [1, 2, 1]),
        ([None, "NA"], [NAN, NAN]),
    ],
)
def test_numbers_may_have_one_form(cells, expected):
    numbers = read_numbers(cells)
    assert numbers.values.tolist() == pytest.approx(expected, abs=0, rel=0, nan_ok=True)
    assert numbers.words == {}


@pytest.mark.parametrize(
    "cells",
    [
        ["low", "high"],
        ["1,234", "52345"],  # thousands are separated in one cell and not in the other
        ["12.3%", "0.4"],
        ["$5", "€6"],
        ["1.5", "1,5"],
        ["1_000", "2"],
        ["1.2.3", "4"],
        ["2024-01-31", "2024-02-29"],
        ["0.91 ± 0.02", "0.5 ± 0.1"],
        ["1"] * 99 + ["<5"],  # a word with a digit carries information
        [True, False],
        pd.Series(pd.to_datetime(["2024-01-31"])),
        [["a"], 1],
    ],
)
def test_other_columns_are_no_numbers(cells):
    assert read_numbers(cells) is None


def test_a_comma_is_a_decimal_mark_in_files_with_semicolons():
    assert read_numbers(["52,345"]).values.tolist() == [52345]
    assert read_numbers(["52,345"], delimiter=";").values.tolist() == [52.345]


def test_few_words_among_numbers_are_missing():
    cells = [str(i) for i in range(290)] + ["unknown"] * 9 + ["n.a."]
    numbers = read_numbers(cells)
    assert numbers.words == {"unknown": 9, "n.a.": 1}
    assert np.isnan(numbers.values).sum() == 10
    assert read_numbers(cells, allow_words=False) is None
    # nine of 90 known cells are a tenth, nine of 89 are more
    assert read_numbers(["1"] * 81 + ["x"] * 9) is not None
    assert read_numbers(["1"] * 80 + ["x"] * 9) is None
    assert read_numbers(["1"] * 94 + list("abcdef")) is None


def test_the_missing_texts_are_those_of_pandas():
    from pandas._libs.parsers import STR_NA_VALUES

    assert STR_NA_VALUES | {"?"} == MISSING_TEXTS


def test_texts_are_stripped_and_coded():
    coded = coded_texts(["b", " a ", "NA", "b", 1.0, True, None])
    assert coded.names == ("b", "a", "1", "True")
    assert coded.codes.tolist() == [0, 1, -1, 0, 2, 3, -1]
    declared = pd.Series(pd.Categorical(["lo", "hi", None], categories=["hi", "mid", "lo"]))
    assert coded_texts(declared).names == ("hi", "mid", "lo")
    assert coded_texts(declared).codes.tolist() == [2, 0, -1]
