"""Several metrics, models that were run on a part of the items, and latencies."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.formatting import interval_words
from bestofk.stats.pairwise import mcnemar


def frame(models):
    """Return a long table; each model has the shares of right items by metric."""
    parts = []
    for k, (name, (n, metrics)) in enumerate(models.items()):
        item = np.arange(n)
        part = pd.DataFrame({"model": name, "item": item})
        for metric, share in metrics.items():
            # the wrong items are the last ones of an order, which for safety each model has
            order = item * 7 % n if metric == "quality" else (item * 11 + 50 * k) % n
            part[metric] = (order < share * n).astype(int)
        parts.append(part)
    return pd.concat(parts)


TWO = {"new": (400, {"quality": 0.90, "safe": 0.80}), "old": (400, {"quality": 0.70, "safe": 0.99})}
HIGHER = {"higher_is_better": True}


def test_the_headline_names_a_metric_that_disagrees():
    choice = bk.compare_evals(frame(TWO), metric=["quality", "safe"], **HIGHER)
    wrong = {m: {name: 1 - frame(TWO).query("model == @name")[m].to_numpy() for name in TWO}
             for m in ("quality", "safe")}  # fmt: skip
    interval = mcnemar(wrong["safe"]["new"], wrong["safe"]["old"], exact=True).confidence_interval(
        0.975
    )
    assert choice.headline.startswith(
        f"Use new for quality; it is worse in safe (by {interval_words(*interval)}). It is the best"
    )
    assert choice.by_metric["safe"].recommended == "old"
    # each metric has half of alpha
    assert (choice.decision.alpha, choice.by_metric["safe"].decision.alpha) == (0.025, 0.025)


def test_the_headline_names_metrics_that_nobody_named(tmp_path):
    """All but one of the other columns are no metrics: constant, on another scale, or text."""
    logs = frame(TWO)
    logs["toxicity"] = 1 - logs["safe"]
    logs["temperature"] = logs["model"].map({"new": 0.7, "old": 0.2})
    logs["words"], logs["answer"] = 3 * logs["item"] + 7, "It is 17."
    wrong = {name: logs.query("model == @name")["toxicity"].to_numpy() for name in TWO}
    pair = mcnemar(wrong["new"], wrong["old"], exact=True)
    by = interval_words(*pair.confidence_interval(1 - 0.05 / 2))
    logs.to_csv(tmp_path / "small.csv", index=False)
    # read by pyarrow, of which the first rows show the metrics
    large = pd.concat([logs.assign(item=logs["item"] + 400 * k) for k in range(60)])
    large.to_csv(tmp_path / "large.csv", index=False)
    for source in (logs, tmp_path / "small.csv", tmp_path / "large.csv"):
        choice = bk.compare_evals(source, metric="quality")
        assert choice.headline.startswith("Use new for quality; it is lower in safe (by ")
        assert " and worse in toxicity (by " in choice.headline
        assert set(choice.by_metric) == {"safe", "toxicity"}
        # the metric that decides keeps its alpha
        assert (choice.decision.alpha, choice.by_metric["safe"].decision.alpha) == (0.05, 0.025)
        assert "Also compared, at a further alpha: safe and toxicity." in choice.explain()
        if source is logs:
            assert f"worse in toxicity (by {by})" in choice.headline
    agreed = bk.compare_evals(logs.drop(columns=["safe", "toxicity"]), metric="quality")
    assert (agreed.headline.startswith("Use new: "), agreed.by_metric) == (True, {})


def test_a_second_judge_on_the_same_scale():
    """Both give 1 to 5; whether more is better the user says once."""
    rng = np.random.default_rng(2)
    logs = pd.concat(pd.DataFrame({"model": name, "item": range(200),
                                   "judge_a": rng.integers(1 + up, 4 + up, 200),
                                   "judge_b": rng.integers(2 - up, 5 - up, 200)})
                     for name, up in (("long", 1), ("short", 0)))  # fmt: skip
    choice = bk.compare_evals(logs, metric="judge_a", higher_is_better=True)
    assert choice.headline.startswith("Use long for judge_a; it is lower in judge_b (by ")


def test_a_rating_next_to_right_and_wrong_answers():
    """A judge gives 1 to 5, and nobody names it; the number of words is no metric."""
    rng = np.random.default_rng(2)
    logs = frame({"new": (300, {"correct": 0.9}), "old": (300, {"correct": 0.7})})
    logs["words"] = rng.integers(1, 6, 600)
    logs["judge_rating"] = rng.integers(1, 5, 600) + (logs["model"] == "old")
    choice = bk.compare_evals(logs)
    assert choice.headline.startswith("Use new for correct; it is lower in judge_rating (by ")
    assert set(choice.by_metric) == {"judge_rating"}


def test_another_rule_keeps_its_recommendation():
    """MultiTest recommends the preferred model unless another one is significantly better."""
    prefer = {"prefer": ["old", "new"], "rule": "multitest"}
    choice = bk.compare_evals(frame(TWO), metric=["safe", "quality"], **prefer, **HIGHER)
    assert choice.headline.startswith("Use old for safe, the first in your list that")
    assert "; it is worse in quality." in choice.headline


def test_tasks_with_metrics_of_their_own_are_one_score():
    """The golden logs have four items of sums_mc (acc) and four of sums_gen (exact_match)."""
    logs = Path(__file__).parents[1] / "golden" / "lm-eval"
    choice = bk.compare_evals(logs, metric=["acc", "exact_match,strict-match"])
    assert len(choice.outcome.scores.items) == 8
    assert list(choice.by_metric) == ["acc_norm"]


def test_metrics_that_agree_are_one_line():
    models = {"a": (300, {"quality": 0.9, "safe": 0.9}), "b": (300, {"quality": 0.6, "safe": 0.6})}
    choice = bk.compare_evals(frame(models), metric=["quality", "safe"], **HIGHER)
    assert choice.headline.startswith("Use a: it is the best of the two")
    assert "By safe: use a" in choice.explain()


THREE = {
    "bold": (600, {"quality": 0.95, "safe": 0.70}),
    "good": (600, {"quality": 0.80, "safe": 0.97}),
    "weak": (600, {"quality": 0.40, "safe": 0.98}),
}


@pytest.mark.parametrize(
    ("require", "recommended", "words"),
    [
        ({"safe": 0.05}, "good", "Use good for quality; it is at most"),
        ("safe", "good", "Use good for quality; it is not ruled out in safe."),
        ({"safe": 0.5}, "bold", "Use bold for quality; it is at most"),
        ({"safe": 0.001}, None, "No model is shown to be at most 0.001 worse than the best"),
    ],
)
def test_what_is_required(require, recommended, words):
    choice = bk.compare_evals(frame(THREE), metric="quality", require=require, **HIGHER)
    assert choice.recommended == recommended
    assert choice.headline.startswith(words)
    left_out = "bold has a better mean quality, but does not meet your requirement for safe."
    assert (left_out in choice.headline) == (recommended == "good")
    if recommended == "good" and require != "safe":
        row = next(row for row in choice.by_metric["safe"].decision.standings if row.name == "good")
        assert row.at_most <= 0.05


def test_a_preference_among_those_that_meet_the_requirement():
    choice = bk.compare_evals(
        frame(THREE), metric="quality", require={"safe": 0.05}, prefer=["weak", "good", "bold"],
        margin=0.3, **HIGHER,
    )  # fmt: skip
    # weak is ruled out, bold is not safe
    assert choice.recommended == "good"
    with pytest.raises(ArgumentError, match="the rule 'best' alone"):
        bk.compare_evals(frame(THREE), metric="quality", require="safe", rule="multitest", **HIGHER)
    with pytest.raises(ArgumentError, match="no other metric decides"):
        bk.compare_evals(frame(THREE), require="safe", **HIGHER)
    with pytest.raises(ArgumentError, match="read already"):
        bk.compare_evals(bk.read_evals(frame(THREE), metric="safe", **HIGHER), metric="quality")


def test_a_model_that_was_run_on_a_part_of_the_items():
    """a and b keep the items that c lacks, and c's mean is that of a two-way layout."""
    full = frame({name: (300, {"quality": share}) for name, share in
                  (("a", 0.9), ("b", 0.7), ("c", 0.89))})  # fmt: skip
    part = full[(full.model != "c") | (full.item < 120)]
    decision = bk.compare_evals(part, metric="quality", **HIGHER).decision
    wrong = {name: 1 - full[full.model == name].quality.to_numpy() for name in "abc"}
    for a, b, n in (("a", "b", 300), ("a", "c", 120), ("b", "c", 120)):
        direct = mcnemar(wrong[a][:n], wrong[b][:n], exact=True)
        row = decision.evidence.row(a, b)
        assert decision.evidence.pvalue[row] == pytest.approx(direct.pvalue)
    assert decision.means["a"] == pytest.approx(0.9)
    # least squares with effects of models and items
    design = np.zeros((720, 303))
    models = {"a": 0, "b": 1, "c": 2}
    at = np.arange(720)
    design[at, part.model.map(models)] = 1.0
    design[at, 3 + part.item.to_numpy()] = 1.0
    effects = np.linalg.lstsq(design, part.quality.to_numpy(dtype=float), rcond=None)[0]
    assert decision.means["c"] == pytest.approx(effects[2] + effects[3:].mean())
    assert all(row.at_most is None for row in decision.standings)
    headline = decision.headline
    assert "c has 120 of 300 items." in headline
    assert "each pair is compared on the items that both have" in headline


