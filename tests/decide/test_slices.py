"""Statements by slice, which hold together, by command line and Python."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
import bestofk.decide
from bestofk._base.errors import BestOfKError
from bestofk.cli import main


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


def test_each_slice_has_its_own_statement_at_its_share_of_alpha(frame):
    result = bestofk.decide.order_by(frame, "subject")
    for name, one in result.by_slice.items():
        part = frame[frame.subject == name].drop(columns="subject")
        alone = bk.compare_scores(part, alpha=0.05 / 4)
        assert one.headline == alone.headline
        assert one.to_dict()["table"] == alone.to_dict()["table"]
    assert result.settings.alpha == 0.05


def test_the_slice_in_which_the_recommended_model_is_ruled_out_comes_first(frame):
    result = bestofk.decide.order_by(frame, "subject")
    assert result.recommended == "A"
    assert [one.recommended for one in result.by_slice.values()] == ["B", "A", "A", "A"]
    assert next(iter(result.by_slice)) == "law"
    assert "A" not in result.by_slice["law"].candidates
    assert (
        "Slices by subject: A is ruled out in 1 of 4 slices: law (95 % confidence for all slices "
        "at once)."
    ) in result.explain()


@pytest.mark.parametrize("verb", ["scores", "evals"])
def test_commands_print_the_slices(frame, verb, tmp_path, capsys):
    path = str(tmp_path / "scores.csv")
    frame.to_csv(path, index=False)
    assert main([verb, path, "--by", "subject"]) == 0
    assert "A is ruled out in 1 of 4 slices: law" in " ".join(capsys.readouterr().out.split())
    assert main([verb, path, "--by", "subject", "--json"]) == 0
    name, first = next(iter(json.loads(capsys.readouterr().out)["by_slice"].items()))
    assert (name, first["recommended"]) == ("law", "B")


def test_bad_columns_are_refused(frame, tmp_path, capsys):
    path = str(tmp_path / "scores.csv")
    frame.to_csv(path, index=False)
    assert main(["scores", path, "--by", "subjekt"]) == 2
    assert "did you mean 'subject'?" in capsys.readouterr().err
    with pytest.raises(BestOfKError, match="2 to 200 different values; 'item' has 800"):
        bestofk.decide.order_by(frame, "item")


def test_slices_that_cannot_be_tested_are_named(frame):
    one_item = pd.DataFrame(
        [(model, 9000, "art", 1) for model in "ABC"],
        columns=["model", "item", "subject", "accuracy"],
    )
    result = bestofk.decide.order_by(pd.concat([frame, one_item]), "subject")
    left_out = set(re.findall(r"^(\w+): left out\.", result.explain(), re.M))
    assert set(result.by_slice) | left_out == {"maths", "law", "code", "history", "art"}
