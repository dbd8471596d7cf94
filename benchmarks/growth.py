"""How the time of whole-plan evaluation grows with rows, columns, folds and runs.

    python benchmarks/growth.py                       a table for every learner
    python benchmarks/growth.py nn c4.5 --out growth.png

One of the four is doubled from step to step, the others stay; the exponent e of time ~ size^e is
fitted to the upper half of the steps. Fixed costs press exponents down: what matters is that none
lies above what the algorithm promises. The neighbour lists of `nn` take n^2 d once and each run n
more; folds cost the other learners one model each. Two more are squares by nature: `tan` scores
every pair of columns, and `voted-perceptron` asks, for every row that it predicts, all the vectors
that its mistakes left, whose number grows with the rows where the classes overlap.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from time import process_time

import numpy as np

BASE = {"rows": 400, "columns": 8, "folds": 4, "runs": 8}
STEPS = {
    "rows": (200, 400, 800, 1600, 3200),
    "columns": (4, 8, 16, 32, 64),
    "folds": (2, 4, 8, 16, 32),
    "runs": (8, 16, 32, 64, 128),
}


def written() -> list[str]:
    """The learners whose module exists."""
    from bestofk.learners import LEARNERS

    return [name for name in LEARNERS if find_spec(LEARNERS[name].estimator.partition(":")[0])]


def make(name: str, rows: int, columns: int):
    """Two classes; normal columns, or nominal ones of three values where only those will do."""
    from bestofk.data import as_dataset
    from bestofk.learners import LEARNERS

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, columns)) + y[:, None] * 0.5
    if LEARNERS[name].numeric:
        return as_dataset(X, y)
    import pandas as pd

    codes = np.digitize(X, [-0.4, 0.7])
    return as_dataset(
        pd.DataFrame({f"a{j}": pd.Categorical(codes[:, j]) for j in range(columns)}), y
    )


def seconds(name: str, *, rows: int, columns: int, folds: int, runs: int) -> float:
    """The best of some rounds, loading apart."""
    from bestofk.learners import learner, predict_plan
    from bestofk.splits import plan

    data = make(name, rows, columns)
    data.encoded()
    splits = plan(f"{runs}x{folds}", random_state=0).materialise(rows, data.y)
    best = np.inf
    for _ in range(3):
        start = process_time()
        predict_plan(learner(name), data, splits)
        best = min(best, process_time() - start)
        if best > 1.0:
            break
    return best


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    """The slope in double logarithms over the upper half of the steps."""
    start = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[start:]), np.log(times[start:]), 1)[0])


def table(names: list[str]) -> dict[tuple[str, str], list[float]]:
    """Print and return the seconds of every learner and step."""
    found = {}
    for name in names:
        seconds(name, rows=40, columns=3, folds=2, runs=1)
        for what, sizes in STEPS.items():
            times = [seconds(name, **(BASE | {what: size})) for size in sizes]
            found[name, what] = times
            steps = "  ".join(
                f"{size}: {time * 1e3:.3g}" for size, time in zip(sizes, times, strict=True)
            )
            print(f"{name:<17} {what:<8} ^{exponent(sizes, times):5.2f}   ms {steps}", flush=True)
    return found


def draw(found: dict[tuple[str, str], list[float]], path: str) -> None:
    """One panel for each of the four, one line for each learner."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8), layout="constrained")
    for axes, (what, sizes) in zip(figure.subplots(2, 2).flat, STEPS.items(), strict=True):
        for (name, of), times in found.items():
            if of == what:
                label = f"{name} ({exponent(sizes, times):.2f})"
                axes.loglog(sizes, times, marker="o", label=label)
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.set_xlabel(what)
        axes.set_ylabel("seconds")
        axes.legend(fontsize="small")
    figure.suptitle("Whole-plan evaluation: growth of time, fitted exponents in brackets")
    figure.savefig(path, dpi=120)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("learner", nargs="*", help="names; all without")
    parser.add_argument("--out", help="write the plot to this file")
    options = parser.parse_args(arguments)
    found = table(options.learner or written())
    if options.out:
        if find_spec("matplotlib") is None:
            print("No plot: matplotlib is not installed.", file=sys.stderr)
            return 1
        draw(found, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
