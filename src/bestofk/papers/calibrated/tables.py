"""Tables 2 to 7 and Figs. 2 and 4 of the paper.

Type I errors are in Table 2 (class probabilities), Table 4 (levels) and Table 7 (learners).
Replicability is in Table 5 (four sets of problems) and Table 6 (levels).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from bestofk._base.checks import Floats
from bestofk.papers.calibrated.experiments import (
    ALPHA,
    ALPHAS,
    HALVES,
    LEARNERS,
    NOT_CALIBRATED,
    PANEL,
    PLANS,
    PRINTED_SETS,
    SETS,
    DrawnPanel,
    PanelTest,
    degrees,
    draw,
    problem_of,
)
from bestofk.papers.calibrated.weka_learners import weka_losses
from bestofk.papers.comparison import (
    ComparedTable,
    ReproductionResult,
    Request,
    beside,
    figure_variants,
    mean_limits,
    share_limits,
    unprinted,
)
from bestofk.papers.lab.measures import agreement_of
from bestofk.papers.lab.truth import estimate_truth, search_network
from bestofk.papers.printed_figures import printed_table

EXAMPLE: Floats = np.array([[3.0, -1.0, 4.0], [4.0, 1.0, -2.0], [0.0, 6.0, 3.0]])
"""Differences in accuracy of 3 runs of 3 folds, in percent, for Fig. 1."""
CLASS_PROBABILITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
FIVE = ("C4.5", "nb", "nn", "tan", "vp")
"""The paper's learners, the last three by the rules of Weka at the time (`weka_learners`)."""
SEED_OFFSET = 1
"""Table 2 uses other data sets than the calibration of the tests."""
REPEATS = 10
NETWORKS = 8
"""Networks to search for each difference."""
USE_ALL = next(test for test in PANEL if test.row == "use all data")
LEVEL = 0.0455
"""Probability that a cell lies outside its limits by chance: that of two standard errors."""
MAX_WIDTH = 25.0
"""Cells whose limits are farther apart than this, in percent, are not judged."""
STEPS = (5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
"""Numbers of runs in the figures."""
DRAWN = "The paper draws these curves and prints no figures of them."
ELSEWHERE = "Not in the paper, which refers to its technical report."
MAX_SHOWN_DF = 20
"""Largest degrees of freedom in Fig. 2."""


def rates(
    table: str, quantity: str, ours: Floats, sets: int, *, title: str, note: str = "",
    rows: tuple[str, ...] | None = None, corner: str = "test",
) -> ComparedTable:  # fmt: skip
    """Compare shares in percent with the published ones."""
    printed = printed_table("calibrated", table, quantity)
    assert rows is None or rows == printed.rows
    low, high = share_limits(
        printed.values, runs=sets, printed_runs=PRINTED_SETS, rounding=printed.rounding, level=LEVEL
    )
    return beside(
        printed,
        ours,
        (low, high),
        table=f"Table {table}: {title}",
        level=LEVEL,
        judged=high - low <= MAX_WIDTH,
        unjudged_because=f"{sets} data sets are too few",
        digits=1,
        corner=corner,
        note=note,
    )


def first_figure() -> list[ComparedTable]:
    """Show the cells of 3 x 3 cross-validation and the averages that the tests use."""
    tables = []
    for title, noun, cells in (
        ("as run", "fold", EXAMPLE), ("sorted within each run", "rank", np.sort(EXAMPLE, axis=1))
    ):  # fmt: skip
        wide = np.column_stack([cells, cells.mean(axis=1)])
        tables.append(unprinted(
            np.vstack([wide, wide.mean(axis=0)]),
            table=f"Fig. 1, {title}: difference in accuracy, percent",
            rows=("run 1", "run 2", "run 3", "mean over runs"),
            columns=(*(f"{noun} {k}" for k in (1, 2, 3)), "mean over folds"),
            note="Our example; the numbers of the paper's figure are not in its text.",
        ))  # fmt: skip
    return tables


def second_table(request: Request, df: dict[str, float | None]) -> ComparedTable:
    """Compare the Type I error over class probabilities, on new data sets."""
    columns = []
    for share in CLASS_PROBABILITIES:
        drawn = draw(
            problem_of(SETS[0], class_probability=share),
            request,
            seed=request.seed + SEED_OFFSET,
        )
        columns.append([_percent(drawn, row, df) for row in df])
    ours = np.array(columns).T
    title = "Type I error in percent by class probability"
    table = rates("2", "type1", ours, request.runs, title=title, rows=tuple(df))
    assert table.judged is not None
    return replace(
        table,
        judged=table.judged & (np.array(CLASS_PROBABILITIES) >= 0.2),
        unjudged_because="hardly any test rejects below .2, or the data sets are too few",
    )


def fourth_table(
    calibrated_on: DrawnPanel, df: dict[str, float | None], sets: int
) -> ComparedTable:
    """Compare the Type I error at four levels, on the data sets of the calibration."""
    rows = [
        100 * calibrated_on.rejected(test, df=df[test.row], alphas=ALPHAS).mean(axis=(0, 1))
        for test in PANEL
    ]
    return rates("4", "type1", np.array(rows), sets,
                 title="Type I error in percent by level, Set 1")  # fmt: skip


def seventh_tables(request: Request, df: dict[str, float | None]) -> list[ComparedTable]:
    """Compare the Type I error of use all data for pairs of five learners; add other tests."""
    drawn = _five_learners(request)
    # the tests of 10x10 folds first
    tests = sorted((*PANEL, HALVES), key=lambda test: (test != USE_ALL, test.splitting != "runs"))
    pairs = list(combinations(range(len(FIVE)), 2))
    shares = np.empty((len(tests), len(pairs)))
    for at, pair in enumerate(pairs):
        of_pair = drawn.take(pair)
        for number, test in enumerate(tests):
            shares[number, at] = 100 * of_pair.rejected(test, df=df.get(test.row)).mean()
    printed = printed_table("calibrated", "7", "type1")
    ours = np.full(printed.values.shape, np.nan)
    names = [(FIVE[first], FIVE[second]) for first, second in pairs]
    for (first, second), share in zip(names, shares[0], strict=True):
        ours[printed.rows.index(second), printed.columns.index(first)] = share
    differences = (shares[1:] - shares[0]).T
    return [
        rates(
            "7", "type1", ours, request.runs, title="Type I error in percent of use all data, "
            "Set 1", corner="learner",
            note="nn, tan and vp as in the Weka of 2003: nn takes the first of tied rows, which a "
            "run shuffles; tan adds an arc to naive Bayes only where that raises the Bayesian "
            "score; vp shuffles its training rows. Our own nn, tan and voted-perceptron have other "
            "rules.",
        ),
        unprinted(
            np.vstack([differences, np.abs(differences).max(axis=0)]),
            table="Table 7, other tests: Type I error in percent minus that of use all data",
            rows=(*(f"{first}, {second}" for first, second in names), "farthest"),
            columns=tuple(test.row for test in tests[1:]),
            digits=1,
            corner="learners",
            note="Section 5.5 prints no numbers. It says that the other tests based on 10x10 folds "
            "(the first five columns) differ by less than 1 %. The last four have other splits.",
        ),
    ]  # fmt: skip


def _five_learners(request: Request) -> DrawnPanel:
    """Return the losses of the learners of Table 7 on Set 1, for each kind of splits."""
    problem = problem_of(SETS[0])
    drawn = draw(
        problem, request, seed=request.seed, splittings=tuple(PLANS), learners=LEARNERS[::-1]
    )
    simulations = {}
    for splitting, simulation in drawn.by_splitting.items():
        if splitting == "first run":
            continue
        added = weka_losses(
            problem, sets=simulation.sets, splitting=simulation.plan, seed=request.seed
        )
        if splitting == "splits":
            added = added[:, :, 0][:, np.newaxis]
        by_learner = np.moveaxis(added, -1, 1)[:, np.newaxis, :, np.newaxis, ..., np.newaxis]
        losses = np.concatenate([simulation.losses, by_learner], axis=2)
        simulations[splitting] = replace(simulation, losses=losses, learners=FIVE)
    simulations["first run"] = simulations["runs"].first_runs(1)
    return DrawnPanel(by_splitting=simulations)


def _percent(drawn: DrawnPanel, row: str, df: dict[str, float | None]) -> float:
    test = next(test for test in PANEL if test.row == row)
    return float(100 * drawn.rejected(test, df=df[row]).mean())


def replicability_tables(
    request: Request, df: dict[str, float | None], names: tuple[str, ...]
) -> list[ComparedTable]:
    """Compare how often ten choices of splits of a data set all agree."""
    tests = {test.row: test for test in (*PANEL, HALVES)}
    shares = np.empty((len(SETS), len(tests), len(ALPHAS)))
    for at, set_name in enumerate(SETS):
        drawn = draw(
            problem_of(set_name), request, seed=request.seed, repeats=REPEATS,
            splittings=("runs", "splits", "halves"),
        )  # fmt: skip
        for number, test in enumerate(tests.values()):
            shares[at, number] = _all_agree(drawn, test, df.get(test.row))
    sets = request.runs
    listed = list(tests)

    def of(table: str) -> Floats:
        rows = printed_table("calibrated", table, "replicability").rows
        return shares[:, [listed.index(row) for row in rows]]

    tables = []
    if "5" in names:
        at_five = of("5")[..., ALPHAS.index(0.05)].T
        ours = np.column_stack([at_five, at_five.min(axis=1)])
        tables.append(rates(
            "5", "replicability", ours, sets, title="replicability in percent",
            note="Sets 2 to 4 come from networks with the printed accuracies, because the "
            "paper does not print its networks; see the table of the spread.",
        ))  # fmt: skip
    if "6" in names:
        title = "least replicability over the four sets by level"
        tables.append(rates("6", "replicability", of("6").min(axis=0), sets, title=title))
    return tables


def _all_agree(drawn: DrawnPanel, test: PanelTest, df: float | None) -> list[float]:
    """Return how often all choices of splits agree, in percent by level."""
    rejected = drawn.rejected(test, df=df, alphas=ALPHAS)
    # the paper counts rejections in favour of either learner
    return [
        100 * agreement_of(rejected[:, :, at].astype(np.int64))["rate"] for at in range(len(ALPHAS))
    ]


def third_table(request: Request) -> ComparedTable:
    """Compare the accuracies of both learners after training on 300 rows."""
    printed = printed_table("calibrated", "3", "accuracy")
    ours: Floats = np.empty(printed.values.shape)
    error: Floats = np.zeros(printed.values.shape)
    for at, set_name in enumerate(SETS):
        truth = estimate_truth(
            LEARNERS, problem_of(set_name), n_train=300, training_sets=request.runs,
            random_state=request.seed,
        )  # fmt: skip
        bayes, tree = (100 - 100 * mean for mean in truth.means[:2])
        ours[:, at] = bayes, tree, tree - bayes
        error[:, at] = 100 * truth.error
    sets = request.runs
    # the print used one test set of 10,000 rows: a standard error of half a point at most
    limits = mean_limits(
        printed.values, np.hypot(error, 0.3) * np.sqrt(sets), runs=sets, printed_runs=10**9,
        rounding=printed.rounding, level=LEVEL,
    )  # fmt: skip
    return beside(
        printed,
        ours,
        limits,
        table="Table 3: accuracies in percent",
        level=LEVEL,
        unjudged_because=f"{sets} data sets are too few",
        corner="learner",
        note="The paper does not print its networks; ours were searched for until the accuracies "
        "came near.",
        by_construction="our networks were searched for until they had its accuracies",
    )


def spread_table(request: Request, df: float | None) -> ComparedTable:
    """Show power and replicability of use all data over networks with the same difference."""
    printed = printed_table("calibrated", "3", "accuracy")
    rows, ours = [], []
    for at, set_name in enumerate(SETS[1:], 1):
        difference = float(printed.values[2, at]) / 100
        figures = []
        for number in range(NETWORKS):
            problem = search_network(
                LEARNERS, difference=difference, tolerance=0.004,
                random_state=request.seed + 100 * at + number, tries=2000,
            )  # fmt: skip
            drawn = draw(
                problem, request, seed=request.seed, repeats=REPEATS, splittings=("runs",)
            )  # fmt: skip
            rejected = drawn.rejected(USE_ALL, df=df, alphas=(ALPHA,))[:, :, 0]
            agree = agreement_of(rejected.astype(np.int64))
            figures.append((100 * rejected.mean(), 100 * agree["rate"]))
        power, all_ten = np.array(figures).T
        rows.append(f"{set_name} ({100 * difference:.2f} points)")
        ours.append([power.min(), np.median(power), power.max(),
                     all_ten.min(), np.median(all_ten), all_ten.max()])  # fmt: skip
    return unprinted(
        np.array(ours),
        table=f"Spread over {NETWORKS} networks with the printed difference, use all data",
        rows=tuple(rows),
        columns=("power, least", "median", "largest", "all ten agree, least", "median ",
                 "largest "),
        digits=1,
        corner="set",
        note="Ten choices of splits, as in Table 5. The same difference of accuracies gives very "
        "different power: a single network tells little.",
    )  # fmt: skip


def level_tables(
    request: Request, calibrated_on: DrawnPanel, df: dict[str, float | None]
) -> list[ComparedTable]:
    """Show calibrated df by level, and power by level on Sets 2 to 4 with the df of 5 %.

    The paper refers to its technical report for both.
    """
    columns = tuple(f"{100 * alpha:g} %" for alpha in ALPHAS)
    calibrated = [
        [calibrated_on.calibration(test, alpha).df or np.nan for alpha in ALPHAS] for test in PANEL
    ]
    title = "Calibrated df by level, Set 1, 10 runs"
    tables = [_by_test(title, PANEL, np.array(calibrated), columns, ELSEWHERE)]
    for set_name in SETS[1:]:
        drawn = draw(problem_of(set_name), request, seed=request.seed)
        power = [
            100 * drawn.rejected(test, df=df[test.row], alphas=ALPHAS).mean(axis=(0, 1))
            for test in PANEL
        ]
        title = f"Power in percent by level, {set_name}"
        tables.append(_by_test(title, PANEL, np.array(power), columns, ELSEWHERE, 1))
    return tables


def long_draw(request: Request, set_name: str) -> DrawnPanel:
    """Simulate 100 runs and 100 random splits of every data set."""
    return draw(problem_of(set_name), request, seed=request.seed, runs=STEPS[-1])


def second_figure(
    drawn: DrawnPanel,
) -> tuple[list[ComparedTable], dict[str, tuple[str, ...]], list[str]]:
    """Show calibrated df and the Type I error there, for every test and number of runs."""
    tests = (*PANEL, *NOT_CALIBRATED)
    df: Floats = np.full((len(tests), len(STEPS)), np.nan)
    error: Floats = np.full(df.shape, np.nan)
    for at, runs in enumerate(STEPS):
        fewer = drawn.first_runs(runs)
        for number, test in enumerate(tests):
            calibration = fewer.calibration(test)
            if calibration.df is not None:
                df[number, at] = calibration.df
                error[number, at] = 100 * (calibration.type1 or 0.0)
    tables = [
        _by_test("Fig. 2, left: calibrated degrees of freedom by runs", tests, df, STEPS, DRAWN),
        _by_test("Fig. 2, right: Type I error in percent by runs", tests, error, STEPS, DRAWN, 1),
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
    # one test whose df grows with the runs would flatten all others
    shown = np.where(df <= MAX_SHOWN_DF, df, np.nan)
    beyond = [test.row for test, row in zip(tests, df, strict=True) if (row > MAX_SHOWN_DF).any()]
    note = f"Above {MAX_SHOWN_DF} and not drawn at many runs: {', '.join(beyond)}." * bool(beyond)
    figures = {
        "Fig. 2, left": _drawn(
            tests, shown, shown, shown, y_name="calibrated degrees of freedom", note=note
        ),
        "Fig. 2, right": _drawn(
            tests, error / 100, error / 100, error / 100, y_name="Type I error", nominal=ALPHA
        ),
    }
    return tables, figures, sentences


def fourth_figure(
    drawn_by_set: dict[str, DrawnPanel],
) -> tuple[list[ComparedTable], dict[str, tuple[str, ...]]]:
    """Show Type I error and power of the tests, calibrated at each number of runs."""
    from bestofk.stats.intervals import clopper_pearson

    tables, figures = [], {}
    degrees = [
        {test.row: fewer.calibration(test).df for test in PANEL}
        for fewer in (drawn_by_set[SETS[0]].first_runs(runs) for runs in STEPS)
    ]
    for set_name in SETS:
        drawn = drawn_by_set[set_name]
        counts = np.zeros((len(PANEL), len(STEPS)), dtype=np.int64)
        for at, runs in enumerate(STEPS):
            fewer = drawn.first_runs(runs)
            for number, test in enumerate(PANEL):
                df = degrees[at][test.row]
                if df is not None:
                    counts[number, at] = int(fewer.rejected(test, df=float(df)).sum())
        n = drawn.by_splitting["runs"].sets
        band = clopper_pearson(counts, np.full(counts.shape, n))
        rate = "Type I error" if set_name == SETS[0] else "power"
        title = f"Fig. 4, {set_name}"
        tables.append(
            _by_test(
                f"{title}: {rate} in percent by runs", PANEL, 100 * counts / n, STEPS, DRAWN, 1
            )
        )
        figures[title] = _drawn(
            PANEL, counts / n, np.asarray(band.low), np.asarray(band.high), y_name=rate,
            nominal=ALPHA if set_name == SETS[0] else None,
        )  # fmt: skip
    return tables, figures


def _by_test(
    title: str, tests: Sequence[PanelTest], ours: Floats, columns: Sequence[object], note: str,
    digits: int = 0,
) -> ComparedTable:  # fmt: skip
    """Show numbers of tests that the paper does not print."""
    return unprinted(
        ours,
        table=title,
        rows=tuple(test.row for test in tests),
        columns=tuple(map(str, columns)),
        digits=digits,
        corner="test",
        note=note,
    )


def _drawn(
    tests: Sequence[PanelTest], rate: Floats, low: Floats, high: Floats, *, y_name: str,
    nominal: float | None = None, note: str = "",
) -> tuple[str, ...]:  # fmt: skip
    from bestofk.papers.figures.rate_curves import Rates, layout_rates

    curves = Rates(
        x=STEPS, rate=rate, low=low, high=high, names=[test.row for test in tests],
        x_name="runs", y_name=y_name, nominal=nominal, note=note,
    )  # fmt: skip
    return figure_variants(lambda paper: layout_rates(curves, paper=paper))


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
