"""The published table of degrees of freedom with which a test keeps its level."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import log
from typing import Any
from warnings import warn

from bestofk._base.checks import one_of
from bestofk._base.errors import BestOfKWarning, DesignError, use
from bestofk._base.formatting import joined

USUAL_PAIR = ("naive-bayes", "c4.5")
USUAL_ROWS = 300
"""The learners and the number of rows in the paper, used if the actual ones are unknown."""
LEVEL = "0.05"
"""The level of the calibration."""


@cache
def _table() -> dict[str, Any]:
    text = files("bestofk.papers.stats").joinpath("published_df.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def df_of_design(
    variant: str,
    runs: int,
    folds: int,
    *,
    rows: int | None = None,
    learners: Sequence[str] | None = None,
) -> tuple[float, str]:
    """Return the calibrated df of a variant for `runs` runs of `folds` folds, and a note.

    - `variant`: One of the ten variants of `bestofk.papers.stats.repeated_kfold_t`.
    - `runs`, `folds`: The design.
    - `rows`: Size of the data set; the nearest measured size is used. None: 300 rows.
    - `learners`: The pair; naive Bayes and C4.5 replace a pair that was not measured.

    Warn if the df was measured on another design, size or pair.

    Raises
    ------
    DesignError
        If no df from 2 to 100 keeps the level for that variant and design.

    Notes
    -----
    The calibrated df is the largest integer from 2 to 100 with which the two-sided test rejects a
    true null hypothesis on at most 5 % of the data sets. It is specific to the measurement (two
    learners, one size of data set), with a random error of about 1. The nearest entry is the one
    with the nearest design, and among those the one with the nearest size.
    ``python studies/make_df_table.py`` made the table; ``bestofk papers calibrate`` measures the df
    for other learners and data.

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    Examples
    --------
    >>> df_of_design("use-all-data", 10, 10)[0]
    10.0
    """
    table = _table()
    one_of(variant, "variant", tuple(table["variants"]))
    size, wanted = rows or USUAL_ROWS, set(learners or USUAL_PAIR)
    of_pair = [entry for entry in table["designs"] if set(entry["learners"]) == wanted]
    pair = of_pair or [
        entry for entry in table["designs"] if tuple(entry["learners"]) == USUAL_PAIR
    ]
    nearest = min(
        (entry for entry in pair if variant in entry["df"][LEVEL]),
        key=lambda entry: (
            abs(log(entry["runs"] / runs)) + abs(log(entry["folds"] / folds)),
            abs(log(entry["rows"] / size)),
        ),
    )
    measured = (
        f"{variant} on {nearest['runs']} x {nearest['folds']} folds at level {LEVEL}, "
        f"measured on {nearest['sets']} data sets of {nearest['rows']} rows with "
        f"{' against '.join(nearest['learners'])}"
    )
    df = float(nearest["df"][LEVEL][variant])
    if df == 0:
        raise DesignError(
            use(test_options={"df": "calibrated"}),
            f": no df from 2 to 100 keeps the level ({measured}); use the variant "
            "'use-all-data', or corrected_repeated_kfold_t, which needs no calibration.",
        )
    note = f"The df of {df:g} is calibrated: {measured}."
    design = nearest["runs"], nearest["folds"], nearest["rows"]
    if not of_pair or design != (runs, folds, size):
        of_rows = "" if rows is None else f" of {rows} rows"
        of_learners = "" if learners is None else f" with {joined(list(learners))}"
        warn(
            f"there is no calibrated df for {variant} on {runs} runs of {folds} folds{of_rows}"
            f"{of_learners}; using the nearest measurement (df = {df:g}: {measured}); run bestofk "
            "papers calibrate to measure it for your own data",
            BestOfKWarning,
            stacklevel=3,
        )
        note += f" This is the nearest measurement to {runs} x {folds} folds{of_rows}{of_learners}."
    return df, note
