"""Tables 1 to 8 and the true Type I error, next to the published values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted
from bestofk.losses.losses import Scores
from bestofk.papers import stats as paper_tests
from bestofk.papers.comparison import (
    ComparedTable,
    ReproductionResult,
    Request,
    beside,
    figure_variants,
    mean_limits,
    rounding_limits,
    share_limits,
    unprinted,
)
from bestofk.papers.figures.rate_curves import Rates, layout_rates
from bestofk.papers.figures.repetition_points import layout_repetitions
from bestofk.papers.intervals.experiments import (
    COUNTINGS,
    DETAIL,
    DETERMINISTIC,
    FIRST,
    FOLDS,
    KEEL_DATASETS,
    LEARNERS,
    OUTCOMES,
    READINGS,
    REPETITIONS,
    SECOND,
    SIMULATIONS,
    STEPS,
    Scalar,
    Verdicts,
    measured,
    outlier_pieces,
    printed_problem,
    range_multiple,
    range_pairs,
    scalar_multiple,
    scalar_pairs,
    scalar_pieces,
    tally,
)
from bestofk.papers.printed_figures import printed_figures, printed_table
from bestofk.papers.stats.interval_bootstrap import repetition_intervals
from bestofk.papers.stats.interval_tests import interval_test
from bestofk.stats import multiple, pairwise
from bestofk.stats.adjust import adjust
from bestofk.stats.intervals import clopper_pearson

NAMES = tuple(f"A{k + 1}" for k in range(5))
PAIR_NAMES = tuple(f"{NAMES[i]} vs {NAMES[j]}" for i, j in zip(FIRST, SECOND, strict=True))
MAX_WIDTH = 0.5
"""Cells whose limits are farther apart than this share are not judged."""
MIN_DRAWS = 5
"""With fewer draws, the spread between draws is hardly known."""
ENOUGH_DRAWS = 10
"""With this many draws, more draws hardly change the limits: the print is one draw."""
_EXCHANGED = {"t": "Wilcoxon", "Wilcoxon": "t"}
TESTS = {"2": ("t", "Wilcoxon", "Bootstrap-A"), "4": ("t", "Wilcoxon", "Bootstrap-B")}
"""The tests of pairs in Tables 2 and 4."""
MEDIANS = ", on medians"
ALPHA = 0.05
QUANTITIES = {"AUC": "balanced error", "error": "error"}
"""The paper's measures and their names in the tables."""
LEVEL = 0.0455
"""Probability that a cell of Table 6 lies outside its limits by chance."""
INTERVAL = "central"
"""10 % of the mass; around a median of few repetitions the radius of that share would be 0."""
RULES = {"Bootstrap-B": "paper", "Bootstrap-B, vertex": "vertex"}
MARGIN = 0.02


def compared_draws(
    table: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    shares: Floats,
    printed: Floats,
    *,
    scale: float,
    simulations: int = SIMULATIONS,
    rounding: float = 0.5,
    digits: int = 0,
    note: str = "",
    corner: str = "",
) -> ComparedTable:
    """Compare the mean of shares (draws, rows, columns), times `scale`, with the print.

    The print is one draw of the winners with this many simulations. The limits are t limits from
    the spread between draws, or those of that many simulations if they are wider: a share that is
    0 in all our draws need not be 0 in another one.
    """
    draws = len(shares)
    spread = scale * (shares.std(axis=0, ddof=1) if draws > 1 else np.zeros(shares.shape[1:]))
    low, high = mean_limits(printed, spread, runs=draws, printed_runs=1, rounding=rounding)
    least, most = share_limits(
        printed, runs=simulations * draws, printed_runs=simulations, rounding=rounding, scale=scale
    )
    low, high = np.fmax(np.fmin(low, least), 0.0), np.fmin(np.fmax(high, most), scale)
    few = f"{draws} draws are" if draws > 1 else "one draw is"
    return ComparedTable(
        table=table,
        rows=rows,
        columns=columns,
        ours=shares.mean(axis=0) * scale,
        printed=printed,
        low=low,
        high=high,
        judged=(high - low <= MAX_WIDTH * scale) & (draws >= MIN_DRAWS),
        unjudged_because=f"{few} too few"
        if draws < ENOUGH_DRAWS
        else "draws vary so much that one printed draw has limits wider than half the scale",
        digits=digits,
        unit="count" if digits == 0 else "share",
        corner=corner,
        note=note,
    )


