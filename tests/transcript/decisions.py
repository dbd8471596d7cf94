"""Decisions in all situations, each with a heading that describes the case."""

import numpy as np
from exact_tables import DIMS, NAMES, exactly, folds, instances, sets

import bestofk as bk
from bestofk.decide.preference import MeasuredCosts
from bestofk.splits.design import Design
from bestofk.stats.adjust import CORRECTIONS

FIRST_LOSES = (0.30, 0.20, 0.21)
"""The second and third are shown to be better than the first, and the second than the third."""
NOTHING = (0.220, 0.221, 0.219)
ABOUT_ALL = (0.40, 0.20, 0.201, 0.199, 0.33, 0.35, 0.38, 0.205)


def costs(what, *values):
    return MeasuredCosts(what=what, costs=dict(zip(NAMES, values, strict=False)))


def by_ranks_and_by_mean():
    """The first has the smaller mean because of one data set; the second wins on all others."""
    first = np.append(np.linspace(0.20, 0.35, 16), 0.10)
    second = first - np.append(np.linspace(0.010, 0.025, 16), -0.4)
    return exactly([first, second])


def no_preference():
    yield "two learners, one is shown to be worse", bk.compare_scores(folds((0.30, 0.20)))
    yield "two learners", bk.compare_scores(folds((0.201, 0.200), spread=0.02))
    yield "two learners with the same mean", bk.compare_scores(folds((0.2, 0.2)))
    yield "two identical learners", bk.compare_scores(exactly(np.full((2, 9), 0.2)))
    yield (
        "three learners: one worse, one not shown to be",
        bk.compare_scores(folds((0.300, 0.200, 0.201))),
    )
    yield "three learners: both others are worse", bk.compare_scores(folds((0.30, 0.20, 0.25)))
    yield "three learners, nothing is shown anywhere", bk.compare_scores(folds(NOTHING))
    yield "three learners with the same mean", bk.compare_scores(folds((0.2, 0.2, 0.2)))
    yield "two share the smallest mean", bk.compare_scores(folds((0.2, 0.3, 0.2)))
    yield "three of four share the smallest mean", bk.compare_scores(folds((0.2, 0.2, 0.3, 0.2)))
    yield "eight learners", bk.compare_scores(folds(ABOUT_ALL))
    yield (
        "eight learners, nothing is shown anywhere",
        bk.compare_scores(folds(np.linspace(0.2, 0.201, 8))),
    )
    yield "eight learners, all others are worse", bk.compare_scores(folds(np.linspace(0.2, 0.4, 8)))
    yield (
        "the test by ranks contradicts the mean",
        bk.compare_scores(by_ranks_and_by_mean(), test="wilcoxon"),
    )
    yield (
        "too few data sets for the test that was asked for",
        bk.compare_scores(sets((0.9, 0.5, 0.4, 0.3, 0.1), n=7), test="wilcoxon"),
    )
    yield (
        "two data sets, two learners, a test that cannot decide",
        bk.compare_scores(sets((0.9, 0.1), n=2), test="sign"),
    )
    yield (
        "seven data sets, five learners, chosen automatically",
        bk.compare_scores(sets((0.9, 0.5, 0.4, 0.3, 0.1), n=7)),
    )
    yield (
        "seven data sets with the same losses on each",
        bk.compare_scores(exactly(np.repeat([[0.9], [0.5], [0.4], [0.3], [0.1]], 7, axis=1))),
    )


