"""Choosing a language model: test, bound, margin, weights, and what the data cannot show."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk._base.errors import ArgumentError, BestOfKError, TableError
from bestofk.stats.pairwise import cluster_t, mcnemar
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS


def right(rate, n, seed):
    return (np.random.default_rng(seed).random(n) < rate).astype(float)


@pytest.fixture
def runs():
    """15 questions in 4 runs: five differ, 10 rows for the first against 2."""
    scores = np.ones((2, 15, 4))
    scores[1, 0, :3] = scores[1, 1, :3] = scores[1, 2, :2] = scores[1, 3, :1] = scores[1, 4, :1] = 0
    scores[0, 0, 3] = scores[0, 1, 3] = 0
    return scores


def test_the_known_example(evals_of, runs):
    """Per row p = .039; per question .0625, the smallest possible with 5 that differ."""
    choice = bk.choose_model(evals_of(runs), test="cluster-sign-flip")
    assert choice.decision.evidence.pvalue.tolist() == [0.0625]
    assert choice.unattainable == (("model-1", 5, 0.0625),)
    assert (
        "Only 5 items separate model-0 from model-1: the p-value cannot fall below 0.062"
        in choice.explain()
    )
    rows = mcnemar(1 - runs[1].ravel(), 1 - runs[0].ravel(), exact=True)
    assert rows.pvalue == pytest.approx(158 / 4096)


def test_right_or_wrong_in_one_epoch_is_mcnemars_exact_test(evals_of):
    scores = np.stack([right(0.9, 80, 1), right(0.6, 80, 2)])
    choice = bk.choose_model(evals_of(scores))
    exact = stats.binomtest(
        int((scores[0] > scores[1]).sum()), int((scores[0] != scores[1]).sum())
    ).pvalue
    assert choice.decision.test == "mcnemar"
    assert choice.decision.evidence.pvalue[0] == pytest.approx(exact)


@pytest.mark.parametrize("name", CLUSTERED_TESTS)
def test_clusters_are_tested_as_asked(evals_of, name):
    scores = np.stack([right(0.8, 60, 1), right(0.6, 60, 2)])
    clusters = np.arange(60) // 4
    choice = bk.choose_model(evals_of(scores, clusters=clusters), test=name)
    direct = CLUSTERED_TESTS[name].load()(1 - scores[0], 1 - scores[1], clusters=clusters)
    assert choice.decision.test == name
    assert choice.decision.evidence.pvalue[0] == pytest.approx(direct.pvalue)
    assert "15 clusters of items count" in choice.explain()


def test_a_test_that_knows_no_clusters_is_refused_where_there_are_some(evals_of):
    scores = np.stack([right(0.8, 40, 1), right(0.6, 40, 2)])
    evals = evals_of(scores, clusters=np.arange(40) // 4)
    with pytest.raises(ArgumentError, match="cluster-sign-flip, obuchowski, durkalski, yang"):
        bk.choose_model(evals, test="mcnemar")
    with pytest.raises(BestOfKError, match="nonsense"):
        bk.choose_model(evals_of(scores), test="nonsense")


def test_the_cheapest_that_is_not_worse(evals_of):
    good = right(0.8, 300, 1)
    scores = np.stack([right(0.3, 300, 2), good, np.where(right(0.02, 300, 3) > 0, 1, good)])
    choice = bk.choose_model(evals_of(scores), prefer="cost", margin=0.05)
    assert choice.recommended == "model-1"
    assert choice.margin_verdict == "shown"
    assert 0 < choice.bound < 0.05
    free = bk.choose_model(evals_of(scores))
    assert free.recommended == "model-2"


def test_the_bound_of_clusters_is_that_of_the_test_of_the_mean(evals_of):
    scores = np.random.default_rng(5).random((2, 40))
    clusters = np.arange(40) // 5
    choice = bk.choose_model(evals_of(scores, clusters=clusters), prefer=["model-0", "model-1"])
    direct = cluster_t(1 - scores[0], 1 - scores[1], clusters=clusters, alternative="less")
    assert choice.recommended == "model-0"
    assert choice.bound == pytest.approx(direct.confidence_interval(0.95).high)


def test_the_bound_covers_the_regret_of_whatever_was_chosen(evals_of):
    """Three equal models, whose scores differ by chance: the regret is 0, and never above."""
    from bestofk.evals.choosing import choose_model

    rng = np.random.default_rng(6)
    truth = np.array([0.5, 0.55, 0.6])
    missed = 0
    for _ in range(60):
        scores = (rng.random((3, 60)) < truth[:, None]).astype(float)
        choice = choose_model(evals_of(scores), prefer="cost")
        missed += choice.bound < truth.max() - truth[int(choice.recommended[-1])]
    # at most 5 % in truth: 9 or more of 60 would come in one of 200
    assert missed < stats.binom.ppf(0.995, 60, 0.05)


@pytest.mark.parametrize(
    ("margin", "verdict", "said"),
    [
        (0.5, "shown", "is shown not to be worse than the best by more than your margin"),
        (0.001, "not shown", "may be worse than the best by more than your margin"),
    ],
)
def test_margins(evals_of, margin, verdict, said):
    scores = np.random.default_rng(7).random((2, 60)) / 10 + [[0.5], [0.502]]
    choice = bk.choose_model(evals_of(scores), prefer="cost", margin=margin)
    assert (choice.margin_verdict, said in choice.explain()) == (verdict, True)


def test_the_cheapest_adequate_takes_the_margin(evals_of):
    scores = np.stack([np.full(40, 0.5), np.full(40, 0.9)]) + np.random.default_rng(1).normal(
        0, 0.01, (2, 40)
    )
    choice = bk.choose_model(
        evals_of(scores), prefer="cost", margin=0.1, procedure="cheapest-adequate"
    )
    assert choice.recommended == "model-1"
    assert choice.decision.margin == 0.1


def test_tasks_count_by_items_or_the_same(evals_of):
    rng = np.random.default_rng(8)
    scores = np.concatenate([rng.random((2, 90)) / 5 + [[0.7], [0.5]],
                             rng.random((2, 10)) / 5 + [[0.1], [0.6]]], axis=1)  # fmt: skip
    tasks = ["many"] * 90 + ["few"] * 10
    micro = bk.choose_model(evals_of(scores, tasks=tasks))
    macro = bk.choose_model(evals_of(scores, tasks=tasks), macro=True)
    means = (scores[:, :90].mean(axis=1) + scores[:, 90:].mean(axis=1)) / 2
    shown = [macro.decision.means[f"model-{k}"] for k in range(2)]
    assert shown == pytest.approx(means)
    assert (micro.recommended, macro.recommended) == ("model-0", "model-1")
    assert "over items (micro)" in micro.explain()
    assert "over tasks (macro)" in macro.explain()
    # the root of sum w^2 SE^2, by scipy
    d = scores[0] - scores[1]
    error = np.hypot(stats.sem(d[:90]), stats.sem(d[90:])) / 2
    assert macro.plan.standard_error == pytest.approx(error)


def test_pass_at_k_is_a_score_like_any_other(evals_of):
    answers = np.zeros((2, 30, 4))
    answers[0, :, 0] = 1
    answers[1, :20] = 1
    evals = evals_of(answers)
    best, every = bk.choose_model(evals, pass_at=4), bk.choose_model(evals, pass_all=4)
    assert (best.recommended, every.recommended) == ("model-0", "model-1")
    assert best.decision.metric.name == "pass@4"
    with pytest.raises(ArgumentError, match="pass one"):
        bk.choose_model(evals, pass_at=2, pass_all=2)


def test_what_was_left_out_is_in_the_verdict(evals_of):
    scores = np.stack([right(0.8, 40, 1), right(0.7, 40, 2)])
    scores[0, :3] = np.nan
    said = bk.choose_model(evals_of(scores)).explain()
    assert "37 of 40 items have a score of every model" in said
    assert "Skipped, because they have no score: 3 unscored (model-0 3)" in said


def test_json_is_strict(evals_of, runs):
    choice = bk.choose_model(
        evals_of(runs, costs=[2, 1]), prefer="cost", margin=0.01, test="cluster-sign-flip"
    )
    held = json.loads(json.dumps(choice.to_dict(), allow_nan=False))["choice"]
    assert held["margin_verdict"] == "not shown"
    assert held["unattainable"][0]["differ"] == 5
    assert [row["learner"] for row in held["leaderboard"]] == ["model-0", "model-1"]
    assert list(choice.to_frame().columns[:4]) == ["learner", "mean", "low", "high"]


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize(
    "scores",
    [
        np.zeros((3, 20)),
        np.ones((2, 2)),
        np.eye(3, 7),
        np.arange(20.0).reshape(2, 10) * 1e6,
        np.full((2, 9), -3.5),
        np.random.default_rng(0).normal(size=(4, 30)),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
    ],
    ids=["all wrong", "two items", "few right", "large", "constant", "normal", "even"],
)
@pytest.mark.parametrize("clusters", [None, 2, 1])
def test_strange_scores_get_a_verdict(evals_of, scores, higher, clusters):
    n = scores.shape[1]
    groups = None if clusters is None else np.arange(n) % clusters
    evals = evals_of(scores, clusters=groups, higher_is_better=higher)
    for macro in (False, True):
        choice = bk.choose_model(evals, prefer="cost", margin=0.1, macro=macro)
        said = choice.explain()
        assert "nan" not in said.lower()
        assert "inf" not in said.split()
        json.dumps(choice.to_dict(), allow_nan=False)


def test_nothing_in_common_is_one_sentence(evals_of):
    scores = np.array([[1.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(TableError, match="no item for which all 2 models"):
        bk.choose_model(evals_of(scores))


def test_equal_models_are_told_apart_by_pooled_rows_only():
    """Reproduce the row of docs/use/language-models.md with studies/evals_type1.py, level .05."""
    from pathlib import Path

    import evals_type1

    root = Path(__file__).resolve().parents[3]
    sets = 2000
    found = evals_type1.rates("200 items in 10 unequal clusters, 4 epochs", sets)
    ways = ("rows: McNemar", "items: sign flips", "clusters: sign flips", "clusters: t interval")
    row = " | ".join(f"{100 * found[way] / sets:.1f} %" for way in ways)
    page = (root / "docs" / "use" / "language-models.md").read_text()
    assert f"| 200 items in 10 clusters of unequal sizes, 4 epochs | {row} |" in page
    # a test that keeps its level rejects more often in at most one of a thousand runs
    most = stats.binom.ppf(0.999, sets, 0.05)
    assert found["clusters: sign flips"] <= most < found["items: sign flips"]


def test_the_fastest_is_not_called_the_cheapest(evals_of):
    scores = np.random.default_rng(7).random((2, 60)) / 10 + [[0.5], [0.502]]
    evals = evals_of(scores)
    evals = replace(evals, latency=np.where(evals.learner == 0, 1.0, 4.0))
    said = bk.choose_model(evals, prefer="latency").explain()
    assert "the fastest that no other significantly beats" in said
    assert "You prefer models that are faster" in said
    assert "cheap" not in said
    assert "learner" not in said


def test_one_cluster_decides_nothing(evals_of):
    choice = bk.choose_model(evals_of([[1.0] * 20, [0.0] * 20], clusters=["p"] * 20))
    assert not choice.decision.decidable
    said = choice.headline()
    assert "One cluster cannot decide between two models" in said
    # 2^(1 - 6) = 0.03 is the first below 0.05
    assert "At least 6 are needed" in said
    assert "if you prefer it" not in said


def test_nothing_is_said_beyond_the_largest_difference(evals_of):
    """Two items in two epochs: the t interval would reach from -38 to 39, and there is none."""
    choice = bk.choose_model(evals_of(np.array([[1.0, 1.0], [0.0, 0.5]])))
    for pair in choice.decision.evidence:
        assert (pair.low, pair.high) == (-np.inf, np.inf)
    assert "2 items are too few to show any difference" in choice.explain()
    assert "interval 1 to 1" not in choice.explain()
