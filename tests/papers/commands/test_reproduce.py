"""bestofk papers reproduce."""

import json
import os
from pathlib import Path

import pytest

from bestofk.cli import main

DATA = os.environ.get("BESTOFK_DATA")


needs_data = pytest.mark.skipif(
    not (DATA and Path(DATA, "uci").is_dir()),
    reason="BESTOFK_DATA names no folder with uci/: bestofk papers fetch uci --to DIR",
)


@needs_data
def test_command_writes_every_form(tmp_path, capsys):
    options = ["--markdown", str(tmp_path / "out.md")]
    call = ["papers", "reproduce", "multitest", "--table", "fig3", "--runs", "2", "--data", DATA]
    assert main([*call, *options, "--figures", str(tmp_path / "figures"), "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert held["details"]["fig3"]["edges"] == []
    assert "### Fig. 3, hepatitis" in (tmp_path / "out.md").read_text()
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        "multitest-fig-3-hepatitis.svg",
        "multitest-fig-3-hepatitis-narrow.svg",
    }


def test_missing_data_are_named(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("BESTOFK_DATA", raising=False)
    assert main(["papers", "reproduce", "multitest"]) == 2
    said = capsys.readouterr().err
    assert "bestofk papers fetch uci --to DIR" in said
    assert (
        main(["papers", "reproduce", "multitest", "--table", "fig3", "--data", str(tmp_path)]) == 2
    )
    said = capsys.readouterr().err
    assert "1 data set of 1 is missing: hepatitis" in said
    assert "UCI Machine Learning Repository" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Name a paper: multitest"),
        (["multitset"], "did you mean 'multitest'?"),
        (["multitest", "--table", "9"], "There is no table of multitest '9'"),
        (["multitest", "--variant", "papre"], "did you mean 'paper'"),
        (["multitest", "--n-jobs", "0"], "--n-jobs must be at least 1"),
        (["multitest", "--runs", "0"], "--runs"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, words, capsys):
    assert main(["papers", "reproduce", *arguments]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
