"""Texts of single tests: one pair, all pairs, all learners."""

import numpy as np
from exact_tables import DIMS, NAMES, around, exactly, folds, instances, sets

import bestofk as bk
from bestofk.papers.one_test import run_test
from bestofk.splits.design import Design
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


def tables(means, count):
    """A table for every situation that tests are made for."""
    means = means[:count]
    splits = {"n_train": (90,), "n_test": (10,)}
    rng = np.random.default_rng(1)
    wrong = rng.random((count, 200)) < np.asarray(means)[:, None]
    repeated = np.asarray(sets(means).losses)[..., None][..., 0] + rng.normal(
        0, 0.002, (count, 12, 1, 3, 4)
    )
    return {
        "5x2": folds(means, runs=5, folds=2),
        "repeated-kfold": folds(means),
        "kfold": folds(means, runs=1),
        "resample": folds(
            means, runs=1, folds=30, design=Design(kind="resample", folds=30, **splits)
        ),
        "test-set": instances(wrong),
        **{
            kind: folds(means, runs=1, folds=60, design=Design(kind=kind, folds=60))
            for kind in ("test-set-auc", "test-set-metric")
        },
        "time": folds(means, runs=1, folds=40, design=Design(kind="time", folds=40)),
        "datasets": sets(means),
        "dataset-folds": bk.Scores(
            around(means, (12, 1, 3, 1), 0.01, 1),
            dims=DIMS,
            learners=NAMES[:count],
            loss_name="zero-one",
        ),
        "nested": parted(means, 100, runs=10, folds=5),
        "seeds": folds(means, runs=1, folds=5, design=Design(kind="seeds", folds=5)),
        "loo": folds(means, runs=1, folds=40, design=Design(kind="loo", folds=40)),
        "repetitions": bk.Scores(repeated, learners=NAMES[:count], loss_name="zero-one"),
    }


def parted(means, nested_runs, *, runs, folds):
    """Runs of cross-validation, and others on parts of the rows."""
    return bk.Scores(
        around(means, (1, runs, folds, 1), 0.01, 1),
        dims=DIMS,
        learners=NAMES[: len(means)],
        loss_name="zero-one",
        design=Design(kind="cv", runs=runs, folds=folds, nested_runs=nested_runs),
        subset_values=around(means, (1, nested_runs, 2, 1), 0.02, 2),
    )


DIFFERENT = (0.30, 0.20, 0.21, 0.20)
ALIKE = (0.2202, 0.2200, 0.2201, 0.2199)


def of_a_pair():
    for means, what in ((DIFFERENT, "different"), (ALIKE, "alike")):
        of = tables(means, 2)
        for name, entry in PAIRWISE_TESTS.items():
            table = of["test-set" if entry.zero_one else entry.covers[0]]
            yield f"{name}, two learners that are {what}", run_test(table, name, pair=NAMES[:2])
    table = tables(DIFFERENT, 2)["kfold"]
    for alternative in ("greater", "less"):
        yield (
            f"kfold-t, {alternative}",
            run_test(table, "kfold-t", pair=NAMES[:2], alternative=alternative),
        )
    same = exactly(np.full((2, 8), 0.2))
    for name in ("wilcoxon", "sign", "paired-t", "skew-corrected-t", "permutation"):
        yield f"{name}, two identical learners", run_test(same, name, pair=NAMES[:2])
    first = np.append(np.linspace(0.20, 0.35, 16), 0.10)
    second = first - np.append(np.linspace(0.010, 0.025, 16), -0.4)
    yield (
        "wilcoxon, the ranks contradict the mean",
        run_test(exactly([first, second]), "wilcoxon", pair=NAMES[:2]),
    )


def of_all_pairs():
    yield "one pair, different", run_test(folds(DIFFERENT[:2]), "use-all-data")
    yield "one pair, alike", run_test(folds(ALIKE[:2]), "use-all-data")
    yield "four learners, different", run_test(folds(DIFFERENT), "use-all-data")
    yield "four learners, alike", run_test(folds(ALIKE), "use-all-data")
    yield (
        "one-sided",
        run_test(folds(DIFFERENT), "use-all-data", alternative="greater"),
    )
    yield "no correction", run_test(folds(DIFFERENT), "use-all-data", correction="none")
    yield (
        "eight learners",
        run_test(folds(np.linspace(0.2, 0.4, 8)), "use-all-data"),
    )


def of_all_learners():
    for means, what in ((DIFFERENT, "different"), (ALIKE, "alike")):
        for count in (2, 4):
            of = tables(means, count)
            for name, entry in MULTIPLE_TESTS.items():
                if name == "repeated-measures-anova" and count == 2:
                    continue
                place = "test-set" if entry.zero_one else entry.covers[0]
                if entry.axes == 4:
                    place = "repetitions"
                yield f"{name}, {count} learners that are {what}", run_test(of[place], name)
    same = exactly(np.full((3, 8), 0.2))
    for name in ("anova", "friedman", "nemenyi", "kruskal-wallis", "tukey"):
        if "datasets" in MULTIPLE_TESTS[name].covers:
            yield f"{name}, three identical learners", run_test(same, name)


PARTS = {
    "A test of one pair": of_a_pair,
    "A test of all pairs": of_all_pairs,
    "A test of all learners": of_all_learners,
}
