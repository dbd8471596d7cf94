"""Replicability: Table 5 (four sets of problems) and Table 6 (levels)."""

from __future__ import annotations

import numpy as np

from bestofk.lab.replicability import agreement_of
from bestofk.papers.account import Request
from bestofk.papers.calibrated.error_tables import rates
from bestofk.papers.calibrated.panel import (
    ALPHAS,
    HALVES,
    PANEL,
    SETS,
    DrawnPanel,
    PanelTest,
    draw,
    problem_of,
)
from bestofk.papers.comparison import ComparedNumbers
from bestofk.papers.printed_figures import printed_table

REPEATS = 10


def replicability_tables(
    request: Request, df: dict[str, float | None], wanted: tuple[str, ...]
) -> list[ComparedNumbers]:
    """Ten choices of splits of every data set: how often all ten agree."""
    tests = {test.row: test for test in (*PANEL, HALVES)}
    shares = np.empty((len(SETS), len(tests), len(ALPHAS)))
    for at, one in enumerate(SETS):
        drawn = draw(
            problem_of(one), request, seed=request.seed, repeats=REPEATS,
            what=f"Tables 5 and 6, {one}, ten choices of splits",
            ways=("runs", "splits", "halves"),
        )  # fmt: skip
        for number, test in enumerate(tests.values()):
            shares[at, number] = _all_agree(drawn, test, df.get(test.row))
    sets = request.runs or 1
    found = []
    if "5" in wanted:
        rows = printed_table("calibrated", "5", "replicability").rows
        places = [list(tests).index(row) for row in rows]
        at_five = shares[:, places, ALPHAS.index(0.05)].T
        ours = np.column_stack([at_five, at_five.min(axis=1)])
        found.append(
            rates(
                "5",
                "replicability",
                ours,
                sets,
                title="replicability in percent",
                note="Sets 2 to 4 come from networks that have the printed accuracies, not from "
                "the paper's own, which it does not print; see the table of the spread.",
            )
        )
    if "6" in wanted:
        rows = printed_table("calibrated", "6", "replicability").rows
        places = [list(tests).index(row) for row in rows]
        found.append(
            rates(
                "6",
                "replicability",
                shares[:, places].min(axis=0),
                sets,
                title="least replicability over the four sets by level",
            )
        )
    return found


def _all_agree(drawn: DrawnPanel, test: PanelTest, df: float | None) -> list[float]:
    """In percent, by level."""
    rejected = drawn.rejected(test, df=df, alphas=ALPHAS)
    # the paper counts rejections, whichever learner they favour
    return [
        100 * agreement_of(rejected[:, :, at].astype(np.int64)).all_agree.value
        for at in range(len(ALPHAS))
    ]