def stated_preference():
    prefer = list(NAMES[:3])
    yield "a list: the second beats the first", bk.compare_scores(folds(FIRST_LOSES), prefer=prefer)
    yield (
        "a list: the third beats the first two",
        bk.compare_scores(folds((0.30, 0.31, 0.20)), prefer=prefer),
    )
    yield (
        "a list: the second beats the first, and is the smallest",
        bk.compare_scores(folds((0.30, 0.20, 0.25)), prefer=prefer),
    )
    yield (
        "a list: the first has the smallest mean",
        bk.compare_scores(folds((0.2, 0.3, 0.21)), prefer=prefer),
    )
    yield (
        "a list: the first has the smallest mean, nothing else is shown",
        bk.compare_scores(folds((0.2, 0.201, 0.202), spread=0.02), prefer=prefer),
    )
    yield "a list: the preference decides", bk.compare_scores(folds(NOTHING), prefer=prefer)
    yield (
        "a list of two: the preference decides",
        bk.compare_scores(folds(NOTHING[1:]), prefer=NAMES[:2]),
    )
    yield (
        "a list of two: the second beats the first",
        bk.compare_scores(folds((0.3, 0.2)), prefer=NAMES[:2]),
    )
    yield "a list: all means are the same", bk.compare_scores(folds((0.2, 0.2, 0.2)), prefer=prefer)
    yield (
        "a list: two share the smallest mean",
        bk.compare_scores(folds((0.3, 0.2, 0.2)), prefer=prefer),
    )
    yield (
        "a list: the first shares the smallest mean",
        bk.compare_scores(folds((0.2, 0.3, 0.2)), prefer=prefer),
    )
    yield "as listed: the preference decides", bk.compare_scores(folds(NOTHING), prefer="listed")
    yield (
        "a list that leaves out one learner",
        bk.compare_scores(folds(NOTHING), prefer=["c4.5", "nmc"]),
    )
    yield (
        "a list that leaves out two learners",
        bk.compare_scores(folds(NOTHING), prefer=["logistic"]),
    )
    yield (
        "prices: the preference decides",
        bk.compare_scores(folds(NOTHING), prefer={"nmc": 1, "logistic": 2, "c4.5": 3}),
    )
    yield (
        "prices: the dearest beats the two others",
        bk.compare_scores(folds((0.30, 0.31, 0.20)), prefer={"nmc": 1, "logistic": 2, "c4.5": 3}),
    )
    yield (
        "equal prices",
        bk.compare_scores(folds(NOTHING), prefer={"nmc": 1, "logistic": 1, "c4.5": 2}),
    )
    for what in ("fit_time", "predict_time", "size", "complexity"):
        yield (
            f"measured, {what}: the preference decides",
            bk.compare_scores(folds(NOTHING), prefer=costs(what, 1.0, 3.0, 9.0)),
        )
        yield (
            f"measured, {what}: a dearer one beats a cheaper one",
            bk.compare_scores(folds(FIRST_LOSES), prefer=costs(what, 1.0, 3.0, 9.0)),
        )
        yield (
            f"measured, {what}: the dearest beats the two others",
            bk.compare_scores(folds((0.30, 0.31, 0.20)), prefer=costs(what, 1.0, 3.0, 9.0)),
        )
    yield (
        "measured, fit_time: within a factor of two",
        bk.compare_scores(folds(NOTHING), prefer=costs("fit_time", 1.0, 1.9, 1.5)),
    )
    yield "a list of eight: evidence decides", bk.compare_scores(folds(ABOUT_ALL), prefer="listed")
    yield (
        "a list of eight: the preference decides",
        bk.compare_scores(folds(np.linspace(0.201, 0.2, 8)), prefer="listed"),
    )
    yield (
        "a list of eight: the last beats all others",
        bk.compare_scores(folds(np.linspace(0.4, 0.2, 8)), prefer="listed"),
    )
    yield (
        "a list: too few data sets to decide",
        bk.compare_scores(sets((0.9, 0.5, 0.4, 0.3, 0.1), n=7), test="wilcoxon", prefer="listed"),
    )
    yield (
        "a list: too few data sets to decide, and the first has the smallest mean",
        bk.compare_scores(sets((0.1, 0.5, 0.4, 0.3, 0.9), n=7), test="wilcoxon", prefer="listed"),
    )
    yield (
        "a list: the test by ranks contradicts the mean",
        bk.compare_scores(by_ranks_and_by_mean(), test="wilcoxon", prefer="listed"),
    )


