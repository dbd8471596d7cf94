"""The published table of false claims: every null hypothesis, K = 2, 5 and 10, two families."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.atomic_write import write_text
from bestofk.lab.claims import false_claims
from bestofk.lab.problems.drawn_losses import ManyDataSets, RightOrWrong
from bestofk.lab.problems.given_rows import ColumnBlocks
from bestofk.lab.simulation import Simulation
from bestofk.lab.tables.case_table import Case, Row, fill, markdown
from bestofk.run.inputs import NESTED, REPEATED

LEARNERS = (2, 5, 10)
DECISIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "preference": {"family": "preference", "prefer": "listed"},
}
"""Options of `order`: nothing, or the paper's family with the preference as listed."""
FAMILIES = ("default", "preference")
TABLES, DATA_SETS = 2000, 400
SMOKE = (20, 4)

MEAN, SD, WORSE = 0.25, 0.03, 0.1
"""Of losses on many data sets: mean, standard deviation, and by how much some are truly worse."""
NUMBERS_OF_SETS = (6, 12, 30)
SHAPES: dict[str, dict[str, Any]] = {
    "normal": {},
    "lognormal": {"shape": "lognormal"},
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
PLANS = {"learners": (NESTED, ROWS[:2]), "learners in 10x10": (REPEATED, ROWS)}
"""Part of the table: the plan and the rows; the plan of `compare` by default first."""


def claims_cases(tables: int = TABLES, data_sets: int = DATA_SETS) -> list[Case]:
    """All cases, those that share their losses one after another."""
    learners = (case for part in PLANS for case in _learners(data_sets, part))
    return [*_many_data_sets(tables), *_folds(tables), *learners]


def _many_data_sets(tables: int) -> Iterator[Case]:
    for shape, settings in SHAPES.items():
        for null in ("all equal", "half are worse"):
            for n in NUMBERS_OF_SETS:
                for K in LEARNERS:
                    worse = K // 2 if null == "half are worse" else 0
                    # the preferred ones are worse, so that all families have much to find
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
    """What one case gives."""
    # where all are equal an interval misses when a claim is false: nothing new is seen there
    intervals = case.decision == "default" and "half are worse" in case.name
    found = false_claims(simulation=simulation, intervals=intervals, **DECISIONS[case.decision])
    rate = found.rate
    return {
        "learners": str(len(simulation.learners)),
        "decision": case.decision,
        "test": ", ".join(found.tests),
        "false": str(rate.count),
        "any false claim": f"{100 * rate.value:.2f}",
        "low": f"{100 * rate.low:.2f}",
        "high": f"{100 * rate.high:.2f}",
        "the wrong way round": f"{100 * found.reversed_rate.value:.2f}",
        "an interval misses": "" if found.missed is None else f"{100 * found.missed.value:.2f}",
        "differences found": "" if found.found is None else f"{100 * found.found:.1f}",
    }


def write_claims(
    out: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    smoke: bool = False,
    random_state: int = 0,
    n_jobs: int = 1,
    engine: str = "auto",
    scheduler: str | None = None,
    store: str | None = None,
    again: bool = False,
    say: Callable[[str], None] | None = None,
) -> list[Path]:
    """Measure what ``claims.csv`` lacks, and write ``claims.md`` from it.

    Parameters
    ----------
    out : path
        Directory; made where it is not there.
    pattern : str, optional
        Only cases whose names match, such as ``learners/gaussian/nn/*``.
    smoke : bool
        A few tables of every case only, to see that all of it runs.
    random_state, n_jobs, engine, scheduler, store
        See `simulate`; the store keeps the losses of learners, which no change of tests changes.
    again : bool
        Measure also what the table has already.
    say : callable, optional
        Is given a line on every case.
    """
    folder = Path(out)
    tables, data_sets = SMOKE if smoke else (TABLES, DATA_SETS)
    path = folder / "claims.csv"
    rows = fill(
        path, claims_cases(tables, data_sets), claims_row, pattern=pattern, seed=random_state,
        n_jobs=n_jobs, engine=engine, scheduler=scheduler, store=store, again=again, say=say,
    )  # fmt: skip
    text = folder / "claims.md"
    write_text(text, "\n".join(claims_page(rows, random_state)))
    return [path, text]


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
"""Parts of the table: title, what the parts of a case's name are, what was drawn."""
CHANCE = 0.001


def claims_page(rows: Sequence[Row], seed: int) -> list[str]:
    """The table for readers: one line per null hypothesis, one column per K and family."""
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
            found = {(row["decision"], row["learners"]): row for row in same}
            words = [cell.removeprefix(f"{what} ").removesuffix(f" {what}")
                     for what, cell in zip(about, name, strict=True)]  # fmt: skip
            cells.append([*words, *(_shown(found.get(column)) for column in columns)])
        lines += [*markdown([*about, *heads], cells, left=len(about)), ""]
    return [
        *lines,
        "Percent of decisions with at least one false claim; 5 are allowed. Bold: more than chance "
        f"would give a decision that keeps to 5 (one in {round(1 / CHANCE):,} or less). *default*: "
        '`bk.order(losses)`; *preference*: the same with `family="preference"` and the preference '
        "as listed. Exact intervals, the tests "
        "that were used, the share of true differences that were found and how often an interval "
        "misses one are in `claims.csv`. Made by `bestofk measure claims --table --seed "
        f"{seed}`.",
        "",
    ]


def _shown(row: Row | None) -> str:
    if row is None:
        return ""
    count, n = int(row["false"]), int(row["sets"])
    value = f"{100 * count / n:.1f}"
    return f"**{value}**" if count and at_least(count, n, 0.05) <= CHANCE else value


def at_least(count: int, n: int, rate: float) -> float:
    """The probability that `count` or more of `n` come out, each with probability `rate`."""
    from scipy.special import bdtrc

    return 1.0 if count == 0 else float(bdtrc(count - 1, n, rate))
