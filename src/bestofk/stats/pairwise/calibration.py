"""Degrees of freedom at which a repeated k-fold test was measured to keep its level."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from math import log
from pathlib import Path
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from bestofk._base.atomic_write import write_text
from bestofk._base.checks import one_of, probability, whole
from bestofk._base.errors import ArgumentError, BestOfKWarning, DesignError, TableError
from bestofk._base.formatting import joined
from bestofk._base.results import Presented, decided_level, renamed
from bestofk.stats.pairwise.result import scalar_or_array

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
    text = files("bestofk.stats.pairwise").joinpath("published_df.json").read_text(encoding="utf-8")
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
        One of the ten variants of `bestofk.stats.pairwise.repeated_kfold_t`.
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
    before the size. ``python benchmarks/make_df_table.py`` made the table;
    `bestofk.lab.calibration`
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


# A calibration: what a test must use to keep its level on problems of one kind.


KIND = "bestofk calibration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Presented):
    """Degrees of freedom (or a critical value) at which a test was measured to keep its level.

    Attributes
    ----------
    test : str
        Name of the test.
    alpha : float
        The level.
    alternative : str
        The sides for which it was measured.
    df : int or None
        The largest df in 2..100 at which the Type I error was at most alpha; None where there is
        none, or where the test has no df.
    df_low, df_high : int or None
        Confidence interval of that df: no df below `df_low` can be shown to be too small, and
        every df above `df_high` was shown to be too large; None: none is small enough.
    critical_value : float or None
        For a test without a df: reject when p is at most this.
    critical_low, critical_high : float or None
        Its confidence interval.
    type1, type1_low, type1_high : float or None
        The Type I error at the calibrated value, with its exact interval.
    type1_default : float
        The Type I error of the test as it is.
    default_df : float or None
        The df of the test as it is.
    sets, seed, level : int, int, float
        Number of data sets, what fixed them, and the confidence of all intervals.
    design, runs, folds : str, int, int
        How the losses came about.
    learners, problem : tuple of str, str
        On what it was measured.
    mean_difference, standard_error : float
        Mean loss of the second learner less that of the first, over the data sets: 0 up to
        chance where the learners are truly equal.
    """

    test: str
    alpha: float
    alternative: str
    df: int | None
    df_low: int | None
    df_high: int | None
    critical_value: float | None
    critical_low: float | None
    critical_high: float | None
    type1: float | None
    type1_low: float | None
    type1_high: float | None
    type1_default: float
    default_df: float | None
    sets: int
    seed: int
    level: float
    design: str
    runs: int
    folds: int
    learners: tuple[str, ...]
    problem: str
    mean_difference: float
    standard_error: float

    @property
    def calibratable(self) -> bool:
        """Some df, or some critical value, keeps the level."""
        return self.df is not None or self.critical_value is not None

    @property
    def takes_df(self) -> bool:
        """It is the df that is calibrated."""
        return self.default_df is not None

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """What was measured and what it means, in sentences.

        Parameters
        ----------
        names : two str, optional
            Names of the two learners, instead of those they had.
        alpha : float, optional
            The level for which it was calibrated; any other level raises an error.
        """
        percent = f"{100 * decided_level(alpha, self.alpha):g} %"
        called = renamed(names, self.learners)
        where = (
            f"{self.test} ({self.alternative}) on {self.design}, measured on {self.sets} data sets "
            f"(seed {self.seed}): {self.problem}; {' against '.join(called.values())}."
        )
        plain = f" with its default df of {self.default_df:g}" if self.default_df else ""
        default = (
            f"As it is{plain}, the test rejected on {100 * self.type1_default:.1f} % of them, "
            f"where {percent} was asked for."
        )
        warning = self._unequal()
        return " ".join(part for part in (where, default, self._found(percent), warning) if part)

    def _found(self, percent: str) -> str:
        if not self.calibratable:
            what = "df from 2 to 100" if self.takes_df else "critical value above 0"
            return (
                f"No {what} brings that to {percent} or less: the test cannot be calibrated here. "
                "Use another one, such as corrected-repeated-kfold-t."
            )
        assert self.type1 is not None
        assert self.type1_low is not None
        assert self.type1_high is not None
        rate = (
            f"{100 * self.type1:.1f} % ({100 * self.type1_low:.1f} to {100 * self.type1_high:.1f})"
        )
        sure = f"{100 * self.level:g} % confidence"
        if self.df is not None:
            low = "below 2" if self.df_low is None else f"{self.df_low}"
            bound = " (the largest that was tried)" if self.df == 100 else ""
            return (
                f"With df = {self.df}{bound} it rejects on {rate}: on problems of this kind, use "
                f"df = {self.df}, and it finds a difference that is not there about as often as "
                f"asked. With {sure} the right df is from {low} to {self.df_high}; more data sets "
                "narrow that."
            )
        return (
            f"When it rejects only at p <= {self.critical_value:.4g}, it does so on {rate}. With "
            f"{sure} the right critical value is from {self.critical_low:.4g} to "
            f"{self.critical_high:.4g}; more data sets narrow that."
        )

    def _unequal(self) -> str:
        if abs(self.mean_difference) <= 3 * self.standard_error:
            return ""
        return (
            f"Beware: the learners were not equal on these data sets (mean difference "
            f"{self.mean_difference:.3g}, standard error {self.standard_error:.2g}), so that part "
            "of the rejections are right, and the calibration is on the safe side."
        )

    def to_dict(self) -> dict[str, Any]:
        """What `save` writes, for strict JSON."""
        from bestofk.version import __version__

        held = {**asdict(self), "learners": list(self.learners)}
        return {"kind": KIND, **held, "explanation": self.explain(), "version": __version__}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Calibration:
        """The calibration that `as_json` wrote."""
        held = {one.name: found[one.name] for one in fields(cls)}
        return cls(**{**held, "learners": tuple(held["learners"])})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a small JSON file that ``order(..., df=...)`` and ``--df`` take."""
        write_text(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    def applied(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The test as it is where the df is calibrated; else with its p-values scaled.

        The critical value becomes `alpha`, so that the test keeps that level.
        """
        if self.critical_value is None:
            return function
        factor = self.alpha / self.critical_value

        def scaled(*losses: Any, **arguments: Any) -> Any:
            result = function(*losses, **arguments)
            return replace(result, pvalue=scalar_or_array(np.minimum(result.pvalue * factor, 1.0)))

        return scaled

    def check_test(self, test: str, runs: int, folds: int) -> str:
        """A sentence for the result, empty, or an error: whether it may be used on this design."""
        if test != self.test:
            raise ArgumentError(
                f"df: this calibration is of the test {self.test!r}; got test {test!r}."
            )
        if not self.calibratable:
            raise DesignError(f"df: {self.test} could not be calibrated on {self.design}.")
        if (runs, folds) == (self.runs, self.folds):
            return ""
        return f"was calibrated on {self.design}, not on {runs} x {folds}"


def read_calibration(path: str | os.PathLike[str]) -> Calibration:
    """The calibration that `Calibration.save` wrote.

    Parameters
    ----------
    path : path
        The file.
    """
    shown = os.fspath(path)
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as failed:
        raise TableError(f"{shown}: the calibration cannot be read: {failed.strerror}.") from None
    except (ValueError, RecursionError):
        raise TableError(f"{shown}: this is not a calibration (no JSON).") from None
    names = {one.name for one in fields(Calibration)}
    if not isinstance(found, dict) or found.get("kind") != KIND or not names <= set(found):
        raise TableError(f"{shown}: this is not a calibration of bestofk.")
    if not isinstance(found["learners"], list) or not isinstance(found["test"], str):
        raise TableError(f"{shown}: this is not a calibration of bestofk.")
    return Calibration.from_json(found)