def families():
    prefer = list(NAMES[:3])
    yield (
        "the paper's family: evidence decides",
        bk.compare_scores(folds(FIRST_LOSES), prefer=prefer, family="preference"),
    )
    yield (
        "the paper's family: the first has the smallest mean",
        bk.compare_scores(folds((0.2, 0.3, 0.4)), prefer=prefer, family="preference"),
    )
    yield (
        "the paper's family: the preference decides",
        bk.compare_scores(folds(NOTHING), prefer=prefer, family="preference"),
    )
    yield (
        "the paper's family, two learners",
        bk.compare_scores(folds((0.3, 0.2)), prefer=prefer[:2], family="preference"),
    )
    yield (
        "against a control that is worse",
        bk.compare_scores(folds((0.3, 0.2, 0.21, 0.4)), family="control", control="nmc"),
    )
    yield (
        "against a control that has the smallest mean",
        bk.compare_scores(folds((0.2, 0.3, 0.201, 0.4)), family="control", control="nmc"),
    )
    yield (
        "against a control that is preferred, nothing is shown",
        bk.compare_scores(folds(NOTHING), family="control", control="nmc", prefer=prefer),
    )
    yield (
        "against a control, two learners",
        bk.compare_scores(folds((0.3, 0.2)), family="control", control="nmc"),
    )
    for correction in CORRECTIONS:
        yield (
            f"correction {correction}",
            bk.compare_scores(folds(FIRST_LOSES), correction=correction),
        )


def margins():
    prefer = list(NAMES[:4])
    table = folds((0.201, 0.200, 0.26, 0.2005), spread=(0.005, 0.005, 0.005, 0.08))
    yield "a margin, no preference", bk.compare_scores(table, margin=0.01)
    yield "a margin, with a preference", bk.compare_scores(table, margin=0.01, prefer=prefer)
    yield "a margin, two learners", bk.compare_scores(folds((0.201, 0.200)), margin=0.01)
    yield (
        "a margin that nothing reaches",
        bk.compare_scores(folds(NOTHING, spread=0.1), margin=0.001),
    )
    precise = folds((0.201, 0.200, 0.26, 0.2005), spread=0.005)
    yield "a margin, precise means", bk.compare_scores(precise, margin=0.01, prefer=prefer)
    yield (
        "a margin: one that is ruled out is within it",
        bk.compare_scores(folds((0.23, 0.20, 0.201)), prefer=prefer[:3], margin=0.05),
    )
    yield (
        "a margin: the first is not within it, the second is",
        bk.compare_scores(folds((0.26, 0.203, 0.200)), prefer=prefer[:3], margin=0.02),
    )
    yield (
        "a margin by measured cost",
        bk.compare_scores(precise, prefer=costs("predict_time", 1.0, 3.0, 9.0, 30.0), margin=0.01),
    )
    yield "a rope", bk.compare_scores(folds(FIRST_LOSES), rope=0.01)
    yield "a rope, eight learners", bk.compare_scores(folds(ABOUT_ALL), rope=0.01)
    yield "a rope, two learners on data sets", bk.compare_scores(sets((0.2, 0.21)), rope=0.01)
    yield "a Bayesian test that decides", bk.compare_scores(folds(FIRST_LOSES), test="correlated-t")
    yield (
        "a Bayesian test with a rope that decides",
        bk.compare_scores(folds(FIRST_LOSES), test="correlated-t", rope=0.01),
    )


