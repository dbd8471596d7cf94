import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import fisher_exact

from bestofk.papers.comparison import (
    ComparedTable,
    ReproductionResult,
    mean_limits,
    share_limits,
)


def numbers(**changes):
    fields = {
        "table": "Table 9",
        "rows": ("a|b", "c"),
        "columns": ("x", "<y>"),
        "ours": np.array([[1.0, 2.0], [np.nan, 4.2]]),
        "printed": np.array([[1.1, 2.5], [3.0, np.nan]]),
        "low": np.array([[1.0, 2.4], [2.9, np.nan]]),
        "high": np.array([[1.2, 2.6], [3.1, np.nan]]),
        "digits": 1,
        "target": 1.0,
        "note": "A note.",
    }
    return ComparedTable(**{**fields, **changes})


def words():
    return ComparedTable(
        table="Table 8", rows=("r",), columns=("p", "q"),
        ours=np.array([["NN (3)", "NMC"]], dtype=object),
        printed=np.array([["NN (4)", "LGC"]], dtype=object),
        agrees=np.array([[True, False]]),
    )  # fmt: skip


def test_only_cells_with_both_are_compared():
    table = numbers()
    assert table.compared.tolist() == [[True, True], [False, False]]
    assert table.within.tolist() == [[True, False], [False, False]]
    assert table.summary() == (
        "Table 9: 1 of 2 within the limits of chance and rounding (tolerance 0.1), 2 of 2 within "
        "1 point; "
        "the largest difference is 0.5 (a|b, <y>)."
    )


def test_markdown_escapes_pipes_and_marks_what_differs():
    text = numbers().to_markdown()
    assert "| a\\|b | 1.0 / 1.1 | 2.0 / 2.5 ! |" in text
    assert "| c | - / 3.0 | 4.2 |" in text
    assert text.endswith("A note.\n")


def test_what_is_not_judged_is_counted_on_neither_side():
    """Cells that are not judged do not count as agreement."""
    unjudged = replace(words(), judged=np.array([[True, False]]))
    assert unjudged.summary() == "Table 8: 1 of 1 agree."
    assert unjudged.to_dict()["within"] == [[True, None]]
    assert "NMC / LGC ?" in unjudged.to_text()
    only = replace(words(), judged=np.array([[False, True]]))
    assert only.summary() == "Table 8: 0 of 1 agree; not r (q)."
    assert only.within.tolist() == [[False, False]]
    nothing = replace(words(), judged=np.array([[False, False]]))
    assert nothing.summary() == "Table 8: not judged."
    assert nothing.verdict == "not judged"


@pytest.mark.parametrize(("runs", "printed_runs"), [(20, 30), (40, 10), (7, 1000)])
def test_limits_of_shares_are_those_of_fishers_test(runs, printed_runs):
    """Count by scipy's one-sided exact tests which of our counts are not rejected."""
    counts = np.arange(printed_runs + 1)[:: max(printed_runs // 10, 1)]
    low, high = share_limits(
        100.0 * counts / printed_runs, runs=runs, printed_runs=printed_runs, level=0.05
    )
    for count, ends in zip(counts, np.stack([low, high], axis=1), strict=True):
        tails = [
            2 * min(
                fisher_exact([[k, runs - k], [count, printed_runs - count]], side).pvalue
                for side in ("less", "greater")
            )
            for k in range(runs + 1)
        ]  # fmt: skip
        kept = np.flatnonzero(np.array(tails) > 0.05)
        assert (ends * runs / 100).round(9).tolist() == [kept.min(), kept.max()]


def test_rounding_of_a_printed_share_widens_its_limits():
    low, high = share_limits(
        np.array([0.0, 100.0, np.nan]), runs=50, printed_runs=1000, rounding=0.5
    )
    exact = share_limits(np.array([0.5, 99.5]), runs=50, printed_runs=1000)
    assert (low[0], high[1]) == (0.0, 100.0)
    assert (high[0], low[1]) == (exact[1][0], exact[0][1])
    assert np.isnan(low[2])


def test_limits_of_means_are_prediction_limits():
    # mean of 4 runs with standard deviation 2, print of one run: t(3) at 97.5 % is 3.182446
    low, high = mean_limits(
        np.array([10.0]), np.array([2.0]), runs=4, printed_runs=1, rounding=0.5, level=0.05
    )
    assert high.item() == pytest.approx(10.5 + 3.182446305284263 * 2 * np.sqrt(1.25))
    assert low.item() == pytest.approx(20 - high.item())
    assert np.isinf(mean_limits(np.zeros(1), np.zeros(1), runs=1, printed_runs=9)[1]).all()


def test_verdict_counts_tables_and_explains_those_that_differ():
    result = ReproductionResult(
        title="T", paper="P.", tables=(numbers(), words()), explained=(("Table 9", "scan error"),)
    )
    assert result.verdict() == (
        "Verdict: 0 of 2 judged tables agree. Table 9 differs: scan error. Table 8 differs: "
        "unexplained."
    )
    wide = numbers(judged=np.zeros((2, 2), dtype=bool), unjudged_because="2 draws are too few")
    assert wide.summary().startswith("Table 9: not judged: 2 draws are too few, 2 of 2 within")
    same = numbers(ours=np.array([[1.1, 2.5], [3.0, 1.0]]))
    result = ReproductionResult(title="T", paper="P.", tables=(same, wide))
    assert result.verdict() == "Verdict: agrees in 1 judged table. Not judged: Table 9."
    # Table 9 counts once, whatever its parts, and a table made to agree does not count
    parts = [numbers(table="Table 9, left"), numbers(table="Table 9, right")]
    made = replace(same, table="Fig. 3: steps", by_construction="its losses were chosen")
    mixed = (*parts, replace(same, table="Table 9, below"), replace(same, table="Table 7"), made)
    result = ReproductionResult(
        title="T", paper="P.", tables=mixed,
        explained=(("Table 9, left", "scan error"), ("Table 9", "misprint")),
    )  # fmt: skip
    assert result.verdict() == (
        "Verdict: 1 of 2 judged tables agree. Table 9 differs: scan error; misprint. Agrees by "
        "construction: Fig. 3 (its losses were chosen)."
    )
    assert replace(made, ours=np.zeros((2, 2))).verdict == "differs"
    nothing = ReproductionResult(title="T", paper="P.", tables=(wide,))
    assert nothing.verdict().startswith("Verdict: not judged")
    assert nothing.to_text().endswith(nothing.verdict())


def test_a_table_agrees_if_no_more_cells_differ_than_chance_explains():
    """Of 100 cells at level 5 %, up to 11 lie outside with 99 % probability (binomial)."""
    limit = np.ones((10, 10))
    ours = np.zeros((10, 10))
    ours.flat[:11] = 2.0
    table = ComparedTable(
        table="T", rows=tuple("abcdefghij"), columns=tuple("abcdefghij"), ours=ours,
        printed=np.zeros((10, 10)), low=-limit, high=limit, level=0.05,
    )  # fmt: skip
    assert table.verdict == "agrees"
    ours.flat[11] = 2.0
    assert table.verdict == "differs"


def test_account_in_every_form():
    account = ReproductionResult(
        title="T & U", paper="P.", tables=(numbers(), words()), sentences=("It <is>.",)
    )
    restored = json.loads(json.dumps(account.to_dict(), allow_nan=False))
    assert restored["tables"][0]["ours"] == [[1.0, 2.0], [None, 4.2]]
    assert account.to_markdown().startswith("## T & U\n\nP.\n\nIt <is>.\n")
    assert account.explain().count("\n") == 3
    assert "Table 8" in account.to_text(80)