def outcome_shares(verdicts: Verdicts, axis: tuple[int, ...] = (-2, -1)) -> Floats:
    """Return the shares of the four outcomes in verdicts (draws, steps, simulations, pairs)."""
    counts = tally(verdicts, axis)
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def printed_column(table: str, test: str, outcome: str, *, exchanged: bool) -> Floats:
    """Return a printed column of Tables 2 to 5 without the average.

    `exchanged` swaps t and Wilcoxon.
    """
    source = printed_table("intervals", table, outcome)
    label = _EXCHANGED.get(test, test) if exchanged else test
    column = source.values[:, source.columns.index(label)]
    return np.asarray(column[: len(PAIR_NAMES)] if table in ("3", "5") else column)


def first_table() -> list[ComparedTable]:
    """Compare Table 1: theoretical errors by the formula, and deviations of the samples."""
    problem = printed_problem()
    theoretical = printed_table("intervals", "1", "theoretical")
    ours = np.vstack([problem.errors.T, problem.errors.mean(axis=1)])
    errors = beside(
        theoretical,
        ours,
        rounding_limits(theoretical.values, theoretical.rounding),
        table="Table 1, theoretical errors",
        level=0.0,
        corner="data set",
        note="Ours: 0.2 where the printed winner wins, else (32 m - 0.2 w) / (32 - w).",
    )
    samples = printed_table("intervals", "1", "sample").values[:-1]
    deviation = np.sqrt(np.square(samples - problem.errors.T).mean(axis=0))
    variance = (problem.errors * (1 - problem.errors) / (problem.sizes * FOLDS)).mean(axis=1)
    rounds = np.where(np.isin(np.arange(5), DETERMINISTIC), 1, REPETITIONS)
    expected = np.sqrt(np.stack([variance / rounds, variance], axis=1) + 0.01**2 / 12)
    spread = ComparedTable(
        table="Table 1, deviation of the samples",
        rows=NAMES,
        columns=("30 repetitions", "1 repetition"),
        ours=expected,
        printed=np.stack([deviation, deviation], axis=1),
        low=expected - 3 * expected / np.sqrt(2 * len(samples)),
        high=expected + 3 * expected / np.sqrt(2 * len(samples)),
        judged=np.zeros(expected.shape, dtype=np.bool_),
        unjudged_because="computed from the printed samples, which have one true spread",
        digits=3,
        note="Root mean square of sample less theoretical error over the 32 data sets. A mean of "
        "30 independent repetitions would lie much closer to the theory than the print does.",
    )
    return [errors, spread]


def dp_tables(
    number: str, gates: dict[str, Any], verdicts: dict[str, Verdicts], counting: str
) -> list[ComparedTable]:
    """Compare Table 2, or Table 4 with outliers: all five at once, pairs, and means over dp.

    `gates` marks the simulations (draws, steps, simulations) in which a test finds a difference.
    """
    exchanged = counting == "as_printed"
    rows = tuple(f"{dp:g}" for dp in STEPS)
    exchange = " t and Wilcoxon are exchanged in the printed columns." if exchanged else ""
    columns, shares, printed = _by_outcome(number, verdicts, TESTS[number], exchanged=exchanged)
    return [
        compared_draws(
            f"Table {number}, all five at once",
            rows,
            tuple(gates),
            np.stack([gate.mean(axis=-1) for gate in gates.values()], axis=-1),
            printed_table("intervals", number, "multiple").values,
            scale=100,
            corner="dp",
            note="Simulations of 100 in which a difference was found"
            f"{', with outliers' if number == '4' else ''}.",
        ),
        compared_draws(
            f"Table {number}, pairs",
            rows,
            columns,
            shares,
            printed,
            scale=1000,
            corner="dp",
            note=f"Of 1000 pairs: significant and right (ok), significant and wrong (err), "
            f"inconclusive (inc); the rest is not significant.{exchange}",
        ),
        averages(number, verdicts, exchanged=exchanged),
    ]


