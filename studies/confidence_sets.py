"""Count the learners that may be the best, next to the model confidence set of `arch`.

    pip install arch
    python studies/confidence_sets.py

Five tables of correlated losses are drawn with fixed seeds; each learner is a little worse than the
one before it. `arch` gives two sets, for the range and for the largest of its statistics.
"""

import numpy as np

import bestofk as bk

SHAPES = ((30, 8), (30, 12), (100, 10), (300, 12), (1000, 15))
"""Data sets and learners of the tables."""


def table(seed: int, datasets: int, learners: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0.3, 0.05, (datasets, 1))
    noise = rng.normal(0, 0.04, (datasets, learners))
    return difficulty + noise + np.linspace(0, 0.04, learners)


def main() -> None:
    from arch.bootstrap import MCS

    print("data sets, learners: bestofk, arch with method R, arch with method max")
    for seed, shape in enumerate(SHAPES):
        losses = table(seed, *shape)
        scores = bk.Scores(losses.T, dims=("learner", "dataset"))
        counts = [len(bk.compare_scores(scores).candidates)]
        for method in ("R", "max"):
            best = MCS(losses, size=0.05, reps=10_000, block_size=1, method=method, seed=0)
            best.compute()
            counts.append(len(best.included))
        print(f"{shape[0]}, {shape[1]}: {', '.join(map(str, counts))}")


if __name__ == "__main__":
    main()
