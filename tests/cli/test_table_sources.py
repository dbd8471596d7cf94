"""Sheets, folders, databases and lists of dictionaries, on the command line and in Python."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk.cli import main

SCORES = pd.DataFrame({
    "dataset": np.repeat([f"d{i}" for i in range(12)], 2), "learner": ["a", "b"] * 12,
    "error": np.arange(24) % 2 / 10 + np.arange(24) * 7 % 24 / 1000,
})  # fmt: skip
DATA = pd.DataFrame({"x": np.arange(60), "income": [f"{n:,}" for n in range(900, 1500, 10)],
                     "class": ["low"] * 30 + ["high"] * 30})  # fmt: skip


@pytest.fixture(params=["sheet", "folder", "table", "query"])
def source(request, tmp_path):
    """Write a frame in one of the ways; return what names it."""

    def write(frame):
        if request.param == "sheet":
            with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
                pd.DataFrame({"notes": ["none"]}).to_excel(book, sheet_name="first", index=False)
                frame.to_excel(book, sheet_name="Sheet 2", index=False)
            return f"{tmp_path / 't.xlsx'}#Sheet 2"
        if request.param == "folder":
            half = len(frame) // 2
            frame[half:].to_csv(tmp_path / "2.csv", index=False)
            frame[:half].to_csv(tmp_path / "1.csv", index=False)
            return str(tmp_path)
        with sqlite3.connect(tmp_path / "t.db") as database:
            frame.to_sql("scores", database, index=False)
        database.close()
        what = "scores" if request.param == "table" else "select * from scores order by rowid"
        return f"sqlite:///{tmp_path / 't.db'}#{what}"

    return write


def test_scores(source, capsys):
    expected = SCORES["error"].to_numpy().reshape(12, 2).T.ravel().tolist()
    name = source(SCORES)
    assert bk.read_scores(name).losses.ravel().tolist() == pytest.approx(expected)
    assert bk.compare_scores(name).recommended == "a"
    assert main(["scores", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recommended"] == "a"


def test_data_sets(source, capsys):
    name = source(DATA)
    data = bk.read_data(name)
    assert data.X["income"].tolist() == list(range(900, 1500, 10))
    assert main(["compare", name, "--learner", "max", "--learner", "nmc", "--cv", "2x2"]) == 0
    assert "nmc" in capsys.readouterr().out


def test_lists_of_dictionaries():
    assert bk.compare_scores(SCORES.to_dict(orient="records")).recommended == "a"