def _by_outcome(
    number: str, verdicts: dict[str, Verdicts], tests: Sequence[str], *, exchanged: bool,
    axis: tuple[int, ...] = (-2, -1),
) -> tuple[tuple[str, ...], Floats, Floats]:  # fmt: skip
    """Return the names of the outcomes of tests, our shares of them, and the printed columns."""
    cells = [(test, outcome) for test in tests for outcome in ("ok", "err", "inc")
             if outcome != "inc" or test == "Bootstrap-B"]  # fmt: skip
    shares = {test: outcome_shares(verdicts[test], axis) for test in tests}
    ours = [shares[test][..., OUTCOMES.index(outcome)] for test, outcome in cells]
    printed = [printed_column(number, *cell, exchanged=exchanged) for cell in cells]
    names = tuple(f"{test} {outcome}" for test, outcome in cells)
    return names, np.stack(ours, axis=-1), np.stack(printed, axis=-1)


def averages(table: str, verdicts: dict[str, Verdicts], *, exchanged: bool) -> ComparedTable:
    """Compare means over dp > 0: right, wrong, all significant, and inconclusive pairs."""
    columns = ("ok", "err", "significant", "inc")
    rows = tuple(verdicts)
    shares = np.stack([outcome_shares(v)[:, 1:].mean(axis=1) for v in verdicts.values()], axis=1)
    ours = np.stack(
        [shares[..., 0], shares[..., 2], shares[..., 0] + shares[..., 2], shares[..., 3]], axis=-1
    )
    published = np.full(ours.shape[1:], np.nan)
    for row, test in enumerate(rows):
        if test not in TESTS[table]:
            continue
        ok, err = (
            printed_column(table, test, out, exchanged=exchanged)[1:].mean() / 1000
            for out in ("ok", "err")
        )
        published[row, :3] = ok, err, ok + err
        if test == "Bootstrap-B":
            inc = printed_column(table, test, "inc", exchanged=False)
            published[row, 3] = inc[1:].mean() / 1000
    exchange = " t and Wilcoxon are exchanged in the printed figures." if exchanged else ""
    return compared_draws(
        f"Table {table}, averages over dp > 0",
        rows,
        columns,
        ours,
        published,
        scale=1,
        simulations=SIMULATIONS * (len(STEPS) - 1),
        rounding=0.0005,
        digits=3,
        note=f"Shares of all pairs.{exchange}",
    )


def detail_table(
    table: str, verdicts: dict[str, Verdicts], *, exchanged: bool, known: bool
) -> ComparedTable:
    """Compare Tables 3 and 5: the pairs at dp = 0.03, of 100 simulations.

    If the winners are `known`, chance is that of 100 simulations, else the spread between draws.
    """
    columns, ours, printed = _by_outcome(
        table, verdicts, tuple(verdicts), exchanged=exchanged, axis=(1, 2)
    )
    title = f"Table {table}, dp = {DETAIL:g}"
    if not known:
        return compared_draws(
            title,
            PAIR_NAMES,
            columns,
            ours,
            printed,
            scale=100,
            note="Mean over draws of the winners; the print is one draw.",
        )
    low, high = share_limits(
        printed, runs=len(ours) * next(iter(verdicts.values())).shape[2], printed_runs=SIMULATIONS
    )
    return ComparedTable(
        table=title,
        rows=PAIR_NAMES,
        columns=columns,
        ours=100 * ours.mean(axis=0),
        printed=printed,
        low=low,
        high=high,
        judged=high - low <= 100 * MAX_WIDTH,
        digits=0,
        unit="count",
        note="With the winners and the sizes of test sets of the printed Table 1.",
    )


