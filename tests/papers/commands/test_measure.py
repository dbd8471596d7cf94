"""bestofk papers measure."""

from __future__ import annotations

import json

import pytest

from bestofk.cli import main

SMALL = "binary(rows=40, attributes=3)"


@pytest.mark.parametrize(
    "words",
    [
        ["type1", "--problem", SMALL, "--cv", "2x4", "--sets", "5", "--test", "folds"],
        ["power", "--problem", "network(paper=2, rows=40)", "--cv", "2x4", "--sets", "4"],
        ["replicability", "--problem", SMALL, "--cv", "2x4", "--sets", "4", "--repeats", "3"],
    ],
)  # fmt: skip
def test_command_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "measure", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["papers", "measure", *words]) == 0
    assert capsys.readouterr().out.strip() == found["explanation"]


@pytest.mark.parametrize(
    "words",
    [
        ["claims", "--problem", "many-data-sets(means=(0.3, 0.2, 0.2))"],
        ["claims", "--learner", "nmc", "--problem", "blocks(rows=40)", "--cv", "2x4",
         "--prefer", "nmc 1,nmc 2"],
        ["claims", "--set", "test=sign", "--alpha", "0.1"],
    ],
)  # fmt: skip
def test_measures_of_decisions(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    call = ["papers", "measure", *words, "--sets", "8", "--quiet"]
    assert main([*call, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measure"] == words[0]
    assert found["sets"] == 8
    assert main(call) == 0
    assert capsys.readouterr().out.strip() == found["explanation"]


@pytest.mark.parametrize(
    "words",
    [
        ["papers", "measure", "type1", "--sets", "0"],
        ["papers", "measure", "power", "--data", "iris"],
        ["papers", "measure", "claims", "--problem", "network(paper=2)"],
    ],
)
def test_wrong_calls(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("bestofk: ")
    assert said.count("\n") == 1
