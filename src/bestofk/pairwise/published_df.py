"""Degrees of freedom at which a repeated k-fold test was measured to keep its level."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import log
from typing import Any, NamedTuple
from warnings import warn

from bestofk.checks import one_of, probability, whole
from bestofk.errors import BestOfKWarning, DesignError
from bestofk.wording import joined

USUAL_PAIR = ("naive-bayes", "c4.5")
USUAL_ROWS = 300
"""What the paper measured, and what stands in where nothing else is known."""


class CalibratedDf(NamedTuple):
    """A measured df, where it comes from, and whether that is the design asked for."""

    df: float
    entry: str
    exact: bool


@cache
def _table() -> dict[str, Any]:
    text = files("bestofk.pairwise").joinpath("published_df.json").read_text(encoding="utf-8")
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
    """The calibrated degrees of freedom of a variant for `runs` runs of `folds` folds.

    Parameters
    ----------
    variant : str
        One of the ten variants of `bestofk.pairwise.repeated_kfold_t`.
    runs, folds : int
        The design.
    alpha : float
        The level at which the Type I error was measured: 0.01, 0.025, 0.05 and 0.1 are there;
        the nearest counts.
    rows : int
        Size of the data set; the nearest that was measured counts.
    learners : two names
        The pair; naive Bayes and C4.5 stand in for a pair that was not measured.

    Returns
    -------
    CalibratedDf
        `df`, `entry` (a description of the measurement) and `exact` (False when the nearest
        design, size, pair or level had to stand in).

    Raises
    ------
    DesignError
        When no df from 2 to 100 keeps the level for that variant and design.

    Notes
    -----
    The calibrated df is the largest whole number from 2 to 100 at which the two-sided test
    rejects a true null hypothesis on at most a share alpha of the data sets. It belongs to the
    measurement (two learners, one size of data set), and is random by about 1. The design counts
    before the size. ``python studies/make_df_table.py`` made the table; `bestofk.lab.calibrate`
    measures it for other learners and data.

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
            f"df='calibrated': {entry}: no df from 2 to 100 keeps the level, so that this "
            "variant cannot be calibrated there; use 'use-all-data', or "
            "corrected_repeated_kfold_t, which needs no calibration."
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
    """The calibrated df and a note about it; warns when another measurement stood in.

    Size and learners that are not known are taken to be those that were measured.
    """
    df, entry, exact = calibrated_df(
        variant, runs, folds, rows=rows or USUAL_ROWS, learners=learners or USUAL_PAIR
    )
    note = f"The df of {df:g} is calibrated: {entry}."
    if not exact:
        size = "" if rows is None else f" of {rows} rows"
        pair = "" if learners is None else f" with {joined(list(learners))}"
        asked = f"{runs} runs of {folds} folds{size}{pair}"
        shown = f"{runs} x {folds} folds{size}{pair}"
        message = (
            f"no df was calibrated for {variant} on {asked}; "
            f"the nearest measurement stands in (df = {df:g}: {entry}); bestofk calibrate "
            "measures it for your own data"
        )
        warn(message, BestOfKWarning, stacklevel=3)
        note = f"{note} What is tested is {shown}: the nearest stood in."
    return df, note
