import numpy as np
import pytest

from bestofk.decide.compare_scores import decide_by_rule


def test_pendigits_and_hepatitis(five_by_two):
    # Section 4.3 of Yildiz and Alpaydin (2006): TestFirst finds the fifth on pendigits, and none
    # on hepatitis, where the smallest mean is not the simplest learner's.
    pendigits = np.array([90.05, 15.70, 6.24, 7.45, 0.74]) / 100
    assert (
        decide_by_rule(
            "test-first", five_by_two(pendigits, spread=0.002), test="5x2cv-t"
        ).recommended
        == 4
    )
    hepatitis = np.array([20.65, 19.03, 17.25, 21.24, 18.78]) / 100
    losses = five_by_two(hepatitis, seed=1, spread=0.05)
    assert decide_by_rule("test-first", losses, test="5x2cv-t").recommended is None


def test_it_uses_alpha_over_k_minus_1(five_by_two, t_by_hand):
    losses = five_by_two([0.30, 0.20, 0.25, 0.22], seed=5, spread=0.03)
    first = decide_by_rule("test-first", losses, test="5x2cv-t")
    f = int(np.argmin(losses.mean(axis=(1, 2))))
    assert f > 0
    pairs = first.evidence.columns()
    assert set(pairs["b"]) == {f}
    expected = [min(1, 3 * t_by_hand(losses[a], losses[f])[1]) for a in pairs["a"]]
    assert pairs["adjusted_p"] == pytest.approx(expected, rel=1e-10)
    assert len(first.evidence) == f


def test_it_takes_the_most_preferred_without_a_test(five_by_two):
    first = decide_by_rule("test-first", five_by_two([0.1, 0.3, 0.3]), test="5x2cv-t")
    assert first.recommended == 0
    assert len(first.evidence) == 0
    assert "none is preferred to it" in first.explain()


def test_without_a_preference_the_smallest_mean_is_taken(cross_validated):
    import bestofk as bk

    first = bk.compare_scores(cross_validated(), rule="test-first")
    assert first.recommended == "b"
    assert "no preference was stated" in first.explain()
