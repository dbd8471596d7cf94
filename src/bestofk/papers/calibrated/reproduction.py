"""``bestofk reproduce calibrated``."""

from __future__ import annotations

from dataclasses import replace

from bestofk.papers.calibrated.experiments import SETS, degrees, draw, problem_of
from bestofk.papers.calibrated.tables import (
    fourth_figure,
    fourth_table,
    long_draw,
    replicability_tables,
    second_figure,
    second_table,
    seventh_table,
    spread_table,
    third_table,
)
from bestofk.papers.comparison import Account, ComparedNumbers, Request

TITLE = "Choosing between two learning algorithms based on calibrated tests (Bouckaert 2003)"
NOT_BY_DEFAULT = ("spread",)


def reproduce(request: Request) -> Account:
    """Obtain tables and figures again; a run is a data set of each problem."""
    from bestofk.papers.registry import REPRODUCTIONS

    entry = REPRODUCTIONS["calibrated"]
    request = replace(request, runs=request.runs or entry.default_runs)
    variant = request.variant or entry.variants[0][0]
    wanted = request.tables or tuple(t for t in entry.tables if t not in NOT_BY_DEFAULT)
    sets = request.runs or entry.default_runs
    calibrated_on = draw(problem_of(SETS[0]), request, seed=request.seed, what="Set 1")
    df = degrees(calibrated_on, variant)
    words = ", ".join(f"{row} {'none' if d is None else f'{d:g}'}" for row, d in df.items())
    sentences = [
        f"{sets} data sets of each problem, seed {request.seed}. Degrees of freedom calibrated on "
        f"Set 1, 10 runs, level 5 %: {words}.",
    ]
    if variant == "inferred":
        sentences.append(f"Variant {variant!r}: {dict(entry.variants)[variant]}.")
    tables: list[ComparedNumbers] = []
    figures: dict[str, str] = {}
    if "fig2" in wanted or "fig4" in wanted:
        found, drawn, said = _figures(request, wanted)
        tables += found
        figures |= drawn
        sentences += said
    if "2" in wanted:
        tables += second_table(request, df)
    if "3" in wanted:
        tables.append(third_table(request))
    if "4" in wanted:
        tables.append(fourth_table(calibrated_on, df, sets))
    if "5" in wanted or "6" in wanted:
        tables += replicability_tables(request, df, wanted)
    if "7" in wanted:
        tables.append(seventh_table(request, df["use all data"]))
    if "spread" in wanted:
        tables.append(spread_table(request, df["use all data"]))
    return Account(
        title=TITLE, paper=entry.paper, tables=tuple(tables), sentences=tuple(sentences),
        details={"df": df}, figures=figures,
    )  # fmt: skip


def _figures(
    request: Request, wanted: tuple[str, ...]
) -> tuple[list[ComparedNumbers], dict[str, str], list[str]]:
    first = long_draw(request, SETS[0])
    tables: list[ComparedNumbers] = []
    figures: dict[str, str] = {}
    sentences: list[str] = []
    if "fig2" in wanted:
        found, drawn, sentences = second_figure(first)
        tables += found
        figures |= drawn
    if "fig4" in wanted:
        others = {one: long_draw(request, one) for one in SETS[1:]}
        found, drawn = fourth_figure({SETS[0]: first, **others}, first)
        tables += found
        figures |= drawn
    return tables, figures, sentences
