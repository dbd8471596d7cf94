"""How often a comparison that stops early decides as its plan does, and what it saves.

    python benchmarks/stopping_rates.py                      200 studies of every setting
    python benchmarks/stopping_rates.py --studies 2500       as many as the page of the docs tells
    python benchmarks/stopping_rates.py --learner c4.5 --setting typical --risk 0.05

A study has six learners in a shuffled order of preference on one data set of 200 rows and two
classes: the same learning algorithm on six views of the rows. The errors of the views are those
of a setting: *typical* has two learners that are nearly alike and four that are clearly worse,
*graded* has steps of 0.02, *null* six alike. Every view is evaluated in 10 runs of 10 folds, the
full plan decided by `bestofk.order`'s own test and procedure, and the race replayed on the same
losses. *adversarial* has no learners: its runs differ far more than their folds tell.
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
from bestofk.learners.predict import predict_plan
from bestofk.ordering.evidence.family import Family
from bestofk.stopping import PlannedT, StoppingRule, replay

Floats = npt.NDArray[np.float64]
ROWS, LEARNERS, RUNS, FOLDS, COLUMNS = 200, 6, 10, 10, 4
SETTINGS = {
    "typical": (0.20, 0.205, 0.33, 0.36, 0.39, 0.42),
    "graded": (0.20, 0.22, 0.24, 0.26, 0.28, 0.30),
    "null": (0.22,) * 6,
}
ALPHA = 0.05


def views(rng: np.random.Generator, errors: tuple[float, ...]) -> tuple[list[Floats], Floats]:
    """Six views of the same rows, and their labels; a view's best rule has that error."""
    y = rng.permutation(np.arange(ROWS) % 2)
    shared = rng.normal(size=ROWS)
    made = []
    for error in errors:
        # the first column tells the classes apart; rows that are hard are hard in every view
        noise = 0.8 * shared + 0.6 * rng.normal(size=ROWS)
        signal = -2.0 * stats.norm.ppf(error) * (y - 0.5) + noise
        rest = rng.normal(size=(ROWS, COLUMNS - 1))
        made.append(np.column_stack([signal, rest]))
    return made, y


def ridge(X: Floats, y: Floats, splits: list[tuple[npt.NDArray[np.int64], ...]]) -> Floats:
    """Errors by split of a ridge regression on the labels."""
    Z = np.column_stack([np.ones(len(X)), X])
    target = 2.0 * y - 1.0
    penalty = np.diag([0.0, *[1.0] * X.shape[1]])
    errors = []
    for train, test in splits:
        A = Z[train]
        weights = np.linalg.solve(A.T @ A + penalty, A.T @ target[train])
        errors.append(np.mean((Z[test] @ weights > 0) != (y[test] == 1)))
    return np.array(errors)


def neighbours(X: Floats, y: Floats, splits: list[tuple[npt.NDArray[np.int64], ...]]) -> Floats:
    """Errors by split of the three nearest neighbours."""
    far = np.square(X[:, np.newaxis] - X[np.newaxis]).sum(axis=2)
    errors = []
    for train, test in splits:
        near = np.argpartition(far[np.ix_(test, train)], 3, axis=1)[:, :3]
        errors.append(np.mean((y[train][near].sum(axis=1) >= 2) != (y[test] == 1)))
    return np.array(errors)


def built_in(name: str) -> Callable[..., Floats]:
    """Errors by split of one of the package's own learners."""

    def errors(X: Floats, y: Floats, splits: list[tuple[npt.NDArray[np.int64], ...]]) -> Floats:
        data = bk.DataSet(name="views", X=pd.DataFrame(X), y=y.astype(str))
        predicted = predict_plan(bk.learner(name), data, splits.made)  # type: ignore[attr-defined]
        codes = (data.y == data.classes[1]).astype(int)
        return np.array(
            [np.mean(p != codes[test]) for p, (_, test) in zip(predicted, splits, strict=True)]
        )

    return errors


class Splits(list[tuple[npt.NDArray[np.int64], ...]]):
    """Training and test rows of 10 runs of 10 folds, and the plan that they are of."""

    def __init__(self, y: Floats, seed: int) -> None:
        plan = bk.plan(f"{RUNS}x{FOLDS}", random_state=seed)
        self.made = plan.materialise(len(y), y.astype(str))
        super().__init__((train, test) for _, _, train, test in self.made)


