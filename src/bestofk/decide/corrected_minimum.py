"""The smallest of several mean losses, corrected for the optimism of the choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, RandomState, generator, probability, whole
from bestofk._base.errors import DesignError
from bestofk._base.formatting import capitalised, number
from bestofk._base.results import Presented
from bestofk.losses.losses import Metric

if TYPE_CHECKING:
    from bestofk.decide.problem import Problem

SHARED_ROWS = (
    "Random splits share rows, so the correction is too small; losses by instance or by fold give "
    "the full correction."
)
_MAX_BATCH_NUMBERS = 1 << 21


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMinimum(Presented):
    """The smallest of K mean losses, and the expected loss of the learner that has it.

    Attributes
    ----------
    chosen : name
        The learner with the smallest mean loss.
    naive : float
        That mean, which is too small on average.
    corrected : float
        The mean loss, on the rest of the data, of learners chosen on one part.
    bias : float
        ``naive - corrected``: negative if the naive mean is too small.
    low, high : float
        Interval for the true loss of the chosen learner.
    chosen_again : float
        Share of the samples in which `chosen` is the best.
    level : float
        Nominal coverage of the interval.
    unit : str
        The resampled units: ``"instances"``, ``"data sets"``, ``"splits"`` or ``"folds of a run"``.
    units : int
        Number of units (in one run).
    learners : int
        Number of learners, K.
    resamples : int
        Number of bootstrap samples.
    """

    chosen: int | str
    naive: float
    corrected: float
    bias: float
    low: float
    high: float
    chosen_again: float
    level: float
    unit: str
    units: int
    learners: int
    resamples: int
    metric: Metric = field(default_factory=Metric, repr=False)
    """The user's metric, in which sentences report the losses."""

    def explain(self) -> str:
        """State the estimate in sentences."""
        chosen = f"learner {self.chosen}" if isinstance(self.chosen, int) else str(self.chosen)
        metric, smallest = self.metric, self.metric.smallest
        naive, corrected = (number(metric.shown(loss)) for loss in (self.naive, self.corrected))
        low, high = sorted(metric.shown(bound) for bound in (self.low, self.high))
        kind = "losses" if metric.name == "loss" else f"values of {metric.name}"
        return (
            f"{capitalised(chosen)} has the {smallest} of {self.learners} mean {kind}, "
            f"{naive}. The {smallest} of several is too good on average: corrected for "
            f"the choice, expect {corrected} ({100 * self.level:g} % interval "
            f"{number(low)} to {number(high)}). {capitalised(chosen)} is the best in "
            f"{_percent(self.chosen_again)} of {self.resamples} bootstrap samples of the "
            f"{self.units} {self.unit}; the corrected {metric.name} is the mean, outside each "
            "sample, of the learner that is best inside it."
            + (f" {SHARED_ROWS}" if self.unit == "splits" else "")
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate for strict JSON, in the user's metric."""
        metric = self.metric
        low, high = sorted(metric.shown(bound) for bound in (self.low, self.high))
        return Presented.to_dict(self) | {
            "naive": metric.shown(self.naive),
            "corrected": metric.shown(self.corrected),
            "bias": metric.difference(self.bias),
            "low": low,
            "high": high,
            "metric": {"name": metric.name, "higher_is_better": metric.higher_is_better},
        }

    def __str__(self) -> str:
        return self.explain()


def corrected_minimum(
    losses: Any,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    random_state: RandomState = 0,
    missing: str = "refuse",
    **reading: Any,
) -> CorrectedMinimum:
    """Estimate the loss to expect from the learner with the smallest of K means.

    The smallest of K means is too small, by about 1.5 standard errors for ten equal learners.
    This function is bootstrap-bias-corrected cross-validation: it repeats the choice in every
    bootstrap sample and evaluates it on the units outside the sample.

    Parameters
    ----------
    losses : Losses, path, data frame, array (K, ...) or Problem
        As for `order`.
    resamples : int
        Number of bootstrap samples.
    level : float
        Coverage of the interval.
    random_state : int, Generator or None
        Source of the samples.
    missing : {"refuse", "drop", "allow"}
        As for `order`.
    **reading
        For a file or data frame: what `read_losses` takes, such as ``higher_is_better=True``.

    Returns
    -------
    CorrectedMinimum
        With `naive`, `corrected`, `bias`, `low`, `high` and `chosen`.

    Notes
    -----
    A sample draws n of the n units with replacement. The learner with the smallest mean in the
    sample is evaluated by its mean on the units outside, and `corrected` is the mean over the
    samples. Units are the data sets, the instances of a test set, random splits, or the folds of
    one run, with the runs in turn. Folds of one run hold different rows, so the units outside a
    sample are new. All folds of all runs together would not work: every row occurs in every run,
    so rows outside the sample also occur inside, and the correction would be negligible. (Random
    splits share rows too, so their correction is too small. Give losses by instance if you have
    them.)

    A sample has fewer different units than the data. If the learners differ, `corrected` is
    therefore conservative, by 0.1 to 0.3 standard errors.

    The losses outside a sample are means of m of the n units, about a third. Their deviations
    from `corrected` are multiplied by sqrt(m / (n - m)), which gives them the spread of a mean of
    n units, and the interval holds the central ones. (The published percentiles, without that
    factor, cover more than 99 percent instead of 95.)

    References
    ----------
    I. Tsamardinos, E. Greasidou and G. Borboudakis (2018). Bootstrapping the out-of-sample
    predictions for efficient and accurate cross-validation. Machine Learning 107, 1895-1922.
    doi:10.1007/s10994-018-5714-4

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> result = corrected_minimum(rng.normal(0.2, 0.05, (10, 20)))
    >>> round(result.naive, 3), round(result.corrected, 3), result.bias < 0
    (0.183, 0.201, True)
    """
    from bestofk.decide.problem import as_problem, refuse_unknown

    problem = as_problem(losses, missing=missing, arguments=reading)
    refuse_unknown(reading, "corrected_minimum")
    resamples = whole(resamples, "resamples", at_least=1)
    level = probability(level, "level")
    table, unit = _units_of(problem)
    means = problem.means()
    chosen = int(_first_smallest(means[np.newaxis], np.abs(table).max())[0])
    samples = _samples(table, chosen, resamples, generator(random_state))
    naive = float(means[chosen])
    # the chosen learner's mean outside the samples differs from `naive` only by chance
    corrected = naive + float((samples.best_outside - samples.chosen_outside).mean())
    # with very few units chance can exceed any loss: stay within the observed means
    corrected = min(
        max(corrected, float(samples.best_outside.min())), float(samples.best_outside.max())
    )
    # the mean of m of n units varies by S^2 (1/m - 1/n), that of n units by S^2 / n
    n = table.shape[2]
    scale = np.sqrt(samples.left_out / (n - samples.left_out))
    spread = (samples.best_outside - samples.best_outside.mean()) * scale
    tail = 0.5 * (1.0 - level)
    low, high = corrected + np.quantile(spread, [tail, 1.0 - tail])
    return CorrectedMinimum(
        chosen=problem.names[chosen],
        naive=naive,
        corrected=corrected,
        bias=naive - corrected,
        low=float(low),
        high=float(high),
        chosen_again=float((samples.best == chosen).mean()),
        level=level,
        unit=unit,
        units=table.shape[2],
        learners=len(table),
        resamples=resamples,
        metric=problem.metric,
    )


def _percent(share: float) -> str:
    """Return whole percent; 100 only if it is exact."""
    return f"{100 if share == 1.0 else min(round(100 * share), 99)} %"


def _units_of(problem: Problem) -> tuple[Floats, str]:
    """Return (K, runs, units) losses of the units to draw within each run, and their name."""
    values = problem.values
    situation = problem.situations[0] if problem.situations else ""
    if situation == "datasets":
        table, unit = values[:, np.newaxis, :], "data sets"
    elif situation.startswith("test-set"):
        table, unit = values, "instances"
    elif situation in ("resample", "bootstrap"):
        table, unit = values, "splits"
    else:
        table, unit = values, "folds of a run"
    if table.shape[2] < 2:
        raise DesignError(
            f"corrected_minimum: the losses are {problem.describe()}, one number per learner; "
            "give losses by fold, by data set or by test instance."
        )
    return table, unit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Samples:
    """One number per bootstrap sample."""

    best: npt.NDArray[np.intp]
    """The learner with the smallest mean inside."""
    best_outside: Floats
    """Its mean outside."""
    chosen_outside: Floats
    """The mean outside of the learner that is best on all the data."""
    left_out: Floats
    """Number of units outside."""


def _samples(table: Floats, chosen: int, resamples: int, rng: np.random.Generator) -> _Samples:
    _, runs, n = table.shape
    best = np.empty(resamples, dtype=np.intp)
    best_outside, chosen_outside, left_out = (np.empty(resamples) for _ in range(3))
    step, largest = max(1, _MAX_BATCH_NUMBERS // n), float(np.abs(table).max())
    for run in range(min(runs, resamples)):
        # the samples use the runs in turn
        of_run = np.arange(run, resamples, runs)
        losses = table[:, run].T
        for start in range(0, len(of_run), step):
            rows = of_run[start : start + step]
            counts = _counts(len(rows), n, rng)
            best[rows] = _first_smallest(counts @ losses / n, largest)
            out = (counts == 0).astype(np.float64)
            left_out[rows] = out.sum(axis=1)
            outside = out @ losses / left_out[rows, np.newaxis]
            best_outside[rows] = outside[np.arange(len(rows)), best[rows]]
            chosen_outside[rows] = outside[:, chosen]
    return _Samples(
        best=best, best_outside=best_outside, chosen_outside=chosen_outside, left_out=left_out
    )


def _first_smallest(means: Floats, largest: float) -> npt.NDArray[np.intp]:
    """Return the first learner with the smallest mean in each row, up to rounding."""
    least = means.min(axis=1, keepdims=True)
    return np.asarray(np.argmax(means <= least + 1e-12 * largest, axis=1))


def _counts(samples: int, n: int, rng: np.random.Generator) -> Floats:
    """Draw (samples, n) counts of the units, each sample without at least one unit."""
    counts = _drawn(samples, n, rng)
    full = np.flatnonzero((counts > 0).all(axis=1))
    while full.size:
        counts[full] = _drawn(full.size, n, rng)
        full = full[(counts[full] > 0).all(axis=1)]
    return counts


def _drawn(samples: int, n: int, rng: np.random.Generator) -> Floats:
    units = rng.integers(0, n, size=(samples, n))
    units += n * np.arange(samples)[:, np.newaxis]
    counts = np.bincount(units.ravel(), minlength=samples * n)
    return counts.reshape(samples, n).astype(np.float64)
