"""The five learners on the 30 UCI sets of the MultiTest paper, beside its Table 1.

    BESTOFK_DATA=folder python benchmarks/uci_table.py [--runs R] [--set NAME ...]

Prints, for every set and learner, the mean error in percent over R runs of unstratified 5x2
cross-validation and the paper's mean over 1,000 runs. The folder holds uci/MANIFEST.json and the
files that it lists.

These are sound learners on shared folds, with numbers scaled by their standard deviation in the
training half as in the paper. Below the table stands, for every mean that lies more than 4.5
points from the paper's, why (`REASONS`). In general:

* LGC of the paper took 50 gradient steps without a penalty and did not converge, and ran on
  stratified halves; ours is the minimum of a penalised objective.
* C4.5 of the paper chose by information gain, not gain ratio, grew until leaves were pure, let a
  branch without rows predict the first class, and pruned from the root down; ours is Quinlan's,
  pruned bottom up on the same 20 percent. `tree_rules.py` tries these rules apart.
* NMC of the paper let classes without training rows compete and filled missing numbers with the
  sum of the known ones divided by all rows; ours leaves missing cells out.
* NN of the paper filled missing cells likewise; ours counts them as the largest difference.
* The paper read some coded nominal columns as numbers.

Source of the figures: O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2
supervised learning algorithms, IEEE TPAMI 28(3), 2006, Table 1, doi 10.1109/TPAMI.2006.61.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np

LEARNERS = {
    "MAX": "max",
    "NMC": "nmc(scale='std')",
    "LGC": "logistic",
    "C4.5": "c4.5(pruning='holdout', random_state=0)",
    "NN": "nn(scale='std')",
}

PRINTED = {
    "balance": (55.46, 54.01, 4.10, 40.26, 40.10),
    "breast": (34.48, 3.80, 3.11, 6.88, 4.72),
    "bupa": (42.09, 42.83, 31.93, 40.15, 39.63),
    "car": (29.98, 47.77, 6.89, 15.55, 21.82),
    "cmc": (57.30, 57.65, 49.21, 53.22, 55.72),
    "credit": (44.55, 19.16, 14.29, 14.85, 22.68),
    "cylinder": (42.22, 38.75, 27.31, 33.32, 26.68),
    "dermatology": (69.43, 4.23, 2.73, 8.42, 6.00),
    "ecoli": (57.44, 21.28, 13.95, 23.65, 20.01),
    "flare": (11.15, 34.30, 12.09, 11.26, 17.06),
    "glass": (67.51, 54.35, 37.35, 42.41, 32.45),
    "haberman": (26.47, 28.28, 25.62, 26.90, 33.77),
    "hepatitis": (20.65, 19.03, 17.25, 21.24, 18.78),
    "horse": (36.96, 24.98, 13.74, 23.11, 21.96),
    "iris": (70.68, 13.59, 4.14, 6.29, 6.51),
    "ironosphere": (35.90, 20.16, 12.13, 13.59, 14.77),
    "monks": (51.93, 33.82, 33.89, 14.99, 26.41),
    "mushroom": (48.21, 12.64, 0.09, 0.11, 0.00),
    "nursery": (67.02, 62.90, 7.51, 6.54, 23.86),
    "optdigits": (90.71, 9.47, 4.34, 15.92, 2.94),
    "pendigits": (90.05, 15.70, 6.24, 7.45, 0.74),
    "pima": (34.90, 26.82, 23.35, 29.68, 30.37),
    "segment": (86.77, 15.66, 8.81, 8.00, 5.07),
    "spambase": (39.40, 10.56, 8.15, 9.89, 10.35),
    "tictactoe": (34.66, 32.87, 1.70, 23.51, 31.57),
    "vote": (38.62, 12.69, 4.86, 4.53, 7.30),
    "wave": (66.91, 18.94, 13.70, 25.62, 23.84),
    "wine": (62.94, 3.42, 2.41, 13.93, 5.40),
    "yeast": (69.53, 48.63, 41.10, 48.79, 49.19),
    "zoo": (59.47, 7.98, 5.88, 19.17, 7.70),
}

CODED = "the paper read the coded nominal columns as numbers; read so, ours has"
FILLED = (
    "the paper filled missing cells, here they count as the largest difference; filled, ours has"
)
REASONS = {
    ("balance", "C4.5"): (
        "the paper's tree needs no minimum of rows in a branch, predicts the first class (8 "
        "percent of the rows) where a branch has none, and is pruned from the root down; with all "
        "three ours has 40.2, with any two of them at most 36.6"
    ),
    ("cylinder", "C4.5"): (
        "the paper appears to have left out the column customer (71 values); without it ours has "
        "32.8"
    ),
    ("cylinder", "NN"): f"{FILLED} 28.0",
    ("horse", "C4.5"): (
        "the paper's tree takes by information gain a column of 63 values at the root, and "
        "predicts the first class where a branch has no rows; filled as the paper did, ours has "
        "17.1, with gain 15.0, with the first class 17.6, with both 21.7, with all rules of the "
        "paper 22.7"
    ),
    ("horse", "NN"): f"{FILLED} 21.7",
    ("monks", "NMC"): f"{CODED} 33.8",
    ("monks", "LGC"): f"{CODED} 34.2",
    ("monks", "NN"): f"{CODED} 27.3",
}
"""Why means differ by more than `FAR` points.

