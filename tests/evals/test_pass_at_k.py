"""Expected values: enumeration of all draws of k answers."""

from itertools import combinations

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.evals import example_evals
from bestofk.evals.item_scores import pass_all, pass_at


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_equal_the_shares_of_draws(n):
    for c in range(n + 1):
        answers = [1] * c + [0] * (n - c)
        for k in range(1, n + 1):
            draws = list(combinations(answers, k))
            assert pass_at(n, c, k) == pytest.approx(np.mean([max(draw) for draw in draws]))
            assert pass_all(n, c, k) == pytest.approx(np.mean([min(draw) for draw in draws]))


def test_one_score_per_item():
    scores = example_evals("inspect-sums").by_item()
    best, every = scores.pass_at(2), scores.pass_all(2)
    assert (best.metric, every.metric) == ("pass@2", "pass^2")
    # of two epochs: any right, and both right
    assert best.mean.tolist() == (scores.mean > 0).astype(float).tolist()
    assert every.mean.tolist() == (scores.mean == 1).astype(float).tolist()
    assert scores.pass_at(1).mean == pytest.approx(scores.mean)
    assert "pass@2 of every item, from match in 2 epochs." in best.notes


@pytest.mark.parametrize(("k", "said"), [(3, "k that these logs allow is 2"), (0, "k must")])
def test_more_draws_than_answers_are_refused(k, said):
    with pytest.raises(ArgumentError, match=said):
        example_evals("inspect-sums").by_item().pass_at(k)


def test_scores_between_right_and_wrong_are_refused():
    from dataclasses import replace

    scores = example_evals("inspect-sums").by_item()
    halves = replace(scores, mean=np.full(scores.mean.shape, 0.5),
                     variance=np.zeros(scores.variance.shape))  # fmt: skip
    with pytest.raises(ArgumentError, match=r"right .* or wrong"):
        halves.pass_at(2)
