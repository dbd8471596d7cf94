"""Not worse by more than a margin: p-values, correction and sentences."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk import decide as ordering
from bestofk.decide.gather import against_margin

MARGIN = 0.02


def margins_of(values, test="kfold-t", margin=MARGIN, alpha=0.05):
    decision = ordering.multitest(values, test=test, alpha=alpha)
    return against_margin(decision.problem, decision.test_choice, margin, alpha=alpha), decision


def table(seed, learners=4, folds=9):
    rng = np.random.default_rng(seed)
    return rng.normal(0.3, 0.02, (learners, 1)) + rng.normal(0, 0.01, (learners, folds))


@pytest.mark.parametrize("seed", range(6))
def test_pvalues_are_those_of_a_shifted_paired_t_test(seed):
    values = table(seed)
    margins, _ = margins_of(values)
    for i in range(4):
        for j in range(4):
            if i == j:
                assert margins.pvalue[i, j] == margins.adjusted_pvalue[i, j] == 1.0
                continue
            # H0: the loss of i is at least that of j plus the margin
            own = stats.ttest_rel(values[i] - MARGIN, values[j], alternative="less").pvalue
            assert margins.pvalue[i, j] == pytest.approx(own, rel=1e-9)


def step_down_by_brute_force(pvalues, K):
    """Reject while p <= alpha / (the most hypotheses among those left that can be true at once).

    Of the hypotheses "i is worse than j by the margin" and "j is worse than i by the margin" at
    most one is true: count, among those left, one for each pair that has any.
    """
    places = [(i, j) for i in range(K) for j in range(K) if i != j]
    ordered = sorted(places, key=lambda place: pvalues[place])
    adjusted, largest = {}, 0.0
    for done, place in enumerate(ordered):
        left = ordered[done:]
        largest = max(largest, pvalues[place] * min(len(left), K * (K - 1) // 2))
        adjusted[place] = min(1.0, largest)
    return adjusted


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_step_down_multipliers(K, seed):
    margins, _ = margins_of(table(seed, learners=K))
    expected = step_down_by_brute_force(margins.pvalue, K)
    for place, value in expected.items():
        assert margins.adjusted_pvalue[place] == pytest.approx(value, rel=1e-12)


def test_no_more_than_half_of_the_hypotheses_are_true():
    """The ground of the correction: whatever the means, at most K (K - 1) / 2 are true."""
    for means in product((0.0, 0.01, 0.02, 0.05), repeat=4):
        true = sum(means[i] >= means[j] + MARGIN for i in range(4) for j in range(4) if i != j)
        assert true <= 6


def test_verdicts_and_words(cross_validated):
    # a within the margin of b, c plainly worse, d too noisy to tell
    rng = np.random.default_rng(1)
    values = np.array([0.201, 0.200, 0.26, 0.205])[:, None, None] + (
        np.array([0.004, 0.004, 0.004, 0.2])[:, None, None] * rng.standard_normal((4, 10, 10))
    )
    values[1] += 0.200 - values[1].mean()
    values[0] += 0.201 - values[0].mean()
    values[3] += 0.230 - values[3].mean()
    table = bk.Losses(values, dims=("algorithm", "run", "fold"), algorithms=list("abcd"))
    decision = bk.order(table, margin=0.01)
    assert decision.recommended == "b"
    assert {name: one.verdict for name, one in decision.margins.items()} == {
        "a": "not worse by more than the margin",
        "c": "worse",
        "d": "open",
    }
    text = decision.explain()
    assert "Against b with a margin of 0.01. Shown not to be worse by more than that: a (p" in text
    assert (
        "nor to be worse: d. Significantly worse, and not shown to be within the margin: c." in text
    )
    held = decision.to_dict()
    assert held["margin"] == 0.01
    standings = {one["name"]: one for one in held["standings"]}
    assert standings["a"]["margin"]["verdict"] == "not worse by more than the margin"
    assert standings["a"]["margin"]["adjusted_pvalue"] <= 0.05


def test_a_larger_margin_shows_more():
    values = table(3)
    shown = [margins_of(values, margin=margin)[0].shown.sum() for margin in (0.005, 0.02, 0.1, 1.0)]
    assert all(a <= b for a, b in pairwise(shown))
    assert shown[-1] == 12


@pytest.mark.parametrize("higher", [False, True])
def test_the_margin_is_in_the_users_metric(higher):
    values = 0.5 + table(2)
    flipped = bk.Losses(
        1.5 - values if higher else values, algorithms=list("abcd"), higher_is_better=higher,
        loss_name="score",
    )  # fmt: skip
    decision = bk.order(flipped, margin=MARGIN, test="kfold-t")
    plain = bk.order(bk.Losses(values, algorithms=list("abcd")), margin=MARGIN, test="kfold-t")
    for name, one in decision.margins.items():
        assert one.verdict == plain.margins[name].verdict
        assert one.pvalue == pytest.approx(plain.margins[name].pvalue, rel=1e-6)


def test_right_and_wrong_answers_go_by_their_interval():
    """Losses of 0 or 1 cannot be shifted: the level at which Tango's bound reaches the margin."""
    rng = np.random.default_rng(8)
    wrong = (rng.random((3, 300)) < np.array([[0.20], [0.21], [0.5]])).astype(float)
    table = bk.Losses(wrong, dims=("algorithm", "instance"), algorithms=list("abc"))
    decision = bk.order(table, margin=0.1, prefer="listed")
    assert decision.test == "mcnemar"
    margins = against_margin(decision.problem, decision.test_choice, 0.1, alpha=0.05)
    for i, j in ((0, 1), (1, 0), (2, 0)):
        result = bk.pairwise.mcnemar(wrong[i], wrong[j], exact="auto", alternative="less")
        p = float(margins.pvalue[i, j])
        if 1e-6 < p < 0.999:
            assert float(result.confidence_interval(1 - p).high) == pytest.approx(0.1, abs=1e-3)
    assert margins.pvalue[2, 0] > 0.99