def rules():
    prefer = list(NAMES[:3])
    asked = {"rule": "test-first", "prefer": prefer}
    yield "TestFirst chooses", bk.compare_scores(folds((0.3, 0.31, 0.2)), **asked)
    yield "TestFirst chooses over one", bk.compare_scores(folds(FIRST_LOSES), **asked)
    yield "TestFirst finds none", bk.compare_scores(folds(NOTHING), **asked)
    yield "TestFirst, nothing is preferred", bk.compare_scores(folds((0.2, 0.21, 0.3)), **asked)
    yield (
        "TestFirst without a preference",
        bk.compare_scores(folds(FIRST_LOSES), rule="test-first"),
    )
    yield (
        "TestFirst on too few data sets",
        bk.compare_scores(sets((0.9, 0.5, 0.1), n=4), test="wilcoxon", **asked),
    )
    yield (
        "TestFirst with another correction",
        bk.compare_scores(folds((0.3, 0.31, 0.2)), correction="holm", **asked),
    )
    asked = {"rule": "anova-choice", "prefer": prefer}
    yield "ANOVA sees a difference", bk.compare_scores(folds(FIRST_LOSES), **asked)
    yield "ANOVA sees none", bk.compare_scores(folds(NOTHING, spread=0.1), **asked)
    yield (
        "ANOVA sees none, no preference",
        bk.compare_scores(folds(NOTHING, spread=0.1), rule="anova-choice"),
    )
    asked = {"rule": "newman-keuls-choice", "prefer": prefer}
    yield (
        "Newman-Keuls: one differs from all others",
        bk.compare_scores(folds((0.3, 0.2, 0.25)), **asked),
    )
    yield (
        "Newman-Keuls: no preference",
        bk.compare_scores(folds(FIRST_LOSES), rule="newman-keuls-choice"),
    )
    wide = {"spread": 0.01, "seed": 2}
    yield (
        "Newman-Keuls: the most preferred of a group",
        bk.compare_scores(folds((0.3, 0.2005, 0.2), **wide), **asked),
    )
    yield (
        "Newman-Keuls: the most preferred has the smallest mean",
        bk.compare_scores(folds((0.2, 0.2005, 0.3), **wide), **asked),
    )
    yield (
        "Newman-Keuls: groups that overlap",
        bk.compare_scores(folds((0.2045, 0.2022, 0.2), **wide), **asked),
    )
    yield (
        "Newman-Keuls: groups that overlap, four learners",
        bk.compare_scores(folds((0.2050, 0.2025, 0.2026, 0.2), **wide),
                 rule="newman-keuls-choice", prefer=list(NAMES[:4])),
    )  # fmt: skip
    yield (
        "Newman-Keuls: two learners",
        bk.compare_scores(folds((0.3, 0.2)), rule="newman-keuls-choice", prefer=prefer[:2]),
    )
    asked = {"rule": "most-wins"}
    yield "most wins: one winner", bk.compare_scores(folds((0.3, 0.2, 0.25)), **asked)
    yield "most wins: one winner of two", bk.compare_scores(folds((0.3, 0.2)), **asked)
    noisy = folds((0.2, 0.3, 0.195), spread=(0.01, 0.01, 0.3))
    yield "most wins: the winner has not the smallest mean", bk.compare_scores(noisy, **asked)
    yield "most wins: two share the top", bk.compare_scores(folds((0.3, 0.2, 0.2)), **asked)
    yield "most wins: none has any", bk.compare_scores(folds(NOTHING), **asked)
    yield (
        "most wins: equal counts below",
        bk.compare_scores(folds((0.1, 0.3, 0.3, 0.5, 0.5)), **asked),
    )
    yield (
        "most wins on too few data sets",
        bk.compare_scores(sets((0.9, 0.5, 0.1), n=4), test="wilcoxon", **asked),
    )


def metrics():
    up = {"higher_is_better": True}
    yield (
        "accuracy, no preference",
        bk.compare_scores(folds((0.70, 0.80, 0.795), loss="accuracy", spread=0.02, **up)),
    )
    yield (
        "accuracy, the preference decides",
        bk.compare_scores(
            folds((0.80, 0.801, 0.70), loss="accuracy", spread=0.02, **up), prefer="listed"
        ),
    )
    yield (
        "AUC",
        bk.compare_scores(folds((0.90, 0.95, 0.951), loss="AUC", **up)),
    )
    yield (
        "a reward beyond one",
        bk.compare_scores(folds((100.0, 120.0, 119.0), loss="reward", spread=2.0, **up)),
    )
    yield (
        "squared error",
        bk.compare_scores(folds((3.2, 1.2, 1.21), loss="squared error", spread=0.1)),
    )
    yield (
        "a loss without a name",
        bk.compare_scores(folds((3.2, 1.2, 1.21), loss="loss", spread=0.1)),
    )
    yield "an array", bk.compare_scores(np.asarray(folds(FIRST_LOSES).losses[:, 0, :, :, 0]))