Where a figure follows, that one thing was changed and ours measured again over 4 runs. Those of
C4.5 are of `tree_rules.py`: `--runs 40` for balance and horse, `--runs 10 --set cylinder`.
"""
FAR = 4.5


def folder() -> Path:
    """Where the data sets are."""
    where = os.environ.get("BESTOFK_DATA")
    if where is None:
        sys.exit("BESTOFK_DATA must name the folder that holds uci/MANIFEST.json.")
    return Path(where, "uci")


def errors(file: Path, *, runs: int) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation over folds of the error in percent, by learner."""
    from bestofk.data import read_dataset
    from bestofk.learners import parse_learner, predict_plan
    from bestofk.splits.plans import plan

    data = read_dataset(file, task="classification")
    splits = plan(f"{5 * runs}x2", stratified=False, random_state=0).materialise(data.n)
    y = data.encoded().y
    found = {}
    for name, text in LEARNERS.items():
        _, estimator = parse_learner(text)
        predicted = predict_plan(estimator, data, splits)
        wrong = [
            100 * np.count_nonzero(codes != y[test]) / len(test)
            for (_, _, _, test), codes in zip(splits, predicted, strict=True)
        ]
        found[name] = (float(np.mean(wrong)), float(np.std(wrong, ddof=1)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="runs of 5x2 cross-validation")
    parser.add_argument("--set", action="append", help="only this set (repeatable)")
    given = parser.parse_args()
    files = {
        entry["name"]: folder() / entry["file"]
        for entry in json.loads((folder() / "MANIFEST.json").read_text())["datasets"]
    }
    wanted = given.set or list(files)
    for name in wanted:
        if name not in files:
            print(f"There is no set {name!r}: there are {', '.join(files)}.", file=sys.stderr)
            return 2
    print(f"Mean error in percent over {given.runs} runs of unstratified 5x2; in brackets Table 1.")
    print(f"{'set':12s}" + "".join(f"{name:>19s}" for name in LEARNERS))
    off: dict[str, list[float]] = {name: [] for name in LEARNERS}
    far = []
    for name in wanted:
        line = f"{name:12s}"
        for (learner, (mean, deviation)), printed in zip(
            errors(files[name], runs=given.runs).items(), PRINTED[name], strict=True
        ):
            off[learner].append(mean - printed)
            if abs(mean - printed) > FAR:
                why = REASONS.get((name, learner), "not understood")
                far.append(f"{name} {learner} {mean - printed:+.2f}: {why}.")
            line += f"{mean:6.2f}±{deviation:4.2f} ({printed:5.2f})"
        print(line, flush=True)
    print(
        f"{'difference':12s}" + "".join(f"{np.mean(off[name]):+19.2f}" for name in LEARNERS),
        "(mean over the sets)",
    )
    print(
        f"{'within 2':12s}" + "".join(f"{sum(abs(x) <= 2 for x in off[name]):19d}" for name in off),
        f"(of {len(wanted)} sets within 2 points)",
    )
    if far:
        print(f"More than {FAR:g} points from the paper:", *far, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
