"""Choosing a language model: test, bounds, margin, weights, and missing scores."""

import json

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk._base.errors import ArgumentError, BestOfKError
from bestofk.stats.pairwise import mcnemar
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
    choice = bk.compare_evals(evals_of(runs), test="cluster-sign-flip")
    assert choice.decision.evidence.pvalue.tolist() == [0.0625]
    assert choice.decision.candidates == ("model-0", "model-1")
    rows = mcnemar(1 - runs[1].ravel(), 1 - runs[0].ravel(), exact=True)
    assert rows.pvalue == pytest.approx(158 / 4096)


def test_right_or_wrong_in_one_epoch_is_mcnemars_exact_test(evals_of):
    scores = np.stack([right(0.9, 80, 1), right(0.6, 80, 2)])
    choice = bk.compare_evals(evals_of(scores))
    exact = stats.binomtest(
        int((scores[0] > scores[1]).sum()), int((scores[0] != scores[1]).sum())
    ).pvalue
    assert choice.decision.test == "mcnemar"
    assert choice.decision.evidence.pvalue[0] == pytest.approx(exact)


@pytest.mark.parametrize("name", CLUSTERED_TESTS)
def test_clusters_are_tested_as_asked(evals_of, name):
    scores = np.stack([right(0.8, 60, 1), right(0.6, 60, 2)])
    clusters = np.arange(60) // 4
    choice = bk.compare_evals(evals_of(scores, clusters=clusters), test=name)
    # a decision on 15 clusters multiplies the standard error
    more = {"widened": 1 + 2.5 / 15} if name == "cluster-t" else {}
    direct = CLUSTERED_TESTS[name].load()(1 - scores[0], 1 - scores[1], clusters=clusters, **more)
    assert choice.decision.test == name
    assert choice.decision.evidence.pvalue[0] == pytest.approx(direct.pvalue)
    assert "15 clusters of items count" in choice.explain()


