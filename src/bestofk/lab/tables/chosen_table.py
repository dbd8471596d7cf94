"""The published table of what is recommended: procedures against learners of known losses."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bestofk._base.atomic_write import write_text
from bestofk.lab.claims import worst_chosen
from bestofk.lab.problems.drawn_losses import ManyDataSets
from bestofk.lab.simulation import Simulation
from bestofk.lab.tables.case_table import Case, Row, fill, markdown

MARGIN = 0.02
TABLES, SMOKE = 2000, 20
NUMBERS_OF_SETS = (12, 30)
LEARNERS_GIVEN: dict[str, dict[str, Any]] = {
    "the second is the worst and noisy": {
        "means": (0.27, 0.40, 0.25),
        "sds": (0.01, 0.25, 0.01),
    },
    "the second is noisy, not much worse": {
        "means": (0.27, 0.30, 0.25),
        "sds": (0.01, 0.10, 0.01),
    },
    "all equal": {"means": (0.25,) * 5, "sds": 0.02},
    "the first is 0.01 worse": {"means": (0.26, 0.25, 0.25, 0.25, 0.25), "sds": 0.01},
    "the first is 0.03 worse": {"means": (0.28, 0.255, 0.25, 0.25, 0.25), "sds": 0.01},
    "the first is 0.03 worse, noise": {"means": (0.28, 0.255, 0.25, 0.25, 0.25), "sds": 0.03},
    "only the last is good, noise": {"means": (0.29, 0.29, 0.28, 0.28, 0.25), "sds": 0.03},
}
"""Expected losses, most preferred first, and standard deviations on a data set."""
DECISIONS: dict[str, dict[str, Any]] = {
    "smallest mean": {},
    "MultiTest": {"prefer": "listed"},
    "MultiTest as published": {"prefer": "listed", "family": "preference", "guard": False},
    "cheapest adequate": {
        "prefer": "listed",
        "procedure": "cheapest-adequate",
        "margin": MARGIN,
    },
}
"""Options of `order`."""
RATES = ("worst", "beyond", "cheapest", "best", "nothing")


def chosen_cases(tables: int = TABLES) -> list[Case]:
    """All cases, those that share their losses one after another."""
    return [
        Case(
            name=f"{given}/{n} data sets/{decision}",
            problem=ManyDataSets(datasets=n, **settings),
            sets=tables,
            decision=decision,
            by=MARGIN,
            within=MARGIN / 2,
        )
        for given, settings in LEARNERS_GIVEN.items()
        for n in NUMBERS_OF_SETS
        for decision in DECISIONS
    ]


def chosen_row(case: Case, simulation: Simulation) -> Row:
    """What one case gives."""
    options = dict(DECISIONS[case.decision])
    if "prefer" in options:
        options["prefer"] = list(simulation.learners)
    found = worst_chosen(simulation=simulation, by=case.by, within=case.within, **options)
    row = {"decision": case.decision, "test": ", ".join(found.tests)}
    for name in RATES:
        rate = getattr(found, name)
        row[name] = f"{100 * rate.value:.2f}"
        row[f"{name} low"], row[f"{name} high"] = f"{100 * rate.low:.2f}", f"{100 * rate.high:.2f}"
    row["regret"] = f"{found.regret:.5f}"
    return row


def write_chosen(
    out: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    smoke: bool = False,
    random_state: int = 0,
    n_jobs: int = 1,
    engine: str = "auto",
    scheduler: str | None = None,
    again: bool = False,
    say: Callable[[str], None] | None = None,
) -> list[Path]:
    """Measure what ``chosen.csv`` lacks, and write ``chosen.md`` from it.

    Parameters
    ----------
    out, pattern, smoke, random_state, n_jobs, engine, scheduler, again, say
        As for `bestofk.lab.tables.claims_table.write_claims`.
    """
    folder = Path(out)
    path, text = folder / "chosen.csv", folder / "chosen.md"
    rows = fill(
        path, chosen_cases(SMOKE if smoke else TABLES), chosen_row, pattern=pattern,
        seed=random_state, n_jobs=n_jobs, engine=engine, scheduler=scheduler, again=again, say=say,
    )  # fmt: skip
    write_text(text, "\n".join(chosen_page(rows, random_state)))
    return [path, text]


def chosen_page(rows: Sequence[Row], seed: int) -> list[str]:
    """The table for readers: one line per truth, number of data sets and decision."""
    cells = []
    for row in rows:
        truth, n, decision = row["case"].split("/")
        rates = [f"{float(row[name]):.1f}" for name in RATES]
        regret = f"{1000 * float(row['regret']):.1f}"
        cells.append([truth, n.removesuffix(" data sets"), decision, *rates, regret])
    columns = ["truth", "data sets", "decision", "the worst", f"worse by more than {MARGIN:g}",
               f"first within {MARGIN / 2:g}", "the best", "none", "regret"]  # fmt: skip
    counts = sorted({int(row["sets"]) for row in rows})
    return [
        *markdown(columns, cells, left=3),
        "",
        f"Percent of {' or '.join(f'{count:,}' for count in counts)} tables on which the "
        "recommended learner is the truly worst; is worse than the truly best by more than "
        f"{MARGIN:g}; is the most preferred of those within {MARGIN / 2:g} of the best; is the "
        "best. None: no learner is recommended. Regret: how much larger the expected loss of the "
        "recommended one is than the smallest, on average, in thousandths. The margin of *cheapest "
        f"adequate* is {MARGIN:g}. Intervals are in "
        f"`chosen.csv`. Made by `bestofk measure chosen --table --seed {seed}`.",
        "",
    ]
