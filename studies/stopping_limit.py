"""Measure the runs that `settle="limit"` takes, and whether another seed decides the same.

    python studies/stopping_limit.py                      60 studies of every setting and learner
    python studies/stopping_limit.py --studies 100 --learner ridge

The studies are those of `stopping_rates.py`, with 60 runs instead of 10. The first 30 and the other
30 runs are two independent halves. On each, a race for the decision of endless runs takes at most
30 runs; it is certified if the race calls it settled. For comparison, print how often two plain
10x10 with different seeds recommend the same.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from bestofk.decide import order_many
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import StopRule, replay
from stopping_rates import (  # type: ignore[import-not-found]
    ALPHA,
    FOLDS,
    LEARN,
    LEARNERS,
    ROWS,
    RUNS,
    SETTINGS,
    planned_test,
    study,
)

CAP = 30


def measure_limit(learner: str, setting: str, *, studies: int, seed: int, target: str) -> str:
    """Return average runs, certified share, and agreement among certified halves."""
    rng = np.random.default_rng(seed)
    family = Family(learners=LEARNERS, alpha=ALPHA, correction="holm")
    rule = StopRule(target=target, settle="limit", max_runs=CAP)  # type: ignore[arg-type]
    runs, certified, both, agree, plain = [], 0, 0, 0, 0
    for _ in range(studies):
        losses = study(rng, learner, setting, 2 * CAP)
        halves = [losses[:, :CAP], losses[:, CAP:]]
        verdicts = []
        for half in halves:
            raced = replay(half, planned_test(), family, rule, floor=(FOLDS / ROWS) ** 2)
            runs.append(raced.runs.mean())
            certified += raced.settled
            verdict = raced.looks[-1].verdict
            first = np.flatnonzero(verdict.candidates()) if target == "best" else verdict.order()[0]
            verdicts.append(first.tolist() if raced.settled else None)
        if None not in verdicts:
            both += 1
            agree += verdicts[0] == verdicts[1]
        full = order_many(
            np.array([half[:, :RUNS] for half in halves]), prefer="listed",
            test="corrected-repeated-kfold-t",
        ).ranking[:, : 1 if target == "best" else LEARNERS]  # fmt: skip
        plain += bool((full[0] == full[1]).all())
    return (
        f"{setting} {learner} {target}: {np.mean(runs):.2f} runs on average, "
        f"{certified / len(runs):.3f} certified, certified halves agree in {agree} of {both}; "
        f"plain 10x10 agrees in {plain} of {studies}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--learner", choices=sorted(LEARN), action="append")
    parser.add_argument("--setting", choices=list(SETTINGS), action="append")
    parser.add_argument("--target", choices=["best", "order"], default="best")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for setting in options.setting or list(SETTINGS):
        for learner in options.learner or sorted(LEARN):
            begin = time.perf_counter()
            words = measure_limit(
                learner, setting, studies=options.studies, seed=options.seed, target=options.target
            )
            print(f"{words}; {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
