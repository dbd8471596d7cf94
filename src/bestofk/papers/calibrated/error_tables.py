"""Type I errors: Table 2 (class probabilities), Table 4 (levels) and Table 7 (learners)."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from bestofk.checks import Floats
from bestofk.lab.outcomes import outcomes
from bestofk.papers.account import Request
from bestofk.papers.calibrated.panel import (
    ALPHA,
    ALPHAS,
    PANEL,
    PRINTED_SETS,
    RUNS,
    SETS,
    DrawnPanel,
    draw,
    problem_of,
)
from bestofk.papers.calibrated.weka_learners import weka_losses
from bestofk.papers.comparison import ComparedNumbers, chance
from bestofk.papers.printed_figures import printed_table

CLASS_PROBABILITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
FIVE: dict[str, str | None] = {
    "C4.5": "c4.5", "nb": "naive-bayes", "nn": None, "tan": None, "vp": None,
}  # fmt: skip
"""The paper's learners; None: by rules of the Weka of the time, see `weka_learners`."""
OTHER_SEED = 1
"""Table 2 is measured on other data sets than those that the tests were calibrated on."""


def allowed(ours: Floats, printed: Floats, sets: int, rounding: Floats) -> Floats:
    """Two standard errors of the difference of two shares in percent, and rounding."""
    share = (ours * sets + printed * PRINTED_SETS) / (sets + PRINTED_SETS) / 100
    spread = 100 * np.sqrt(np.clip(share * (1 - share), 0, None))
    return chance(spread / np.sqrt(sets), spread / np.sqrt(PRINTED_SETS), rounding, width=2.0)


def rates(
    table: str, quantity: str, ours: Floats, sets: int, *, title: str, note: str = "",
    rows: tuple[str, ...] | None = None, corner: str = "test",
) -> ComparedNumbers:  # fmt: skip
    """Shares in percent next to the published ones."""
    printed = printed_table("calibrated", table, quantity)
    assert rows is None or rows == printed.rows
    return ComparedNumbers(
        table=f"Table {table}: {title}",
        rows=printed.rows,
        columns=printed.columns,
        ours=ours,
        printed=printed.values,
        allowed=allowed(ours, printed.values, sets, printed.rounding),
        digits=1,
        corner=corner,
        note=note,
    )


def second_table(request: Request, df: dict[str, float | None]) -> list[ComparedNumbers]:
    """Type I error over class probabilities, on data sets of its own."""
    columns = []
    for share in CLASS_PROBABILITIES:
        drawn = draw(
            problem_of(SETS[0], class_probability=share),
            request,
            seed=request.seed + OTHER_SEED,
            what=f"Table 2, class probability {share:g}",
        )
        columns.append([_percent(drawn, row, df) for row in df])
    ours = np.array(columns).T
    whole = rates("2", "type1", ours, request.runs or PRINTED_SETS,
                  title="Type I error in percent by class probability",
                  rows=tuple(df))  # fmt: skip
    return [whole, _columns(whole, 2, "Table 2, class probability .2 to .5")]


def fourth_table(
    calibrated_on: DrawnPanel, df: dict[str, float | None], sets: int
) -> ComparedNumbers:
    """Type I error at four levels, on the data sets that the tests were calibrated on."""
    rows = [
        100 * calibrated_on.rejected(test, df=df[test.row], alphas=ALPHAS).mean(axis=(0, 1))
        for test in PANEL
    ]
    return rates("4", "type1", np.array(rows), sets,
                 title="Type I error in percent by level, Set 1")  # fmt: skip


def seventh_table(request: Request, df: float | None) -> ComparedNumbers:
    """Type I error of use all data for pairs of five learners."""
    problem = problem_of(SETS[0])
    fitted = {name: spec for name, spec in FIVE.items() if spec is not None}
    drawn = draw(
        problem, request, seed=request.seed, what="Table 7, five learners", ways=("runs",),
        learners=fitted,
    ).by_way["runs"]  # fmt: skip
    request.say("Table 7: nn, tan and vp by the rules of the paper's software")
    theirs = weka_losses(problem, sets=drawn.sets, runs=RUNS, seed=request.seed)
    by_name = {name: drawn.losses[:, :, k] for k, name in enumerate(fitted)}
    for name, losses in theirs.items():
        by_name[name] = losses[:, np.newaxis, np.newaxis, :, :, np.newaxis]
    printed = printed_table("calibrated", "7", "type1")
    ours = np.full(printed.values.shape, np.nan)
    for first, second in combinations(FIVE, 2):
        pair = replace(
            drawn,
            losses=np.stack([by_name[first], by_name[second]], axis=2),
            learners=(first, second),
        )
        found = outcomes(pair, "use-all-data", df=df, alpha=ALPHA)
        ours[printed.rows.index(second), printed.columns.index(first)] = 100 * found.rejected.mean()
    return rates(
        "7", "type1", ours, drawn.sets, title="Type I error in percent of use all data, Set 1",
        corner="learner",
        note="nn, tan and vp as in the Weka of 2003: nn takes the first of tied rows, which a run "
        "shuffles; tan adds an arc to naive Bayes only where that raises the Bayesian score; vp "
        "shuffles its training rows. Our own nn, tan and voted-perceptron have other rules.",
    )  # fmt: skip


def _percent(drawn: DrawnPanel, row: str, df: dict[str, float | None]) -> float:
    test = next(test for test in PANEL if test.row == row)
    return float(100 * drawn.rejected(test, df=df[row]).mean())


def _columns(table: ComparedNumbers, first: int, name: str) -> ComparedNumbers:
    return replace(
        table,
        table=name,
        columns=table.columns[first:],
        ours=table.ours[:, first:],
        printed=table.printed[:, first:],
        allowed=table.allowed[:, first:],
    )
