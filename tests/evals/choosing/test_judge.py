"""A judge's scores with human labels of some items."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, BestOfKError, TableError
from bestofk.evals.judge import judge_check
from bestofk.stats.pairwise import cluster_t, prediction_powered

N, LABELLED = 600, 150


def scores(seed=0, models=2, bias=0.6, noise=0.6):
    """Return labels and judge's scores from 1 to 5 of equal models; the judge favours the first."""
    rng = np.random.default_rng(seed)
    latent = 3.4 + rng.normal(size=N) + rng.normal(scale=0.7, size=(models, N))
    judge = latent + rng.normal(scale=noise, size=latent.shape)
    judge[0] += bias
    return tuple(np.clip(np.rint(x), 1, 5) for x in (latent, judge))


def labels(human, count=LABELLED, seed=1):
    known = np.random.default_rng(seed).permutation(human.shape[1]) < count
    return np.where(known, human, np.nan)


@pytest.fixture
def judged(evals_of):
    def make(human, judge, truth=None):
        truth = labels(human) if truth is None else truth
        return replace(evals_of(judge), truth=truth, truth_name="human")

    return make


def test_the_estimate_is_that_of_ppi_python():
    """`ppi_mean_pointestimate` of ppi-python 0.2.3 with lam = 60 / 90 of the slope."""
    i = np.arange(90)
    judge = np.stack([i * i % 5 + 1.0, (i * i + 3 * i) % 4 + 1.0])
    human = np.clip(judge + ((i * 11 % 3) - 1) * np.array([[1], [-1]]), 1, 5)
    known = i % 3 == 1
    result = prediction_powered(*judge, truth=human[:, known], labelled=known)
    assert result.estimate == pytest.approx(2.1039104639, abs=1e-9)


def test_the_interval_is_not_wider_than_from_the_labels_alone():
    for seed in range(20):
        human, judge = scores(seed, noise=(0.3, 8.0)[seed % 2])
        known = np.isfinite(labels(human, seed=seed)[0])
        result = prediction_powered(*judge, truth=human[:, known], labelled=known, unit=4.0)
        alone = cluster_t(*human[:, known], unit=4.0)
        for level in (0.95, 0.995):
            low, high = result.confidence_interval(level)
            low_alone, high_alone = alone.confidence_interval(level)
            assert high - low <= (high_alone - low_alone) * (1 + 1e-12)


def test_a_biased_judge_does_not_decide(evals_of, judged):
    human, judge = scores()
    assert bk.compare_evals(evals_of(judge)).decision.claims
    choice = bk.compare_evals(judged(human, judge))
    assert not choice.decision.claims
    assert choice.decision.test == "prediction-powered"
    known = np.isfinite(labels(human)[0])
    first, second = choice.outcome.judge.models
    assert first.bias == pytest.approx((judge - human)[0, known].mean())
    assert first.agreement == pytest.approx((judge == human)[0, known].mean())
    assert first.low > 0 > second.low
    # the difference of the means is the tested one
    means = choice.decision.means
    estimate = abs(float(choice.decision.evidence.estimate[0]))
    assert abs(means["model-0"] - means["model-1"]) == pytest.approx(estimate)
    assert choice.outcome.judge.labelled == LABELLED


def test_a_real_difference_is_shown(judged):
    human, judge = scores(models=3)
    human[1], judge[1] = np.maximum(human[1] - 1, 1), np.maximum(judge[1] - 1, 1)
    choice = bk.compare_evals(judged(human, judge), margin=0.3)
    assert set(choice.decision.candidates) == {"model-0", "model-2"}
    assert all(row.at_most is None for row in choice.decision.standings)
    assert "it estimates the difference of each pair by itself" in choice.headline


def test_labels_of_all_items_decide_alone(evals_of, judged):
    human, judge = scores()
    human[1] = np.maximum(human[1] - 1, 1)
    choice = bk.compare_evals(judged(human, judge, human))
    alone = bk.compare_evals(evals_of(human))
    assert choice.decision.evidence.pvalue == pytest.approx(alone.decision.evidence.pvalue)
    assert "so the judge does not count" in choice.explain()


def test_labels_of_some_models_are_refused(judged):
    human, judge = scores()
    truth = labels(human)
    truth[1] = np.nan
    with pytest.raises(ArgumentError, match="No answer of model-1 has a human label"):
        bk.compare_evals(judged(human, judge, truth))
    truth = np.where(np.arange(N) % 2 == np.arange(2)[:, np.newaxis], human, np.nan)
    with pytest.raises(ArgumentError, match="Only 0 items have human labels of all models"):
        bk.compare_evals(judged(human, judge, truth))


