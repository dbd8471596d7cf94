import json
from dataclasses import replace

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.papers.comparison import (
    ComparedNumbers,
    ComparedWords,
    ReproductionResult,
    Request,
    chance,
)


def numbers(**changes):
    fields = {
        "table": "Table 9",
        "rows": ("a|b", "c"),
        "columns": ("x", "<y>"),
        "ours": np.array([[1.0, 2.0], [np.nan, 4.2]]),
        "printed": np.array([[1.1, 2.5], [3.0, np.nan]]),
        "allowed": np.array([[0.1, 0.1], [0.1, 0.1]]),
        "digits": 1,
        "target": 1.0,
        "note": "A note.",
    }
    return ComparedNumbers(**{**fields, **changes})


def words():
    return ComparedWords(
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
        "Table 9: 1 of 2 within what chance and rounding allow, 2 of 2 within 1 point; "
        "the largest difference is 0.5 (a|b, <y>)."
    )


def test_decimal_fractions_at_the_limit_are_within():
    # 1.1 - 1.0 is above 0.1 in binary
    assert numbers().within[0, 0]


def test_nothing_to_compare_is_said():
    nothing = np.full((2, 2), np.nan)
    assert numbers(printed=nothing).summary() == "Table 9: there is nothing to compare."


def test_target_is_needed_to_ask_for_it():
    with pytest.raises(ArgumentError, match="no target"):
        numbers(target=None).within_target()


def test_markdown_escapes_pipes_and_marks_what_differs():
    text = numbers().to_markdown()
    assert "| a\\|b | 1.0 / 1.1 | 2.0 / 2.5 ! |" in text
    assert "| c | - / 3.0 | 4.2 |" in text
    assert text.endswith("A note.\n")


def test_html_escapes_and_classes():
    text = numbers().to_html()
    assert "<th>&lt;y&gt;</th>" in text
    assert '<td class="outside" title="difference -0.5">2.0 / 2.5 !</td>' in text


def test_text_fits_its_width():
    assert max(map(len, numbers(note="").to_text(80).splitlines()[:4])) <= 80


def test_words_summary_names_what_differs():
    assert words().summary() == "Table 8: 1 of 2 agree; not r (q)."
    assert "NMC / LGC !" in words().to_text()


def test_what_is_not_judged_is_counted_on_neither_side():
    """Cells that are not judged do not count as agreement."""
    unjudged = replace(words(), judged=np.array([[True, False]]))
    assert unjudged.summary() == "Table 8: 1 of 1 agree."
    assert unjudged.to_dict()["within"] == [[True, None]]
    assert unjudged.cell(0, 1).within is None
    assert "NMC / LGC" in unjudged.to_text()
    assert "NMC / LGC !" not in unjudged.to_text()
    only = replace(words(), judged=np.array([[False, True]]))
    assert only.summary() == "Table 8: 0 of 1 agree; not r (q)."
    assert only.within.tolist() == [[False, False]]
    nothing = replace(words(), judged=np.array([[False, False]]))
    assert nothing.summary() == "Table 8: there is nothing to compare."


def test_chance_is_three_standard_errors_and_rounding():
    assert chance(3.0, 4.0, 0.5).item() == 15.5
    assert chance(3.0, 4.0, 0.5, width=2.0).item() == 10.5


def test_account_in_every_form():
    account = ReproductionResult(
        title="T & U", paper="P.", tables=(numbers(), words()), sentences=("It <is>.",)
    )
    restored = json.loads(json.dumps(account.to_dict(), allow_nan=False))
    assert restored["tables"][0]["ours"] == [[1.0, 2.0], [None, 4.2]]
    assert account.to_markdown().startswith("## T & U\n\nP.\n\nIt <is>.\n")
    assert "<h2>T &amp; U</h2>" in account.to_html()
    assert "It &lt;is&gt;." in account.to_html()
    assert account.explain().count("\n") == 2
    assert "Table 8" in account.to_text(80)


def test_request_wants_all_tables_or_those_named():
    assert Request().wants("1")
    assert Request(tables=("2",)).wants("2")
    assert not Request(tables=("2",)).wants("1")