def null_table(p: Scalar) -> ComparedTable:
    """Compare the true Type I error with five exchangeable algorithms to the nominal level."""
    named, bare = scalar_multiple(p, "named"), scalar_multiple(p, "as_printed")
    whole = {
        "ANOVA": named["ANOVA"],
        "Friedman": named["Friedman"],
        "Bootstrap-A, adjusted for five": named["Bootstrap-A"],
        "Bootstrap-A, not adjusted": bare["Bootstrap-A"],
    }
    pairs = {
        "t, a pair": p.t,
        "Wilcoxon, a pair": p.wilcoxon,
        "Bootstrap-A, a pair": p.bootstrap_a_pairs,
    }
    rates = [gate.mean() for gate in whole.values()]
    rates += [(q <= 0.05).mean() for q in pairs.values()]
    # a family of ten pairs counts as one simulation: its pairs are dependent
    n = p.anova.size
    band = clopper_pearson(np.round(np.array(rates) * n).astype(np.int64), np.full(len(rates), n))
    return unprinted(
        np.column_stack([rates, band.low, band.high]),
        table="True Type I error",
        rows=(*whole, *pairs),
        columns=("rejected", "95 % limits: low", "high"),
        digits=3,
        unit="share",
        note=f"{n} simulations of five exchangeable algorithms at the level {ALPHA:g}. The paper "
        "prints nothing of this.",
    )


# Tables 6 to 8: five learners on 64 data sets


def real_tables(
    request: Request, names: tuple[str, ...], **arguments: Any
) -> tuple[list[str], list[ComparedTable]]:
    """Compare Tables 6 to 8."""
    balanced, zero_one = measured(request, **arguments)
    losses = {"AUC": balanced, "error": zero_one}
    shape = zero_one.shape
    tables: list[ComparedTable] = [average_table(losses)]
    if "6" in names:
        tables += body_tables(losses, arguments.get("datasets", KEEL_DATASETS))
    for table, make in (("7", multiple_table), ("8", pairs_table)):
        if table in names:
            tables += [make(quantity, values) for quantity, values in losses.items()]
    sentence = f"{shape[1]} data sets, {shape[2]} folds, {shape[3]} repetitions."
    return [sentence], tables


def body_tables(losses: dict[str, Floats], datasets: tuple[str, ...]) -> list[ComparedTable]:
    """Compare the readable rows of Table 6."""
    tables = []
    for quantity, label in (("AUC", "AUC"), ("error", "accuracy")):
        printed = printed_table("intervals", "6", label)
        printed = printed.take([name for name in printed.rows if name in datasets])
        chosen = [datasets.index(name) for name in printed.rows]
        folds = 1 - losses[quantity][:, chosen].mean(axis=3)
        # the print has other folds of the same rows
        low, high = mean_limits(
            printed.values, folds.std(axis=2, ddof=1).T, runs=FOLDS, printed_runs=FOLDS,
            rounding=0.005, level=LEVEL,
        )  # fmt: skip
        tables.append(
            beside(
                printed,
                folds.mean(axis=2).T,
                (low, high),
                table=f"Table 6, {label}",
                level=LEVEL,
                judged=high - low <= MAX_WIDTH,
                unjudged_because="the folds vary too much",
                unit="share",
                corner="data set",
                note="The rows that the scan preserves. Limits: t limits from the spread of our "
                "folds. The paper's AUC is the balanced accuracy of labels.",
            )
        )
    return tables


