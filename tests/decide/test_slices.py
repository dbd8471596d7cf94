"""Verdicts by slice: one family over all slices, by command line and Python."""

import json

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.cli import main
from bestofk.stats.adjust import adjust


@pytest.fixture(scope="module")
def frame():
    """Model A is better, except in the slice law."""
    rng = np.random.default_rng(1)
    rows = []
    for item in range(800):
        subject = ("maths", "law", "code", "history")[item % 4]
        for model, share in (("A", 0.4 if subject == "law" else 0.9), ("B", 0.75), ("C", 0.6)):
            rows.append((model, item, subject, int(rng.random() < share)))
    return pd.DataFrame(rows, columns=["model", "item", "subject", "accuracy"])


def test_all_pairs_of_all_slices_are_one_family(frame):
    slices = bk.decide.order_by(frame, "subject")
    parts = {name: bk.order(frame[frame.subject == name].drop(columns="subject"))
             for name in frame.subject.unique()}  # fmt: skip
    p = np.concatenate([part.evidence.pvalue for part in parts.values()])
    assert slices.comparisons == len(p) == 12
    significant = int((adjust(p, "holm") <= 0.05).sum())
    assert sum(len(one.claims) for one in slices.slices) == significant
    for one in slices.slices:
        assert one.means == parts[one.name].means


def test_the_slice_in_which_another_model_is_better_comes_first(frame):
    slices = bk.decide.order_by(frame, "subject")
    assert slices.recommended == "A"
    first = slices.slices[0]
    assert first.name == "law"
    assert {name for name, _ in slices.worse(first)} >= {"B"}
    assert all(not slices.worse(one) for one in slices.slices[1:])
    assert "in 1 of 4 slices another" in slices.explain()


@pytest.mark.parametrize("verb", ["order", "evals"])
def test_commands_print_the_slices(frame, verb, tmp_path, capsys):
    path = str(tmp_path / "scores.csv")
    frame.to_csv(path, index=False)
    assert main([verb, path, "--by", "subject"]) == 0
    assert "significantly better than A: law (one family of 12" in capsys.readouterr().out
    assert main([verb, path, "--by", "subject", "--json"]) == 0
    slices = json.loads(capsys.readouterr().out)["slices"]
    assert slices["slices"][0]["name"] == "law"
    assert slices["comparisons"] == 12


def test_bad_columns_are_refused(frame, tmp_path, capsys):
    path = str(tmp_path / "scores.csv")
    frame.to_csv(path, index=False)
    assert main(["order", path, "--by", "subjekt"]) == 2
    assert "did you mean 'subject'?" in capsys.readouterr().err
    with pytest.raises(BestOfKError, match="2 to 200 different values; 'item' has 800"):
        bk.decide.order_by(frame, "item")


def test_slices_that_cannot_be_tested_are_named(frame):
    one_item = pd.DataFrame(
        [(model, 9000, "art", 1) for model in "ABC"],
        columns=["model", "item", "subject", "accuracy"],
    )
    slices = bk.decide.order_by(pd.concat([frame, one_item]), "subject")
    assert set(slices.left_out) <= {"art"}
    assert {one.name for one in slices.slices} | set(slices.left_out) == {
        "maths", "law", "code", "history", "art",
    }  # fmt: skip


def test_predictions_by_slice_and_the_report(tmp_path, capsys):
    """The losses of the rows in a slice are those of `order` on these rows."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 400)
    part = np.where(np.arange(400) % 2, "old", "new")
    wrong_a = rng.random(400) < np.where(part == "old", 0.5, 0.05)
    table = pd.DataFrame({"y": truth, "part": part, "a": np.where(wrong_a, 1 - truth, truth),
                          "b": np.where(rng.random(400) < 0.2, 1 - truth, truth)})  # fmt: skip
    path, page = str(tmp_path / "p.csv"), tmp_path / "r.html"
    table.to_csv(path, index=False)
    command = ["order", path, "--truth", "y", "--by", "part", "--report", str(page)]
    assert main([*command, "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)["slices"]
    old = table[table.part == "old"]
    losses = pd.DataFrame({name: (old[name] != old.y).astype(float) for name in "ab"})
    expected = bk.order(losses.assign(item=np.arange(len(old))), higher_is_better=False)
    means = {one["name"]: one["means"] for one in stored["slices"]}
    assert means["old"] == pytest.approx(dict(expected.means))
    text = page.read_text()
    assert "Slices by part" in text
    assert "one family of 2 comparisons" in text
    assert main([*command[:-3], "absent"]) == 2
    assert "no column 'absent'" in " ".join(capsys.readouterr().err.split())
