"""Tables of results in every format, with names that could break them."""

import csv
import io

import numpy as np
import pytest

import bestofk as bk
from bestofk.report.names import html_sentence
from bestofk.report.tables import Column, OutputTable, learners_table

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
