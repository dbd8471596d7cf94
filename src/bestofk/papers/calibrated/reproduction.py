"""Reproduce the tables and figures of Bouckaert 2003."""

from __future__ import annotations

from bestofk.papers.calibrated.experiments import SETS, degrees, draw, problem_of
from bestofk.papers.calibrated.tables import (
    first_figure,
    fourth_figure,
    fourth_table,
    level_tables,
    long_draw,
    replicability_tables,
    second_figure,
    second_table,
    seventh_tables,
    spread_table,
    third_table,
)
from bestofk.papers.comparison import ReproductionResult, Request

TABLES = ("fig1", "fig2", "fig4", "2", "3", "4", "5", "6", "7")
"""The tables that run unless others are named."""


def reproduce(request: Request) -> ReproductionResult:
    """Reproduce tables and figures; a run is a data set of each problem."""
    result = ReproductionResult()
    names = request.tables or TABLES
    if "fig1" in names:
        result.add(first_figure())
    if names == ("fig1",):
        return result
    calibrated_on = draw(problem_of(SETS[0]), request, seed=request.seed)
    df = degrees(calibrated_on, request.variant)
    df_texts = ", ".join(f"{row} {'none' if d is None else f'{d:g}'}" for row, d in df.items())
    result.details["df"] = df
    result.add(sentences=[
        f"{request.runs} data sets of each problem, seed {request.seed}. Degrees of freedom "
        f"calibrated on Set 1, 10 runs, level 5 %: {df_texts}."
    ])  # fmt: skip
    long = {}
    if "fig2" in names or "fig4" in names:
        sets = SETS if "fig4" in names else SETS[:1]
        long = {name: long_draw(request, name) for name in sets}
    if "fig2" in names:
        result.add(*second_figure(long[SETS[0]]))
    if "fig4" in names:
        result.add(*fourth_figure(long))
    if "2" in names:
        result.add([second_table(request, df)])
    if "3" in names:
        result.add([third_table(request)])
    if "4" in names:
        result.add([fourth_table(calibrated_on, df, request.runs)])
    if "5" in names or "6" in names:
        result.add(replicability_tables(request, df, names))
    if "7" in names:
        result.add(seventh_tables(request, df))
    if "levels" in names:
        result.add(level_tables(request, calibrated_on, df))
    if "spread" in names:
        result.add([spread_table(request, df["use all data"])])
    return result
