"""The smallest of several mean losses, corrected for the optimism of the choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, RandomState, generator, probability, whole
from bestofk._base.errors import DesignError
from bestofk._base.formatting import capitalised, number, rounded
from bestofk._base.results import Presented
from bestofk.losses.losses import Metric

if TYPE_CHECKING:
    from bestofk.decide.problem import Problem

SHARED_ROWS = (
    "Random splits share rows, so the correction is too small; losses by instance or by fold give "
    "the full correction."
)
_MAX_BATCH_NUMBERS = 1 << 21
FOR_THE_CHOICE = 0.8
"""Share of the tails that is left for chance; the rest is for having chosen the learner."""


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
    low, high : float or None
        Interval for the true loss of the chosen learner, or, over data sets, for its loss on the
        next data set; None if no interval covers often enough (see Notes of `corrected_minimum`).
    interval_of : str
        ``"expected loss"``, ``"next data set"``, or empty if there is no interval.
    chosen_again : float
        Share of the samples in which `chosen` is the best.
    level : float
        Nominal coverage of the interval.
    unit : str
        The resampled units: ``"instances"``, ``"data sets"``, ``"splits"``,
        ``"windows"`` or ``"folds of a run"``.
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
    low: float | None
    high: float | None
    interval_of: str
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
        kind = "losses" if metric.name == "loss" else f"values of {metric.name}"
        return (
            f"{capitalised(chosen)} has the {smallest} of {self.learners} mean {kind}, "
            f"{naive}. The {smallest} of several is too good on average: corrected for "
            f"the choice, expect {corrected}{self.interval_words()}. {capitalised(chosen)} is the "
            "best in "
            f"{_percent(self.chosen_again)} of {self.resamples} bootstrap samples of the "
            f"{self.units} {self.unit}; the corrected {metric.name} is the mean, outside each "
            "sample, of the learner that is best inside it."
            + (f" {SHARED_ROWS}" if self.unit == "splits" else "")
        )

    def shown_interval(self) -> tuple[float, float] | None:
        """Return the interval in the user's metric; None if there is none."""
        if self.low is None or self.high is None:
            return None
        low, high = sorted(self.metric.shown(bound) for bound in (self.low, self.high))
        return low, high

    def words(self, value: float, uncertainty: float | None = None) -> str:
        """Return a mean, rounded by the interval if there is one, or else by `uncertainty`."""
        interval = self.shown_interval()
        if interval is not None:
            uncertainty = (interval[1] - interval[0]) / 2
        return rounded([value], uncertainty)[0]

    def interval_words(self) -> str:
        """Return the interval in words, in parentheses; empty if there is none."""
        interval = self.shown_interval()
        if interval is None:
            return ""
        about = " for the next data set" if self.interval_of == "next data set" else ""
        low, high = rounded(interval, (interval[1] - interval[0]) / 2)
        return f" ({100 * self.level:g} % interval{about} {low} to {high})"

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate for strict JSON, in the user's metric."""
        metric = self.metric
        low, high = self.shown_interval() or (None, None)
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
    n units, and by the ratio of the quantiles of t with n - 1 degrees of freedom and of the
    normal. The interval holds the central ones.

    There is an interval only if it covers in at least 94 percent of simulated studies
    (``python studies/corrected_minimum_bias.py``): for right or wrong instances, and for losses
    between 0 and 1 on folds. Random splits and windows share rows, and losses without a bound may
    have heavy tails; they have none. Over data sets the interval is for the chosen learner's loss
    on the next data set. It is made of order statistics and needs 49 data sets (for 95 percent).

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
    low, high, interval_of = _interval(table, unit, chosen, corrected, samples, level)
    return CorrectedMinimum(
        chosen=problem.names[chosen],
        naive=naive,
        corrected=corrected,
        bias=naive - corrected,
        low=low,
        high=high,
        interval_of=interval_of,
        chosen_again=float((samples.best == chosen).mean()),
        level=level,
        unit=unit,
        units=table.shape[2],
        learners=len(table),
        resamples=resamples,
        metric=problem.metric,
    )


def _interval(
    table: Floats, unit: str, chosen: int, corrected: float, samples: _Samples, level: float
) -> tuple[float | None, float | None, str]:
    """Return an interval that covers often enough, and its subject; None if there is none."""
    n, tail = table.shape[2], 0.5 * (1.0 - level)
    if unit == "data sets":
        # the next of n + 1 exchangeable data sets is below the r-th smallest with r / (n + 1)
        r = int(np.floor(FOR_THE_CHOICE * tail * (n + 1) * (1.0 + 1e-12)))
        if r < 1:
            return None, None, ""
        ordered = np.sort(table[chosen, 0])
        return float(ordered[r - 1]), float(ordered[n - r]), "next data set"
    zero_one = bool(np.isin(table, (0.0, 1.0)).all())
    within = bool(table.min() >= 0.0 and table.max() <= 1.0)
    # The interval from one run of folds covers too rarely: 88.5 % for two nearest neighbours.
    several_runs = unit == "folds of a run" and table.shape[1] > 1
    if not (zero_one if unit == "instances" else within and several_runs):
        return None, None, ""
    from bestofk.stats.tails import normal_quantile, t_quantile

    # the mean of m of n units varies by S^2 (1/m - 1/n), that of n units by S^2 / n
    scale = np.sqrt(samples.left_out / (n - samples.left_out))
    scale = scale * float(t_quantile(tail, n - 1.0) / normal_quantile(tail)) * np.sqrt(n / (n - 1))
    spread = (samples.best_outside - samples.best_outside.mean()) * scale
    low, high = corrected + np.quantile(spread, [tail, 1.0 - tail])
    if low == high:
        # too few different numbers: the bootstrap knows nothing
        return None, None, ""
    return max(float(low), 0.0), min(float(high), 1.0), "expected loss"


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
    elif situation == "time":
        table, unit = values, "windows"
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
