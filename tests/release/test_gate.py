"""The gate: three answers, an anchor that cannot slide, and a life-long error rate."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk import ArgumentError
from bestofk.release.gate import gate
from bestofk.release.method import (
    LATEST_METHOD,
    compare,
    exchangeable_pvalue,
    level_of_look,
    next_look,
    sum_of_levels,
)


def answers(seed, n=400, chance=0.7):
    return (np.random.default_rng(seed).random(n) < chance).astype(float)


def paired(wins, losses, same, right=10):
    """Return a build and an anchor with these numbers of items."""
    build = np.r_[np.ones(wins), np.zeros(losses), np.zeros(same), np.ones(right)]
    anchor = np.r_[np.zeros(wins), np.ones(losses), np.zeros(same), np.ones(right)]
    return build, anchor


def test_the_first_look_is_mcnemars_exact_test():
    build, anchor = paired(wins=4, losses=16, same=50)
    result = gate(build, anchor)
    # P(X <= 4) for X binomial(20, 1/2), from the sum of binomial coefficients
    exact = sum(comb(20, k) for k in range(5)) / 2**20
    assert result.pvalue == pytest.approx(exact, rel=1e-12)
    assert (result.answer, result.exit_code) == ("worse", 1)


def test_levels_add_up_to_alpha():
    looks = np.arange(1, 2_000_001, dtype=float)
    total = float(np.sum((looks + 100) ** -1.5))
    tail = 2 / np.sqrt(2_000_101)  # the integral of the rest
    ratio = level_of_look(1, 0.05) / 101**-1.5
    assert ratio * (total + tail) == pytest.approx(0.05, rel=1e-6)
    assert sum_of_levels(3, 0.05) == pytest.approx(sum(level_of_look(k, 0.05) for k in (1, 2, 3)))
    assert next_look(sum_of_levels(7, 0.05), 0.05, 7) == 8


def test_an_equal_build_passes_and_spends_nothing_twice(tmp_path):
    path = tmp_path / "gate.json"
    first = gate(answers(1), answers(0), ledger=path)
    again = gate(answers(1), ledger=path)
    assert (first.look, again.look, again.repeated) == (1, 1, True)
    assert first.spent == again.spent


def test_a_margin_makes_three_answers():
    build, anchor = paired(wins=0, losses=4, same=2000, right=3000)
    assert gate(build, anchor, margin=0.01).answer == "pass"
    build, anchor = paired(wins=20, losses=22, same=60, right=140)
    undecided = gate(build, anchor, margin=0.01)
    assert (undecided.answer, undecided.exit_code) == ("undecided", 3)
    assert undecided.needed > build.size
    assert gate(build, anchor, margin=0.01, undecided="pass").exit_code == 0


def test_the_interval_agrees_with_the_answer():
    rng = np.random.default_rng(4)
    for _ in range(60):
        n = int(rng.integers(30, 400))
        clusters = rng.integers(0, max(n // 3, 2), n)
        build, first, second = rng.random((3, n)) + rng.normal(0, 0.1, (3, 1))
        comparison = compare(build, [first, second], clusters)
        level = float(rng.uniform(0.001, 0.2))
        low, high = comparison.interval(level)
        assert (comparison.p_worse <= level) == (low > 0)
        assert (comparison.p_better <= level) == (high < 0)


def test_one_graded_build_against_one_is_at_least_as_careful_as_the_t_test():
    rng = np.random.default_rng(0)
    half = rng.normal(0.3, 1, 40)
    differences = np.r_[half, 0.6 - half]  # symmetric about 0.3, so the skewness is 0
    comparison = compare(differences, [np.zeros(80)], np.arange(80))
    expected = stats.ttest_1samp(differences, 0, alternative="greater").pvalue
    assert comparison.worse.pvalue == pytest.approx(expected, rel=1e-9)
    assert comparison.p_worse == max(comparison.worse.pvalue, comparison.p_exchangeable)


@pytest.mark.parametrize(("n", "builds", "chance"), [(60, 3, 0.2), (300, 11, 0.1), (400, 11, 0.7)])
def test_the_exchangeable_tail_is_that_of_the_convolution(n, builds, chance):
    """Convolve the distributions of the single items, which is exact."""
    rng = np.random.default_rng(n)
    wrong = (rng.random((builds, n)) < rng.beta(chance, 1 - chance, n)).astype(float)
    wrong[0] = np.maximum(wrong[0], rng.random(n) < 0.15)
    masses = np.ones(1)
    for p in wrong.mean(axis=0):
        masses = np.convolve(masses, [1 - p, p])
    exact = masses[int(wrong[0].sum()) :].sum()
    assert 0 < exact < 0.2
    assert exchangeable_pvalue(wrong) == pytest.approx(exact, rel=0.02)


def test_a_build_that_fails_everywhere_has_the_smallest_p():
    wrong = np.vstack([np.ones(9), np.zeros((2, 9))])
    assert exchangeable_pvalue(wrong) == pytest.approx(3.0**-9, rel=1e-12)


def test_small_losses_do_not_add_up(tmp_path):
    """A slide of 0.3 points per build is stopped, because the anchor does not follow."""
    path = tmp_path / "gate.json"
    rng = np.random.default_rng(3)
    chance = rng.beta(0.7, 0.3, 1000)

    def build(t):
        return (rng.random(1000) < chance * (1 - 0.003 * t / 0.7)).astype(float)

    stopped = None
    for t in range(1, 60):
        result = gate(build(t), build(0) if t == 1 else None, ledger=path)
        if result.answer == "worse":
            stopped = t
            break
    assert stopped is not None
    assert 0.003 * stopped < 0.06


def test_a_better_build_moves_the_anchor_after_three_more(tmp_path):
    path = tmp_path / "gate.json"
    gate(answers(1), answers(0), ledger=path)
    better = gate(answers(2, chance=0.9), ledger=path, build="better")
    assert better.better
    names = [gate(answers(k, chance=0.9), ledger=path, build=f"n{k}").anchor for k in (3, 4, 5, 6)]
    assert all("better" not in anchor for anchor in names)
    assert names[-1] == ("n3", "n4", "n5")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.1}, "alpha is 0.05"),
        ({"baseline": answers(77)}, "other scores of the baseline"),
        ({"margin": -1}, "margin must be"),
    ],
)
def test_changes_are_refused(tmp_path, change, message):
    path = tmp_path / "gate.json"
    gate(answers(1), answers(0), ledger=path)
    with pytest.raises(ArgumentError, match=message):
        gate(answers(2), **{"ledger": path, **change})


def test_missing_items_are_refused_dropped_or_wrong():
    anchor = {f"q{k}": 1.0 for k in range(100)}
    new = {f"q{k}": 1.0 for k in range(80)}
    with pytest.raises(ArgumentError, match="lacks 20 of the anchor's 100 items"):
        gate(new, anchor)
    assert gate(new, anchor, missing="drop").answer == "pass"
    assert gate(new, anchor, missing="wrong").answer == "worse"


def test_items_are_matched_by_name():
    anchor = {f"q{k}": float(k % 3 > 0) for k in range(90)}
    shuffled = dict(sorted(anchor.items(), key=lambda pair: hash(pair[0][::-1])))
    assert gate(shuffled, anchor).difference == 0


def test_the_method_is_recorded(tmp_path):
    path = tmp_path / "gate.json"
    assert gate(answers(1), answers(0), ledger=path).method == LATEST_METHOD == 1


def test_method_one_stays_as_it_is():
    """These numbers of 2026-11 must never change; another formula needs another method."""
    wrong = [1.0 - answers(seed, chance=chance) for seed, chance in ((3, 0.6), (0, 0.7), (2, 0.7))]
    comparison = compare(wrong[0], wrong[1:], np.arange(400) // 2)
    values = comparison.p_worse, comparison.p_exchangeable, *comparison.interval(0.001)
    assert values == pytest.approx(PINNED, rel=1e-9)


PINNED = (0.0016071944828853222, 0.0015037923427206963, -0.004433237576161042, 0.18236431175731643)


def learners(**means):
    """Return losses of learners on the same 10 runs of 10 folds."""
    rng = np.random.default_rng(8)
    fold = rng.normal(0, 0.02, 100)
    values = [mean + fold + rng.normal(0, 0.01, 100) for mean in means.values()]
    return bk.Losses(np.reshape(values, (len(means), 10, 10)), learners=list(means), design="10x10")


def test_learners_of_a_study_use_the_same_ledger(tmp_path):
    path = tmp_path / "gate.json"
    losses = learners(released=0.2, equal=0.2, worse=0.4)
    first = gate(losses, losses, model="equal", baseline_model="released", ledger=path)
    assert (first.answer, first.unit) == ("pass", "fold")
    second = gate(losses, model="worse", ledger=path)
    assert (second.answer, second.anchor) == ("worse", ("released", "equal"))
    assert second.difference == pytest.approx(0.2, abs=0.01)
    assert second.low > 0
    other = bk.Losses(losses.values[:, 0, :5, :, 0], learners=losses.learners, design="5x10")
    with pytest.raises(ArgumentError, match="lacks 100 of the anchor's 100 folds"):
        gate(other, model="worse", ledger=path)


def test_nested_runs_are_compared_with_those_of_the_anchor(tmp_path):
    study = bk.compare(["nmc", "max"], "iris", cv="2x5+nested", progress=False)
    result = gate(study, study, model="max", baseline_model="nmc", ledger=tmp_path / "gate.json")
    assert result.answer == "worse"
    assert result.mean == pytest.approx(study.losses.means()["max"])
    assert result.anchor_mean == pytest.approx(study.losses.means()["nmc"])


def test_lower_is_better():
    right, wrong = answers(1), 1 - answers(1)
    worse = np.where(np.arange(400) < 60, 1.0, wrong)
    score = gate(1 - worse, right)
    loss = gate(worse, wrong, higher_is_better=False, metric="error")
    assert (loss.answer, loss.metric, loss.pvalue) == ("worse", "error", score.pvalue)
    assert (loss.low, loss.high) == pytest.approx((-score.high, -score.low))
    assert loss.difference == pytest.approx(loss.mean - loss.anchor_mean)


def test_clusters_of_an_array():
    build, anchor = paired(wins=4, losses=16, same=50)
    pairs = gate(np.repeat(build, 2), np.repeat(anchor, 2), cluster=np.arange(160) // 2)
    assert (pairs.units, pairs.unit) == (80, "cluster")
    assert pairs.pvalue > gate(np.repeat(build, 2), np.repeat(anchor, 2)).pvalue


@pytest.mark.parametrize(
    ("new", "options", "message"),
    [
        ([], {}, "one score per item"),
        ([1.0, np.nan], {}, "must be finite"),
        ([[1.0]], {}, "one score per item"),
        (answers(1), {"metric": "f1"}, "metric='score'"),
        (answers(1), {"higher_is_better": False}, "higher_is_better=True"),
        (answers(1), {"task": "a"}, "task does not apply to an array"),
        (answers(1, n=300), {}, "lacks 100 of the anchor's 400 items"),
        ({"a": 1.0}, {}, "lacks 400 of the anchor's 400 items"),
        (answers(1, n=300) * 7, {"missing": "wrong"}, "missing='drop'"),
        (answers(1), {"cluster": [1, 2]}, "one label for each of the 400 items"),
    ],
)
def test_unusable_builds_are_refused_with_advice(tmp_path, new, options, message):
    path = tmp_path / "gate.json"
    gate(answers(2), answers(0), ledger=path)
    with pytest.raises(ArgumentError, match=message):
        gate(new, ledger=path, **options)


def test_too_few_items_are_mentioned(tmp_path):
    # McNemar's p-value of n items that are all worse is 2^-n, and the first level is 0.000247
    for n, few in ((11, True), (12, False)):
        result = gate(np.zeros(n), np.ones(n), ledger=tmp_path / f"{n}.json")
        assert (result.answer == "pass") == few == any("Too few" in note for note in result.notes)


def test_the_first_build_needs_a_baseline(tmp_path):
    with pytest.raises(ArgumentError, match="baseline='FILE'"):
        gate(answers(1), ledger=tmp_path / "gate.json")
    with pytest.raises(ArgumentError, match="There is no folder"):
        gate(answers(1), answers(0), ledger=tmp_path / "none" / "gate.json")


def test_the_baseline_as_the_first_build_does_not_join_the_anchor_twice(tmp_path):
    path = tmp_path / "gate.json"
    gate(answers(0), answers(0), ledger=path)
    assert gate(answers(1), ledger=path).anchor == ("baseline",)
