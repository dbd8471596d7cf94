"""What pairwise tests take for granted, for their entries: sentences, and how each is looked at."""

from __future__ import annotations

from bestofk.registry import Assumption

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