LEARN: dict[str, Callable[..., Floats]] = {
    "ridge": ridge,
    "3-nn": neighbours,
    "c4.5": built_in("c4.5"),
    "naive-bayes": built_in("naive-bayes"),
}


def study(rng: np.random.Generator, learner: str, setting: str) -> Floats:
    """Losses (K, runs, folds), learners in a shuffled order."""
    if setting == "adversarial":
        effects = rng.permutation(0.02 * np.arange(LEARNERS))
        noise = rng.normal(size=(LEARNERS, RUNS, 1)) * 0.04 + rng.normal(
            size=(LEARNERS, RUNS, FOLDS)
        ) * 0.02 * np.sqrt(FOLDS)
        return np.clip(0.3 + effects[:, np.newaxis, np.newaxis] + noise, 0.0, 1.0)
    errors = SETTINGS[setting]
    made, y = views(rng, tuple(rng.permutation(errors).tolist()))
    splits = Splits(y, int(rng.integers(2**31)))
    return np.array([LEARN[learner](X, y, splits).reshape(RUNS, FOLDS) for X in made])


def measure_rates(
    learner: str, setting: str, *, studies: int, seed: int, rules: list[StoppingRule], guard: bool
) -> list[dict[str, float]]:
    """For every rule the share of fits saved, of verdicts that differ and of those settled.

    With six alike, also how often anything was claimed: by the full plan, and by the race.
    """
    rng = np.random.default_rng(seed)
    family = Family(learners=LEARNERS, alpha=ALPHA, correction="holm")
    test = PlannedT(
        runs=RUNS, folds=FOLDS, df=RUNS * FOLDS - 1, test_share=1 / (FOLDS - 1), span=1.0,
        step=FOLDS / ROWS,
    )  # fmt: skip
    found = [dict.fromkeys(("saved", "differ", "settled", "plan", "race"), 0.0) for _ in rules]
    for _ in range(studies):
        losses = study(rng, learner, setting)
        full = bk.order(
            bk.Losses(losses, dims=("algorithm", "run", "fold")),
            prior="listed",
            test="corrected-repeated-kfold-t",
            guard=guard,
        )
        wanted = [full.prior.index(name) for name in full.order]
        for rule, rates in zip(rules, found, strict=True):
            raced = replay(losses, test, family, rule, guard=guard, floor=(FOLDS / ROWS) ** 2)
            verdict = raced.looks[-1].verdict
            rates["saved"] += 1.0 - raced.runs.sum() / (LEARNERS * RUNS)
            rates["plan"] += bool(full.evidence.rejected.any())
            rates["race"] += bool(verdict.sure.any())
            if not raced.settled:
                continue
            rates["settled"] += 1
            got = (
                np.flatnonzero(verdict.candidates()).tolist()
                if rule.target == "best"
                else verdict.order()[0].tolist()
            )
            rates["differ"] += wanted[: len(got)] != got
    return [{name: value / studies for name, value in rates.items()} for rates in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--learner", choices=sorted(LEARN), action="append")
    parser.add_argument("--setting", choices=[*SETTINGS, "adversarial"], action="append")
    parser.add_argument("--risk", type=float, action="append")
    parser.add_argument("--target", choices=["best", "order"], action="append")
    parser.add_argument("--guard", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rules = [
        StoppingRule(target=target, risk=risk)
        for target in asked.target or ["best", "order"]
        for risk in asked.risk or [0.0, 0.05]
    ]
    for setting in asked.setting or [*SETTINGS, "adversarial"]:
        learners = asked.learner or sorted(LEARN)
        for learner in learners[:1] if setting == "adversarial" else learners:
            begin = time.perf_counter()
            found = measure_rates(
                learner, setting, studies=asked.studies, seed=asked.seed, rules=rules,
                guard=asked.guard,
            )  # fmt: skip
            seconds = time.perf_counter() - begin
            for rule, rates in zip(rules, found, strict=True):
                words = " ".join(f"{name}={value:.4f}" for name, value in rates.items())
                print(f"{setting} {learner} {rule.target} risk={rule.risk:g} {words}", flush=True)
            print(f"  {asked.studies} studies in {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
