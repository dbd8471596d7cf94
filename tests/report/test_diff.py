"""What changed between two results."""

import json

import numpy as np
import pytest

import bestofk as bk
from bestofk.cli import main

NOISE = np.random.default_rng(5).normal(0, 0.01, (3, 10, 10))


def decision(means=(0.30, 0.20, 0.21), names=("tree", "linear", "forest"), **options):
    values = np.array(means)[:, None, None] + NOISE[: len(means)]
    losses = bk.Scores(values, dims=("learner", "run", "fold"), learners=list(names))
    return bk.compare_scores(losses, **options)


def test_nothing_changed():
    result = bk.diff(decision(), decision())
    assert result.explain().splitlines() == [
        "The recommendation is the same: linear.",
        "All verdicts are the same.",
        "All means of loss are the same.",
        "All settings are the same.",
    ]


def test_a_changed_recommendation_comes_first():
    result = bk.diff(decision(), decision((0.10, 0.20, 0.21), alpha=0.01))
    lines = result.explain().splitlines()
    assert lines[0] == "The recommendation changed from linear to tree."
    assert lines[1] == (
        "Verdicts: tree from 'ruled out' to 'recommended', linear from 'recommended' to "
        "'ruled out' and forest from 'may be the best' to 'ruled out'."
    )
    assert "Settings: alpha from 0.05 to 0.01." in lines
    assert lines[-2].startswith("Mean loss: tree from 0.")
    assert result.settings == {"alpha": (0.05, 0.01)}
    row = result.to_frame().set_index("learner").loc["tree"]
    assert (row["verdict_before"], row["verdict_after"]) == ("ruled out", "recommended")
    assert row["after"] - row["before"] == pytest.approx(-0.2)


def test_learners_that_come_and_go():
    result = bk.diff(decision(), decision(names=("tree", "linear", "boosting")))
    lines = result.explain().splitlines()
    assert "Added: boosting." in lines
    assert "Removed: forest." in lines
    assert "All verdicts are the same." in lines


def test_different_preferences_are_different_settings():
    a, b = decision(prefer=["forest", "linear"]), decision(prefer=["linear", "forest"])
    assert list(bk.diff(a, b).settings) == ["preference"]


def test_results_and_their_json_are_the_same(tmp_path):
    a, b = decision(), decision((0.10, 0.20, 0.21))
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, value in zip(files, (a, b), strict=True):
        file.write_text(json.dumps(value.to_dict(), allow_nan=False))
    assert bk.diff(*files) == bk.diff(a, b) == bk.diff(a.to_dict(), files[1])
    json.dumps(bk.diff(a, b).to_dict(), allow_nan=False)


def test_studies_of_a_store(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick = {"cv": "5x2", "progress": False, "n_jobs": 1, "store": "s.db"}
    data = bk.read_data("iris")
    bk.compare(["max", "nmc"], data, **quick)
    assert bk.diff("s.db", "s.db").explain().endswith("The data are the same.")
    bk.compare(["max", "nmc"], data.X[:120], data.y[:120], random_state=1, **quick)
    with pytest.raises(bk.ArgumentError, match=r"choose from s\.db:1 and s\.db:2"):
        bk.diff("s.db", "s.db:1")
    assert main(["diff", "s.db:1", "s.db:2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("The recommendation is the same: nmc.\n")
    assert "random_state from 0 to 1" in out
    assert "Data sets added: " in out
    assert main(["diff", "s.db:1", "s.db:2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recommended"] == ["nmc", "nmc"]


def test_files_that_are_no_results(tmp_path):
    with pytest.raises(bk.TableError, match="There is no file or store"):
        bk.diff(str(tmp_path / "a.json"), decision())
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(bk.TableError, match="write it with --json"):
        bk.diff(tmp_path / "a.json", decision())
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(bk.TableError, match="is not JSON"):
        bk.diff(tmp_path / "b.json", decision())
    with pytest.raises(bk.ArgumentError, match="diff compares decisions"):
        bk.diff(decision(), 3)


def test_numbered_learners_are_called_learners():
    losses = bk.Scores([[0.1, 0.2, 0.15, 0.12], [0.5, 0.6, 0.55, 0.61]])
    result = bk.diff(bk.compare_scores(losses), bk.compare_scores(losses))
    assert result.explain().startswith("The recommendation is the same: learner 0.")
