"""Measure how often a comparison that stops early decides as its plan, and what it saves.

    python studies/stopping_rates.py                      40 studies of every setting and learner
    python studies/stopping_rates.py --studies 700 --risk 0.05
    python studies/stopping_rates.py --learner c4.5 --setting typical --target order

A study has six learners in a shuffled order of preference on one data set of 200 rows and two
classes: the same learning algorithm on six views of the rows. The setting determines the errors of
the views: *typical* has two nearly equal learners and four clearly worse ones, *graded* has steps
of 0.02, *null* has six equal learners. Every view is evaluated in 10 runs of 10 folds;
`bestofk.decide.order_tables` decides the full plan, and the race is replayed on the same losses.
Two settings have no learners: in *adversarial* the runs differ far more than their folds suggest,
in *mixed* this holds for two learners, and the runs of the others hardly differ.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

import bestofk as bk
from bestofk.decide import order_many
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import PlannedT, StopRule, replay
from bestofk.learners.registry import learner as make_learner
from bestofk.papers.whole_plans import predict_plan
from bestofk.splits.plans import plan as make_plan

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
ROWS, LEARNERS, RUNS, FOLDS, COLUMNS = 200, 6, 10, 10, 4
SETTINGS = {
    "typical": (0.20, 0.205, 0.33, 0.36, 0.39, 0.42),
    "graded": (0.20, 0.22, 0.24, 0.26, 0.28, 0.30),
    "null": (0.22,) * 6,
}
SYNTHETIC = ("adversarial", "mixed")
ALPHA = 0.05
BATCH = 50


def views(
    rng: np.random.Generator, errors: tuple[float, ...], rows: int = ROWS
) -> tuple[list[Floats], Floats]:
    """Draw views of the same rows, one with each of these Bayes errors, and the labels."""
    y = rng.permutation(np.arange(rows) % 2)
    shared = rng.normal(size=rows)
    result = []
    for error in errors:
        # the first column separates the classes; hard rows are hard in every view
        noise = 0.8 * shared + 0.6 * rng.normal(size=rows)
        signal = -2.0 * stats.norm.ppf(error) * (y - 0.5) + noise
        rest = rng.normal(size=(rows, COLUMNS - 1))
        result.append(np.column_stack([signal, rest]))
    return result, y


def ridge(X: Floats, y: Floats, splits: Splits) -> Bools:
    """Predict (runs, rows) by ridge regression on the labels, all splits at once."""
    Z = np.column_stack([np.ones(len(X)), X])
    width = Z.shape[1]
    products = (Z[:, :, np.newaxis] * Z[:, np.newaxis]).reshape(len(Z), -1)
    squares = (splits.train @ products).reshape(-1, width, width)
    squares += np.diag([0.0, *[1.0] * X.shape[1]])
    target = splits.train @ (Z * (2.0 * y - 1.0)[:, np.newaxis])
    weights = np.linalg.solve(squares, target[..., np.newaxis]).reshape(-1, FOLDS, width)
    scores = np.einsum("rnc,nc->rn", weights[splits.own], Z)
    return np.asarray(scores > 0)


def neighbours(X: Floats, y: Floats, splits: Splits) -> Bools:
    """Predict (runs, rows) by the three nearest training rows."""
    far = np.square(X[:, np.newaxis] - X[np.newaxis]).sum(axis=2)
    # a fold has ROWS // FOLDS rows, so at least three of these are training rows
    near = np.argsort(far, axis=1, kind="stable")[:, : ROWS // FOLDS + 3]
    trains = splits.fold[:, near] != splits.fold[:, :, np.newaxis]
    chosen = trains & (np.cumsum(trains, axis=2) <= 3)
    return np.asarray((chosen & (y[near] == 1)).sum(axis=2) >= 2)


def built_in(name: str) -> Callable[..., Bools]:
    """Return a function that predicts (runs, rows) by a built-in learner."""

    def predictions(X: Floats, y: Floats, splits: Splits) -> Bools:
        data = bk.DataSet(name="views", X=pd.DataFrame(X), y=y.astype(str), task="classification")
        result = np.zeros(splits.fold.shape, dtype=bool)
        predicted = predict_plan(make_learner(name), data, splits.made)
        for codes, (run, _, _, test) in zip(predicted, splits.made, strict=True):
            result[run, test] = codes == 1
        return result

    return predictions


class Splits:
    """Training and test rows of runs of 10 folds."""

    def __init__(self, y: Floats, seed: int, runs: int) -> None:
        plan = make_plan(f"{runs}x{FOLDS}", random_state=seed)
        self.made = plan.materialise(len(y), y.astype(str))
        self.fold = np.zeros((runs, ROWS), dtype=np.int64)
        for run, fold, _, test in self.made:
            self.fold[run, test] = fold
        self.own = (np.arange(runs)[:, np.newaxis], self.fold)
        tested = self.fold[:, np.newaxis] == np.arange(FOLDS)[:, np.newaxis]
        self.tested = tested.astype(np.float64)
        self.train = 1.0 - self.tested.reshape(-1, ROWS)

    def errors(self, wrong: Bools) -> Floats:
        """Return the error rates (runs, folds)."""
        return np.einsum("rfn,rn->rf", self.tested, wrong) / self.tested.sum(axis=2)


LEARN: dict[str, Callable[..., Bools]] = {
    "ridge": ridge,
    "3-nn": neighbours,
    "c4.5": built_in("c4.5"),
    "naive-bayes": built_in("naive-bayes"),
}


def study(rng: np.random.Generator, learner: str, setting: str, runs: int = RUNS) -> Floats:
    """Draw losses (K, runs, folds), learners in shuffled order."""
    if setting in SYNTHETIC:
        effects = rng.permutation(0.02 * np.arange(LEARNERS))
        # standard deviations of a run; independent folds would give 0.02
        own = np.array([0.05, 0.05, 0.005, 0.005, 0.005, 0.005])
        spread = 0.04 if setting == "adversarial" else rng.permutation(own)[:, None, None]
        by_fold = 0.02 * np.sqrt(FOLDS) * rng.normal(size=(LEARNERS, runs, FOLDS))
        if setting == "mixed":
            by_fold -= by_fold.mean(axis=2, keepdims=True)
        noise = rng.normal(size=(LEARNERS, runs, 1)) * spread + by_fold
        return np.clip(0.3 + effects[:, np.newaxis, np.newaxis] + noise, 0.0, 1.0)
    errors = SETTINGS[setting]
    columns, y = views(rng, tuple(rng.permutation(errors).tolist()))
    splits = Splits(y, int(rng.integers(2**31)), runs)
    return np.array([splits.errors(LEARN[learner](X, y, splits) != (y == 1)) for X in columns])


def planned_test(runs: int = RUNS) -> PlannedT:
    """Return the corrected t test of the plan."""
    return PlannedT(
        runs=runs, folds=FOLDS, df=runs * FOLDS - 1, test_share=1 / (FOLDS - 1), span=1.0,
        step=FOLDS / ROWS,
    )  # fmt: skip


def measure_rates(
    learner: str, setting: str, *, studies: int, seed: int, rules: list[StopRule]
) -> list[dict[str, float]]:
    """Return for every rule the shares of fits saved, different decisions and settled races."""
    rng = np.random.default_rng(seed)
    family = Family(name="best", learners=LEARNERS, alpha=ALPHA, correction="bonferroni")
    test = planned_test()
    totals = [dict.fromkeys(("saved", "differ", "settled"), 0.0) for _ in rules]
    for begin in range(0, studies, BATCH):
        many = range(begin, min(begin + BATCH, studies))
        tables = np.array([study(rng, learner, setting) for _ in many])
        full = order_many(tables, prefer="listed", test="corrected-repeated-kfold-t")
        for losses, order in zip(tables, full.ranking, strict=True):
            for rule, rates in zip(rules, totals, strict=True):
                raced = replay(losses, test, family, rule, floor=(FOLDS / ROWS) ** 2)
                verdict = raced.look.verdict
                rates["saved"] += 1.0 - raced.runs.sum() / (LEARNERS * RUNS)
                if not raced.settled:
                    continue
                rates["settled"] += 1
                decided = (
                    np.flatnonzero(verdict.candidates())
                    if rule.target == "best"
                    else verdict.order()[0]
                )
                rates["differ"] += order[: len(decided)].tolist() != decided.tolist()
    return [{name: value / studies for name, value in rates.items()} for rates in totals]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=40)
    parser.add_argument("--learner", choices=sorted(LEARN), action="append")
    parser.add_argument("--setting", choices=[*SETTINGS, *SYNTHETIC], action="append")
    parser.add_argument("--risk", type=float, action="append")
    parser.add_argument("--target", choices=["best", "order"], action="append")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rules = [
        StopRule(target=target, risk=risk)
        for target in options.target or ["best", "order"]
        for risk in options.risk or [0.0, 0.05]
    ]
    for setting in options.setting or [*SETTINGS, *SYNTHETIC]:
        learners = options.learner or sorted(LEARN)
        for learner in ["none"] if setting in SYNTHETIC else learners:
            begin = time.perf_counter()
            measured = measure_rates(
                learner, setting, studies=options.studies, seed=options.seed, rules=rules
            )  # fmt: skip
            seconds = time.perf_counter() - begin
            for rule, rates in zip(rules, measured, strict=True):
                words = " ".join(f"{name}={value:.4f}" for name, value in rates.items())
                print(f"{setting} {learner} {rule.target} risk={rule.risk:g} {words}", flush=True)
            print(f"  {options.studies} studies in {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
