"""Tables 6 to 8 in spirit: do the tests agree on five learners and 64 data sets?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk import multiple
from bestofk.adjust import adjust
from bestofk.checks import Floats
from bestofk.papers.account import Request
from bestofk.papers.comparison import ComparedNumbers, ComparedWords
from bestofk.papers.intervals.real_data import LEARNERS, balanced_error, measured
from bestofk.papers.printed_figures import printed_figures, printed_table

ALPHA = 0.05
QUANTITIES: dict[str, tuple[str, str | Callable[..., float]]] = {
    "AUC": ("balanced error", balanced_error),
    "error": ("error", "zero-one"),
}
"""The paper's measure: (our word, our loss)."""
STAND_IN = "FURIA"
INTERVAL = "central"
"""10 % of the mass; around a median of few repetitions the radius of that share would be 0."""
RULES = {"Bootstrap-B": "paper", "Bootstrap-B, vertex": "vertex"}
MARGIN = 0.02


def real_tables(
    request: Request, wanted: tuple[str, ...], **arguments: Any
) -> tuple[list[str], list[ComparedNumbers | ComparedWords]]:
    """Tables 7 and 8, with the averages of Table 6."""
    losses = {
        quantity: measured(request, loss, **arguments) for quantity, (_, loss) in QUANTITIES.items()
    }
    shape = losses["error"].shape
    tables: list[ComparedNumbers | ComparedWords] = [average_table(losses)]
    for table, make in (("7", multiple_table), ("8", pairs_table)):
        if table in wanted:
            tables += [make(quantity, values) for quantity, values in losses.items()]
    sentence = (
        f"{shape[1]} data sets, {shape[2]} folds, {shape[3]} repetitions; a random forest of 20 "
        "trees in the place of FURIA."
    )
    return [sentence], tables


def average_table(losses: dict[str, Floats]) -> ComparedNumbers:
    """The last row of Table 6."""
    columns, ours, printed = [], [], []
    for quantity, label in (("AUC", "AUC"), ("error", "accuracy")):
        row = printed_table("intervals", "6", label)
        columns.append(label)
        ours.append(1 - losses[quantity].mean(axis=(1, 2, 3)))
        printed.append(row.values[0])
    return ComparedNumbers(
        table="Table 6, averages",
        rows=LEARNERS,
        columns=tuple(columns),
        ours=np.stack(ours, axis=1),
        printed=np.stack(printed, axis=1),
        allowed=np.full((len(LEARNERS), 2), MARGIN),
        digits=3,
        unit="share",
        note=f"Printed for {STAND_IN} in the first row. The margin of {MARGIN:g} is ours: the "
        "learners are other implementations, and the print does not give their settings.",
    )


def multiple_table(quantity: str, losses: Floats) -> ComparedWords:
    """Table 7: p-values of the tests of all five."""
    cells = losses.mean(axis=(2, 3))
    ours = {
        ("ANOVA", "all"): _number(multiple.repeated_measures_anova(cells).pvalue),
        ("Friedman", "all"): _number(float(multiple.friedman(cells).pvalue)),
    }
    for row, rule in RULES.items():
        ends = multiple.bootstrap_b(losses, rule=rule, interval=INTERVAL).pvalues
        ours |= {(row, name): _range(of) for name, of in zip(LEARNERS, ends, strict=True)}
    note = "Bootstrap-B by the printed rule and by the rule 'vertex', not adjusted, as in print."
    return _words("7", quantity, ours, note)


def pairs_table(quantity: str, losses: Floats) -> ComparedWords:
    """Table 8: the first learner against each of the others."""
    cells = losses.mean(axis=(2, 3))
    pairs = [(0, k) for k in range(1, len(LEARNERS))]
    ours = {}
    for row, test in (("ANOVA", "t"), ("Friedman", "wilcoxon")):
        adjusted = adjust(multiple.posthoc(cells, test, "none", control=0).pvalues, "hochberg")
        for name, p in zip(LEARNERS[1:], adjusted.tolist(), strict=True):
            ours[row, f"{STAND_IN} vs {name}"] = _number(p)
    for row, rule in RULES.items():
        result = multiple.bootstrap_b(losses, rule=rule, interval=INTERVAL)
        ends = result.posthoc(correction="none", pairs=pairs).pvalues
        for name, of in zip(LEARNERS[1:], ends, strict=True):
            ours[row, f"{STAND_IN} vs {name}"] = _range(of)
    note = "Paired t and Wilcoxon tests, adjusted by Hochberg; Bootstrap-B not adjusted."
    return _words("8", quantity, ours, note)


def _words(table: str, quantity: str, ours: dict[tuple[str, str], str], note: str) -> ComparedWords:
    figures = {
        (f.row, f.column): f.printed
        for f in printed_figures("intervals")
        if f.table == table and f.quantity == quantity
    }
    figures = {
        (row, "FOREST" if column == STAND_IN else column): text
        for (row, column), text in figures.items()
    }
    rows = tuple(dict.fromkeys(row for row, _ in ours))
    columns = tuple(dict.fromkeys(column for _, column in ours))
    shape = len(rows), len(columns)
    left, right = np.full(shape, "", dtype=object), np.full(shape, "", dtype=object)
    agrees = np.ones(shape, dtype=np.bool_)
    for (row, column), text in ours.items():
        at = rows.index(row), columns.index(column)
        left[at], right[at] = text, figures.get((row, column), "")
        agrees[at] = not right[at] or verdict(text) == verdict(right[at])
    return ComparedWords(
        table=f"Table {table}, {QUANTITIES[quantity][0]}",
        rows=rows,
        columns=tuple(column.replace(STAND_IN, "FOREST") for column in columns),
        ours=left,
        printed=right,
        agrees=agrees,
        corner="test",
        note=f"Agree: the same verdict at {ALPHA:g} (significant, not, inconclusive). {note}",
    )


def verdict(words: str) -> str:
    """What a p-value, or an interval of them, says at the level 0.05.

    Examples
    --------
    >>> verdict("[0.03, 0.40]"), verdict("0.01"), verdict("≈ 0"), verdict("[0.5, 1]")
    ('inconclusive', 'significant', 'significant', 'not significant')
    """
    ends = [float(found) for found in re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", words)]
    if max(ends) < ALPHA:
        return "significant"
    return "not significant" if min(ends) > ALPHA else "inconclusive"


def _number(p: float) -> str:
    return f"{p:.2g}"


def _range(ends: Floats) -> str:
    return f"[{ends[0]:.2g}, {ends[1]:.2g}]"
