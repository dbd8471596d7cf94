"""Reproduce the tables and figures of Bouckaert 2003."""

from __future__ import annotations

from dataclasses import replace

from bestofk.papers.calibrated.averaging import first_figure
from bestofk.papers.calibrated.experiments import SETS, degrees, draw, problem_of
from bestofk.papers.calibrated.tables import (
    fourth_figure,
    fourth_table,
    level_tables,
    long_draw,
    replicability_tables,
    second_figure,
    second_table,
    seventh_table,
    spread_table,
    third_table,
)
from bestofk.papers.comparison import ComparedNumbers, ReproductionResult, Request

TITLE = "Choosing between two learning algorithms based on calibrated tests (Bouckaert 2003)"
NOT_BY_DEFAULT = ("levels", "spread")


def reproduce(request: Request) -> ReproductionResult:
    """Reproduce tables and figures; a run is a data set of each problem."""
    from bestofk.papers.registry import REPRODUCTIONS

    entry = REPRODUCTIONS["calibrated"]
    request = replace(request, runs=request.runs or entry.default_runs)
    variant = request.variant or entry.variants[0][0]
    names = request.tables or tuple(t for t in entry.tables if t not in NOT_BY_DEFAULT)
    sets = request.runs or entry.default_runs
    tables, figures = first_figure() if "fig1" in names else ([], {})
    if names == ("fig1",):
        return ReproductionResult(
            title=TITLE, paper=entry.paper, tables=tuple(tables), figures=figures
        )
    calibrated_on = draw(problem_of(SETS[0]), request, seed=request.seed, what="Set 1")
    df = degrees(calibrated_on, variant)
    df_texts = ", ".join(f"{row} {'none' if d is None else f'{d:g}'}" for row, d in df.items())
    sentences = [
        f"{sets} data sets of each problem, seed {request.seed}. Degrees of freedom calibrated on "
        f"Set 1, 10 runs, level 5 %: {df_texts}.",
    ]
    if variant == "inferred":
        sentences.append(f"Variant {variant!r}: {dict(entry.variants)[variant]}.")
    if "fig2" in names or "fig4" in names:
        figure_tables, images, figure_sentences = _figures(request, names)
        tables += figure_tables
        figures |= images
        sentences += figure_sentences
    if "2" in names:
        tables += second_table(request, df)
    if "3" in names:
        tables.append(third_table(request))
    if "4" in names:
        tables.append(fourth_table(calibrated_on, df, sets))
    if "5" in names or "6" in names:
        tables += replicability_tables(request, df, names)
    if "7" in names:
        tables.append(seventh_table(request, df["use all data"]))
    if "levels" in names:
        tables += level_tables(request, calibrated_on, df)
    if "spread" in names:
        tables.append(spread_table(request, df["use all data"]))
    return ReproductionResult(
        title=TITLE, paper=entry.paper, tables=tuple(tables), sentences=tuple(sentences),
        details={"df": df}, figures=figures, explained=entry.explained,
    )  # fmt: skip


def _figures(
    request: Request, names: tuple[str, ...]
) -> tuple[list[ComparedNumbers], dict[str, tuple[str, ...]], list[str]]:
    first = long_draw(request, SETS[0])
    tables: list[ComparedNumbers] = []
    figures: dict[str, tuple[str, ...]] = {}
    sentences: list[str] = []
    if "fig2" in names:
        tables, figures, sentences = second_figure(first)
    if "fig4" in names:
        others = {name: long_draw(request, name) for name in SETS[1:]}
        curve_tables, images = fourth_figure({SETS[0]: first, **others}, first)
        tables += curve_tables
        figures |= images
    return tables, figures, sentences
