"""Tables with the columns low and high, from a file to the answer."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from bestofk._base.errors import TableError
from bestofk.cli.app import bestofk
from bestofk.decide.interval_table import read_interval_table, run_interval_test
from bestofk.stats.interval_tests import interval_test
from bestofk.stats.multiple import bootstrap_b


@pytest.fixture
def frame():
    """Three learners on 10 data sets: net known up to 0.02, two trees known exactly."""
    rng = np.random.default_rng(1)
    rows = []
    for d in range(10):
        hard = rng.uniform(0.1, 0.3)
        for name, shift, width in (("net", 0.0, 0.02), ("tree", 0.015, 0.0), ("stump", 0.1, 0.0)):
            low = hard + shift + rng.normal(0, 0.002)
            rows.append((name, f"set {d}", low, low + width))
    return pd.DataFrame(rows, columns=["model", "dataset", "low", "high"])


def test_a_file_gives_an_interval_of_p_for_every_pair(frame, tmp_path):
    path = tmp_path / "intervals.csv"
    frame.to_csv(path, index=False)
    done = CliRunner().invoke(
        bestofk, ["test", str(path), "--test", "wilcoxon", "--json"], catch_exceptions=False
    )
    pairs = json.loads(done.output)["pairs"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [
        ("net", "tree"), ("net", "stump"), ("tree", "stump"),
    ]  # fmt: skip
    # exact Wilcoxon: 10 differences of one sign have p = 2 / 1024
    assert [pair["pvalue_low"] for pair in pairs] == pytest.approx([2 / 1024] * 3)
    assert [pair["verdict"] for pair in pairs] == ["inconclusive", "significant", "significant"]
    words = CliRunner().invoke(bestofk, ["test", str(path), "--test", "sign"])
    assert "net and tree: inconclusive" in words.output


def test_every_test_equals_its_function(frame):
    table = read_interval_table(frame)
    net, tree = table.ends[:, 0], table.ends[:, 1]
    for test in ("paired-t", "wilcoxon", "sign"):
        one = run_interval_test(table, test, pair=("net", "tree"))
        assert one.pvalues[0].tolist() == interval_test(net, tree, test=test).pvalues.tolist()
    both = run_interval_test(table, "bootstrap-b")
    assert both.pvalues.tolist() == bootstrap_b(intervals=table.ends).pvalues.tolist()


def test_scores_are_turned_round(frame):
    scores = frame.assign(low=1 - frame["high"], high=1 - frame["low"])
    table = read_interval_table(scores, higher_is_better=True)
    assert table.ends == pytest.approx(read_interval_table(frame).ends - 1)


def test_other_tables_are_left_to_others_and_wrong_ones_are_refused(frame):
    assert read_interval_table(frame.drop(columns="low")) is None
    assert read_interval_table("no such file") is None
    with pytest.raises(TableError, match="one row per dataset"):
        read_interval_table(frame.iloc[1:])
    with pytest.raises(TableError, match="low must not be above high"):
        read_interval_table(frame.assign(high=0.0))
    with pytest.raises(TableError, match="needs a learner column"):
        read_interval_table(frame.rename(columns={"model": "thing"}))
