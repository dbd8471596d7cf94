"""Measure false claims under every null hypothesis, for K = 2, 5 and 10 and two families.

python studies/claims_table.py --seed 0            write studies/results/claims.csv and claims.md
python studies/claims_table.py --smoke --case 'learners/gaussian/nn/*' --out FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import bdtrc

from bestofk.papers.lab.measures import false_claims
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.problems.drawn_losses import ManyDataSets, RightOrWrong
from bestofk.papers.lab.simulation import Simulation
from bestofk.run.inputs import REPEATED, default_plan
from case_table import Case, Row, main, markdown

LEARNERS = (2, 5, 10)
DECISIONS: dict[str, dict[str, Any]] = {
    "default": {"family": "all"},
    "preference": {"family": "preference", "prefer": "listed"},
}
"""Options of `compare_scores`: all pairs with Holm, or as in the paper."""
FAMILIES = ("default", "preference")
TABLES, DATA_SETS = 2000, 400
SMOKE = (20, 4)

MEAN, SD, WORSE = 0.25, 0.03, 0.1
"""Losses on many data sets: mean, standard deviation, and how much worse some learners are."""
NUMBERS_OF_SETS = (6, 12, 30)
SHAPES: dict[str, dict[str, Any]] = {
    "normal": {},
    "lognormal": {"shape": "lognormal"},
    "skewed in opposite directions": {"shape": "opposite exponential"},
    "strongly skewed in opposite directions": {"shape": "opposite lognormal"},
    "rounded to 2 digits": {"shape": "rounded"},
    "counts of 50": {"shape": "counts"},
    "variances differ over data sets": {"varying": True},
    "variances differ over learners": {},
}
FOLDS = ((3, 10), (5, 10), (10, 10), (10, 30))
"""Folds, and instances in each."""
SHARED = (0.0, 0.8)
ERROR = 0.2
KINDS = {"gaussian": 5, "binary": 10}
"""Columns of a learner's own block."""
OF_ONE_KIND = ("nmc", "nn", "c4.5", "naive-bayes", "logistic")
ROWS = (100, 300, 1000)
PLANS = {
    "learners": (default_plan(rows=ROWS[0]), ROWS[:2]),
    "learners in 10x10": (REPEATED, ROWS),
    "learners in 5x2": ("5x2", ROWS[:2]),
}
"""Part of the table: plan and numbers of rows; the default plan of `compare` comes first."""


def claims_cases(smoke: bool = False) -> list[Case]:
    """Return all cases; cases that share a simulation follow each other."""
    tables, data_sets = SMOKE if smoke else (TABLES, DATA_SETS)
    learners = (case for part in PLANS for case in _learners(data_sets, part))
    return [*_many_data_sets(tables), *_folds(tables), *learners]


def _many_data_sets(tables: int) -> Iterator[Case]:
    for shape, settings in SHAPES.items():
        for null in ("all equal", "half are worse"):
            for n in NUMBERS_OF_SETS:
                for K in LEARNERS:
                    worse = K // 2 if null == "half are worse" else 0
                    # the preferred learners are worse, so that every family has differences to find
                    means = (MEAN + WORSE,) * worse + (MEAN,) * (K - worse)
                    more = dict(settings)
                    if shape == "variances differ over learners":
                        more["sds"] = tuple(np.geomspace(SD / 3, 3 * SD, K).tolist())
                    problem = ManyDataSets(means=means, datasets=n, **{"sds": SD, **more})
                    for family in FAMILIES:
                        yield Case(
                            name=f"data sets/{shape}/{null}/{n} data sets/K={K}/{family}",
                            problem=problem, sets=tables, decision=family,
                        )  # fmt: skip


def _folds(tables: int) -> Iterator[Case]:
    for shared in SHARED:
        errors = "errors shared" if shared else "errors independent"
        for folds, size in FOLDS:
            for K in LEARNERS:
                problem = RightOrWrong(
                    errors=(ERROR,) * K, instances=folds * size, folds=folds, shared=shared
                )
                for family in FAMILIES:
                    yield Case(
                        name=f"folds/{errors}/{folds} folds of {size}/K={K}/{family}",
                        problem=problem, sets=tables, decision=family,
                    )  # fmt: skip


