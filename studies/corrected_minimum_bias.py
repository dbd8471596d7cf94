"""Measure the bias of the smallest of ten mean losses, naive and corrected.

    python studies/corrected_minimum_bias.py           print the table of docs/use/how-many.md
    python studies/corrected_minimum_bias.py --smoke   use few simulations

The ten learners are *equal*, or *graded* by a third of a standard error. The bias is the mean, over
simulated studies, of an estimate minus the true loss of the chosen learner, in standard errors of
one learner's mean loss. *Naive* is the smallest mean; *corrected* is
`bestofk.decide.corrected_minimum`. The table also shows two other ways to resample 10x10 folds,
which do not work: all 100 folds as units, and the ten fold numbers averaged over the runs.
*Covered* counts the 95 percent intervals of `corrected_minimum` that contain the true loss (over
data sets: the loss on a next data set); it is empty if there is no interval.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestofk import corrected_minimum
from bestofk._base.checks import Floats
from bestofk.losses import Losses

K = 10
STUDIES = 1000
RESAMPLES = 500


def data_sets(rng: np.random.Generator, n: int, shared: float, skewed: bool = False) -> Floats:
    """Draw mean losses (K, 1, n) by data set; some data sets are harder for all."""
    draw = rng.standard_exponential if skewed else rng.standard_normal
    return shared * draw((1, 1, n)) + draw((K, 1, n))


def folds(rng: np.random.Generator, runs: int, folds: int, unstable: float) -> Floats:
    """Draw losses (K, runs, folds); each row keeps its loss in every run, except for `unstable`."""
    n = 300
    rows = rng.standard_normal((1, n)) + rng.standard_normal((K, n))
    table = np.empty((K, runs, folds))
    for run in range(runs):
        parts = rng.permutation(n).reshape(folds, -1)
        score = rows + unstable * rng.standard_normal((K, n))
        # wrong answers; a quarter of them at the given spread
        losses = (score > 0.6745 * np.sqrt(2.0 + unstable**2)).astype(float)
        table[:, run] = losses[:, parts].mean(axis=2)
    return table


def nearest_means(rng: np.random.Generator, rows: int = 100, columns: int = 3) -> Floats:
    """Compute zero-one losses (K, 10, 10) of nearest means, each on its own columns."""
    y = rng.permutation(np.arange(rows) % 2)
    X = rng.standard_normal((K, rows, columns)) + 0.5 * y[np.newaxis, :, np.newaxis]
    table = np.empty((K, 10, 10))
    for run in range(10):
        for fold, test in enumerate(rng.permutation(rows).reshape(10, -1)):
            train = np.ones(rows, dtype=bool)
            train[test] = False
            means = [X[:, train & (y == c)].mean(axis=1, keepdims=True) for c in (0, 1)]
            distances = [np.square(X[:, test] - mean).sum(axis=2) for mean in means]
            table[:, run, fold] = ((distances[1] < distances[0]) != y[test]).mean(axis=1)
    return table


def instances(rng: np.random.Generator, n: int) -> Floats:
    """Draw zero-one losses (K, 1, n) on one test set; hard instances are hard for all."""
    hard = rng.beta(0.5, 2.0, n)
    return (rng.random((K, 1, n)) < hard).astype(float)


@dataclass(frozen=True, kw_only=True)
class Case:
    """Settings of one kind of study."""

    name: str
    draw: Callable[[np.random.Generator], Floats]
    dims: tuple[str, ...]
    share: float = 1.0
    """Share of the studies to draw, if drawing is slow."""


CASES = (
    Case(
        name="12 data sets, independent learners",
        draw=lambda rng: data_sets(rng, 12, 0.0),
        dims=("algorithm", "dataset"),
    ),
    Case(
        name="30 data sets, some hard for all",
        draw=lambda rng: data_sets(rng, 30, 0.7),
        dims=("algorithm", "dataset"),
    ),
    Case(
        name="60 data sets, some hard for all",
        draw=lambda rng: data_sets(rng, 60, 0.7),
        dims=("algorithm", "dataset"),
    ),
    Case(
        name="60 data sets, skewed losses",
        draw=lambda rng: data_sets(rng, 60, 0.7, skewed=True),
        dims=("algorithm", "dataset"),
    ),
    Case(
        name="one run of 5 folds",
        draw=lambda rng: folds(rng, 1, 5, 0.5),
        dims=("algorithm", "run", "fold"),
    ),
    Case(
        name="one run of 10 folds",
        draw=lambda rng: folds(rng, 1, 10, 0.5),
        dims=("algorithm", "run", "fold"),
    ),
    Case(
        name="10x10 folds",
        draw=lambda rng: folds(rng, 10, 10, 0.0),
        dims=("algorithm", "run", "fold"),
    ),
    Case(
        name="10x10 folds, unstable learners",
        draw=lambda rng: folds(rng, 10, 10, 1.0),
        dims=("algorithm", "run", "fold"),
    ),
    Case(
        name="10x10 folds, nearest means on 100 rows",
        draw=nearest_means,
        dims=("algorithm", "run", "fold"),
        share=0.5,
    ),
    Case(
        name="5x2 folds",
        draw=lambda rng: folds(rng, 5, 2, 0.5),
        dims=("algorithm", "run", "fold"),
    ),
    Case(
        name="50 instances",
        draw=lambda rng: instances(rng, 50),
        dims=("algorithm", "instance"),
    ),
    Case(
        name="200 instances",
        draw=lambda rng: instances(rng, 200),
        dims=("algorithm", "instance"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Biases in standard errors, and their Monte Carlo errors."""

    case: str
    learners: str
    naive: float
    corrected: float
    error: float
    all_folds: float | None
    fold_numbers: float | None
    covered: float | None


