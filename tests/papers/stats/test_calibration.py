"""Expected values: the printed recommendation (df 10 for 10x10 use-all-data) and the table."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from bestofk._base.errors import ArgumentError, DesignError
from bestofk.papers.stats.published_df import calibrated_df
from bestofk.papers.stats.repeated_kfold import VARIANTS

TABLE = json.loads(files("bestofk.papers.stats").joinpath("published_df.json").read_text())


@pytest.mark.parametrize(
    ("variant", "df"),
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
def test_ten_by_ten(variant, df):
    result = calibrated_df(variant, 10, 10)
    assert abs(result.df - df) <= 1
    assert result.exact
    assert "1000 data sets of 300 rows with naive-bayes against c4.5" in result.entry


def test_every_measured_design_is_found_exactly():
    for design in TABLE["designs"]:
        for alpha, values in design["df"].items():
            for variant, df in values.items():
                where = variant, design["runs"], design["folds"], float(alpha)
                on = {"rows": design["rows"], "learners": design["learners"][::-1]}
                if df == 0:
                    with pytest.raises(DesignError, match="no df from 2 to 100 keeps the level"):
                        calibrated_df(*where, **on)
                else:
                    assert calibrated_df(*where, **on)[::2] == (df, True)


def test_other_sizes_and_pairs():
    small = calibrated_df("use-all-data", 10, 10, rows=120)
    assert not small.exact
    assert "of 100 rows" in small.entry
    other = calibrated_df("use-all-data", 10, 10, learners=("nn", "naive-bayes"))
    assert other.exact
    assert "naive-bayes against nn" in other.entry
    unknown = calibrated_df("use-all-data", 10, 10, learners=("forest", "naive-bayes"))
    assert not unknown.exact
    assert "naive-bayes against c4.5" in unknown.entry
    # the design counts before the size
    assert "20 x 10 folds" in calibrated_df("use-all-data", 20, 10, rows=100).entry


def test_the_nearest_stands_in():
    assert calibrated_df("use-all-data", 8, 10).exact is False
    assert "10 x 10" in calibrated_df("use-all-data", 8, 10).entry
    assert "100 x 10" in calibrated_df("use-all-data", 80, 10).entry
    assert "10 x 2" in calibrated_df("use-all-data", 12, 2).entry
    near = calibrated_df("use-all-data", 10, 10, alpha=0.04)
    assert not near.exact
    assert "level 0.05" in near.entry
    # near by ratio: 0.025 / 0.016 is less than 0.016 / 0.01
    assert "level 0.025" in calibrated_df("use-all-data", 10, 10, alpha=0.016).entry


@pytest.mark.parametrize(
    ("runs", "folds", "nearest"),
    [
        (45, 10, "100 x 10"),  # 100 / 45 = 2.22, 45 / 20 = 2.25
        (10, 3, "10 x 2"),  # 3 / 2 against 5 / 3
        (6, 5, "5 x 5"),  # 6 / 5 against 10 / 6
        (7, 3, "5 x 2"),  # (7 / 5) (3 / 2) = 2.1, (10 / 7) (3 / 2) = 2.14
    ],
)
def test_the_nearest_is_nearest_by_the_product_of_ratios(runs, folds, nearest):
    assert f" {nearest} " in calibrated_df("use-all-data", runs, folds).entry


def test_the_table_says_where_it_comes_from():
    assert tuple(TABLE["variants"]) == VARIANTS
    assert "10 independent binary attributes" in TABLE["about"]
    assert TABLE["command"] == "python benchmarks/make_df_table.py --sets 1000"
    assert {tuple(design["learners"]) for design in TABLE["designs"]} > {("naive-bayes", "c4.5")}
    assert {design["rows"] for design in TABLE["designs"]} == {100, 300, 1000}


def test_refusals():
    with pytest.raises(ArgumentError, match="variant"):
        calibrated_df("all", 10, 10)
    with pytest.raises(ArgumentError, match="runs must be"):
        calibrated_df("folds", 0, 10)
    with pytest.raises(ArgumentError, match="alpha must be"):
        calibrated_df("folds", 5, 10, alpha=5)