def _learners(data_sets: int, part: str) -> Iterator[Case]:
    for kind, attributes in KINDS.items():
        for learner in OF_ONE_KIND:
            for rows in PLANS[part][1]:
                problem = ColumnBlocks(
                    kind=kind, learners=max(LEARNERS), rows=rows, attributes=attributes
                )
                for K in LEARNERS:
                    for family in FAMILIES:
                        yield Case(
                            name=f"{part}/{kind}/{learner}/{rows} rows/K={K}/{family}",
                            problem=problem, sets=data_sets, decision=family, learner=learner,
                            plan=PLANS[part][0], first=K,
                        )  # fmt: skip


def claims_row(case: Case, simulation: Simulation) -> Row:
    """Return the row of a case."""
    result = false_claims(simulation=simulation, **DECISIONS[case.decision])
    row = SimpleNamespace(**result.rows[0])
    return {
        "learners": str(len(simulation.learners)),
        "decision": case.decision,
        "test": result.test,
        "false": str(row.count),
        "any false claim": f"{100 * row.rate:.2f}",
        "low": f"{100 * row.low:.2f}",
        "high": f"{100 * row.high:.2f}",
        "the wrong way round": f"{100 * row.reversed_rate:.2f}",
        "an interval misses": "",
        "differences found": "" if row.found is None else f"{100 * row.found:.1f}",
    }


PARTS = {
    "data sets": ("Many data sets", ("losses", "truth", "data sets"), "tables"),
    "folds": ("One run of k folds, zero-one losses", ("errors", "folds"), "tables"),
    **{
        part: (
            f"Learners of one kind, each with its own columns, {plan}",
            ("columns", "learner", "rows"),
            "data sets",
        )
        for part, (plan, _) in PLANS.items()
    },
}
"""Parts of the table: title, meaning of the parts of a case's name, unit that is drawn."""
CHANCE = 0.001


def claims_page(rows: Sequence[Row], seed: int) -> list[str]:
    """Return the lines of the page: one row per null hypothesis, one column per K and family."""
    lines: list[str] = []
    for part, group in groupby(rows, key=lambda row: row["case"].split("/")[0]):
        title, about, drawn = PARTS[part]
        members = list(group)
        decisions = [one for one in DECISIONS if any(row["decision"] == one for row in members)]
        columns = [(decision, str(K)) for decision in decisions for K in LEARNERS]
        heads = [f"{decision}, K = {K}" for decision, K in columns]
        counts = sorted({int(row["sets"]) for row in members})
        lines += [f"**{title}** ({' or '.join(map(str, counts))} {drawn} each)", ""]
        cells = []
        for name, same in groupby(members, key=lambda row: row["case"].split("/")[1:-2]):
            shown = {(row["decision"], row["learners"]): row for row in same}
            words = [cell.removeprefix(f"{what} ").removesuffix(f" {what}")
                     for what, cell in zip(about, name, strict=True)]  # fmt: skip
            cells.append([*words, *(_shown(shown.get(column)) for column in columns)])
        lines += [*markdown([*about, *heads], cells, left=len(about)), ""]
    return [
        *lines,
        "Percent of decisions with at least one false claim; 5 are allowed. Bold: more than chance "
        f"would give a decision that keeps to 5 (one in {round(1 / CHANCE):,} or less). *default*: "
        '`bk.compare_scores(losses)`; *preference*: the same with `family="preference"` and the '
        "preference as listed. Exact intervals, the tests that were used, the share of true "
        "differences that were found and how often an interval misses one are in `claims.csv`. "
        f"Made by `python studies/claims_table.py --seed {seed}`.",
        "",
    ]


def _shown(row: Row | None) -> str:
    if row is None:
        return ""
    count, n = int(row["false"]), int(row["sets"])
    value = f"{100 * count / n:.1f}"
    return f"**{value}**" if count and at_least(count, n, 0.05) <= CHANCE else value


def at_least(count: int, n: int, rate: float) -> float:
    """Return the probability of `count` or more of `n` events, each with probability `rate`."""
    return 1.0 if count == 0 else float(bdtrc(count - 1, n, rate))


if __name__ == "__main__":
    main(sys.argv[1:], "claims", claims_cases, claims_row, claims_page)
