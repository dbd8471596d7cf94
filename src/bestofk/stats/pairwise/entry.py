"""The type of a registered pairwise test, and the assumptions that tests share.

`PairwiseTest.covers` names the situations that a test is for (see `bestofk.splits.design`):

=================  ==============================================================
``kfold``          one data set, one run of k folds
``repeated-kfold`` one data set, two or more runs of k folds
``5x2``            one data set, five runs of two folds
``resample``       one data set, random splits into training and test rows
``bootstrap``      one data set, bootstrap samples tested on the rows left out
``test-set``       one test set, one loss per instance
``test-set-auc``   one test set, components of the AUC by instance
``test-set-metric`` one test set, components of any other metric by instance
``datasets``       several data sets, one mean loss each
``dataset-folds``  several data sets, three or more folds or splits of each
``nested``         one data set, runs of k folds, and pairs of folds left out together
``loo``            one data set, leave-one-out: one loss per row
``time``           one data set, windows in order of time
``seeds``          one test set, training runs with different seeds
=================  ==============================================================

`PairwiseTest.axes` is the number of trailing axes of its losses: 2 for (runs, folds), 3 for (data
sets, runs, folds), else 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bestofk._base.registry import Assumption, FunctionEntry, parameters_of
from bestofk.stats.pairwise.result import Estimand

PowerModel = Literal["t", "corrected t", "disagreements", "simulated", "unknown"]
"""How `bestofk.decide.power` computes the power: ``"t"`` from the standard error and the degrees of
freedom of a result, if it has them; ``"corrected t"`` also for other numbers of runs;
``"disagreements"`` exactly; ``"simulated"`` by the test itself on drawn differences, for tests
whose interval contains the shifts that the test does not reject."""


Sign = Literal[
    "skewed", "extremely skewed", "scores at one end", "autocorrelated", "slow changes",
    "dependent splits", "df not calibrated", "unstable learners",
]  # fmt: skip
"""Sign in the losses that the test errs too often; see `bestofk.decide.cautions`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """A measured error rate above alpha, which a verdict mentions if the losses show the sign.

    - `sign`: ``"dependent splits"`` always applies; the others depend on the losses.
    - `rates`: Percentages of wrong claims about two equal learners, by number of units; for
      ``"autocorrelated"`` by 100 times the lag-1 autocorrelation.
    - `advice`: What to do instead, as a clause.
    """

    sign: Sign
    rates: Mapping[int, float] = field(default_factory=dict)
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseTest(FunctionEntry):
    """A registered pairwise test."""

    covers: tuple[str, ...]
    axes: int = 1
    sides: tuple[str, ...] = ("two-sided", "greater", "less")
    assumptions: tuple[Assumption, ...] = ()
    """Assumptions of the test; if empty, the report says that they are not stated."""
    automatic: Mapping[str, str] = field(default_factory=dict)
    """Situations in which bestofk picks the test by default, with the reason, which is printed
    after a colon. bestofk picks the first registered test that applies."""
    interval: bool = True
    """The result has an interval of the difference."""
    widened: Literal["", "skewed units", "skewed rows", "dependent rows"] = ""
    """The losses for which a decision widens the standard error of the test."""
    power: PowerModel = "t"
    note: str = ""
    """Sentence on what every result of the test assumes or leaves out."""
    curtailed: Literal["", "plain", "corrected", "nested", "ranks", "signs"] = ""
    """How the rest of a plan can be bounded and predicted (`bestofk.decide.stopping`).
    ``"plain"`` and ``"corrected"``: the statistic is the mean of all differences of several runs or
    splits over their standard deviation, times a constant; the variance is uncorrected or corrected
    for shared rows. ``"nested"``: the statistic of `nested_cv_t`. ``"ranks"`` and ``"signs"``:
    signed ranks or signs of data sets. Empty: it cannot, and the test is never stopped early."""
    zero_one: bool = False
    """The losses must be 0 or 1 for every instance."""
    bayesian: bool = False
    """The result is a posterior; its `pvalue` does not control an error rate."""
    at_least_units: int = 0
    """On fewer units the test is unreliable or has no result, and rules raise an error."""
    smallest_pvalue: Callable[..., float] | None = None
    """Smallest two-sided p-value of n units; None if there is no bound. It also takes the argument
    `exact` if the test does."""
    cautions: tuple[Caution, ...] = ()
    """Measured error rates above alpha, which a verdict mentions if the losses show the sign."""
    about: Literal["learners", "fitted models"] = "learners"
    """Whether the claims are about learners, trained on other data of this size, or about the
    models that were fitted. On one test set every test is about the fitted models."""
    estimand: Estimand = "mean"
    """The difference that the test, its estimate and its interval are about: that of the means, or
    the typical one (pseudomedian or median of the differences)."""
    pair_by_pair: bool = False
    """The estimate of each pair stands by itself: it is no difference of one mean per learner."""
    published_df: str = ""
    """The location of the function of its published df: name, runs, folds, rows and learners."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that the function always receives, unless the caller says otherwise."""

    def takes(self, argument: str) -> bool:
        """Return whether the function takes this argument."""
        return argument in parameters_of(self.function)

    @property
    def needs_sizes(self) -> bool:
        """True if the function needs `n_train` and `n_test`."""
        return self.takes("n_train")

    @property
    def nested(self) -> bool:
        """True if the test needs the losses of nested runs, after those of all runs in one axis."""
        return "nested" in self.covers


