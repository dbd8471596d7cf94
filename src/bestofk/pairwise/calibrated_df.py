"""Degrees of freedom at which a repeated k-fold test was measured to keep its level."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from math import log
from typing import Any, NamedTuple
from warnings import warn

from bestofk.checks import one_of, probability, whole
from bestofk.errors import BestOfKWarning, DesignError


class CalibratedDf(NamedTuple):
    """A measured df, where it comes from, and whether that is the design asked for."""

    df: float
    entry: str
    exact: bool


@cache
def _table() -> dict[str, Any]:
    text = files("bestofk.pairwise").joinpath("calibrated_df.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def calibrated_df(variant: str, runs: int, folds: int, alpha: float = 0.05) -> CalibratedDf:
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

    Returns
    -------
    CalibratedDf
        `df`, `entry` (a description of the measurement) and `exact` (False when the nearest
        design or level had to stand in).

    Raises
    ------
    DesignError
        When no df from 2 to 100 keeps the level for that variant and design.

    Notes
    -----
    The calibrated df is the largest whole number from 2 to 100 at which the two-sided test
    rejects a true null hypothesis on at most a share alpha of the data sets. It belongs to the
    measurement (two learners, one size of data set), and is random by about 1.

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
    alpha = probability(alpha, "alpha")
    level = min(table["alphas"], key=lambda known: abs(log(known / alpha)))
    measured = [entry for entry in table["designs"] if variant in entry["df"][str(level)]]
    nearest = min(
        measured,
        key=lambda entry: abs(log(entry["runs"] / runs)) + abs(log(entry["folds"] / folds)),
    )
    exact = (nearest["runs"], nearest["folds"], level) == (runs, folds, alpha)
    entry = (
        f"{variant} on {nearest['runs']} x {nearest['folds']} folds at level {level:g}, "
        f"measured on {nearest['sets']} data sets of {table['rows']} rows with "
        f"{table['learners']}"
    )
    df = nearest["df"][str(level)][variant]
    if df == 0:
        raise DesignError(
            f"df='calibrated': {entry}: no df from 2 to 100 keeps the level, so that this "
            "variant cannot be calibrated there; use 'use-all-data', or "
            "corrected_repeated_kfold_t, which needs no calibration."
        )
    return CalibratedDf(float(df), entry, exact)


def df_of_design(variant: str, runs: int, folds: int) -> tuple[float, str]:
    """The calibrated df and a note about it; warns when another design stood in."""
    df, entry, exact = calibrated_df(variant, runs, folds)
    note = f"The df of {df:g} is calibrated: {entry}."
    if not exact:
        message = (
            f"no df was calibrated for {variant} on {runs} runs of {folds} folds; "
            f"the nearest measurement stands in (df = {df:g}: {entry})"
        )
        warn(message, BestOfKWarning, stacklevel=3)
        note = f"{note} The design tested has {runs} x {folds} folds: the nearest stood in."
    return df, note
