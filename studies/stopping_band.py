"""Measure how often the plan ends outside the band that predicts it, for independent folds.

    python studies/stopping_band.py
    python studies/stopping_band.py --pairs 100000 --seed 7
    python studies/stopping_band.py --splits        random splits: all looks together

The differences of a pair are normal and independent, 10 runs of 10 folds, the case that the band is
made for; folds of cross-validation share rows, and their runs vary less. For every average
statistic of the whole plan and every number of runs so far, print how often the plan ends below and
above the band, relative to the nominal chance of each side. Random splits are independent: for
these, print how often the plan ends below any of the bands of a race, relative to the share of the
risk of a pair, for 2 and for 6 learners.
"""

from __future__ import annotations

import argparse

import numpy as np

from bestofk.decide.stopping import PlannedT
from bestofk.decide.stopping.bounds import FIRST_LOOK

RUNS = FOLDS = 10
BATCH = 10_000
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
            ratios = []
            for compared in (1, 15):
                share, below = RISK / compared, np.zeros(pairs, dtype=bool)
                for m in looks:
                    below |= end < test.predicted(d[:, :m], risk=share / (shares * m)).t_low
                ratios.append(float(below.mean()) / share)
            print(
                f"{splits} splits, t = {t:g}: {ratios[0]:.2f} and {ratios[1]:.2f} times the share"
            )


def main() -> None:
    """Print a line for every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--risk", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--splits", action="store_true")
    options = parser.parse_args()
    if options.splits:
        of_splits(np.random.default_rng(options.seed), options.pairs // 10)
        return
    test = PlannedT(runs=RUNS, folds=FOLDS, df=RUNS * FOLDS - 1, test_share=1 / (FOLDS - 1))
    rng = np.random.default_rng(options.seed)
    for t in (0.0, 1.5, 2.5, 3.0):
        looks = (2, 3, 5)
        below, above = (dict.fromkeys(looks, 0) for _ in range(2))
        for _ in range(0, options.pairs, BATCH):
            d = rng.normal(t * np.sqrt(test.factor), 1.0, (BATCH, RUNS, FOLDS))
            flat = d.reshape(BATCH, -1)
            end = flat.mean(axis=1) / np.sqrt(test.factor * flat.var(axis=1, ddof=1))
            for m in looks:
                band = test.predicted(d[:, :m], risk=options.risk)
                below[m] += int((end < band.t_low).sum())
                above[m] += int((end > band.t_high).sum())
        pairs = -(-options.pairs // BATCH) * BATCH
        for m in looks:
            sides = [count[m] / pairs / options.risk for count in (below, above)]
            print(
                f"t = {t:g}, {m} of {RUNS} runs: below {sides[0]:.2f}, above {sides[1]:.2f} times "
                f"the chance of {options.risk:g}",
                flush=True,
            )


if __name__ == "__main__":
    main()
