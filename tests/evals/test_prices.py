"""Prices by model, from files and mappings."""

import pytest

from bestofk._base.errors import ArgumentError, TableError
from bestofk.evals.prices import read_prices


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.csv", "model,input,output\na,1,4\nb,0.5,\n"),
        ("p.tsv", "model\tinput\toutput\na\t1\t4\nb\t0.5\t\n"),
        ("p.jsonl", '{"model": "a", "input": 1, "output": 4}\n{"model": "b", "input": 0.5}\n'),
        ("p.json", '{"a": {"input": 1, "output": 4}, "b": {"input": 0.5}}'),
        ("q.json", '{"a": [1, 4], "b": {"input": 0.5}}'),
    ],
)
def test_files(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    found = read_prices(path)
    assert (found["a"].input, found["a"].output, found["b"].input) == (1.0, 4.0, 0.5)


def test_a_price_of_a_sample(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("model,cost\na,0.25\n")
    assert read_prices(path)["a"].sample == 0.25


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({"a": -1}, "at least 0"),
        ({"a": (1, 2, 3)}, "a pair"),
        ({"a": {}}, "'input' and 'output'"),
        ({"a": "dear"}, "at least 0"),
        ({"a": True}, "at least 0"),
        ({"a": float("nan")}, "at least 0"),
        (3, "a path or a mapping"),
    ],
)
def test_what_is_no_price(prices, said):
    with pytest.raises(ArgumentError, match=said):
        read_prices(prices)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model\na\n", "prices need the column"),
        ("input,output\n1,2\n", "prices need the column"),
        ("model,cost\na,1\na,2\n", "a second time"),
        ("model,cost\na,x\n", "must be a number"),
    ],
)
def test_files_without_prices(text, said, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=said):
        read_prices(path)
