"""Measure which learner each procedure recommends, for learners of known losses.

python studies/chosen_table.py --seed 0            write docs/measured/chosen.csv and chosen.md
python studies/chosen_table.py --smoke --case 'all equal/*' --out FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from bestofk.lab.claims import worst_chosen
from bestofk.lab.problems.drawn_losses import ManyDataSets
from bestofk.lab.simulation import Simulation
from case_table import Case, Row, main, markdown

MARGIN = 0.02
TABLES, SMOKE = 2000, 20
NUMBERS_OF_SETS = (12, 30)
TRUE_LOSSES: dict[str, dict[str, Any]] = {
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
"""Expected losses, most preferred learner first, and their standard deviations."""
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
"""Options of `order`; the test is Wilcoxon's."""
RATES = ("worst", "beyond", "cheapest", "best", "nothing")


def chosen_cases(smoke: bool = False) -> list[Case]:
    """Return all cases; cases that share a simulation follow each other."""
    return [
        Case(
            name=f"{truth}/{n} data sets/{decision}",
            problem=ManyDataSets(datasets=n, **settings),
            sets=SMOKE if smoke else TABLES,
            decision=decision,
            by=MARGIN,
            within=MARGIN / 2,
        )
        for truth, settings in TRUE_LOSSES.items()
        for n in NUMBERS_OF_SETS
        for decision in DECISIONS
    ]


def chosen_row(case: Case, simulation: Simulation) -> Row:
    """Return the row of a case."""
    options = {"test": "wilcoxon", **DECISIONS[case.decision]}
    if "prefer" in options:
        options["prefer"] = list(simulation.learners)
    result = worst_chosen(simulation=simulation, by=case.by, within=case.within, **options)
    row = {"decision": case.decision, "test": ", ".join(result.tests)}
    for name in RATES:
        rate = getattr(result, name)
        row[name] = f"{100 * rate.value:.2f}"
        row[f"{name} low"], row[f"{name} high"] = f"{100 * rate.low:.2f}", f"{100 * rate.high:.2f}"
    row["regret"] = f"{result.regret:.5f}"
    return row


def chosen_page(rows: Sequence[Row], seed: int) -> list[str]:
    """Return the lines of the page: one row per truth, number of data sets and decision."""
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
        f"`chosen.csv`. Made by `python studies/chosen_table.py --seed {seed}`.",
        "",
    ]


if __name__ == "__main__":
    main(sys.argv[1:], "chosen", chosen_cases, chosen_row, chosen_page)
