"""Calibrations: degrees of freedom or critical values measured on the user's own problems."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.atomic_write import write_text
from bestofk._base.checks import check_fields
from bestofk._base.errors import ArgumentError, DesignError, TableError
from bestofk._base.files import read_file, regular_size
from bestofk._base.results import Presented, decided_level, renamed
from bestofk.stats.pairwise.result import scalar_or_array

KIND = "bestofk calibration"
"""Marks the JSON file of a calibration."""
_MAX_BYTES = 1 << 20


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
        if not self.calibratable and (self.df_high or self.critical_high):
            return (
                f"{self.sets} data sets are too few to calibrate it: what they show is compatible "
                f"with {percent}. Use more of them."
            )
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
        """Write a JSON file for ``compare_scores(..., test_options=...)`` and ``--set df=FILE``."""
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
    # the text of nested lists is much smaller than the lists
    data = read_file(Path(path)) if regular_size(Path(path)) <= _MAX_BYTES else b""
    try:
        content = json.loads(data)
        if not isinstance(content, dict) or content.get("kind") != KIND:
            raise ValueError
        return Calibration.from_json(content)
    except (ValueError, RecursionError):
        raise TableError(f"{os.fspath(path)}: this is not a calibration of bestofk.") from None
