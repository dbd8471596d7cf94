"""bestofk measure claims and chosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bestofk.cli import main


def test_a_small_table_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["measure", "claims", "--table", "--smoke", "--out", str(tmp_path), "--jobs", "1"]
    pattern = ["--case", "learners/*/naive-bayes/100 rows/K=[25]/default"]
    assert main([*words, *pattern]) == 0
    said = capsys.readouterr()
    assert said.out.split() == [str(tmp_path / "claims.csv"), str(tmp_path / "claims.md")]
    assert "4 of 4: learners/binary/naive-bayes/100 rows/K=5/default" in said.err
    page = (tmp_path / "claims.md").read_text()
    assert "| binary | naive-bayes | 100 |" in page
    assert "bestofk measure claims --table --seed 0" in page
    assert main([*words, *pattern, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["measure", "chosen", "--table", "--smoke", "--out", str(tmp_path), "--jobs", "1",
                 "--case", "all equal/12*/smallest mean", "--quiet"]) == 0  # fmt: skip
    assert "| all equal | 12 | smallest mean | 0.0 |" in (tmp_path / "chosen.md").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["claims", "--problem", "many-data-sets(means=(0.3, 0.2, 0.2))"],
        ["claims", "--learner", "nmc", "--problem", "blocks(rows=40)", "--cv", "2x4",
         "--prefer", "nmc 1,nmc 2"],
        ["chosen", "--by", "0.1", "--within", "0.01", "--test", "sign", "--alpha", "0.1"],
    ],
)  # fmt: skip
def test_one_problem_from_the_command_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["measure", *words, "--sets", "8", "--quiet"]
    assert main([*call, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measure"] == words[0]
    assert found["sets"] == 8
    assert main(call) == 0
    assert capsys.readouterr().out.strip() == found["explanation"]


@pytest.mark.parametrize(
    "words",
    [
        ["claims", "--problem", "gaussian"],
        ["claims", "--smoke"],
        ["claims", "--case", "x"],
        ["chosen", "--by", "-1"],
        ["claims", "--table", "--case", "nothing"],
    ],
)
def test_wrong_calls(words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["measure", *words, "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("bestofk: ")
    assert said.count("\n") == 1
