"""Tables of results in every format, with names that could break them."""

import csv
import io

import numpy as np
import pytest

import bestofk as bk
from bestofk.papers.one_test import run_test
from bestofk.report.names import elided, html_name, html_sentence
from bestofk.report.tables import Column, OutputTable, learners_table, pairs_table

HOSTILE = [
    '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "a|b*c_d`e`",
    "50% {x} \\y $z$ & #1 ~^",
    "two\nlines", "שלום עולם", "\u202etxet", "🙂" * 3, "n" * 200, "'; DROP TABLE --",
]  # fmt: skip


@pytest.fixture(scope="module")
def decision():
    rng = np.random.default_rng(5)
    values = rng.random((len(HOSTILE), 10)) * 0.1 + np.arange(len(HOSTILE))[::-1, None] * 0.03
    return bk.compare_scores(bk.Scores(values, learners=HOSTILE)).outcome


def test_frame_holds_all_digits_and_the_very_names(decision):
    frame = learners_table(decision).to_frame()
    assert list(frame["learner"]) == list(decision.ranking)
    assert dict(zip(frame["learner"], frame["mean_loss"], strict=True)) == dict(decision.means)
    assert frame["verdict"].iloc[0] == "recommended"


def test_columns_are_those_of_the_statement(decision):
    columns = ["learner", "mean_loss", "at_least", "at_most", "verdict"]
    assert list(learners_table(decision).to_frame().columns) == columns
    assert [column.title for column in learners_table(decision).titled] == [
        "Learner", "Mean loss", "Worse than the best by", "Verdict",
    ]  # fmt: skip
    rows = learners_table(decision).to_frame().to_dict("records")
    for row, standing in zip(rows, decision.standings, strict=True):
        assert row["learner"] == standing.name
        assert (row["at_least"], row["at_most"]) == (standing.at_least, standing.at_most)


def test_pairs_agree_with_their_intervals_or_have_none(decision):
    table = pairs_table(decision.pair_evidence)
    keys = [column.key for column in table.columns]
    assert keys == ["a", "b", "estimate", "low", "high", "pvalue", "adjusted_pvalue", "better"]
    frame = table.to_frame()
    shown = frame["better"].notna()
    assert ((frame["low"] > 0) | (frame["high"] < 0)).equals(shown)
    assert (frame["adjusted_pvalue"] <= 0.05).equals(shown)
    stepwise = bk.compare_scores(decision.problem.losses, correction="holm").outcome
    assert stepwise.claims
    keys = {column.key for column in pairs_table(stepwise.pair_evidence).columns}
    assert not {"low", "high"} & keys


def test_csv_reads_back(decision):
    rows = list(csv.DictReader(io.StringIO(learners_table(decision).to_csv(), newline="")))
    # a character that reverses the text is written as an escape sequence
    names = [name.replace("\u202e", "\\u202e") for name in decision.ranking]
    assert [row["learner"] for row in rows] == names
    assert [float(row["mean_loss"]) for row in rows] == [
        decision.means[n] for n in decision.ranking
    ]


def test_html_shows_names_and_never_runs_them(decision):
    shown = bk.Result(decision)._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown


def test_sentences_isolate_only_names_that_need_it():
    text = "MultiTest chooses שלום over tree."
    assert html_sentence(text, ["שלום", "tree"]) == ("MultiTest chooses <bdi>שלום</bdi> over tree.")
    assert html_sentence("a < b", ["a", "b"]) == "a &lt; b"
    assert html_sentence("x\ny and x", ["x\ny"]) == '<bdi title="x y">x y</bdi> and x'


def test_odd_names():
    assert elided("x" * 61) == "x" * 59 + "…"
    assert html_name(0) == "<bdi>0</bdi>"


def test_cells_of_every_kind():
    kinds = {
        "pvalue": ([0.0, 0.01234567, 0.99999, 1.0, None],
                   ["< 0.0001", "0.012", "> 0.99", "1", ""]),
        "number": ([0.123456, float("inf"), None], ["0.1235", "infinite", ""]),
        "seconds": ([2.0, 0.01, 1e-6], ["2 s", "10 ms", "1 µs"]),
        "bytes": ([12, 3400, 5.6e6, 7.8e9], ["12 B", "3.4 kB", "5.6 MB", "7.8 GB"]),
        "text": ([True, "x"], ["yes", "x"]),
    }  # fmt: skip
    for kind, (cells, shown) in kinds.items():
        assert Column("k", "k", kind, cells).shown() == shown
    assert len(OutputTable(name="none", title="", columns=())) == 0


@pytest.mark.parametrize("rule", ["most-wins", "test-first", "anova-choice"])
def test_every_rule_has_a_table(rule):
    values = np.random.default_rng(1).random((4, 10))
    table = bk.compare_scores(values, rule=rule).table
    assert len(table) == 4
    assert ("wins" in table.columns) == (rule == "most-wins")


def test_results_of_single_tests_are_tables_too():
    values = np.random.default_rng(1).random((3, 10))
    table = bk.Scores(values, learners=["a", "b", "c"])
    assert len(run_test(table, "kfold-t").to_frame()) == 3
    assert "f_statistic" in set(run_test(table, "friedman").to_frame().columns)
