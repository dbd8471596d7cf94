"""Reports that commands write."""

import json

import bestofk as bk
from bestofk.cli import main

QUICK = {"cv": "5x2", "progress": False}


def test_commands_write_reports(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    learners = ["--learner", "max", "--learner", "nmc", "--cv", "5x2"]
    compare = ["compare", "iris", *learners, "--store", "s.db", "--report", "a.html", "--json"]
    assert main(compare) == 0
    assert json.loads(capsys.readouterr().out)["report"] == "a.html"
    assert "bestofk compare iris --learner max" in (tmp_path / "a.html").read_text("utf-8")
    assert main(["show", "s.db", "--report", "b.html"]) == 0
    assert capsys.readouterr().out.endswith("The report is in b.html.\n")
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()
    assert main(["scores", "digits-5x2", "--report", "c.html", "--quiet"]) == 0
    assert "bestofk scores digits-5x2" in (tmp_path / "c.html").read_text("utf-8")


def test_a_store_of_several_studies_asks_which(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for plan in ("5x2", "kfold:3"):
        bk.compare(["max", "nmc"], data="iris", store="s.db", **{**QUICK, "cv": plan})
    assert main(["show", "s.db", "--report", "r.html"]) == 2
    assert "--study ..., one of 1 and 2" in capsys.readouterr().err
    assert main(["show", "s.db", "--study", "2", "--report", "r.html"]) == 0
