"""bestofk papers calibrate."""

import json

import pytest

SMALL = "binary(rows=40, attributes=3)"


def test_text_and_json_say_the_same(run):
    words = ["papers", "calibrate", "--problem", SMALL, "--cv", "2x4", "--sets", "5", "--quiet"]
    code, out, _ = run(*words, "--json")
    assert code == 0
    found = json.loads(out)
    code, text, _ = run(*words)
    assert code == 0
    assert text.strip() == found["explanation"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "y"], "--target"),
        (["--test", "5x2cv-t"], "5x2cv-t"),
        (["--sets", "0"], "sets must be a whole number of at least 1"),
    ],
)
def test_wrong_calls_get_one_line(run, words, said):
    code, out, err = run("papers", "calibrate", *words)
    assert (code, out) == (2, "")
    assert err.startswith("bestofk: ")
    assert said in err
    assert err.count("\n") == 1


def test_too_few_data_sets(run):
    """4 of 40 data sets have the smallest p; 95 % limits of 10 % of 40 begin at 2.8 %."""
    code, said, _ = run(
        "papers", "calibrate", "--test", "sign", "--cv", "kfold:10", "--sets", "40", "-q"
    )
    assert code == 0
    assert "the test rejected on 10.0 % of them" in said
    assert "40 data sets are too few to calibrate it" in said
