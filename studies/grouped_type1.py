"""Measure how often equal learners are told apart if rows form groups or a time series.

    python studies/grouped_type1.py [--sets 400] [--part groups|time] [--smoke]

Draw data sets on which two learners are equal by construction: each sees its own columns, from the
same distribution. In *groups*, the rows of a patient share a shift of the columns, so that a
learner is lucky with a whole patient at a time; in *time*, shift and label follow an
autoregression. Count how often each test finds a difference at level 0.05: with groups ignored and
used (plans of whole groups, at most one degree of freedom less than groups), and with random folds
of a series against windows in time order. Takes a few minutes of CPU time.
"""

from __future__ import annotations

import argparse

import numpy as np

from bestofk.splits import plan
from bestofk.stats.intervals import clopper_pearson
from bestofk.stats.pairwise import (
    corrected_repeated_kfold_t,
    corrected_resampled_t,
    ewc_t,
    nested_cv_t,
    paired_t,
    permutation,
)

ALPHA = 0.05
COLUMNS = 2
SHIFT, SIGNAL = 1.0, 0.6


def grouped(rng, groups, size):
    """Draw rows of `groups` patients: columns (n, 2 * COLUMNS), labels -1 and 1, patients."""
    of = np.repeat(np.arange(groups), size)
    y = np.where(rng.normal(size=groups)[of] + rng.normal(size=len(of)) > 0, 1.0, -1.0)
    shift = SHIFT * rng.normal(size=(groups, 2 * COLUMNS))[of]
    X = SIGNAL * y[:, None] + shift + rng.normal(size=(len(of), 2 * COLUMNS))
    return X, y, of


def series(rng, n, memory=0.8):
    """Draw rows in time order: shift of the columns and label depend on the previous row."""
    noise = rng.normal(size=(n + 50, 2 * COLUMNS + 1)) * np.sqrt(1 - memory**2)
    for row in range(1, len(noise)):
        noise[row] += memory * noise[row - 1]
    noise = noise[50:]
    y = np.where(noise[:, 0] > 0, 1.0, -1.0)
    return SIGNAL * y[:, None] + SHIFT * noise[:, 1:] + rng.normal(size=(n, 2 * COLUMNS)), y


def least_squares(X, y):
    """Return a function that predicts by a linear rule, which is stable."""
    with_one = np.column_stack([X, np.ones(len(X))])

    def of(train, test):
        A = with_one[train]
        weights = np.linalg.solve(A.T @ A + 1e-6 * np.eye(A.shape[1]), A.T @ y[train])
        return np.where(with_one[test] @ weights > 0, 1.0, -1.0)

    return of


def nearest(X, y):
    """Return a function that predicts the label of the nearest row, which is unstable."""
    distance = np.square(X[:, None] - X[None]).sum(axis=-1)

    def of(train, test):
        return y[train][distance[np.ix_(test, train)].argmin(axis=1)]

    return of


LEARNERS = {"least squares": least_squares, "nearest neighbour": nearest}


def errors(splits, X, y, learner):
    """Return the error rates (2, splits) of the two learners."""
    rules = [learner(X[:, :COLUMNS], y), learner(X[:, COLUMNS:], y)]
    wrong = np.empty((2, len(splits)))
    for number, (_, _, train, test) in enumerate(splits):
        for side, rule in enumerate(rules):
            wrong[side, number] = (rule(train, test) != y[test]).mean()
    return wrong


def rates(tables, verdicts):
    """Yield (name, rejection rate, ends of its interval) for every test."""
    tables = np.array(tables)
    for name, test in verdicts.items():
        p = np.atleast_1d(test(tables[:, 0], tables[:, 1]).pvalue)
        k, n = int((p <= ALPHA).sum()), len(p)
        interval = clopper_pearson(k, n)
        yield name, k / n, interval.low, interval.high