def designs():
    yield "one run of folds", bk.compare_scores(folds(FIRST_LOSES, runs=1))
    yield "five runs of two folds", bk.compare_scores(folds(FIRST_LOSES, runs=5, folds=2))
    yield (
        "five runs of two folds, Dietterich's t",
        bk.compare_scores(folds(FIRST_LOSES, runs=5, folds=2), test="5x2cv-t"),
    )
    for kind in ("resample", "bootstrap"):
        design = Design(kind=kind, folds=30, n_train=(90,), n_test=(10,))
        yield (
            f"a design of kind {kind}",
            bk.compare_scores(folds(FIRST_LOSES, runs=1, folds=30, design=design)),
        )
    rng = np.random.default_rng(1)
    wrong = rng.random((3, 200)) < np.array([[0.4], [0.2], [0.21]])
    yield "right or wrong on one test set", bk.compare_scores(instances(wrong))
    yield "three instances", bk.compare_scores(instances([[1, 1, 1], [0, 0, 0], [0, 1, 0]]))
    graded = np.abs(rng.normal(size=(3, 200))) + np.array([[0.5], [0.2], [0.21]])
    yield (
        "graded losses on one test set",
        bk.compare_scores(instances(graded, loss="absolute error")),
    )
    yield "twelve data sets", bk.compare_scores(sets(FIRST_LOSES))
    many = bk.Scores(
        np.repeat(folds(FIRST_LOSES, runs=1, folds=5).losses, 10, axis=1)
        + rng.normal(0, 0.01, (3, 10, 1, 5, 4)),
        learners=NAMES[:3], loss_name="zero-one",
        dims=("learner", "dataset", "run", "fold", "repetition"),
    )  # fmt: skip
    yield "repetitions on ten data sets", bk.compare_scores(many)
    one_big = sets(FIRST_LOSES).losses[:, :, 0, 0, 0].copy()
    one_big[0, 3] += 3.0
    yield "one data set carries the sum", bk.compare_scores(exactly(one_big), test="permutation")
    yield (
        "calibrated degrees of freedom",
        bk.compare_scores(folds((0.3, 0.2), names=("naive-bayes", "c4.5")), test="use-all-data",
                 test_options={"df": "calibrated"}),
    )  # fmt: skip


def notes():
    for gone, what in ((1, "one data set"), (2, "two data sets")):
        values = sets(FIRST_LOSES).losses[:, :, 0, 0, 0].copy()
        values[0, :gone] = np.nan
        table = exactly(values, missing="allow")
        yield f"{what} dropped", bk.compare_scores(table, missing="drop")
    for gone, what in ((1, "one run"), (2, "two runs")):
        values = folds(FIRST_LOSES).losses.copy()
        values[0, 0, :gone, 3] = np.nan
        table = bk.Scores(
            values, dims=DIMS, learners=NAMES[:3], missing="allow", loss_name="zero-one"
        )
        yield f"{what} dropped", bk.compare_scores(table, missing="drop")
    values = folds(FIRST_LOSES, runs=1).losses.copy()
    values[0, 0, 0, 3] = np.nan
    table = bk.Scores(values, dims=DIMS, learners=NAMES[:3], missing="allow", loss_name="zero-one")
    yield "one fold dropped", bk.compare_scores(table, missing="drop")


PARTS = {
    "No preference": no_preference,
    "A preference": stated_preference,
    "Families and corrections": families,
    "Margins and posterior probabilities": margins,
    "Other rules": rules,
    "Metrics of both directions": metrics,
    "Designs and tests": designs,
    "What was left out of a table": notes,
}
