"""Tables with the columns low and high, from a file to the answer."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError
from bestofk.cli.app import bestofk
from bestofk.papers.decide.interval_table import (
    order_intervals,
    read_interval_table,
    repetition_table,
    run_interval_test,
)
from bestofk.papers.stats import bootstrap_b
from bestofk.papers.stats.interval_tests import interval_test


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
        bestofk,
        ["papers", "test", str(path), "--test", "wilcoxon", "--json"],
        catch_exceptions=False,
    )
    pairs = json.loads(done.output)["pairs"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [
        ("net", "tree"), ("net", "stump"), ("tree", "stump"),
    ]  # fmt: skip
    # exact Wilcoxon: 10 differences of one sign have p = 2 / 1024
    assert [pair["pvalue_low"] for pair in pairs] == pytest.approx([2 / 1024] * 3)
    assert [pair["verdict"] for pair in pairs] == ["inconclusive", "significant", "significant"]
    words = CliRunner().invoke(bestofk, ["papers", "test", str(path), "--test", "sign"])
    assert "net and tree: inconclusive" in words.output


def test_every_test_equals_its_function(frame):
    table = read_interval_table(frame)
    net, tree = table.ends[:, 0], table.ends[:, 1]
    for test in ("paired-t", "wilcoxon", "sign"):
        one = run_interval_test(table, test, pair=("net", "tree"))
        assert one.pvalues.tolist() == interval_test(net, tree, test=test).pvalues.tolist()
    both = run_interval_test(table, "bootstrap-b")
    assert both.pvalues.tolist() == bootstrap_b(intervals=table.ends).pvalues.tolist()


def test_scores_are_turned_round(frame):
    scores = frame.assign(low=1 - frame["high"], high=1 - frame["low"])
    table = read_interval_table(scores, higher_is_better=True)
    assert table.ends == pytest.approx(read_interval_table(frame).ends - 1)


def test_other_tables_are_left_to_others_and_wrong_ones_are_refused(frame):
    assert read_interval_table(frame.drop(columns="low")) is None
    with pytest.raises(TableError, match="There is no file"):
        read_interval_table("absent.csv")
    with pytest.raises(TableError, match="one row per dataset"):
        read_interval_table(frame.iloc[1:])
    with pytest.raises(TableError, match="low must not be above high"):
        read_interval_table(frame.assign(high=0.0))
    with pytest.raises(TableError, match="needs a column named learner"):
        read_interval_table(frame.rename(columns={"model": "thing"}))


def test_a_learner_is_ruled_out_only_for_all_losses_in_the_intervals(frame, tmp_path):
    decision = order_intervals(frame)
    # net lies around tree inside its intervals; the stump is worse than both everywhere
    assert (decision.recommended, decision.candidates) == ("net", ("net", "tree"))
    assert decision.outcome.undecided() == ("net", "tree")
    assert decision.decision.ranking == ("net", "tree", "stump")
    # a preference decides among those that may be the best
    preferred = order_intervals(frame, prefer=["stump", "tree", "net"])
    assert preferred.decision.ranking == ("tree", "net", "stump")
    path = tmp_path / "intervals.csv"
    frame.to_csv(path, index=False)
    done = CliRunner().invoke(bestofk, ["scores", str(path), "--json"], catch_exceptions=False)
    assert json.loads(done.output)["candidates"] == ["net", "tree"]
    words = CliRunner().invoke(bestofk, ["scores", str(path)]).output
    assert "tree may be as good; stump is ruled out." in words
    assert "Narrower intervals may rule out some of net and tree." in words
    assert CliRunner().invoke(bestofk, ["scores", str(path), "-q"]).output.split() == [
        "net", "tree", "stump",
    ]  # fmt: skip
    refused = CliRunner().invoke(bestofk, ["scores", str(path), "--margin", "0.1"])
    assert "--margin 0.1 does not apply to intervals" in refused.output


def test_intervals_without_width_decide_like_numbers(frame):
    exact = frame.assign(low=frame["high"])
    decision = order_intervals(exact)
    assert decision.outcome.undecided() == ()
    means = exact.groupby("model")["low"].mean()
    assert decision.outcome.means["net"] == pytest.approx((means["net"], means["net"]))


def test_scores_give_the_same_order_and_their_own_means(frame):
    scores = frame.assign(low=1 - frame["high"], high=1 - frame["low"])
    decision = order_intervals(scores, higher_is_better=True)
    assert decision.decision.ranking == order_intervals(frame).decision.ranking
    means = scores[scores["model"] == "net"][["low", "high"]].mean()
    assert decision.outcome.means["net"] == pytest.approx(tuple(means))


@pytest.fixture
def repeated():
    """Two learners on 8 data sets with 9 repetitions; the second has outliers."""
    rng = np.random.default_rng(3)
    values = rng.uniform(0.1, 0.3, (1, 8, 1)) + rng.normal(0, 0.01, (2, 8, 9))
    values[1, :, 0] += 0.5
    values[0] += 0.04
    return bk.Scores(
        values, dims=("learner", "dataset", "repetition"), learners=["steady", "trapped"],
        datasets=[f"set {d}" for d in range(8)],
    )  # fmt: skip


def test_repetitions_become_intervals(repeated, tmp_path):
    by_mean = bk.compare_scores(repeated)
    assert by_mean.decision.smallest_mean == "steady"
    for interval in ("interquartile", "median", "mode", "censored-mean", "shortest:0.5"):
        decision = order_intervals(repeated, interval=interval)
        assert decision.recommended == "trapped", interval
    typical = order_intervals(repeated, interval="median")
    # Wilcoxon: 8 differences of one sign have p = 2 / 256
    assert typical.outcome.tested.pvalues[0].tolist() == pytest.approx([2 / 256, 2 / 256])
    path = tmp_path / "repeated.csv"
    repeated.to_frame().to_csv(path, index=False)
    arguments = ["scores", str(path), "--set", "interval=median", "--lower-is-better", "--json"]
    done = CliRunner().invoke(bestofk, arguments, catch_exceptions=False)
    assert json.loads(done.output)["candidates"] == ["trapped"]


def test_one_repetition_and_wrong_tables_are_named(frame, repeated):
    single = repetition_table(bk.Scores(repeated.losses[..., :1].reshape(2, 8)))
    assert "every interval has width 0" in single.notes[0]
    with pytest.raises(TableError, match="hold intervals of losses"):
        bk.compare_scores(frame)
    with pytest.raises(ArgumentError, match="interval turns repetitions"):
        order_intervals(frame, interval="central")
    with pytest.raises(ArgumentError, match="a learner column, low and high"):
        order_intervals(frame.drop(columns="low"))


def answer(*words):
    return json.loads(
        CliRunner().invoke(bestofk, [*words, "--json"], catch_exceptions=False).output
    )


def test_one_command_runs_the_repetitions_and_decides_by_their_intervals():
    forest = "forest=sklearn.ensemble:RandomForestClassifier(n_estimators=3)"
    words = ("compare", "iris", "wine", "--learner", "nmc", "--learner", forest, "--cv", "kfold:3",
             "--set", "repetitions=4", "--alpha", "0.5")  # fmt: skip
    for interval in ("mean", "interquartile"):
        found = answer(*words, "--set", f"interval={interval}", "--set", "test=sign")
        run = bk.compare(
            ["nmc", forest], ["iris", "wine"], cv="kfold:3",
            execution=bk.Execution(repetitions=4, progress=False),
        )  # fmt: skip
        expected = order_intervals(run, interval=interval, test="sign", alpha=0.5).to_dict()
        assert found["table"] == json.loads(json.dumps(expected["table"]))
        assert found["candidates"] == list(expected["candidates"])
        assert expected["table"][0]["name"] == "forest"
    refused = CliRunner().invoke(
        bestofk, [*words, "--set", "interval=mean", "--set", "stop=settled"]
    )
    assert "--set stop=settled does not apply to intervals of losses" in refused.output


def test_missing_cells_of_files_are_those_of_the_function(frame, repeated, tmp_path):
    path = tmp_path / "gaps.csv"
    gaps = frame.copy()
    gaps.loc[3, "low"], gaps.loc[7, "high"] = np.nan, np.nan
    gaps.to_csv(path, index=False)
    # row 3 of the frame is line 5 of the file
    with pytest.raises(TableError, match="line 5, column 'low' has no number: missing='allow'"):
        order_intervals(path)
    found = answer("papers", "test", str(path), "--test", "bootstrap-b", "--set", "missing=allow")
    by_learner = [gaps[gaps["model"] == name] for name in ("net", "tree", "stump")]
    ends = [[one[end].to_numpy() for one in by_learner] for end in ("low", "high")]
    expected = bootstrap_b(intervals=ends, missing="allow")
    assert [one["pvalue_high"] for one in found["pairs"]] == expected.posthoc()[:, 1].tolist()
    assert found["pvalues"] == expected.pvalues.tolist()
    # data sets 1 and 2 have an empty cell
    assert read_interval_table(gaps, missing="drop").ends.shape == (2, 3, 8)
    assert order_intervals(gaps, missing="allow").outcome.means["stump"][0] == pytest.approx(
        by_learner[2]["low"].mean()
    )

    values = repeated.losses[:, :, 0, 0].copy()
    values[1, 2, 4] = np.nan
    table = bk.Scores(
        values, dims=("learner", "dataset", "repetition"), learners=["steady", "trapped"],
        missing="allow",
    )  # fmt: skip
    table.to_frame().to_csv(path, index=False)
    words = ("papers", "test", str(path), "--test", "bootstrap-b", "--lower-is-better")
    for rule in ("paper", "vertex"):
        found = answer(*words, "--set", "missing=allow", "--set", f"rule={rule}")
        expected = bootstrap_b(values[:, :, None], missing="allow", rule=rule)
        assert found["pvalues"] == expected.pvalues.tolist()
        complete = bootstrap_b(np.delete(values, 2, axis=1)[:, :, None], rule=rule)
        found = answer(*words, "--set", "missing=drop", "--set", f"rule={rule}")
        assert found["pvalues"] == complete.pvalues.tolist()
    means = np.delete(values, 2, axis=1).mean(axis=(1, 2))
    decision = order_intervals(table, interval="mean", missing="drop")
    assert decision.outcome.means["trapped"] == pytest.approx([means[1]] * 2)