def average_table(losses: dict[str, Floats]) -> ComparedTable:
    """Compare the last row of Table 6."""
    columns, ours, printed = [], [], []
    for quantity, label in (("AUC", "AUC"), ("error", "accuracy")):
        row = printed_table("intervals", "6", label)
        columns.append(label)
        ours.append(1 - losses[quantity].mean(axis=(1, 2, 3)))
        printed.append(row.values[row.rows.index("Avg")])
    low, high = rounding_limits(np.stack(printed, axis=1), MARGIN)
    return ComparedTable(
        table="Table 6, averages",
        rows=LEARNERS,
        columns=tuple(columns),
        ours=np.stack(ours, axis=1),
        printed=np.stack(printed, axis=1),
        low=low,
        high=high,
        level=0.0,
        digits=3,
        unit="share",
        note=f"The margin of {MARGIN:g} is ours: the learners are other implementations, and the "
        "print does not give their settings.",
    )


def multiple_table(quantity: str, losses: Floats) -> ComparedTable:
    """Compare Table 7: p-values of the tests of all five."""
    cells = losses.mean(axis=(2, 3))
    ours = {
        ("ANOVA", "all"): _number(float(paper_tests.repeated_measures_anova(cells).pvalue)),
        ("Friedman", "all"): _number(float(multiple.friedman(cells).pvalue)),
    }
    for row, rule in RULES.items():
        ends = paper_tests.bootstrap_b(losses, rule=rule, interval=INTERVAL).pvalues
        ours |= {(row, name): _range(of) for name, of in zip(LEARNERS, ends, strict=True)}
    note = "Bootstrap-B by the printed rule and by the rule 'vertex', not adjusted, as in print."
    return _compared_texts("7", quantity, ours, note)


def pairs_table(quantity: str, losses: Floats) -> ComparedTable:
    """Compare Table 8: the first learner against each of the others."""
    cells = losses.mean(axis=(2, 3))
    pairs = [(0, k) for k in range(1, len(LEARNERS))]
    ours = {}
    for row, test in (("ANOVA", pairwise.kfold_t), ("Friedman", pairwise.wilcoxon)):
        adjusted = adjust(test(cells[0], cells[1:]).pvalue, "hochberg")
        for name, p in zip(LEARNERS[1:], adjusted.tolist(), strict=True):
            ours[row, f"{LEARNERS[0]} vs {name}"] = _number(p)
    for row, rule in RULES.items():
        result = paper_tests.bootstrap_b(losses, rule=rule, interval=INTERVAL)
        ends = result.posthoc(pairs=pairs)
        for name, of in zip(LEARNERS[1:], ends, strict=True):
            ours[row, f"{LEARNERS[0]} vs {name}"] = _range(of)
    note = "Paired t and Wilcoxon tests, adjusted by Hochberg; Bootstrap-B not adjusted."
    return _compared_texts("8", quantity, ours, note)


def _compared_texts(
    table: str, quantity: str, ours: dict[tuple[str, str], str], note: str
) -> ComparedTable:
    figures = {
        (f.row, f.column): f.printed
        for f in printed_figures("intervals")
        if f.table == table and f.quantity == quantity
    }
    rows = tuple(dict.fromkeys(row for row, _ in ours))
    columns = tuple(dict.fromkeys(column for _, column in ours))
    shape = len(rows), len(columns)
    left, right = np.full(shape, "", dtype=object), np.full(shape, "", dtype=object)
    agrees = np.ones(shape, dtype=np.bool_)
    for (row, column), text in ours.items():
        cell = rows.index(row), columns.index(column)
        left[cell], right[cell] = text, figures.get((row, column), "")
        agrees[cell] = not right[cell] or verdict(text) == verdict(right[cell])
    return ComparedTable(
        table=f"Table {table}, {QUANTITIES[quantity]}",
        rows=rows,
        columns=columns,
        ours=left,
        printed=right,
        agrees=agrees,
        corner="test",
        note=f"Agree: the same verdict at {ALPHA:g} (significant, not, inconclusive). {note}",
    )


