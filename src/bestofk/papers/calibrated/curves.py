"""Fig. 2 (calibrated df and Type I error against runs) and Fig. 4 (power against runs)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestofk.checks import Floats
from bestofk.papers.account import Request
from bestofk.papers.calibrated.panel import (
    ALPHA,
    LEFT,
    PANEL,
    SETS,
    DrawnPanel,
    PanelTest,
    draw,
    problem_of,
)
from bestofk.papers.comparison import ComparedNumbers

STEPS = (5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
"""Numbers of runs."""
TALLEST = 20
"""Degrees of freedom that the figure shows."""


def long_draw(request: Request, one: str) -> DrawnPanel:
    """100 runs and 100 random splits of every data set."""
    return draw(
        problem_of(one), request, seed=request.seed, runs=STEPS[-1],
        what=f"Figs. 2 and 4, {one}, 100 runs",
    )  # fmt: skip


def second_figure(drawn: DrawnPanel) -> tuple[list[ComparedNumbers], dict[str, str], list[str]]:
    """Calibrated df and the Type I error there, for every test and number of runs."""
    tests = (*PANEL, *LEFT)
    df: Floats = np.full((len(tests), len(STEPS)), np.nan)
    error: Floats = np.full(df.shape, np.nan)
    for at, runs in enumerate(STEPS):
        fewer = drawn.first_runs(runs)
        for number, test in enumerate(tests):
            found = fewer.calibration(test)
            if found.df is not None:
                df[number, at] = found.df
                error[number, at] = 100 * (found.type1 or 0.0)
    tables = [
        _curve_table("Fig. 2, left: calibrated degrees of freedom by runs", tests, df, 0),
        _curve_table("Fig. 2, right: Type I error in percent by runs", tests, error, 1),
    ]
    never = [test.row for test, row in zip(tests, df, strict=True) if np.isnan(row).any()]
    low = [
        test.row
        for test, row in zip(tests, df, strict=True)
        if not np.isnan(row).any() and np.median(row) <= 4
    ]
    sentences = [
        "Without a df that keeps the level, at some number of runs: "
        + (", ".join(never) or "none") + "; with one of at most 4 (median): "
        + (", ".join(low) or "none")
        + ". The paper leaves out folds, runs, and both sorted runs averaged."
    ]  # fmt: skip
    # one test whose df grows with the runs would press all others to the ground
    shown = np.where(df <= TALLEST, df, np.nan)
    beyond = [test.row for test, row in zip(tests, df, strict=True) if (row > TALLEST).any()]
    note = f"Above {TALLEST} and not drawn at many runs: {', '.join(beyond)}." if beyond else ""
    figures = {
        "Fig. 2, left": _svg(
            tests, shown, shown, shown, y_name="calibrated degrees of freedom", note=note
        ),
    }
    return tables, figures, sentences


def fourth_figure(
    drawn_by_set: dict[str, DrawnPanel], calibrated_on: DrawnPanel
) -> tuple[list[ComparedNumbers], dict[str, str]]:
    """Type I error and power of the tests, calibrated at each number of runs."""
    from bestofk.intervals import clopper_pearson

    tables, figures = [], {}
    degrees = [
        {test.row: fewer.calibration(test).df for test in PANEL}
        for fewer in (calibrated_on.first_runs(runs) for runs in STEPS)
    ]
    for one in SETS:
        drawn = drawn_by_set[one]
        counts = np.zeros((len(PANEL), len(STEPS)), dtype=np.int64)
        for at, runs in enumerate(STEPS):
            fewer = drawn.first_runs(runs)
            for number, test in enumerate(PANEL):
                df = degrees[at][test.row]
                if df is not None:
                    counts[number, at] = int(fewer.rejected(test, df=float(df)).sum())
        n = drawn.by_way["runs"].sets
        band = clopper_pearson(counts, np.full(counts.shape, n))
        what = "Type I error" if one == SETS[0] else "power"
        tables.append(
            _curve_table(f"Fig. 4, {one}: {what} in percent by runs", PANEL, 100 * counts / n, 1)
        )
        figures[f"Fig. 4, {one}"] = _svg(
            PANEL, counts / n, np.asarray(band.low), np.asarray(band.high), y_name=what,
            nominal=ALPHA if one == SETS[0] else None,
        )  # fmt: skip
    return tables, figures


def _curve_table(
    title: str, tests: Sequence[PanelTest], ours: Floats, digits: int
) -> ComparedNumbers:
    nothing: Floats = np.full(ours.shape, np.nan)
    return ComparedNumbers(
        table=title,
        rows=tuple(test.row for test in tests),
        columns=tuple(str(runs) for runs in STEPS),
        ours=ours,
        printed=nothing,
        allowed=nothing,
        digits=digits,
        corner="test",
        note="The paper draws these curves and prints no figures of them.",
    )


def _svg(
    tests: Sequence[PanelTest], rate: Floats, low: Floats, high: Floats, *, y_name: str,
    nominal: float | None = None, note: str = "",
) -> str:  # fmt: skip
    from bestofk.report.figures.kinds.rate_curves import Rates, layout_rates
    from bestofk.report.figures.svg import svg

    curves = Rates(
        x=STEPS, rate=rate, low=low, high=high, names=[test.row for test in tests],
        x_name="runs", y_name=y_name, nominal=nominal, note=note,
    )  # fmt: skip
    return svg(layout_rates(curves).picture)
