"""Expected values: the printed recommendation (df 10 for 10x10 use-all-data) and the table."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from bestofk._base.errors import ArgumentError, BestOfKWarning, DesignError
from bestofk.papers.stats.published_df import df_of_design
from bestofk.papers.stats.repeated_kfold import VARIANTS

TABLE = json.loads(files("bestofk.papers.stats").joinpath("published_df.json").read_text())


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        # within 1 of what Bouckaert (2003) reports for 10 runs of 10 folds
        ("use-all-data", 10),
        ("folds-averaged-var", 10),
        ("runs-averaged-var", 10),
        ("sorted-runs", 9),
        ("folds-averaged-t", 9),
        ("runs-averaged-t", 9),
    ],
)
def test_ten_by_ten(variant, expected):
    df, note = df_of_design(variant, 10, 10)
    assert abs(df - expected) <= 1
    assert "1000 data sets of 300 rows with naive-bayes against c4.5" in note


@pytest.mark.filterwarnings("error")
def test_every_measured_design_is_found_exactly():
    for design in TABLE["designs"]:
        for variant, df in design["df"]["0.05"].items():
            where = variant, design["runs"], design["folds"]
            on = {"rows": design["rows"], "learners": design["learners"][::-1]}
            if df == 0:
                with pytest.raises(DesignError, match="no df from 2 to 100 keeps the level"):
                    df_of_design(*where, **on)
            else:
                assert df_of_design(*where, **on)[0] == df


@pytest.mark.parametrize(
    ("design", "used"),
    [
        ({"rows": 120}, "of 100 rows"),
        ({"learners": ("forest", "naive-bayes")}, "naive-bayes against c4.5"),
        # the design counts before the size
        ({"runs": 20, "rows": 100}, " 20 x 10 folds"),
        ({"runs": 8}, " 10 x 10 "),
        ({"runs": 45}, " 100 x 10 "),  # 100 / 45 = 2.22, 45 / 20 = 2.25
        ({"folds": 3}, " 10 x 2 "),  # 3 / 2 against 5 / 3
        ({"runs": 6, "folds": 5}, " 5 x 5 "),  # 6 / 5 against 10 / 6
        # (7 / 5) (3 / 2) = 2.1, (10 / 7) (3 / 2) = 2.14
        ({"runs": 7, "folds": 3}, " 5 x 2 "),
    ],
)
def test_the_nearest_is_used_with_a_warning(design, used):
    arguments = {"runs": 10, "folds": 10, **design}
    with pytest.warns(BestOfKWarning, match="there is no calibrated df"):
        _, note = df_of_design("use-all-data", **arguments)
    assert used in note


def test_the_table_says_where_it_comes_from():
    assert tuple(TABLE["variants"]) == VARIANTS
    assert "10 independent binary attributes" in TABLE["about"]
    assert {tuple(design["learners"]) for design in TABLE["designs"]} > {("naive-bayes", "c4.5")}
    assert {design["rows"] for design in TABLE["designs"]} == {100, 300, 1000}


def test_unknown_variants_are_refused():
    with pytest.raises(ArgumentError, match="variant"):
        df_of_design("all", 10, 10)
