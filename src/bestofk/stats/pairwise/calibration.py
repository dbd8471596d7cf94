"""Calibrated degrees of freedom, with which a test keeps its level in measurements.

`calibrated_df` looks them up in a published table. A `Calibration` is measured on the user's own
problems.
"""

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
from bestofk._base.checks import check_fields, one_of, probability, whole
from bestofk._base.errors import ArgumentError, BestOfKWarning, DesignError, TableError, use
from bestofk._base.formatting import joined
from bestofk._base.results import Presented, decided_level, renamed
from bestofk.stats.pairwise.result import scalar_or_array

USUAL_PAIR = ("naive-bayes", "c4.5")
USUAL_ROWS = 300
"""The learners and the number of rows in the paper, used if the actual ones are unknown."""
KIND = "bestofk calibration"
"""Marks the JSON file of a calibration."""
_MAX_CHARACTERS = 1 << 20
"""Maximum length of the file; others are not parsed."""


class CalibratedDf(NamedTuple):
    """A measured df, a description of the measurement, and whether it matches the design."""

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
    """Return the calibrated degrees of freedom of a variant for `runs` runs of `folds` folds.

    - `variant`: One of the ten variants of `bestofk.stats.pairwise.repeated_kfold_t`.
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
    ``python benchmarks/make_df_table.py`` made the table; ``bestofk calibrate`` measures the
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
            use(df="calibrated"),
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
            f"using the nearest measurement (df = {df:g}: {entry}); run bestofk calibrate to "
            "measure it for your own data",
            BestOfKWarning,
            stacklevel=3,
        )
        note = f"{note} This is the nearest measurement to {runs} x {folds} folds{size}{pair}."
    return df, note


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Presented):
    """Degrees of freedom (or a critical value) with which a test keeps its level in measurements.

    Attributes
    ----------
    test : str
        Name of the test.
    alpha : float
        The level.
    alternative : str
        The alternative for which it was measured.
    df : int or None
        The largest df in 2..100 with which the Type I error was at most alpha; None if there is
        none, or if the test has no df.
    df_low, df_high : int or None
        Confidence interval of that df: no df below `df_low` can be shown to be too small, and
        every df above `df_high` was shown to be too large; None: none is small enough.
    critical_value : float or None
        For a test without a df: reject if p is at most this.
    critical_low, critical_high : float or None
        Confidence interval of the critical value.
    type1, type1_low, type1_high : float or None
        The Type I error at the calibrated value, with its exact interval.
    type1_default : float
        The Type I error of the uncalibrated test.
    default_df : float or None
        The df of the uncalibrated test.
    sets, seed, level : int, int, float
        Number of data sets, their random seed, and the confidence level of all intervals.
    design, runs, folds : str, int, int
        The design of the losses.
    learners, problem : tuple of str, str
        The learners and the problem of the measurement.
    mean_difference, standard_error : float
        Mean loss of the second learner minus that of the first, over the data sets. If the
        learners are truly equal, it is 0 up to chance.
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
        """True if some df or some critical value keeps the level."""
        return self.df is not None or self.critical_value is not None

    @property
    def takes_df(self) -> bool:
        """True if the calibrated value is a df."""
        return self.default_df is not None

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the measurement and its meaning in sentences.

        Parameters
        ----------
        names : two str, optional
            Names of the two learners, instead of the stored ones.
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
            f"Without calibration{plain}, the test rejected on {100 * self.type1_default:.1f} % of "
            f"them; the target is {percent}."
        )
        advice, warning = self._advice(percent), self._warning()
        return " ".join(part for part in (where, default, advice, warning) if part)

    def _advice(self, percent: str) -> str:
        if not self.calibratable:
            what = "df from 2 to 100" if self.takes_df else "critical value above 0"
            return (
                f"No {what} reduces this to {percent} or less: the test cannot be calibrated here. "
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
            bound = " (the largest value tried)" if self.df == 100 else ""
            return (
                f"With df = {self.df}{bound} it rejects on {rate}: use df = {self.df} on problems "
                f"of this kind to keep the level. With {sure} the right df is from {low} to "
                f"{self.df_high}; more data sets narrow this range."
            )
        return (
            f"If it rejects only at p <= {self.critical_value:.4g}, it does so on {rate}. With "
            f"{sure} the right critical value is from {self.critical_low:.4g} to "
            f"{self.critical_high:.4g}; more data sets narrow this range."
        )

    def _warning(self) -> str:
        if abs(self.mean_difference) <= 3 * self.standard_error:
            return ""
        return (
            f"Warning: the learners were not equal on these data sets (mean difference "
            f"{self.mean_difference:.3g}, standard error {self.standard_error:.2g}), so some "
            "rejections are right and the calibration is conservative."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration for strict JSON, as `save` writes it."""
        from bestofk.version import __version__

        values = {**asdict(self), "learners": list(self.learners)}
        return {"kind": KIND, **values, "explanation": self.explain(), "version": __version__}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Calibration:
        """Return the calibration that `to_dict` wrote; raise ValueError for anything else."""
        try:
            values = {attribute.name: content[attribute.name] for attribute in fields(cls)}
            calibration = cls(**{**values, "learners": tuple(values["learners"])})
        except (KeyError, TypeError):
            raise ValueError("a field is missing") from None
        check_fields(calibration)
        return calibration

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file for ``order(..., df=...)`` and ``--df``."""
        write_text(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    def applied(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function`, with its p-values scaled if a critical value is calibrated.

        The scaling maps the critical value to `alpha`, so that the test keeps that level.
        """
        if self.critical_value is None:
            return function
        factor = self.alpha / self.critical_value

        def scaled(*losses: Any, **arguments: Any) -> Any:
            result = function(*losses, **arguments)
            return replace(result, pvalue=scalar_or_array(np.minimum(result.pvalue * factor, 1.0)))

        return scaled

    def check_test(self, test: str, runs: int, folds: int) -> str:
        """Check that the calibration fits the test; return a remark if the design differs."""
        if test != self.test:
            raise ArgumentError(
                f"df: this calibration is for the test {self.test!r}; got test {test!r}."
            )
        if not self.calibratable:
            raise DesignError(f"df: {self.test} could not be calibrated on {self.design}.")
        if (runs, folds) == (self.runs, self.folds):
            return ""
        return f"was calibrated on {self.design}, not on {runs} x {folds}"


def read_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read a calibration that `Calibration.save` wrote.

    Parameters
    ----------
    path : path
        The JSON file.
    """
    shown = os.fspath(path)
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(_MAX_CHARACTERS + 1)
        if len(text) > _MAX_CHARACTERS:
            raise TableError(f"{shown}: this is not a calibration (it is too long).")
        content = json.loads(text)
    except OSError as error:
        raise TableError(f"{shown}: the calibration cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise TableError(f"{shown}: this is not a calibration (not JSON).") from None
    try:
        if not isinstance(content, dict) or content.get("kind") != KIND:
            raise ValueError
        return Calibration.from_json(content)
    except ValueError:
        raise TableError(f"{shown}: this is not a calibration of bestofk.") from None