def verdict(text: str) -> str:
    """Return the verdict of a p-value, or of an interval of p-values, at the level 0.05.

    Examples
    --------
    >>> verdict("[0.03, 0.40]"), verdict("0.01"), verdict("≈ 0"), verdict("[0.5, 1]")
    ('inconclusive', 'significant', 'significant', 'not significant')
    """
    ends = [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", text)]
    if max(ends) < ALPHA:
        return "significant"
    return "not significant" if min(ends) > ALPHA else "inconclusive"


def _number(p: float) -> str:
    return f"{p:.2g}"


def _range(ends: Floats) -> str:
    return f"[{ends[0]:.2g}, {ends[1]:.2g}]"


TRAPPED, TRAP_COST = 2, 0.2
"""Of ten repetitions of the second learner, how many are trapped, and how much that costs."""
GRID = 200
"""Points of a density."""
OUTCOME_NAMES = {"ok": ("left", "power"), "err": ("right", "Type I error")}
"""By outcome: the side of Figs. 2 and 3, and the name of its axis."""


def stochastic_pair(seed: int) -> Scores:
    """Return 10 folds x 10 repetitions of two learners as in Fig. 1: the means are equal.

    The paper draws the first as squares and the second as diamonds. The second is better by 0.04,
    except for two repetitions of every fold that are trapped in a local minimum.
    """
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.15, 0.25, (1, 10, 1)) + rng.normal(0, 0.012, (2, 10, 10))
    base[0] += TRAP_COST * TRAPPED / 10
    base[1, :, :TRAPPED] += TRAP_COST
    return Scores(
        base, dims=("learner", "fold", "repetition"), learners=("steady", "trapped"),
        loss_name="error",
    )  # fmt: skip


def first_figure(seed: int) -> tuple[list[ComparedTable], dict[str, tuple[str, ...]]]:
    """Draw Fig. 1, and test means and interquartile ranges of the same repetitions."""
    losses = stochastic_pair(seed)
    folds = losses.losses[:, 0, 0]
    ends = repetition_intervals(folds, "interquartile")
    means = np.stack([folds.mean(axis=-1)] * 2)
    ours = []
    for low, high in (means, ends):
        test = interval_test(np.stack([low[0], high[0]]), np.stack([low[1], high[1]]))
        ours.append([*low.mean(axis=-1), *high.mean(axis=-1), *test.pvalues[0]])
    table = unprinted(
        np.array(ours),
        table="Fig. 1: two stochastic learners",
        rows=("mean error", "interquartile range"),
        columns=("steady, low", "trapped, low", "steady, high", "trapped, high", "p, low",
                 "p, high"),
        digits=3,
        note="Wilcoxon's test over 10 folds. The paper draws its points and prints no numbers; "
        "ours are simulated.",
    )  # fmt: skip
    pictures = figure_variants(lambda paper: layout_repetitions(losses, paper=paper))
    return [table], {"Fig. 1": pictures}


def rate_figures(
    table: str, verdicts: dict[str, Verdicts], counting: str
) -> dict[str, tuple[str, ...]]:
    """Draw Fig. 2 or 3: our shares by dp, next to the published ones of Table 2 or 4."""
    tests, number = TESTS[table], {"2": "2", "4": "3"}[table]
    exchanged = counting == "as_printed"
    names = [*tests, *(f"{test}, published" for test in tests)]
    figures = {}
    for outcome, (half, y_name) in OUTCOME_NAMES.items():
        ours = [outcome_shares(verdicts[test]).mean(axis=0)[:, OUTCOMES.index(outcome)]
                for test in tests]  # fmt: skip
        printed = [
            printed_column(table, test, outcome, exchanged=exchanged) / 1000 for test in tests
        ]
        rate = np.stack([*ours, *printed])
        nominal = 0.05 if outcome == "err" else None
        figures[f"Fig. {number}, {half}"] = _curves(Rates(
            x=STEPS, rate=rate, low=rate, high=rate, names=names, x_name="dp", y_name=y_name,
            nominal=nominal,
        ))  # fmt: skip
    return figures


