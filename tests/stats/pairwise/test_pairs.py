"""Expected values: the tests themselves, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.stats.pairwise import all_pairs, five_by_two_t, wilcoxon


def test_equals_pair_by_pair():
    losses = np.random.default_rng(0).normal(0.3, 0.05, (37, 5, 2))
    result = all_pairs("5x2cv-t", losses, alternative="greater")
    assert result.learners == 37
    assert len(result.pvalue) == 37 * 36 // 2
    assert [(int(i), int(j)) for i, j in zip(result.i, result.j, strict=True)] == [
        (i, j) for i in range(37) for j in range(i + 1, 37)
    ]
    for n in (0, 35, 36, 400, 665):
        single = five_by_two_t(losses[result.i[n]], losses[result.j[n]], alternative="greater")
        assert result.pvalue[n] == pytest.approx(single.pvalue, rel=1e-12)
        assert result.statistic[n] == pytest.approx(single.statistic, rel=1e-13)
        assert result.estimate[n] == pytest.approx(single.estimate, rel=1e-13)


def test_more_learners_than_a_block_of_rows():
    losses = np.random.default_rng(1).normal(0.3, 0.05, (1100, 5, 2))
    result = all_pairs(five_by_two_t, losses)
    n = int(np.flatnonzero((result.i == 1064) & (result.j == 1099))[0])
    assert result.pvalue[n] == pytest.approx(
        five_by_two_t(losses[1064], losses[1099]).pvalue, rel=1e-12
    )


def test_two_learners_and_arguments():
    losses = np.array([[0.3, 0.2, 0.4], [0.1, 0.1, 0.4]])
    result = all_pairs(wilcoxon, losses, alternative="greater", zeros="pratt")
    assert result.test == "wilcoxon"
    assert result.pvalue.tolist() == [0.25]
    sized = all_pairs("corrected-resampled-t", losses, n_train=9, n_test=1)
    assert sized.pvalue.shape == (1,)


def test_refusals():
    with pytest.raises(ArgumentError, match="at least 2 learners"):
        all_pairs("kfold-t", [[0.1, 0.2]])
    with pytest.raises(UnknownNameError, match="5x2cv-t"):
        all_pairs("5x2cv", np.zeros((3, 5, 2)))
    with pytest.raises(ArgumentError, match="alternative"):
        all_pairs("5x2cv-f", np.zeros((3, 5, 2)), alternative="smaller")


@pytest.mark.parametrize("most", [9 * 40, 4 * 40, 1])
def test_large_losses_come_in_blocks(monkeypatch, most):
    from bestofk.stats.pairwise import pairs

    losses = np.random.default_rng(3).random((9, 40))
    whole = all_pairs("kfold-t", losses)
    monkeypatch.setattr(pairs, "_MAX_LOSSES_AT_ONCE", most)
    blocks = all_pairs("kfold-t", losses)
    # numpy adds the losses of a single pair in another order
    assert np.allclose(blocks.pvalue, whole.pvalue, rtol=1e-12)
    assert np.allclose(blocks.estimate, whole.estimate, rtol=1e-12)
