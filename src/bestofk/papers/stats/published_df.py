"""The published table of degrees of freedom with which a test keeps its level."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import log
from typing import Any, NamedTuple
from warnings import warn

from bestofk._base.checks import one_of, probability, whole
from bestofk._base.errors import BestOfKWarning, DesignError, use
from bestofk._base.formatting import joined

USUAL_PAIR = ("naive-bayes", "c4.5")
USUAL_ROWS = 300
"""The learners and the number of rows in the paper, used if the actual ones are unknown."""


class CalibratedDf(NamedTuple):
    """A measured df, a description of the measurement, and whether it matches the design."""

    df: float
    entry: str
    exact: bool


@cache
def _table() -> dict[str, Any]:
    text = files("bestofk.papers.stats").joinpath("published_df.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def calibrated_df(
    variant: str,
    runs: int,
    folds: int,
    alpha: float = 0.05,
    *,
    rows: int = USUAL_ROWS,
    learners: Sequence[str] = USUAL_PAIR,
) -> CalibratedDf:
    """Return the calibrated degrees of freedom of a variant for `runs` runs of `folds` folds.

    - `variant`: One of the ten variants of `bestofk.papers.stats.repeated_kfold_t`.
    - `runs`, `folds`: The design.
    - `alpha`: The level at which the Type I error was measured. The table has 0.01, 0.025, 0.05 and
      0.1; the nearest is used.
    - `rows`: Size of the data set; the nearest measured size is used.
    - `learners`: The pair; naive Bayes and C4.5 replace a pair that was not measured.
    - Returns: `df`, `entry` (a description of the measurement) and `exact` (False if the design,
      size, pair or level was replaced by the nearest one).

    Raises
    ------
    DesignError
        If no df from 2 to 100 keeps the level for that variant and design.

    Notes
    -----
    The calibrated df is the largest integer from 2 to 100 with which the two-sided test rejects a
    true null hypothesis on at most a share alpha of the data sets. It is specific to the
    measurement (two learners, one size of data set), with a random error of about 1. The nearest
    entry is the one with the nearest design, and among those the one with the nearest size.
    ``python benchmarks/make_df_table.py`` made the table; ``bestofk papers calibrate`` measures the
    df for other learners and data.

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    Examples
    --------
    >>> calibrated_df("use-all-data", 10, 10).df
    10.0
    """
    table = _table()
    one_of(variant, "variant", tuple(table["variants"]))
    whole(runs, "runs", at_least=1)
    whole(folds, "folds", at_least=1)
    whole(rows, "rows", at_least=1)
    alpha = probability(alpha, "alpha")
    level = min(table["alphas"], key=lambda known: abs(log(known / alpha)))
    of_pair = [entry for entry in table["designs"] if set(entry["learners"]) == set(learners)]
    pair = of_pair or [
        entry for entry in table["designs"] if tuple(entry["learners"]) == USUAL_PAIR
    ]
    nearest = min(
        (entry for entry in pair if variant in entry["df"][str(level)]),
        key=lambda entry: (
            abs(log(entry["runs"] / runs)) + abs(log(entry["folds"] / folds)),
            abs(log(entry["rows"] / rows)),
        ),
    )
    exact = bool(of_pair) and (
        (nearest["runs"], nearest["folds"], nearest["rows"], level) == (runs, folds, rows, alpha)
    )
    entry = (
        f"{variant} on {nearest['runs']} x {nearest['folds']} folds at level {level:g}, "
        f"measured on {nearest['sets']} data sets of {nearest['rows']} rows with "
        f"{' against '.join(nearest['learners'])}"
    )
    df = nearest["df"][str(level)][variant]
    if df == 0:
        raise DesignError(
            use(test_options={"df": "calibrated"}),
            f": no df from 2 to 100 keeps the level ({entry}); use the variant "
            "'use-all-data', or corrected_repeated_kfold_t, which needs no calibration.",
        )
    return CalibratedDf(float(df), entry, exact)


def df_of_design(
    variant: str,
    runs: int,
    folds: int,
    *,
    rows: int | None = None,
    learners: Sequence[str] | None = None,
) -> tuple[float, str]:
    """Return the calibrated df and a note; warn if it was measured on another design.

    If the size or the learners are unknown, assume those of the measurement.
    """
    df, entry, exact = calibrated_df(
        variant, runs, folds, rows=rows or USUAL_ROWS, learners=learners or USUAL_PAIR
    )
    note = f"The df of {df:g} is calibrated: {entry}."
    if not exact:
        size = "" if rows is None else f" of {rows} rows"
        pair = "" if learners is None else f" with {joined(list(learners))}"
        warn(
            f"there is no calibrated df for {variant} on {runs} runs of {folds} folds{size}{pair}; "
            f"using the nearest measurement (df = {df:g}: {entry}); run bestofk papers calibrate "
            "to measure it for your own data",
            BestOfKWarning,
            stacklevel=3,
        )
        note = f"{note} This is the nearest measurement to {runs} x {folds} folds{size}{pair}."
    return df, note