def fourth_figure(request: Request) -> tuple[list[ComparedTable], dict[str, tuple[str, ...]]]:
    """Draw Fig. 4: densities of the AUC of FURIA and C4.5 over data sets, and of the difference."""
    pair = ("FURIA", "C4.5")
    published = printed_table("intervals", "6", "AUC")
    rows = [k for k, name in enumerate(published.rows) if name != "Avg"]
    columns = [published.columns.index(name) for name in pair]
    by_source = {
        "": 1 - measured(request, learners=pair)[0].mean(axis=(2, 3)),
        ", published": published.values[np.ix_(rows, columns)].T,
    }
    samples = {
        f"{name}{source}": values
        for source, auc in by_source.items()
        for name, values in zip((*pair, "difference"), (*auc, auc[0] - auc[1]), strict=True)
    }
    modes: dict[str, float] = {}
    figures: dict[str, tuple[str, ...]] = {}
    for title, differences in (("AUC", False), ("difference", True)):
        chosen = {k: v for k, v in samples.items() if k.startswith("difference") == differences}
        spread = np.concatenate([*chosen.values()])
        grid = np.linspace(spread.min() - 0.1, spread.max() + 0.1, GRID)
        density = np.stack([_density(values, grid) for values in chosen.values()])
        modes |= dict(zip(chosen, grid[density.argmax(axis=1)].tolist(), strict=True))
        figures[f"Fig. 4, {title}"] = _curves(Rates(
            x=grid, rate=density, low=density, high=density, names=list(chosen), noun="sample",
            x_name="AUC" if not differences else "AUC of FURIA minus AUC of C4.5",
            y_name="density",
        ))  # fmt: skip
    table = unprinted(
        np.array([[len(v), v.mean(), modes[name]] for name, v in samples.items()]),
        table="Fig. 4: AUC of FURIA and C4.5",
        rows=tuple(samples),
        columns=("data sets", "mean", "mode of the density"),
        note="Published: the rows of Table 6 that the scan preserves. The paper says that both "
        "modes are equal and that the mode of the difference is 0.",
    )
    return [table], figures


def _curves(rates: Rates) -> tuple[str, ...]:
    return figure_variants(lambda paper: layout_rates(rates, paper=paper))


def _density(values: Floats, grid: Floats) -> Floats:
    from scipy.stats import gaussian_kde

    return np.asarray(gaussian_kde(values)(grid), dtype=np.float64)


SIMULATED = ("fig1", "1", "2", "3", "4", "5", "null")
SAME_NUMBERS = {"fig2": "2", "fig3": "4"}
"""Figures that show the numbers of a table."""
REAL = ("6", "7", "8")
NULL_SIMULATIONS = 400
"""Simulations of equal algorithms per run."""
_ALL = tuple(range(len(STEPS)))
_DETAIL = (STEPS.index(DETAIL),)
Parts = tuple[list[ComparedTable], dict[str, tuple[str, ...]], list[str]]
"""Tables, figures and sentences."""


def reproduce(request: Request) -> ReproductionResult:
    """Reproduce the tables; by default, those of the simulations.

    A run is one draw of the winners for each of the 21 values of dp, with 100 simulations each.
    For Tables 7 and 8, it is a repetition of the folds with another seed of the learners.
    """
    result = ReproductionResult()
    counting = request.variant or COUNTINGS[0]
    names = tuple(SAME_NUMBERS.get(name, name) for name in request.tables) or SIMULATED
    if "fig1" in names:
        result.add(*first_figure(request.seed))
    if set(names) - {"fig1", "1"} & set(SIMULATED):
        result.add(sentences=[f"{counted(request.runs, 'draw')} of the winners."])
    if "1" in names:
        result.add(first_table())
    if "2" in names:
        result.add(*_second(request, counting))
    if "3" in names:
        result.add([_third(request, counting)])
    if "4" in names:
        result.add(*_fourth(request, counting))
    if "5" in names:
        result.add([_fifth(request, counting)])
    if "null" in names:
        null = scalar_pieces("null", request, steps=(0,), simulations=NULL_SIMULATIONS)
        result.add([null_table(null)])
    if set(names) & set(REAL):
        sentences, tables = real_tables(request, tuple(t for t in REAL if t in names))
        result.add(tables, sentences=sentences)
    if "fig4" in names:
        result.add(*fourth_figure(request))
    return result


