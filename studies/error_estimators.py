"""Measure bias and variance of the error estimates of one learner on problems with known truth.

    python studies/error_estimators.py [--sets N] [--write]

For each problem, learner and number of rows, draw data sets, estimate the error by every method of
``papers estimate``, and compare with the error of the model of all rows on 2,000 new rows. With
--write, write the table and the figure of docs/papers/fundamentals.md. With 200 data sets it takes
about 10 minutes of CPU time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestofk.learners.specification import named_learners
from bestofk.papers.error_estimates import METHODS, estimate

DOCS = Path(__file__).parents[1] / "docs" / "papers"
LEARNERS = ("nn", "logistic", "c4.5")
ROWS = (20, 50, 200)


def gaussians(n, rng):
    """Draw two classes with means 1.35 apart in 5 columns: the best error is 25 %."""
    y = rng.integers(0, 2, size=n)
    X = rng.normal(size=(n, 5))
    X[:, 0] += 1.35 * y
    return X, y


def random_labels(n, rng):
    """Draw labels that nothing predicts: the best error is 50 %."""
    return rng.normal(size=(n, 5)), rng.integers(0, 2, size=n)


def corners(n, rng):
    """Draw an exclusive-or of two of five columns with 10 % noise: the best error is 10 %."""
    X = rng.uniform(-1, 1, size=(n, 5))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(n) < 0.1)
    return X, y.astype(int)


def study_estimators(
    learner: str,
    problem: Any,
    *,
    rows: int = 50,
    sets: int = 100,
    test_rows: int = 2000,
    methods: Sequence[str] = METHODS,
    samples: int = 30,
    random_state: int = 0,
) -> pd.DataFrame:
    """Measure bias and variance of the estimation methods on a problem with known truth.

    Draw `sets` data sets of `rows` rows, estimate the error of the learner by every method, and
    compare with the error of its model of all rows on `test_rows` new rows.

    Parameters
    ----------
    learner : str
        As for `estimate`.
    problem : callable
        ``problem(n, rng)`` returns features (n, d) and labels (n,).
    rows, sets, test_rows, samples : int
        Sizes.
    methods : sequence of str
        As for `estimate`.
    random_state : int
        Seed.

    Returns
    -------
    DataFrame
        One row per method: the bias of the estimate and its standard error, the standard deviation
        over data sets, the root mean squared error, and the mean true error.
    """
    estimates, truths = [], []
    for number in range(sets):
        rng = np.random.default_rng([random_state, number])
        X, y = problem(rows + test_rows, rng)
        result = estimate(
            learner, X[:rows], y[:rows], methods=methods, samples=samples, random_state=number
        )
        (model,) = named_learners([learner]).values()
        model.fit(X[:rows], y[:rows])
        estimates.append([one.error for one in result.estimates])
        truths.append(float((model.predict(X[rows:]) != y[rows:]).mean()))
    difference = np.array(estimates) - np.array(truths)[:, np.newaxis]
    columns = {
        "method": list(methods),
        "bias": difference.mean(axis=0),
        "bias_se": difference.std(axis=0, ddof=1) / np.sqrt(sets),
        "sd": np.std(estimates, axis=0, ddof=1),
        "rmse": np.sqrt(np.square(difference).mean(axis=0)),
        "truth": np.full(len(methods), np.mean(truths)),
    }
    return pd.DataFrame(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--write", action="store_true", help="write the table and the figure")
    arguments = parser.parse_args()
    lines = [
        f"| problem | learner | rows | true error | {' | '.join(METHODS)} |",
        "| --- | --- | ---: | ---: |" + " ---: |" * len(METHODS),
    ]
    studies = []
    for problem in (gaussians, corners, random_labels):
        for learner in LEARNERS:
            for rows in ROWS:
                study = study_estimators(learner, problem, rows=rows, sets=arguments.sets)
                name = problem.__name__.replace("_", " ")
                studies.append((name, learner, rows, study))
                cells = " | ".join(
                    f"{100 * b:+.1f} / {100 * r:.1f}"
                    for b, r in zip(study.bias, study.rmse, strict=True)
                )
                truth = 100 * study.truth.mean()
                lines.append(f"| {name} | {learner} | {rows} | {truth:.1f} | {cells} |")
                print(name, learner, rows, study, sep="\n", flush=True)
    ranks = np.mean([frame.rmse.rank() for *_, frame in studies], axis=0)
    lines.append(
        "| mean rank of the error |  |  |  | " + " | ".join(f"{rank:.1f}" for rank in ranks) + " |"
    )
    print("\n".join(lines))
    if arguments.write:
        (DOCS / "tables" / "estimators.md").write_text("\n".join(lines) + "\n")
        draw(studies, METHODS, DOCS / "figures" / "estimators.svg")


def draw(studies, methods, path: Path) -> None:
    """Draw bias with plus and minus one standard deviation, a panel per problem and size."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "bestofk"
    from matplotlib import pyplot as plt

    problems = list(dict.fromkeys(name for name, *_ in studies))
    figure, axes = plt.subplots(len(problems), len(ROWS), figsize=(9, 7), sharex=True, sharey=True)
    for name, learner, rows, study in studies:
        axis = axes[problems.index(name)][ROWS.index(rows)]
        shift = 0.22 * (LEARNERS.index(learner) - 1)
        axis.errorbar(
            np.arange(len(methods)) + shift, 100 * study.bias, yerr=100 * study.sd,
            fmt="o", markersize=3, linewidth=1, label=learner,
        )  # fmt: skip
        axis.axhline(0, color="grey", linewidth=0.5)
        axis.set_title(f"{name}, {rows} rows", fontsize=8)
        axis.set_xticks(np.arange(len(methods)), methods, rotation=60, ha="right", fontsize=7)
    axes[0][0].legend(fontsize=7, frameon=False)
    axes[1][0].set_ylabel("bias +- standard deviation, points", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
