"""Measure false claims about equal learners if a table is misread, and as bestofk reads it.

    python studies/misread_inputs.py [--tables 1000] [--seed 0]

Each null makes tables of two equal learners and decides at level 0.05. "Misread" states the wrong
reading explicitly. "Read" is the default, or the stated design if bestofk asks for it. A table that
bestofk refuses makes no claim.

repeated       10 runs of 5 folds as 50 numbers; the folds share a part of 1/5 of their variance
time           200 losses in order of time with lag-1 autocorrelation 0.5 and 0.8
items          40 problems with 10 answers each; misread: the answers are the items
missing        200 items; one model has no score on half of its wrong answers
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.decide.pairs import tested
from bestofk.evals.choosing import compare_evals
from bestofk.stats.intervals import wilson

Reading = Callable[[np.random.Generator], bool]


def claims(losses: object, **options: object) -> bool:
    try:
        return bool(bk.compare_scores(losses, **options).decision.claims)
    except BestOfKError:
        return False


def repeated(design: str) -> Reading:
    def one(rng: np.random.Generator) -> bool:
        shared, own = rng.normal(size=(2, 1)), rng.normal(size=(2, 50))
        return claims(0.3 + 0.05 * (np.sqrt(0.2) * shared + np.sqrt(0.8) * own), design=design)

    return one


def series(rho: float, **options: object) -> Reading:
    def one(rng: np.random.Generator) -> bool:
        noise = rng.normal(size=(2, 250))
        values = np.zeros_like(noise)
        for at in range(1, 250):
            values[:, at] = rho * values[:, at - 1] + noise[:, at]
        frame = pd.DataFrame(values[:, 50:].T, columns=["a", "b"])
        frame.insert(0, "date", pd.date_range("2020-01-01", periods=200).strftime("%Y-%m-%d"))
        return claims(frame, higher_is_better=False, **options)

    return one


def answers(columns: dict[str, str] | None) -> Reading:
    def one(rng: np.random.Generator) -> bool:
        rows = []
        for model in "ab":
            chance = rng.beta(0.5, 0.5, size=40)
            right = rng.random((40, 10)) < chance[:, None]
            rows += [(model, i, j, int(right[i, j])) for i in range(40) for j in range(10)]
        return chosen(rows, ["model", "problem", "sample", "correct"], columns)[0]

    return one


def unscored(*, read: bool) -> Reading:
    def one(rng: np.random.Generator) -> bool:
        chance, rows = rng.random(200), []
        for model in "ab":
            right = rng.random(200) < chance
            lost = ~right & (rng.random(200) < 0.5) & (model == "b")
            rows += [(model, i, "" if lost[i] else int(right[i])) for i in range(200)]
        return chosen(rows, ["model", "item", "correct"], None)[0 if read else 1]

    return one


def chosen(
    rows: list[tuple[object, ...]], names: list[str], columns: dict[str, str] | None
) -> tuple[bool, bool]:
    """Return whether a claim is made, and whether it would be without the missing scores."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        pd.DataFrame(rows, columns=names).to_csv(path, index=False)
        decision = compare_evals(bk.read_evals(path, columns=columns)).decision
    before, _ = tested(replace(decision.problem, missing=None), decision.settings)
    return bool(decision.claims), bool(before.claims())


NULLS: dict[str, tuple[Reading, Reading]] = {
    "repeated": (repeated("kfold:50"), repeated("10x5")),
    "time, 0.5": (series(0.5, columns={"dataset": "date"}), series(0.5)),
    "time, 0.8": (series(0.8, columns={"dataset": "date"}), series(0.8)),
    "items": (answers({"item": "sample", "epoch": "problem"}), answers(None)),
    "missing": (unscored(read=False), unscored(read=True)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| null | misread | read |\n|---|---:|---:|")
    for null, readings in NULLS.items():
        cells = []
        for reading in readings:
            rng = np.random.default_rng([options.seed, list(NULLS).index(null)])
            count = sum(reading(rng) for _ in range(options.tables))
            ends = wilson(count, options.tables)
            cells.append(
                f"{100 * count / options.tables:.1f} % "
                f"({100 * ends.low:.1f} to {100 * ends.high:.1f})"
            )
        print(f"| {null} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