def test_two_models_have_a_bound_on_their_common_items():
    full = frame({"a": (300, {"quality": 0.9}), "b": (300, {"quality": 0.7})})
    choice = bk.compare_evals(full[(full.model != "b") | (full.item < 120)], metric="quality",
                              **HIGHER)  # fmt: skip
    assert choice.decision.standings[0].at_most is not None
    assert "b has 120 of 300 items." in choice.headline
    assert "120 of 300 items have a score of every model" in choice.explain()


def test_models_without_common_items_are_refused():
    full = frame({name: (90, {"quality": 0.8}) for name in "abc"})
    rows = full.model.map({"a": 0, "b": 0, "c": 1}).to_numpy() == (full.item.to_numpy() >= 45)
    with pytest.raises(TableError, match="different items \\('c' shares none\\)"):
        bk.compare_evals(full[rows], metric="quality", **HIGHER)


def test_a_latency_that_no_column_states():
    with pytest.raises(ArgumentError, match=r"give columns={'latency': 'NAME'}"):
        bk.compare_evals(frame(TWO), metric="quality", prefer="latency", **HIGHER)


def test_repeated_answers_are_noted():
    """The second answers are the opposite of the first, so both means are .5."""
    logs = frame(TWO)
    again = logs[logs.model == "new"].assign(quality=lambda rows: 1 - rows.quality)
    choice = bk.compare_evals(pd.concat([logs, again]), metric="quality", **HIGHER)
    assert choice.recommended == "old"
    assert "Note: " in str(choice)
    assert "400 rows repeat a model and an item: each repetition" in choice.explain()


@pytest.mark.parametrize("prefer", ["latency", "p95_latency"])
def test_the_faster_model_is_preferred(prefer):
    """1.0 and 1.3 seconds differ by less than a factor of two."""
    models = {"slow": (200, {"quality": 0.81}), "fast": (200, {"quality": 0.80})}
    logs = frame(models)
    logs["latency"] = np.where(logs.model == "slow", 1.3, 1.0)
    choice = bk.compare_evals(logs, metric="quality", prefer=prefer, **HIGHER)
    assert choice.recommended == "fast"
    assert "the fastest" in choice.headline
    assert "You prefer models that are faster: fast, slow." in choice.explain()