def _second(request: Request, counting: str) -> Parts:
    evidence = scalar_pieces("plain", request, steps=_ALL)
    verdicts = scalar_pairs(evidence, counting)
    sentences = []
    for other in COUNTINGS:
        shares = significant_shares(scalar_pairs(evidence, other))
        means = ", ".join(
            f"{test} {share.mean():.3f}"
            + (
                f" (standard deviation between draws {share.std(ddof=1):.3f})"
                if len(share) > 1
                else ""
            )
            for test, share in shares.items()
        )
        sentences.append(f"Share significant over dp > 0, counting {other!r}: {means}.")
        if request.runs > 1:
            spreads = ", ".join(
                f"{test} {one_step_spread(v):.3f}"
                for test, v in scalar_pairs(evidence, other).items()
            )
            sentences.append(f"Largest standard deviation between draws at one dp: {spreads}.")
    tables = dp_tables("2", scalar_multiple(evidence, counting), verdicts, counting)
    return tables, rate_figures("2", verdicts, counting), sentences


def significant_shares(verdicts: dict[str, Verdicts]) -> dict[str, Floats]:
    """Return the share of significant pairs, right or wrong, over dp > 0 for each draw."""
    return {
        test: outcome_shares(v)[:, 1:, [0, 2]].sum(axis=-1).mean(axis=-1)
        for test, v in verdicts.items()
    }


def one_step_spread(verdicts: Verdicts) -> float:
    """Return the largest standard deviation between draws of the significant share at one dp."""
    shares = outcome_shares(verdicts)[..., [0, 2]].sum(axis=-1)
    return float(shares.std(axis=0, ddof=1).max())


def _third(request: Request, counting: str) -> ComparedTable:
    evidence = scalar_pieces("table 1", request, steps=_DETAIL)
    verdicts = scalar_pairs(evidence, counting)
    del verdicts["Bootstrap-A, Hochberg"]
    return detail_table("3", verdicts, exchanged=counting == "as_printed", known=True)


def _fourth(request: Request, counting: str) -> Parts:
    evidence = outlier_pieces(request, steps=_ALL)
    scalar = scalar_multiple(evidence.means, counting)
    interval = range_multiple(evidence.ranges["Bootstrap-B"], counting)
    gates = {
        "ANOVA": scalar["ANOVA"], "Friedman": scalar["Friedman"], "Bootstrap-B": interval == 0,
        "Bootstrap-B inconclusive": interval == 3,
    }  # fmt: skip
    verdicts = scalar_pairs(evidence.means, counting)
    verdicts |= {name: range_pairs(evidence.ranges[name], counting) for name in READINGS}
    verdicts |= {test + MEDIANS: v for test, v in scalar_pairs(evidence.medians, counting).items()}
    # at dp = 0 all typical errors are equal but the means are not: A3 and A4 are never trapped
    shares = ", ".join(f"{test} {(v[:, 0] != 1).mean():.3f}" for test, v in verdicts.items())
    sentence = f"With outliers at dp = 0 these shares of pairs were not called equal: {shares}."
    tables = dp_tables("4", gates, verdicts, counting)
    return tables, rate_figures("4", verdicts, counting), [sentence]


def _fifth(request: Request, counting: str) -> ComparedTable:
    evidence = outlier_pieces(request, steps=_DETAIL)
    verdicts = scalar_pairs(evidence.means, counting)
    verdicts["Bootstrap-B"] = range_pairs(evidence.ranges["Bootstrap-B"], counting)
    verdicts = {test: verdicts[test] for test in TESTS["4"]}
    return detail_table("5", verdicts, exchanged=counting == "as_printed", known=False)