def nested(units):
    def test(a, b):
        return nested_cv_t(a, b, runs=10, folds=5, rows=units)

    return test


def corrected(runs, folds, units=None):
    def test(a, b):
        a, b = (x.reshape(-1, runs, folds) for x in (a, b))
        return corrected_repeated_kfold_t(a, b, units=units)

    return test


def in_groups(sets, seed):
    for groups, size in ((12, 10), (30, 4)):
        for name, learner in LEARNERS.items():
            shown = {}
            for spec in ("10x5+nested", "10x10"):
                for used in (False, True):
                    rng = np.random.default_rng(seed)
                    tables = []
                    for number in range(sets):
                        X, y, of = grouped(rng, groups, size)
                        made = plan(spec, random_state=number)
                        splits = made.materialise(len(y), y.astype(int), of if used else None)
                        tables.append(errors(splits, X, y, learner))
                    usage = "used" if used else "ignored"
                    units = groups if used else groups * size
                    if spec == "10x10":
                        verdicts = {f"{spec}, corrected t, groups {usage}": corrected(
                            10, 10, units if used else None)}  # fmt: skip
                        if used:
                            verdicts[f"{spec}, corrected t, groups used, df of folds"] = corrected(
                                10, 10)  # fmt: skip
                    else:
                        verdicts = {f"{spec}, groups {usage}": nested(units)}
                    for row in rates(tables, verdicts):
                        shown[row[0]] = row[1:]
            show(f"{groups} groups of {size} rows, {name}", shown)


def in_time(sets, seed):
    for n in (150, 600):
        for name, learner in LEARNERS.items():
            shown = {}
            plans = {
                "10x10": {"random folds, corrected t": corrected(10, 10)},
                "time:5": {"5 windows, corrected t": resampled(5), "5 windows, paired t": paired_t},
                "time:10": {
                    "10 windows, corrected t": resampled(10),
                    "10 windows, paired t": paired_t,
                    "10 windows, sign flips": flips,
                },
            }
            for spec, verdicts in plans.items():
                rng = np.random.default_rng(seed)
                tables = []
                for number in range(sets):
                    X, y = series(rng, n)
                    splits = plan(spec, random_state=number).materialise(n, y.astype(int))
                    tables.append(errors(splits, X, y, learner))
                for row in rates(tables, verdicts):
                    shown[row[0]] = row[1:]
            show(f"a series of {n} rows, {name}", shown)


def in_slow_time(sets, seed):
    """Many short windows of series with a long memory."""
    for name, learner in LEARNERS.items():
        for memory in (0.8, 0.98):
            rng = np.random.default_rng(seed)
            tables = []
            for number in range(sets):
                X, y = series(rng, 300, memory)
                splits = plan("time:50", random_state=number).materialise(300, y.astype(int))
                tables.append(errors(splits, X, y, learner))
            verdicts = {"50 windows, corrected t": resampled(50), "50 windows, cosines": ewc_t}
            shown = {row[0]: row[1:] for row in rates(tables, verdicts)}
            show(f"a series of 300 rows with memory {memory:g}, {name}", shown)


def resampled(windows):
    """Return the test of the library: the last window tests one part, trained on all others."""

    def test(a, b):
        return corrected_resampled_t(a, b, n_train=windows, n_test=1)

    return test


def flips(a, b):
    return permutation(a, b)


def show(title, rates):
    print(f"\n{title}")
    for name, (rate, low, high) in rates.items():
        print(f"  {name:<46} {100 * rate:5.1f} %   ({100 * low:.1f} to {100 * high:.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=["groups", "time"])
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    sets = 5 if options.smoke else options.sets
    print(f"Equal learners told apart at level {ALPHA:g}, {sets} data sets each (95 % intervals)")
    if options.part != "time":
        in_groups(sets, options.seed)
    if options.part != "groups":
        in_time(sets, options.seed)
        in_slow_time(sets, options.seed)


if __name__ == "__main__":
    main()
