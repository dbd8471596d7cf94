"""Expected values: the printed recommendation (df 10 for 10x10 use-all-data) and the table."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from bestofk.errors import ArgumentError, DesignError
from bestofk.pairwise.calibrated_df import calibrated_df
from bestofk.pairwise.repeated_kfold import VARIANTS

TABLE = json.loads(files("bestofk.pairwise").joinpath("calibrated_df.json").read_text())


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
    found = calibrated_df(variant, 10, 10)
    assert found.df == df
    assert found.exact
    assert "3000 data sets of 300 rows" in found.entry


def test_every_measured_design_is_found_exactly():
    for design in TABLE["designs"]:
        for alpha, values in design["df"].items():
            for variant, df in values.items():
                where = variant, design["runs"], design["folds"], float(alpha)
                if df == 0:
                    with pytest.raises(DesignError, match="cannot be calibrated"):
                        calibrated_df(*where)
                else:
                    assert calibrated_df(*where)[::2] == (df, True)


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
        (6, 5, "10 x 5"),  # 10 / 6 against (6 / 5) (10 / 5)
        (7, 3, "5 x 2"),  # (7 / 5) (3 / 2) = 2.1, (10 / 7) (3 / 2) = 2.14
    ],
)
def test_the_nearest_is_nearest_by_the_product_of_ratios(runs, folds, nearest):
    assert f" {nearest} " in calibrated_df("use-all-data", runs, folds).entry


def test_the_table_says_where_it_comes_from():
    assert tuple(TABLE["variants"]) == VARIANTS
    for words in ("naive Bayes against C4.5", "300 rows", "10 independent binary attributes"):
        assert words in TABLE["about"]


def test_refusals():
    with pytest.raises(ArgumentError, match="variant"):
        calibrated_df("all", 10, 10)
    with pytest.raises(ArgumentError, match="runs"):
        calibrated_df("folds", 0, 10)
    with pytest.raises(ArgumentError, match="alpha"):
        calibrated_df("folds", 5, 10, alpha=5)