def test_labels_of_hard_items_give_a_caution(judged):
    human, judge = scores()
    hard = human.mean(axis=0) <= 2.5
    choice = bk.compare_evals(judged(human, judge, np.where(hard, human, np.nan)))
    assert "do not look like a random sample" in choice.explain()
    assert "random sample: the judge" not in bk.compare_evals(judged(human, judge)).explain()


def test_few_labels_and_other_tests(judged):
    human, judge = scores()
    logs = judged(human, judge, labels(human, 20))
    assert "Only 20 items have human labels" in bk.compare_evals(logs).explain()
    for options in ({"test": "cluster-t"}, {"rule": "anova"}):
        with pytest.raises(BestOfKError):
            bk.compare_evals(logs, **options)


def test_missing_scores_of_the_judge_still_count(evals_of, judged):
    human, judge = scores(bias=0.0)
    judge[1, human[1] <= 2] = np.nan
    choice = bk.compare_evals(judged(human, judge))
    assert len(choice.decision.candidates) == 2
    assert "model-1 has no score on" in choice.headline


def test_judge_and_labels_on_different_scales(judged):
    human, judge = scores()
    check = judge_check(judged((human > 3) * 1.0, judge).by_item(), "human")
    assert check.models == ()


def table(tmp_path, **columns):
    human, judge = scores()
    truth = labels(human)
    frame = pd.concat(
        [
            pd.DataFrame({"model": name, "item": np.arange(N), "judge_score": judge[k],
                          "human_score": truth[k], **{c: v[k] for c, v in columns.items()}})
            for k, name in enumerate(("a", "b"))
        ]
    )  # fmt: skip
    path = tmp_path / "judged.csv"
    frame.to_csv(path, index=False)
    return path, frame


def test_read_labels_from_a_column_or_a_table(tmp_path):
    path, frame = table(tmp_path)
    reading = {"metric": "judge_score", "higher_is_better": True}
    logs = bk.read_evals(path, truth="human_score", **reading)
    assert np.isfinite(logs.truth).all(axis=0).sum() == LABELLED
    known = frame.dropna()[["model", "item", "human_score"]]
    known.rename(columns={"human_score": "score"}).sample(frac=1, random_state=0).to_csv(
        tmp_path / "labels.csv", index=False
    )
    other = bk.read_evals(path, truth=str(tmp_path / "labels.csv"), **reading)
    np.testing.assert_array_equal(other.truth, logs.truth)
    with pytest.raises(TableError, match="are both 'judge_score'"):
        bk.read_evals(path, truth="judge_score", **reading)


def test_a_judge_alone_gives_a_caution(tmp_path):
    path, _ = table(tmp_path)
    choice = bk.compare_evals(bk.read_evals(path, metric="judge_score", higher_is_better=True))
    assert "they show which model the judge prefers" in choice.explain()


def test_savings_in_the_currency_of_the_log(tmp_path):
    right = np.arange(200) % 5 > 0
    rows = [(name, i, int(right[i] or (name == "b" and i == 0)), cost)
            for name, cost in (("a", 0.002), ("b", 0.043)) for i in range(200)]  # fmt: skip
    path = tmp_path / "costs.csv"
    pd.DataFrame(rows, columns=["model", "item", "correct", "cost_usd"]).to_csv(path, index=False)
    choice = bk.compare_evals(bk.read_evals(path), prefer="cost")
    assert "a saves 41 USD per 1,000 samples." in choice.headline
    assert choice.outcome.currency == "USD"


def test_the_report_shows_cost_judge_and_tasks(evals_of, judged, tmp_path):
    human, judge = (x[:, :90] for x in scores())
    logs = evals_of(human, tasks=["math", "law", "code"] * 30)
    choice = bk.compare_evals(logs, prefer="cost", margin=0.3)
    page = choice.report(tmp_path / "tasks.html").read_text(encoding="utf-8")
    for text in ("Means by task", ">Cost<"):
        assert text in page
    choice = bk.compare_evals(judged(human, judge, labels(human, 60)))
    page = choice.report(tmp_path / "judge.html").read_text(encoding="utf-8")
    assert "90 items, 60 of them with human labels" in page
    assert "Judge and labels agree" in page