def test_a_test_that_knows_no_clusters_is_refused_where_there_are_some(evals_of):
    scores = np.stack([right(0.8, 40, 1), right(0.6, 40, 2)])
    evals = evals_of(scores, clusters=np.arange(40) // 4)
    with pytest.raises(ArgumentError, match="cluster-t, cluster-sign-flip"):
        bk.compare_evals(evals, test="mcnemar")
    with pytest.raises(BestOfKError, match="nonsense"):
        bk.compare_evals(evals_of(scores), test="nonsense")


def at_most(choice):
    return {row.name: row.at_most for row in choice.decision.standings}


def test_the_cheapest_that_may_be_the_best(evals_of):
    good = right(0.8, 300, 1)
    scores = np.stack([right(0.3, 300, 2), good, np.where(right(0.02, 300, 3) > 0, 1, good)])
    choice = bk.compare_evals(evals_of(scores), prefer="cost")
    assert (choice.recommended, choice.decision.candidates) == ("model-1", ("model-2", "model-1"))
    assert choice.headline.startswith("Use model-1 (mean score 0.81")
    free = bk.compare_evals(evals_of(scores))
    assert free.recommended == "model-2"
    # the margin covers what Tango's interval allows the first model to be worse
    wide = bk.compare_evals(evals_of(scores), prefer="cost", margin=0.7)
    assert (wide.recommended, at_most(wide)["model-0"] < 0.7) == ("model-0", True)
    assert "within your margin of 0.7" in wide.headline
    assert {row.verdict for row in wide.decision.standings[1:]} == {"within the margin"}


def direct(test, a, b):
    # a decision widens the t test by 1 + 2.5 / clusters
    more = {"widened": 1 + 2.5 / 40} if test == "cluster-t" else {}
    return CLUSTERED_TESTS[test].load()(1 - a, 1 - b, clusters=np.arange(len(a)) // 2, **more)


@pytest.mark.parametrize("test", ["cluster-t", "cluster-sign-flip"])
def test_bounds_are_those_of_the_test_of_the_mean(evals_of, test):
    """Of two models, the bound is the end of the usual 95 % interval."""
    scores = np.random.default_rng(5).random((2, 80))
    evals = evals_of(scores, clusters=np.arange(80) // 2)
    choice = bk.compare_evals(evals, prefer=["model-0", "model-1"], test=test)
    low, high = direct(test, *scores).confidence_interval(0.95)
    assert low < 0 < high
    assert at_most(choice) == pytest.approx({"model-0": high, "model-1": -low})


def test_mcnemar_has_tangos_bounds(evals_of):
    scores = np.stack([right(0.8, 120, 1), right(0.7, 120, 2), right(0.3, 120, 3)])
    choice = bk.compare_evals(evals_of(scores))
    pairs = {(i, j): mcnemar(1 - scores[i], 1 - scores[j], exact=True).confidence_interval(0.975)
             for i in range(3) for j in range(3) if i != j}  # fmt: skip
    assert choice.decision.candidates == ("model-0", "model-1")
    assert at_most(choice) == pytest.approx({
        "model-0": pairs[0, 1].high,
        "model-1": pairs[1, 0].high,
        "model-2": max(pairs[2, 0].high, pairs[2, 1].high),
    })  # fmt: skip


def test_all_bounds_cover_the_regret(evals_of):
    """Three models: at most 5 % of the results have a bound below the truth."""
    rng = np.random.default_rng(6)
    truth = np.array([0.5, 0.55, 0.6])
    missed = 0
    for _ in range(60):
        scores = (rng.random((3, 60)) < truth[:, None]).astype(float)
        bounds = at_most(bk.compare_evals(evals_of(scores), prefer="cost"))
        missed += any(bounds[f"model-{k}"] < 0.6 - truth[k] for k in range(3))
    # 9 or more of 60 would come in one of 200
    assert missed < stats.binom.ppf(0.995, 60, 0.05)


def test_tasks_count_by_items_or_the_same(evals_of):
    rng = np.random.default_rng(8)
    scores = np.concatenate([rng.random((2, 90)) / 5 + [[0.7], [0.5]],
                             rng.random((2, 10)) / 5 + [[0.1], [0.6]]], axis=1)  # fmt: skip
    tasks = ["many"] * 90 + ["few"] * 10
    micro = bk.compare_evals(evals_of(scores, tasks=tasks))
    macro = bk.compare_evals(evals_of(scores, tasks=tasks), macro=True)
    means = (scores[:, :90].mean(axis=1) + scores[:, 90:].mean(axis=1)) / 2
    shown = [macro.decision.means[f"model-{k}"] for k in range(2)]
    assert shown == pytest.approx(means)
    assert (micro.recommended, macro.recommended) == ("model-0", "model-1")
    assert "Each item of 2 tasks has the same weight (micro)" in micro.explain()
    assert "Each of 2 tasks has the same weight (macro)" in macro.explain()
    # the root of sum w^2 SE^2, by scipy, widened by 1 + 2.5 / items
    d = scores[0] - scores[1]
    error = np.hypot(stats.sem(d[:90]), stats.sem(d[90:])) / 2 * (1 + 2.5 / 100)
    (result,) = macro.decision.evidence.results["two-sided"]
    assert result.standard_error == pytest.approx([error])


def test_pass_at_k_is_a_score_like_any_other(evals_of):
    answers = np.zeros((2, 30, 4))
    answers[0, :, 0] = 1
    answers[1, :20] = 1
    evals = evals_of(answers)
    best, every = bk.compare_evals(evals, pass_at=4), bk.compare_evals(evals, pass_all=4)
    assert (best.recommended, every.recommended) == ("model-0", "model-1")
    assert best.decision.metric.name == "pass@4"
    with pytest.raises(ArgumentError, match="pass one"):
        bk.compare_evals(evals, pass_at=2, pass_all=2)


def test_missing_scores_count_as_wrong_and_as_right(evals_of):
    """The model is ahead on common items, and behind if what it lacks is wrong."""
    scores = np.stack([right(0.85, 200, 1), right(0.7, 200, 2)])
    scores[0, :40] = np.nan
    choice = bk.compare_evals(evals_of(scores))
    headline = choice.headline
    assert "model-0 has no score on 40 of 200 items; all of this also holds if" in headline
    assert "160 of 200 items have a score of every model" in choice.explain()
    assert choice.decision.candidates == ("model-0", "model-1")
    filled = [mcnemar(1 - np.nan_to_num(scores[0], nan=value), 1 - scores[1], exact=True)
              for value in (0.0, 1.0)]  # fmt: skip
    filled.append(mcnemar(1 - scores[0, 40:], 1 - scores[1, 40:], exact=True))
    intervals = [one.confidence_interval(0.95) for one in filled]
    assert at_most(choice) == pytest.approx({
        "model-0": max(high for _, high in intervals),
        "model-1": max(-low for low, _ in intervals),
    })  # fmt: skip


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
        choice = bk.compare_evals(evals, prefer="cost", margin=0.1, macro=macro)
        said = choice.explain()
        assert "nan" not in said.lower()
        assert "inf" not in said.split()
        json.dumps(choice.to_dict(), allow_nan=False)


def test_equal_models_are_told_apart_by_pooled_rows_only():
    """Reproduce the row of studies/results/evals.md with studies/evals_type1.py, level .05."""
    from pathlib import Path

    import evals_type1

    root = Path(__file__).resolve().parents[3]
    sets = 2000
    found = evals_type1.rates("200 items in 10 unequal clusters, 4 epochs", sets)
    ways = ("rows: McNemar", "items: sign flips", "clusters: sign flips", "clusters: t interval")
    row = " | ".join(f"{100 * found[way] / sets:.1f} %" for way in ways)
    page = (root / "studies" / "results" / "evals.md").read_text()
    assert f"| 200 items in 10 clusters of unequal sizes, 4 epochs | {row} |" in page
    # a test that keeps its level rejects more often in at most one of a thousand runs
    most = stats.binom.ppf(0.999, sets, 0.05)
    assert found["clusters: sign flips"] <= most < found["items: sign flips"]


def test_one_cluster_decides_nothing(evals_of):
    choice = bk.compare_evals(evals_of([[1.0] * 20, [0.0] * 20], clusters=["p"] * 20))
    assert not choice.decision.decidable
    assert choice.headline.startswith("Nothing can be ruled out: with one cluster")


def test_nothing_is_said_beyond_the_largest_difference(evals_of):
    """Two items in two epochs: the t interval would reach from -38 to 39."""
    choice = bk.compare_evals(evals_of(np.array([[1.0, 1.0], [0.0, 0.5]])))
    assert at_most(choice) == {"model-0": 1.0, "model-1": 1.0}
