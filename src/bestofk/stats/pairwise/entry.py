"""`PairwiseTest`: everything that the library knows of one pairwise test.

`covers` names the situations that a test was made for (see `bestofk.splits.design`):

=================  ==============================================================
``kfold``          one data set, one run of k folds
``repeated-kfold`` one data set, two or more runs of k folds
``5x2``            one data set, five runs of two folds
``resample``       one data set, random splits into training and test rows
``bootstrap``      one data set, bootstrap samples tested on the rows left out
``test-set``       one test set, one loss per instance
``datasets``       several data sets, one mean loss each
``halves``         one data set, runs of k folds, and cross-validation on random halves of it
``nested``         one data set, runs of k folds, and pairs of folds left out together
``loo``            one data set, leave-one-out: one loss per row
``time``           one data set, windows in order of time
=================  ==============================================================

`axes` is the number of trailing axes that the function takes: 2 for (runs, folds), else 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bestofk._base.registry import Assumption, FunctionEntry, Speed

PowerModel = Literal[
    "t", "corrected t", "five by two F", "five by two t", "signed rank", "sign flips",
    "disagreements", "unknown",
]  # fmt: skip
"""How `bestofk.decide.power` finds the power: ``"t"`` from the standard error and the degrees of
freedom of a result, where it has them; ``"corrected t"`` also for other numbers of runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Automatic:
    """A situation in which the test is taken where none is asked for."""

    situation: str
    why: str
    """The reason, after a colon; of a fallback, after "it can decide,"."""
    rank: int = 1
    """The first that applies is taken: a test of zero-one losses only to those."""
    fallback: bool = False
    """Only where the exact test of a smaller rank cannot reach the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What a reader of a verdict must know; ``{dataset}`` and ``{share}`` are filled in."""

    words: str
    when: Literal["always", "one data set dominates", "windows in time"] = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseTest(FunctionEntry):
    """What the library knows of one pairwise test."""

    covers: tuple[str, ...]
    axes: int = 1
    sides: tuple[str, ...] = ("two-sided", "greater", "less")
    assumptions: tuple[Assumption, ...] = ()
    """What it takes for granted; empty: the report says that it is not stated."""
    automatic: tuple[Automatic, ...] = ()
    """Where it is taken when no test is asked for."""
    interval: str = ""
    """How the interval of the difference is found, in words; empty: there is none."""
    speed: Speed = "vectorised"
    power: PowerModel = "t"
    remarks: tuple[Remark, ...] = ()
    takes_df: bool = False
    """The degrees of freedom may be given, as a number."""
    needs_sizes: bool = False
    """The function wants `n_train` and `n_test`."""
    takes_test_share: bool = False
    """The function takes `test_share`, the ratio n_test / n_train of the design."""
    takes_units: bool = False
    """The function takes `units`, the groups of rows that bound its degrees of freedom."""
    takes_resolution: bool = False
    """The function takes `resolution`, the step of which all losses are multiples."""
    curtailed: Literal["", "plain", "corrected", "ranks", "signs"] = ""
    """The mean of all differences of several runs or splits over their standard deviation, times a
    constant (its variance is as it is or corrected for shared rows, its degrees of freedom are
    given or not), so that what is left of a plan can be bounded and predicted
    (`bestofk.decide.stopping`); or it goes by signed ranks or signs of data sets, which can be
    bounded;
    empty: it is neither, and no race is held for it."""
    subsets: str = ""
    """``"halves"`` or ``"nested"``: the runs on parts of the rows that the test needs. The function
    takes their losses after those of all runs in one axis, or, where `pooled`, not at all."""
    pooled: bool = False
    """The function wants one variance factor, found from all pairs of the study together."""
    zero_one: bool = False
    """The losses must be 0 or 1 for every instance."""
    discrete: bool = False
    """The statistic has atoms: one-sided p-values add up to more than 1."""
    bayesian: bool = False
    """The result is a posterior: its `pvalue` promises no rate of errors."""
    at_least_units: int = 0
    """On fewer data sets the result is not to be relied on, and procedures refuse it."""
    random: bool = False
    """The function takes `random_state`."""
    smallest_pvalue: Callable[[int], float] | None = None
    """The smallest two-sided p-value that n units can give; None where any can come out."""
    caution: str = ""
    """What a verdict says of its error rate beyond the assumptions, as measured; may be empty."""
    caution_for_unstable: bool = False
    """The caution is about unstable learners; whether it holds is known where the learners are."""
    shorthand: str = ""
    """A short name that `bestofk.stats.multiple.post_hoc` takes too."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    decision_arguments: Mapping[str, Any] = field(default_factory=dict)
    """What a decision tells the function beyond its defaults."""
    decision_smallest_pvalue: Callable[[int], float] | None = None
    """`smallest_pvalue` with those; None where it is the same."""


# What pairwise tests take for granted, for their entries: sentences, and how each is looked at.


_SHARED = "Folds and runs share training rows, so their losses are not independent."

SHARED_ROWS_CORRECTED = Assumption(
    claim=_SHARED,
    check="by design",
    why="The variance of {test} is corrected for the share of test rows.",
)
SHARED_ROWS_CALIBRATED = Assumption(
    claim=_SHARED,
    check="by design",
    why="The degrees of freedom were set to {df} in place of those of independent folds.",
    when="df given",
)
SHARED_ROWS_IGNORED = Assumption(
    claim="Losses of different folds are independent.",
    check="doubtful",
    why="{test} takes the {n} folds as independent, and they share training rows: it rejects more "
    "often than alpha says. A corrected test, or calibrated degrees of freedom, would not.",
)
SHARED_ROWS_UNLESS_CALIBRATED = Assumption(
    claim=SHARED_ROWS_IGNORED.claim,
    check=SHARED_ROWS_IGNORED.check,
    why=SHARED_ROWS_IGNORED.why,
    when="df not given",
)
GROUPS_AS_UNITS = Assumption(
    claim="Rows of one group are not independent of each other.",
    check="by design",
    why="Groups are never divided, and the degrees of freedom are at most those of the groups.",
    when="groups",
)
NORMAL = Assumption(
    claim="Differences between two learners are roughly normal.",
    check="skewness",
    why="means over many folds forgive a good deal",
)
NORMAL_UNITS = Assumption(
    claim="Differences between two learners are roughly normal.", check="skewness"
)
SYMMETRIC = Assumption(
    claim="Between equal learners, either is as likely to be ahead by as much.", check="skewness"
)
EITHER_AHEAD = Assumption(
    claim="Between equal learners, either is as likely to be ahead.",
    check="by design",
    why="That is what equal means to {test}: it counts who is ahead, not by how much.",
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
        why="It is so if the rows were drawn one by one, and not so for rows of one patient, day "
        "or place.",
        when="one data set",
    ),
    Assumption(
        claim="The data sets are independent of each other, and like those to come.",
        check="cannot be checked",
        why="Several versions of one problem would count as more evidence than they are.",
        when="several data sets",
    ),
    Assumption(
        claim="What is left of one window's luck in the next is little.",
        check="cannot be checked",
        why="Rows that follow each other depend on each other; the windows count as one number "
        "each, and are the more independent the longer they are.",
        when="windows in time",
    ),
)
WINDOWS = INDEPENDENT_UNITS[-1]
ENOUGH_UNITS = Assumption(
    claim="There are enough {units} for a small p-value to be possible.", check="enough units"
)
MEASURED_ON_PARTS = Assumption(
    claim="The variance allows for shared training rows and for unstable learners.",
    check="by design",
    why="It is measured{subsets}.",
)
STABLE_LEARNERS = Assumption(
    claim="No learner depends much on any one training row.",
    check="cannot be checked",
    why="The nearest neighbour and trees do; the test is about the models that were fitted.",
)
