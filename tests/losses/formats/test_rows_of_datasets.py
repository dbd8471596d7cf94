"""Wide tables whose rows are data sets."""

import json

import pytest

import bestofk as bk


def test_the_ranks_are_those_that_autorank_found(golden):
    losses = bk.read_losses(
        golden("autorank/populations.csv"), format="autorank", higher_is_better=True
    )
    assert (len(losses.datasets), losses.design.kind) == (12, "scores")
    expected = json.loads(golden("autorank/meanrank.json").read_text())
    ranks = losses.values[:, :, 0, 0, 0].argsort(axis=0).argsort(axis=0).mean(axis=1) + 1
    assert dict(zip(losses.learners, ranks, strict=True)) == pytest.approx(expected)


def test_row_names_of_r_are_data_sets(golden):
    """Garcia and Herrera (2008) print mean ranks 2.100, 3.250, 2.200, 4.333, 3.117."""
    from scipy.stats import rankdata

    losses = bk.read_losses(
        golden("scmamp/data_gh_2008.csv"), format="scmamp", higher_is_better=True
    )
    assert losses.learners == ("C4.5", "k-NN(k=1)", "NaiveBayes", "Kernel", "CN2")
    assert losses.datasets[:2] == ("Abalone*", "Adult*")
    ranks = rankdata(losses.values[:, :, 0, 0, 0], axis=0).mean(axis=1)
    assert ranks == pytest.approx([2.1, 3.25, 2.2, 4.3333, 3.1167], abs=1e-4)


def test_named_rows_and_numbered_ones(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("data set,a,b\nx,1,2\ny,3,4\n")
    assert bk.read_losses(path, format="autorank", higher_is_better=False).datasets == ("x", "y")
    path.write_text(",a,b\n7,1,2\n8,3,4\n")
    assert bk.read_losses(path, format="autorank", higher_is_better=False).datasets == ("7", "8")
    path.write_text("a,b\n1,2\n3,4\n")
    assert bk.read_losses(path, format="autorank", higher_is_better=False).datasets == ("1", "2")
