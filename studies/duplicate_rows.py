"""How often equal learners are called different if rows are copies of each other.

Labels are drawn at random, so that every learner is right in half of all cases: nearest means and
naive Bayes are equally good. Each setting repeats the rows in another way. `compare` runs with its
default plan, which keeps copies in one fold, and with the same plan on rows that count as
independent.

    python studies/duplicate_rows.py --sets 200

Settings

- ``copies``: 30 rows, each five times.
- ``oversampled``: 60 rows, from which 240 are drawn with replacement.
- ``grid``: as ``copies``, with values rounded to one decimal.
- ``few``: 120 rows, and 3 percent of them once more.
- ``categories``: 200 independent rows of three columns of categories. Most rows are equal to
  another one by coincidence; nothing must change here.
"""

from __future__ import annotations

import argparse
import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd

import bestofk as bk
from bestofk.run.inputs import checked_rows

NAMES = ["a", "b", "c", "d"]
SETTINGS = ["copies", "oversampled", "grid", "few", "categories"]


def rows(setting: str, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw the rows of one setting and their labels."""
    n = {"copies": 30, "grid": 30, "oversampled": 60, "few": 120, "categories": 200}[setting]
    X = rng.normal(size=(n, 4))
    y = rng.permutation(np.arange(n) % 2)
    if setting == "categories":
        X = rng.integers(0, 3, size=(n, 4)).astype(float)
        X[:, 3] = 0.0
    if setting == "grid":
        X = np.round(X, 1)
    if setting in ("copies", "grid"):
        which = np.repeat(np.arange(n), 5)
    elif setting == "oversampled":
        which = rng.integers(0, n, size=4 * n)
    elif setting == "few":
        which = np.concatenate([np.arange(n), np.arange(max(1, round(0.03 * n)))])
    else:
        which = np.arange(n)
    which = rng.permutation(which)
    return pd.DataFrame(X[which], columns=NAMES), y[which]


def main() -> None:
    """Print the share of data sets with a claim, for every setting."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--setting", action="append",
        choices=SETTINGS,
    )  # fmt: skip
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'setting':<14}{'copies together':>16}{'copies divided':>16}  percent of "
          f"{options.sets} data sets with a claim")  # fmt: skip
    for setting in options.setting or SETTINGS:
        number = SETTINGS.index(setting)
        claims = np.zeros(2)
        for index in range(options.sets):
            rng = np.random.default_rng([options.seed, number, index])
            X, y = rows(setting, rng)
            for column, check in enumerate((checked_rows, lambda data, _: data)):
                with patch("bestofk.run.compare.checked_rows", check):
                    study = bk.compare(
                        "nmc,naive-bayes", X, y, random_state=index, progress=False,
                        execution=bk.Execution(engine="serial"),
                    )  # fmt: skip
                claims[column] += bool(study.decision.claims)
        together, apart = 100 * claims / options.sets
        print(f"{setting:<14}{together:>16.1f}{apart:>16.1f}", flush=True)


if __name__ == "__main__":
    main()