def measure(
    studies: int = STUDIES, cases: tuple[Case, ...] = CASES, seed: int = 0
) -> list[Measured]:
    """Measure every case with equal and, if losses can be shifted, with graded learners."""
    rows = []
    for case in cases:
        rng = np.random.default_rng([seed, *case.name.encode()])
        tables = [case.draw(rng) for _ in range(max(int(studies * case.share), 20))]
        means = np.array([table.mean(axis=(1, 2)) for table in tables])
        truth, error = float(means.mean()), float(means.std())
        rows.append(_biases(case, "equal", tables, np.full(K, truth), error, seed))
        if "dataset" in case.dims:
            steps = error / 3.0 * np.arange(K)
            graded = [table + steps[:, np.newaxis, np.newaxis] for table in tables]
            rows.append(_biases(case, "graded", graded, truth + steps, error, seed))
    return rows


def _biases(
    case: Case, learners: str, tables: list[Floats], truth: Floats, error: float, seed: int
) -> Measured:
    naive, corrected, flat, numbered, covered = [], [], [], [], []
    repeated = tables[0].shape[1] > 1
    for table in tables:
        result = _corrected(table, case.dims, seed)
        true = truth[int(result.chosen)]
        naive.append(result.naive - true)
        corrected.append(result.corrected - true)
        if result.low is not None:
            # over data sets the interval is for the next one: here the last, left out
            if "dataset" in case.dims:
                shorter = _corrected(table[..., :-1], case.dims, seed)
                next_loss = table[int(shorter.chosen), 0, -1]
                if shorter.low is not None:
                    covered.append(shorter.low <= next_loss <= shorter.high)
            else:
                covered.append(result.low <= true <= result.high)
        if repeated:
            whole = table.reshape(K, 1, -1)
            flat.append(_corrected(whole, ("algorithm", "run", "fold"), seed).corrected - true)
            mean = table.mean(axis=1, keepdims=True)
            numbered.append(_corrected(mean, ("algorithm", "run", "fold"), seed).corrected - true)
    return Measured(
        case=case.name,
        learners=learners,
        naive=float(np.mean(naive)) / error,
        corrected=float(np.mean(corrected)) / error,
        error=float(np.std(corrected)) / error / np.sqrt(len(tables)),
        all_folds=float(np.mean(flat)) / error if repeated else None,
        fold_numbers=float(np.mean(numbered)) / error if repeated else None,
        covered=float(np.mean(covered)) if covered else None,
    )


def _corrected(table: Floats, dims: tuple[str, ...], seed: int):
    values = table if len(dims) == 3 else table[:, 0]
    return corrected_minimum(Losses(values, dims=dims), resamples=RESAMPLES, random_state=seed)


def markdown(rows: list[Measured]) -> str:
    """Return the table of the page."""
    lines = [
        "| losses | learners | naive | corrected | all folds as units | fold numbers as units | "
        "covered |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        others = ["" if x is None else f"{x:+.2f}" for x in (row.all_folds, row.fold_numbers)]
        lines.append(
            f"| {row.case} | {row.learners} | {row.naive:+.2f} | "
            f"{row.corrected:+.2f} ± {row.error:.2f} | {others[0]} | {others[1]} | "
            f"{'' if row.covered is None else f'{100 * row.covered:.1f} %'} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(measure(20 if "--smoke" in sys.argv else STUDIES)))
