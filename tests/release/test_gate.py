"""The gate: three answers, two stages, several metrics, and a baseline that stays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.release.gate import accept, gate, next_step, start
from bestofk.release.rehearsal import rehearse
from bestofk.testing import assert_not_worse

N = 400


def answers(seed, n=N, chance=0.7):
    return (np.random.default_rng(seed).random(n) < chance).astype(float)


def paired(wins, losses, same, right=10):
    """Return a build and a baseline with these numbers of items."""
    build = np.r_[np.ones(wins), np.zeros(losses), np.zeros(same), np.ones(right)]
    baseline = np.r_[np.zeros(wins), np.ones(losses), np.zeros(same), np.ones(right)]
    return build, baseline


def score(result):
    return result.results["score"]


def test_graded_scores_are_compared_by_a_paired_t_test():
    rng = np.random.default_rng(0)
    half = rng.uniform(-0.3, 0.5, 100)
    loss = np.r_[half, 0.2 - half]  # symmetric about 0.1, so the skewness is 0
    result = gate(0.5 - loss / 4, np.full(200, 0.5))
    expected = stats.ttest_1samp(loss, 0, alternative="greater").pvalue
    assert score(result)["p"] == pytest.approx(expected, rel=1e-6)
    assert score(result)["difference"] == pytest.approx(-0.025)


@pytest.mark.parametrize(
    ("wins", "losses", "answer", "code"),
    # the sign test says: P(X <= 5) = .0003, P(X <= 15) = .03 and P(X <= 18) = .19 for X of
    # 30, 45 and 45 signs; the levels are .005 and .1
    [(5, 25, "blocked", 1), (16, 29, "suspect", 3), (19, 26, "pass", 0)],
)
def test_three_answers(wins, losses, answer, code):
    result = gate(*paired(wins, losses, same=100, right=200))
    assert (result.answer, result.exit_code, bool(result)) == (answer, code, code == 0)
    exact = stats.binomtest(wins, wins + losses, alternative="less").pvalue
    assert score(result)["p"] == pytest.approx(exact, rel=0.5)


def test_a_suspect_is_tested_again_with_the_mean_of_all_runs(tmp_path):
    path = tmp_path / "gate.json"
    build, baseline = paired(wins=16, losses=29, same=100, right=200)
    start(baseline, ledger=path)
    first = gate(build, ledger=path, build="b1")
    assert first.answer == "suspect"
    assert "bestofk gate RUN2 RUN3 --build b1" in next_step(first)
    worse = gate([build, build * 0.5], ledger=path, build="b1")
    assert (worse.answer, worse.entry["runs"]) == ("blocked", 3)
    assert score(worse)["mean"] == pytest.approx(build.mean() * 2.5 / 3)
    other = gate(build.copy()[::-1][::-1] * 1.0, ledger=path, build="b2")
    assert other.repeated  # the same scores get the same answer
    again = gate([baseline, baseline], ledger=path, build="b1")
    assert again.answer == "pass"


def test_a_rerun_settles_a_suspect_at_once(tmp_path):
    path = tmp_path / "gate.json"
    build, baseline = paired(wins=16, losses=29, same=100, right=200)
    start(baseline, ledger=path)
    calls = []

    def rerun():
        calls.append(1)
        return baseline

    result = gate(build, ledger=path, rerun=rerun)
    assert (result.answer, len(calls), result.entry["runs"]) == ("pass", 2, 3)
    expected = (build.mean() + 2 * baseline.mean()) / 3
    assert score(result)["mean"] == pytest.approx(expected)


def test_the_smallest_number_of_items_can_block():
    # the sign test of 8 losses: 2^-8 = 0.0039, below 0.005; of 7: 0.0078
    result = gate(np.zeros(8), np.ones(8))
    assert (result.answer, score(result)["p"]) == ("blocked", pytest.approx(2**-8))
    assert (score(result)["low"], score(result)["high"]) == (-1.0, -1.0)


def test_three_runs_are_tested_once_at_the_whole_level():
    build, baseline = paired(wins=16, losses=29, same=100, right=200)
    result = gate([build, build, build], baseline)
    assert (score(result)["level"], result.answer) == (0.01, "pass")


def test_every_metric_is_gated(tmp_path):
    rng = np.random.default_rng(3)
    tables = {}
    for name, safe in (("old", 0.96), ("new", 0.81)):
        frame = {"item": range(N), "correct": answers(1), "safe": rng.random(N) < safe}
        tables[name] = pd.DataFrame(frame).astype(float)
    result = gate(tables["new"], tables["old"], metric=["correct", "safe"], higher_is_better=True)
    assert result.answer == "blocked"
    assert repr(result).partition("\n")[0] == result.headline
    assert result.headline.startswith("Blocked: new is worse than the baseline in safe (safe 0.8")
    assert score_levels(result) == [0.0025, 0.0025]
    assert list(result.table["metric"]) == ["correct", "safe"]


def score_levels(result):
    return [row["level"] for row in result.results.values()]


def test_baseline_is_fixed_so_that_slow_decline_is_blocked(tmp_path):
    """Each build loses 0.3 points more; the baseline is 1,000 items, run five times."""
    path = tmp_path / "gate.json"
    rng = np.random.default_rng(3)
    chance = rng.beta(0.7, 0.3, 1000)

    def build(t):
        return (rng.random(1000) < chance * (1 - 0.003 * t / 0.7)).astype(float)

    start(*(build(0) for _ in range(5)), ledger=path)
    blocked = [t for t in range(1, 30) if gate(build(t), ledger=path).answer == "blocked"]
    assert blocked
    assert blocked[0] * 0.003 < 0.06
    result = gate(build(0), ledger=path, build="last")
    assert (result.history.baseline["build"], result.history.baseline["runs"]) == ("baseline", 5)


def test_accept_makes_a_new_baseline_and_keeps_the_first(tmp_path):
    path = tmp_path / "gate.json"
    start(answers(0), ledger=path)
    better = gate(answers(1, chance=0.9), ledger=path, build="v2")
    assert better.better
    assert "bestofk gate accept" in next_step(better)
    accept(answers(1, chance=0.9), ledger=path, build="v2", reason="better")
    result = gate(answers(2), ledger=path)
    assert (result.answer, result.history.baseline["build"]) == ("blocked", "v2")
    expected = answers(2).mean() - answers(0).mean()
    assert score(result)["since_start"] == pytest.approx(expected)
    assert f"Difference from the first baseline: score {expected:+.3f}" in result.explain()


@pytest.mark.parametrize(
    ("new", "baseline", "message"),
    [
        (
            np.r_[answers(1)[1:], 999.0],
            answers(0),
            "has the score 999, and the baseline has 0 to 1",
        ),
        (answers(1) * 100, answers(0), "on the same scale"),
        (answers(1), answers(0) * 100, "from 0 to 1, and the baseline has 0 to 100"),
        ([], answers(0), "one score per item"),
        ([1.0, np.nan], answers(0), "must be finite"),
        (answers(1, n=300), answers(0), "lacks 100 of the 400 items of the baseline"),
        ({"a": 1.0}, answers(0), "shares no item with the baseline"),
        (np.zeros(7), np.ones(7), "never block a build on 7 independent items: use at least 8"),
        (answers(1), None, "start one with 'bestofk gate start FILE'"),
    ],
)
def test_unusable_builds_are_refused_with_advice(new, baseline, message):
    with pytest.raises(ArgumentError, match=message):
        gate(new, baseline)


def test_missing_items_are_dropped_or_wrong():
    baseline = {f"q{k}": 1.0 for k in range(100)}
    new = {f"q{k}": 1.0 for k in range(80)}
    assert gate(new, baseline, missing="drop").answer == "pass"
    assert gate(new, baseline, missing="wrong").answer == "blocked"


def test_items_are_matched_by_name_and_the_worse_ones_are_listed():
    baseline = {f"q{k}": float(k % 3 > 0) for k in range(90)}
    new = dict(sorted(baseline.items(), key=lambda pair: pair[0][::-1])) | {"q7": 0.0, "q8": 0.0}
    result = gate(new, baseline)
    assert score(result)["difference"] == pytest.approx(-2 / 90)
    assert [item["item"] for item in result.worse_items] == ["q7", "q8"]


def test_lower_is_better():
    right, wrong = answers(1), 1 - answers(1)
    worse = np.where(np.arange(N) < 60, 1.0, wrong)
    by_score = score(gate(1 - worse, right))
    loss = gate(worse, wrong, higher_is_better=False, metric="error").results["error"]
    assert (loss["p"], loss["low"], loss["high"]) == pytest.approx(
        (by_score["p"], -by_score["high"], -by_score["low"])
    )


def test_clusters_make_the_test_more_careful():
    build, baseline = paired(wins=4, losses=16, same=50)
    twice = np.repeat(build, 2), np.repeat(baseline, 2)
    pairs = gate(*twice, cluster=np.arange(160) // 2)
    assert score(pairs)["p"] > score(gate(*twice))["p"]


def test_a_rehearsal_agrees_with_the_gate_on_the_same_items():
    """Gate 100 simulated builds that lose 5 points, next to the rehearsed chance."""
    rng = np.random.default_rng(5)
    chance = rng.beta(0.7, 0.3, 300)

    def run(loss):
        return (rng.random(300) < chance * (1 - loss / chance.mean())).astype(float)

    runs = [run(0.0) for _ in range(5)]
    rehearsal = rehearse(*runs)
    caught = 0
    for _ in range(100):
        result = gate(run(0.05), runs, rerun=lambda: run(0.05))
        caught += result.answer == "blocked"
    assert rehearsal.caught["score"][0.05][0] == pytest.approx(caught / 100, abs=0.15)
    assert rehearsal.false_blocks["score"] < 0.02
    assert "Of 100 good builds, " in rehearsal.explain()


def test_assert_not_worse_takes_data_frames():
    frame = pd.DataFrame({"item": range(N), "correct": answers(1)})
    assert assert_not_worse(frame, frame).answer == "pass"
    broken = frame.assign(correct=0.0)
    with pytest.raises(AssertionError, match="Blocked: "):
        assert_not_worse(broken, frame)