# Assumptions

_SHARED = "Folds and runs share training rows, so their losses are not independent."

SHARED_ROWS_CORRECTED = Assumption(
    claim=_SHARED,
    check="by design",
    why="{test} corrects the variance for the ratio of test rows to training rows.",
)
SHARED_ROWS_IGNORED = Assumption(
    claim="Losses of different folds are independent.",
    check="doubtful",
    why="{test} treats the {n} folds as independent, but they share training rows, so it rejects "
    "more often than alpha. Use a corrected test or calibrated degrees of freedom.",
)
GROUPS_AS_UNITS = Assumption(
    claim="Rows of one group depend on each other.",
    check="by design",
    why="Each group stays in one fold, and the number of groups limits the degrees of freedom.",
    when="groups",
)
NORMAL = Assumption(
    claim="Differences between two learners are roughly normal.",
    check="skewness",
    why="means over many folds tolerate moderate skewness",
)
NORMAL_UNITS = Assumption(
    claim="Differences between two learners are roughly normal.", check="skewness"
)
SKEWED_UNITS = Assumption(
    claim="Differences between two learners are not extremely skewed.", check="skewness"
)
SYMMETRIC = Assumption(
    claim="Differences between equal learners are symmetric about 0.", check="skewness"
)
EITHER_AHEAD = Assumption(
    claim="Equal learners are equally likely to be ahead.",
    check="by design",
    why="{test} defines equality this way: it counts which learner is ahead, not by how much.",
)
DIFFERENT_HALVES = Assumption(
    claim="The two halves of a run train on different rows.",
    check="by design",
    why="The losses are {design}.",
)
INDEPENDENT_UNITS = (
    Assumption(
        claim="Test instances are independent of each other.",
        check="cannot be checked",
        why="This holds if the rows were drawn independently, but not if several rows are of the "
        "same patient, day or site.",
        when="one data set",
    ),
    Assumption(
        claim="The data sets are independent of each other and typical of future ones.",
        check="cannot be checked",
        why="Several versions of one problem would overstate the evidence.",
        when="several data sets",
    ),
    Assumption(
        claim="The losses of successive windows are nearly independent.",
        check="cannot be checked",
        why="Successive rows depend on each other; each window counts as one number, and longer "
        "windows are closer to independent.",
        when="windows in time",
    ),
)
WINDOWS = INDEPENDENT_UNITS[-1]
STATIONARY = Assumption(
    claim="The differences vary about one mean, and distant ones hardly depend on each other.",
    check="cannot be checked",
    why="A trend in the differences, or a change of the better learner, contradicts this.",
)
ENOUGH_UNITS = Assumption(
    claim="There are enough {units} for a small p-value to be possible.", check="enough units"
)
INDEPENDENT_RUNS = Assumption(
    claim="The training runs are independent of each other.",
    check="cannot be checked",
    why="This holds if each run has its own seed for everything that is random.",
)
SAME_TEST_SET = Assumption(
    claim="The result is about the randomness of training on this test set.",
    check="by design",
    why="All runs share the same training and test rows, so the variation of new data is not "
    "included.",
)
MEASURED_ON_PARTS = Assumption(
    claim="The variance allows for shared training rows and for unstable learners.",
    check="by design",
    why="It is measured{subsets}.",
)
MANY_OF_EACH_CLASS = Assumption(
    claim="There are at least about four instances of each class.",
    check="cannot be checked",
    why="{test} estimates the variance of the areas from the instances of each class.",
)
SMOOTH_METRIC = Assumption(
    claim="The metric changes little if one instance is left out.",
    check="cannot be checked",
    why="F1, precision, R2 and root mean squared errors do; medians and largest errors do not.",
)
STABLE_LEARNERS = Assumption(
    claim="No learner depends much on any one training row.",
    check="cannot be checked",
    why="Nearest neighbours and trees do. The test compares the fitted models, not the learners.",
)
