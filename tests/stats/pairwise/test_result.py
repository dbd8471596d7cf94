"""The sentences and the forms of a result."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise import PairwiseResult, five_by_two_t, kfold_t, wilcoxon

A, B = [0.30, 0.25, 0.28, 0.27], [0.26, 0.24, 0.23, 0.25]


def test_sentences_in_both_directions():
    assert kfold_t(A, B).explain(names=("cart", "nb")) == (
        "nb has a smaller mean loss than cart, by 0.03 (kfold-t test, statistic = 3.286, df = 3, "
        "two-sided p = 0.046). The difference is significant at level 0.05."
    )
    assert kfold_t(B, A, alternative="greater").explain(names=("nb", "cart"), alpha=0.01) == (
        "nb has a smaller mean loss than cart, by 0.03 (kfold-t test, statistic = -3.286, df = 3, "
        "one-sided p = 0.98). The hypothesis that the loss of nb is at most that of cart is not "
        "rejected at level 0.01."
    )
    assert "is at least that of cart is rejected" in kfold_t(B, A, alternative="less").explain(
        names=("nb", "cart")
    )


def test_explain_states_equal_means():
    text = kfold_t(A, A).explain(names=("cart", "nb"))
    assert text.startswith("cart and nb have the same mean loss")
    assert "no evidence of a difference" in text
    crossed = kfold_t([0.1, 0.2], [0.2, 0.1]).explain(names=("cart", "nb"))
    assert crossed.startswith("cart and nb have the same mean loss")


def test_explain_states_a_statistic_against_the_means():
    # the statistic has the sign of the first difference
    a, b = np.zeros((5, 2)), np.zeros((5, 2))
    a[0, 0], b[4, 1] = 1.0, 2.0
    text = five_by_two_t(a, b).explain(names=("cart", "nb"))
    assert text.startswith("cart has a smaller mean loss than nb")
    assert "favours nb, unlike the means" in text
    b[4, 1] = 1.0
    level = five_by_two_t(a, b).explain(names=("cart", "nb"))
    assert "although the means are equal" in level


def test_many_results_are_summarised():
    b = np.random.default_rng(0).normal(0.3, 0.02, (3, 8))
    a = b + np.array([[0.5], [-0.5], [0.0]]) + np.array([[1e-2, -1e-2] * 4])
    a[2] = b[2]
    text = kfold_t(a, b).explain(names=("cart", "nb"))
    assert "3 comparisons of cart with nb" in text
    assert "in 2 of them" in text
    assert "in favour of cart in 1 and of nb in 1" in text
    assert "smaller in 1, larger in 1 and the same in 1" in text
    none = kfold_t(np.zeros((0, 4)), np.zeros((0, 4)))
    assert none.explain() == "There are no comparisons of a with b."


def test_results_are_frozen_and_travel():
    result = wilcoxon(A, B)
    with pytest.raises(FrozenInstanceError):
        result.pvalue = 0.0
    back = pickle.loads(pickle.dumps(result))
    assert back == result
    assert back.confidence_interval(0.6) == result.confidence_interval(0.6)


def test_results_without_interval_are_refused():
    bare = PairwiseResult(
        test="bare", statistic=1.0, pvalue=0.5, df=None, estimate=1.0, alternative="two-sided"
    )
    with pytest.raises(ArgumentError, match="'bare' has no interval"):
        bare.confidence_interval()
