"""Tables 1 to 8 and the true Type I error, next to the published values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk.papers import stats as paper_tests
from bestofk.papers.comparison import (
    ComparedTable,
    Request,
    beside,
    mean_limits,
    rounding_limits,
    share_limits,
    unprinted,
)
from bestofk.papers.intervals.experiments import (
    DETAIL,
    DETERMINISTIC,
    FIRST,
    FOLDS,
    KEEL_DATASETS,
    LEARNERS,
    OUTCOMES,
    REPETITIONS,
    SECOND,
    SIMULATIONS,
    STEPS,
    Outliers,
    Scalar,
    Verdicts,
    measured,
    printed_problem,
    range_multiple,
    range_pairs,
    scalar_multiple,
    scalar_pairs,
    tally,
)
from bestofk.papers.printed_figures import printed_figures, printed_table
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


def outcome_shares(verdicts: Verdicts) -> Floats:
    """Return the shares of the four outcomes in verdicts (draws, steps, simulations, pairs)."""
    return np.asarray(tally(verdicts, (-2, -1)) / (verdicts.shape[-2] * verdicts.shape[-1]))


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


def second_table(p: Scalar, counting: str) -> list[ComparedTable]:
    """Compare Table 2, from evidence of shape (draws, steps, simulations, ...)."""
    exchanged = counting == "as_printed"
    gates = scalar_multiple(p, counting)
    shares = np.stack([gate.mean(axis=-1) for gate in gates.values()], axis=-1)
    pairs = scalar_pairs(p, counting)
    return [
        compared_draws(
            "Table 2, all five at once",
            _rows(),
            tuple(gates),
            shares,
            printed_table("intervals", "2", "multiple").values,
            scale=100,
            corner="dp",
            note="Simulations of 100 in which a difference was found.",
        ),
        _pairs_table("2", pairs, ("t", "Wilcoxon", "Bootstrap-A"), ("ok", "err"), exchanged),
    ]


def fourth_table(p: Outliers, counting: str) -> list[ComparedTable]:
    """Compare Table 4: the same as Table 2, with outliers."""
    exchanged = counting == "as_printed"
    scalar = scalar_multiple(p.means, counting)
    interval = range_multiple(p.ranges["Bootstrap-B"], counting)
    gates = [scalar["ANOVA"], scalar["Friedman"], interval == 0, interval == 3]
    pairs = scalar_pairs(p.means, counting)
    pairs["Bootstrap-B"] = range_pairs(p.ranges["Bootstrap-B"], counting)
    printed = printed_table("intervals", "4", "multiple")
    tests = ("t", "Wilcoxon", "Bootstrap-B")
    return [
        compared_draws(
            "Table 4, all five at once",
            _rows(),
            printed.columns,
            np.stack([gate.mean(axis=-1) for gate in gates], axis=-1),
            printed.values,
            scale=100,
            corner="dp",
            note="Simulations of 100 in which a difference was found, with outliers.",
        ),
        _pairs_table("4", pairs, tests, ("ok", "err", "inc"), exchanged),
    ]


def _rows() -> tuple[str, ...]:
    return tuple(f"{dp:g}" for dp in STEPS)


def _pairs_table(
    table: str,
    verdicts: dict[str, Verdicts],
    tests: tuple[str, ...],
    outcomes: tuple[str, ...],
    exchanged: bool,
) -> ComparedTable:
    cells = [
        (test, outcome)
        for test in tests
        for outcome in outcomes
        if outcome != "inc" or test == "Bootstrap-B"
    ]
    shares = np.stack(
        [outcome_shares(verdicts[test])[..., OUTCOMES.index(out)] for test, out in cells], axis=-1
    )
    printed = [printed_column(table, test, out, exchanged=exchanged) for test, out in cells]
    exchange = " t and Wilcoxon are exchanged in the printed columns." if exchanged else ""
    return compared_draws(
        f"Table {table}, pairs",
        _rows(),
        tuple(f"{test} {out}" for test, out in cells),
        shares,
        np.stack(printed, axis=-1),
        scale=1000,
        corner="dp",
        note=f"Of 1000 pairs: significant and right (ok), significant and wrong (err), "
        f"inconclusive (inc); the rest is not significant.{exchange}",
    )


def averages(
    table: str, verdicts: dict[str, Verdicts], printed: tuple[str, ...], *, exchanged: bool
) -> ComparedTable:
    """Compare means over dp > 0: right, wrong, all significant, and inconclusive pairs."""
    columns = ("ok", "err", "significant", "inc")
    rows = tuple(verdicts)
    shares = np.stack([outcome_shares(v)[:, 1:].mean(axis=1) for v in verdicts.values()], axis=1)
    ours = np.stack(
        [shares[..., 0], shares[..., 2], shares[..., 0] + shares[..., 2], shares[..., 3]], axis=-1
    )
    published = np.full(ours.shape[1:], np.nan)
    for row, test in enumerate(rows):
        if test not in printed:
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
    table: str,
    verdicts: dict[str, Verdicts],
    outcomes: tuple[str, ...],
    *,
    exchanged: bool,
    known: bool,
) -> ComparedTable:
    """Compare Tables 3 and 5: the pairs at dp = 0.03, of 100 simulations.

    If the winners are `known`, chance is that of 100 simulations, else the spread between draws.
    """
    cells = [
        (test, out)
        for test in verdicts
        for out in outcomes
        if out != "inc" or test == "Bootstrap-B"
    ]
    # (draws, 1, simulations, pairs) to the share of every outcome, (draws, pairs)
    shares = {test: tally(v[:, 0], axis=1) / v.shape[2] for test, v in verdicts.items()}
    ours = np.stack([shares[test][..., OUTCOMES.index(out)] for test, out in cells], axis=-1)
    printed = np.stack(
        [printed_column(table, test, out, exchanged=exchanged) for test, out in cells], axis=-1
    )
    columns = tuple(f"{test} {out}" for test, out in cells)
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
