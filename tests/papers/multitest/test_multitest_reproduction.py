"""The whole way at a small size. The data sets are not part of the project: see BESTOFK_DATA."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from bestofk.cli import main
from bestofk.papers.account import Request
from bestofk.papers.multitest.reproduction import reproduce

DATA = os.environ.get("BESTOFK_DATA")
needs_data = pytest.mark.skipif(
    not (DATA and Path(DATA, "uci").is_dir()),
    reason="BESTOFK_DATA names no folder with uci/: bestofk datasets fetch uci --to DIR",
)


@needs_data
def test_one_run_is_near_the_print():
    account = reproduce(Request(variant="paper", runs=1, data=Path(DATA)))
    tables = {
        table.table.partition(",")[0] + str(k): table for k, table in enumerate(account.tables)
    }
    means, third = tables["Table 10"], tables["Table 34"]
    # ten folds: the printed deviations, 2.5 on average and 9 at most, over the root of five or so
    assert np.abs(means.difference).mean() < 1.2
    assert np.abs(means.difference).max() < 8
    # 30 decisions a procedure, most of them certain
    assert np.abs(third.difference).max() < 15
    assert set(account.figures) == {"Fig. 3, hepatitis", "Fig. 4, pendigits"}
    json.dumps(account.as_json(), allow_nan=False)


@needs_data
def test_a_store_and_processes_change_nothing(tmp_path):
    wanted = {"variant": "shared", "tables": ("fig3",), "data": Path(DATA)}
    first = reproduce(Request(**wanted, runs=27)).as_json()
    store = str(tmp_path / "kept.db")
    reproduce(Request(**wanted, runs=25, store=store))
    lines = []
    again = reproduce(Request(**wanted, runs=27, store=store, jobs=2, say=lines.append)).as_json()
    assert again == first
    # four learners have a finished piece of 25 runs; the nearest neighbour's has grown
    assert lines[0] == "4 of 9 pieces were in the store"


@needs_data
def test_the_sound_variant_on_two_data_sets(monkeypatch):
    monkeypatch.setattr(
        "bestofk.papers.multitest.reproduction.recipe", lambda: {"iris": {}, "hepatitis": {}}
    )
    account = reproduce(Request(variant="sound", runs=1, data=Path(DATA)))
    means = dict(
        zip(account.details["learners"], account.details["mean_error_percent"][0], strict=True)
    )
    # majority error of three classes of 50 flowers; the others as in any textbook
    assert means["max"] == pytest.approx(100 * 2 / 3, abs=0.01)
    assert max(means["logistic"], means["c4.5"], means["nn"]) < 8
    assert len(account.tables) == 3


@needs_data
def test_command_writes_every_form(tmp_path, capsys):
    names = {kind: tmp_path / f"out.{kind}" for kind in ("markdown", "html")}
    options = [word for kind, path in names.items() for word in (f"--{kind}", str(path))]
    call = ["reproduce", "multitest", "--table", "fig3", "--runs", "2", "--data", DATA]
    assert main([*call, *options, "--figures", str(tmp_path / "figures"), "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert held["details"]["fig3"]["edges"] == []
    assert "### Fig. 3, hepatitis" in names["markdown"].read_text()
    assert "<svg" in names["html"].read_text()
    assert [path.name for path in (tmp_path / "figures").iterdir()] == [
        "multitest-fig-3-hepatitis.svg"
    ]


def test_missing_data_are_named(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("BESTOFK_DATA", raising=False)
    assert main(["reproduce", "multitest"]) == 2
    said = capsys.readouterr().err
    assert "bestofk datasets fetch uci --to DIR" in said
    assert main(["reproduce", "multitest", "--table", "fig3", "--data", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "1 data set of 1 must be there but is not: hepatitis" in said
    assert "UCI Machine Learning Repository" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "A paper must be named: multitest"),
        (["multitset"], "did you mean 'multitest'?"),
        (["multitest", "--table", "9"], "There is no table of multitest '9'"),
        (["multitest", "--variant", "papre"], "did you mean 'paper'"),
        (["multitest", "--jobs", "0"], "--jobs must be at least 1"),
        (["multitest", "--runs", "0"], "--runs"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, words, capsys):
    assert main(["reproduce", *arguments]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
