"""The loss of the learner with the smallest mean, without the luck of having been chosen."""

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
    "Random splits share rows, so that the correction is too small; losses by instance or by fold "
    "would give the whole of it."
)
_AT_A_TIME = 1 << 21
"""Numbers held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMinimum(Presented):
    """The smallest of K mean losses, and what to expect of the learner that has it.

    Attributes
    ----------
    chosen : name
        The learner with the smallest mean loss.
    naive : float
        That mean: the smallest of K, and so too good on average.
    corrected : float
        The mean loss of learners chosen on one part of the data, on the rest.
    bias : float
        ``naive - corrected``: negative where the naive mean is too good.
    low, high : float
        Interval of the true loss of the chosen learner.
    chosen_again : float
        Share of the samples in which `chosen` is the best.
    level : float
        Its nominal coverage.
    unit : str
        What was resampled: ``"instances"``, ``"data sets"``, ``"splits"`` or ``"folds of a run"``.
    units : int
        How many there are (in one run).
    learners : int
        K.
    resamples : int
        How often.
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
    """What the losses are for the person who brought them; sentences speak of it."""

    def explain(self) -> str:
        """The estimate in sentences."""
        chosen = f"learner {self.chosen}" if isinstance(self.chosen, int) else str(self.chosen)
        metric, smallest = self.metric, self.metric.smallest
        naive, corrected = (number(metric.shown(one)) for one in (self.naive, self.corrected))
        low, high = sorted(metric.shown(one) for one in (self.low, self.high))
        kind = "losses" if metric.name == "loss" else f"values of {metric.name}"
        return (
            f"{capitalised(chosen)} has the {smallest} of {self.learners} mean {kind}, "
            f"{naive}. The {smallest} of several is too good on average: corrected for "
            f"the choice, expect {corrected} ({100 * self.level:g} % interval "
            f"{number(low)} to {number(high)}). {capitalised(chosen)} is the best in "
            f"{_percent(self.chosen_again)} of {self.resamples} bootstrap samples of the "
            f"{self.units} {self.unit}; the corrected {metric.name} is the mean, outside each "
            "sample, of "
            "the learner that is best inside it."
            + (f" {SHARED_ROWS}" if self.unit == "splits" else "")
        )

    def to_dict(self) -> dict[str, Any]:
        """The estimate for strict JSON, in the user's metric."""
        metric = self.metric
        held = Presented.to_dict(self)
        low, high = sorted(metric.shown(one) for one in (self.low, self.high))
        return held | {
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
    """What loss to expect of the learner with the smallest mean of K.

    The smallest of K means is too small: for ten equal learners by about 1.5 standard errors.
    This is bootstrap-bias-corrected cross-validation: the choice is made again in every
    bootstrap sample and judged by what the sample leaves out.

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
    Units are drawn with replacement, as many as there are; the learner with the smallest mean
    in the sample is judged by its mean on the units left out; `corrected` is the mean over the
    samples. Units are the data sets, the instances of a test
    set, random splits, or the folds of one run, every run in turn: folds of one run hold
    different rows, so that what is left out is new. All folds of all runs together would not
    do: every row returns in every run, the rows left out have been seen in the sample, and
    hardly anything would be corrected. (Random splits share rows too; there the correction is
    too small. Give the losses by instance where you have them.)

    In every sample the choice is made from fewer different units than there are: where the
    learners differ, `corrected` errs on the safe side, by 0.1 to 0.3 standard errors.

    The losses outside a sample are means of m of the n units, about a third: their deviations
    from `corrected` are multiplied by sqrt(m / (n - m)), which gives them the spread of a mean of
    n units, and the interval holds the middle of them. (The percentiles as published, without
    that factor, cover more than 99 percent where 95 are asked for.)

    References
    ----------
    I. Tsamardinos, E. Greasidou and G. Borboudakis (2018). Bootstrapping the out-of-sample
    predictions for efficient and accurate cross-validation. Machine Learning 107, 1895-1922.
    doi:10.1007/s10994-018-5714-4

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = corrected_minimum(rng.normal(0.2, 0.05, (10, 20)))
    >>> round(found.naive, 3), round(found.corrected, 3), found.bias < 0
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
    # what the chosen one has outside the samples is its mean but for the luck of the draw
    corrected = naive + float((samples.best_outside - samples.chosen_outside).mean())
    # of very few units that luck can be greater than any loss: no learner has a mean beyond these
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
    """Whole percent; 100 only where it is all of them."""
    return f"{100 if share == 1.0 else min(round(100 * share), 99)} %"


def _units_of(problem: Problem) -> tuple[Floats, str]:
    """(K, runs, units): the losses of units that may be drawn within each run."""
    values = problem.values
    situation = problem.situations[0] if problem.situations else ""
    if situation == "datasets":
        table, unit = values[:, np.newaxis, :], "data sets"
    elif situation == "test-set":
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
    """That of the learner that is best on all the data."""
    left_out: Floats
    """How many units are outside."""


def _samples(table: Floats, chosen: int, resamples: int, rng: np.random.Generator) -> _Samples:
    _, runs, n = table.shape
    best = np.empty(resamples, dtype=np.intp)
    best_outside, chosen_outside, left_out = (np.empty(resamples) for _ in range(3))
    step, largest = max(1, _AT_A_TIME // n), float(np.abs(table).max())
    for run in range(min(runs, resamples)):
        # the samples go through the runs in turn
        mine = np.arange(run, resamples, runs)
        losses = table[:, run].T
        for start in range(0, len(mine), step):
            rows = mine[start : start + step]
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
    """The first of those with the smallest mean in each row, but for rounding."""
    least = means.min(axis=1, keepdims=True)
    return np.asarray(np.argmax(means <= least + 1e-12 * largest, axis=1))


def _counts(samples: int, n: int, rng: np.random.Generator) -> Floats:
    """(samples, n): how often each unit was drawn; every sample leaves out at least one."""
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
