"""How often the plan ends outside the band that predicts it, where folds are independent.

    python studies/stopping_band.py
    python studies/stopping_band.py --pairs 100000 --seed 7
    python studies/stopping_band.py --splits        random splits: all looks together

The differences of a pair are normal and independent, 10 runs of 10 folds, which is the case that
the band is made for; folds of cross-validation share rows, and their runs lie nearer together. One
line for every statistic that the whole plan has on average and every number of runs so far: how
often the plan ends below the band and above it, over the chance that each side was given. Random
splits are independent indeed: for these, how often the plan ends below any of the bands of a race,
over the part of the risk that a pair has, of 2 and of 6 learners.
"""

from __future__ import annotations

import argparse

import numpy as np

from bestofk.stopping import PlannedT
from bestofk.stopping.rule import FIRST_LOOK

RUNS = FOLDS = 10
AT_A_TIME = 10_000
RISK = 0.05


def of_splits(rng: np.random.Generator, pairs: int) -> None:
    """Print a line for every number of splits."""
    for splits in (10, 20, 50):
        test = PlannedT(runs=splits, folds=1, df=splits - 1, test_share=1 / 9)
        looks = range(FIRST_LOOK, splits)
        shares = sum(1 / m for m in looks)
        for t in (2.0, 3.3):
            d = rng.normal(t * np.sqrt(test.factor), 1.0, (pairs, splits, 1))
            end = d.mean(axis=(1, 2)) / np.sqrt(test.factor * d[:, :, 0].var(axis=1, ddof=1))
            found = []
            for compared in (1, 15):
                share, below = RISK / compared, np.zeros(pairs, dtype=bool)
                for m in looks:
                    below |= end < test.predicted(d[:, :m], risk=share / (shares * m)).t_low
                found.append(float(below.mean()) / share)
            print(f"{splits} splits, t = {t:g}: {found[0]:.2f} and {found[1]:.2f} times the share")


def main() -> None:
    """Print a line for every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--risk", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--splits", action="store_true")
    asked = parser.parse_args()
    if asked.splits:
        of_splits(np.random.default_rng(asked.seed), asked.pairs // 10)
        return
    test = PlannedT(runs=RUNS, folds=FOLDS, df=RUNS * FOLDS - 1, test_share=1 / (FOLDS - 1))
    rng = np.random.default_rng(asked.seed)
    for t in (0.0, 1.5, 2.5, 3.0):
        looks = (2, 3, 5)
        below, above = (dict.fromkeys(looks, 0) for _ in range(2))
        for _ in range(0, asked.pairs, AT_A_TIME):
            d = rng.normal(t * np.sqrt(test.factor), 1.0, (AT_A_TIME, RUNS, FOLDS))
            flat = d.reshape(AT_A_TIME, -1)
            end = flat.mean(axis=1) / np.sqrt(test.factor * flat.var(axis=1, ddof=1))
            for m in looks:
                band = test.predicted(d[:, :m], risk=asked.risk)
                below[m] += int((end < band.t_low).sum())
                above[m] += int((end > band.t_high).sum())
        pairs = -(-asked.pairs // AT_A_TIME) * AT_A_TIME
        for m in looks:
            sides = [count[m] / pairs / asked.risk for count in (below, above)]
            print(
                f"t = {t:g}, {m} of {RUNS} runs: below {sides[0]:.2f}, above {sides[1]:.2f} times "
                f"the chance of {asked.risk:g}",
                flush=True,
            )


if __name__ == "__main__":
    main()
