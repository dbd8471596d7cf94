"""Measure the calibrated degrees of freedom that ship with the package.

    python studies/make_df_table.py [--sets 1000] [--store df.db]

Find, for pairs of learners, sizes of data sets and designs, the largest df from 2 to 100 at which
the two-sided Type I error is at most alpha. The data have 10 independent binary attributes with
probabilities from U(0, 1), and a class with probability 0.5. Write
src/bestofk/papers/stats/published_df.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bestofk.papers import lab
from bestofk.papers.lab.collect_outcomes import ALPHAS
from bestofk.papers.stats.repeated_kfold import VARIANTS

PAIRS = {
    ("naive-bayes", "c4.5"): (100, 300, 1000),
    ("naive-bayes", "nn"): (300,),
    ("c4.5", "nn"): (300,),
    ("naive-bayes", "tan"): (300,),
}
DESIGNS = {2: (5, 10), 5: (5, 10), 10: (1, 5, 10, 20, 100)}
"""{folds: runs}."""
OUT = Path(__file__).parents[1] / "src" / "bestofk" / "papers" / "stats" / "published_df.json"
SEED = 1


def entries(sets: int, store: str | None) -> list[dict]:
    result = []
    for pair, sizes in PAIRS.items():
        for rows in sizes:
            # only the main pair and size gets the larger designs, which are expensive
            main_case = pair == ("naive-bayes", "c4.5") and rows == 300
            for folds, runs in DESIGNS.items():
                most = max(runs) if main_case else min(10, max(runs))
                simulation = lab.simulate(
                    pair, lab.problem("binary", rows=rows), f"{most}x{folds}", sets=sets,
                    random_state=SEED, store=store, progress=True,
                )  # fmt: skip
                result += [
                    entry(pair, rows, count, folds, simulation.first_runs(count))
                    for count in runs
                    if count <= most
                ]
    return result


def entry(pair: tuple[str, str], rows: int, runs: int, folds: int, made: lab.Simulation) -> dict:
    # with one run these three equal the k-fold test, and the others are undefined
    one = dict.fromkeys(("use-all-data", "folds-averaged-var", "folds-averaged-t"), "kfold-t")
    tests = one if runs == 1 else {variant: variant for variant in VARIANTS}
    df = {
        f"{alpha:g}": {
            variant: lab.calibrate(test, simulation=made, alpha=alpha).df or 0
            for variant, test in tests.items()
        }
        for alpha in ALPHAS
    }
    return {
        "learners": list(pair), "rows": rows, "runs": runs, "folds": folds, "sets": made.sets,
        "df": df,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--store")
    options = parser.parse_args()
    designs = entries(options.sets, options.store)
    table = {
        "about": "Calibrated degrees of freedom: the largest whole df from 2 to 100 at which the "
        "two-sided Type I error is at most alpha; 0 where no df keeps the level. Measured on data "
        "without any relation between attributes and class: 10 independent binary attributes "
        "whose probabilities are drawn anew from U(0, 1) for every data set, class "
        "Bernoulli(0.5), stratified folds. A value is random by about 1.",
        "command": f"python studies/make_df_table.py --sets {options.sets}",
        "seed": SEED,
        "alphas": list(ALPHAS),
        "variants": list(VARIANTS),
    }
    head = json.dumps(table, indent=1)[:-2]
    lines = ",\n  ".join(json.dumps(one) for one in designs)
    OUT.write_text(f'{head},\n "designs": [\n  {lines}\n ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
