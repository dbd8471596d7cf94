"""A calibration: what a test must use to keep its level on problems of one kind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from bestofk.errors import ArgumentError, DesignError, TableError
from bestofk.pairwise.result import scalar_or_array
from bestofk.presenting import Presented, decided_level, renamed
from bestofk.whole_file import write_text

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
            The level for which it was calibrated; another one is refused.
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
