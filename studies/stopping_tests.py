"""Measure whether a race decides as its plan, for every supported test and plan.

    python studies/stopping_tests.py                      20 studies of every setting
    python studies/stopping_tests.py --studies 500 --cv 5x2 --learner naive-bayes

The studies are those of `stopping_rates.py`: six views of 200 rows, shuffled preference, the
default decision, a risk of 0.05. `bestofk.decide.order_tables` decides the plan, and the race of
`compare` is replayed on the same losses. A calibrated test has `df` degrees of freedom.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import bestofk as bk
from bestofk.decide import order_many
from bestofk.decide.settings import Settings
from bestofk.decide.stopping import PlannedT, StopRule, replay
from bestofk.decide.stopping.rule import TARGETS
from bestofk.learners.registry import learner as make_learner
from bestofk.papers.whole_plans import predict_plan
from bestofk.run.race import PlannedRace, planned_race
from bestofk.splits.design import Design
from bestofk.splits.plans import plan as make_plan
from stopping_rates import SETTINGS, views  # type: ignore[import-not-found]

Floats = npt.NDArray[np.float64]
FOLDS = ("10x10", "5x2", "10x2", "3x3", "5x5")
SPLITS = ("resample:50:0.1", "bootstrap:50")
TESTS = {
    "corrected-repeated-kfold-t": FOLDS,
    "use-all-data": FOLDS,
    "corrected-resampled-t": SPLITS,
}
CALIBRATED = (None, 10)
PLANS = (*FOLDS, *SPLITS)


def study(rng: np.random.Generator, learner: str, setting: str, plan: str) -> tuple[Floats, Design]:
    """Draw losses (K, runs, folds), learners in shuffled order."""
    columns, y = views(rng, tuple(rng.permutation(SETTINGS[setting]).tolist()))
    splits = make_plan(plan, random_state=int(rng.integers(2**31))).materialise(
        len(y), y.astype(str)
    )
    losses = np.zeros((len(columns), splits.runs, splits.folds))
    for one, X in zip(losses, columns, strict=True):
        data = bk.DataSet(name="views", X=pd.DataFrame(X), y=y.astype(str), task="classification")
        predicted = predict_plan(make_learner(learner), data, splits)
        for codes, (run, fold, _, test) in zip(predicted, splits, strict=True):
            one[run, fold] = np.mean(codes != y[test])
    return losses, splits.design


def race_of(design: Design, test: str, df: int | None, target: Any) -> PlannedRace:
    """Return the race of `compare`."""
    names = [f"view {number}" for number in range(6)]
    decision = Settings(prefer="listed", test=test, test_options={"df": df})
    return planned_race(names, design, decision, StopRule(target=target), span=1.0)


def differs(losses: Floats, race: PlannedRace, order: npt.NDArray[np.int64]) -> tuple[bool, float]:
    """Return whether the plan decides differently, and the share of fits saved."""
    sizes = race.design.n_test
    assert sizes is not None
    step = 1.0 / float(np.mean(sizes))
    units = losses.reshape(len(losses), race.test.runs, race.test.folds)
    assert isinstance(race.test, PlannedT)
    assert race.foreseen.family is not None
    # error rates of folds with different sizes have no common step
    test = replace(race.test, step=step if len(set(sizes)) == 1 else 0.0)
    raced = replay(units, test, race.foreseen.family, race.rule, floor=step**2)
    saved = 1.0 - raced.runs.sum() / (len(losses) * race.test.runs)
    if not raced.settled:
        return False, saved
    verdict = raced.look.verdict
    if race.rule.target == "order":
        decided = verdict.order()[0]
    else:
        decided = verdict.candidates().nonzero()[0]
    return bool((order[: len(decided)] != decided).any()), saved


def measure(learner: str, setting: str, plan: str, *, studies: int, seed: int) -> list[str]:
    """Return one line per test and target."""
    rng = np.random.default_rng(seed)
    # decide tables of one design at once; bootstrap samples differ in size
    by_design: dict[Design, list[Floats]] = {}
    for _ in range(studies):
        losses, design = study(rng, learner, setting, plan)
        by_design.setdefault(design, []).append(losses)
    lines = []
    for test, plans in TESTS.items():
        for df in CALIBRATED if plan in plans else ():
            wrong, saved = dict.fromkeys(TARGETS, 0), dict.fromkeys(TARGETS, 0.0)
            for design, tables in by_design.items():
                full = order_many(np.array(tables)[:, :, np.newaxis, :, :, np.newaxis],
                                  design=design, prefer="listed", test=test,
                                  test_options={"df": df})  # fmt: skip
                for target in TARGETS:
                    race = race_of(design, test, df, target)
                    for losses, order in zip(tables, full.ranking, strict=True):
                        other, less = differs(losses, race, order)
                        wrong[target] += other
                        saved[target] += less
            label = test if df is None else f"{test}, df {df}"
            lines += [
                f"{plan}, {label}, {setting}, {learner}, {target}: {wrong[target]} of {studies} "
                f"differ, {100 * saved[target] / studies:.0f} % saved"
                for target in TARGETS
            ]
    return lines


def main() -> None:
    """Print a line for every setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--cv", choices=PLANS, action="append")
    parser.add_argument("--learner", choices=["c4.5", "naive-bayes", "nn"], action="append")
    parser.add_argument("--setting", choices=list(SETTINGS), action="append")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for plan in options.cv or PLANS:
        for learner in options.learner or ["c4.5", "naive-bayes"]:
            for setting in options.setting or list(SETTINGS):
                begin = time.perf_counter()
                size = {"studies": options.studies, "seed": options.seed}
                for line in measure(learner, setting, plan, **size):
                    print(line)
                print(f"  {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
