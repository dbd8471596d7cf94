"""Noise between runs: hand-computed values, published trials, and simulated agents."""

import numpy as np
import pytest

import bestofk as bk
import eval_noise
from bestofk._base.errors import ArgumentError


def test_noise_of_two_runs_by_hand(evals_of):
    """Four items in two runs; the answers to two items of a and one of b differ."""
    scores = [[[1, 1], [1, 0], [0, 1], [0, 0]], [[1, 1], [1, 1], [1, 0], [0, 0]]]
    choice = bk.compare_evals(evals_of(scores, names=["a", "b"]))
    a, b = choice.outcome.noise.models
    # variance 1/2 of each item that differs: 2/2/4 / 4 and 1/2/4 / 4
    assert (a.sd, b.sd) == pytest.approx((0.25, 0.125**0.5 / 2))
    assert (a.flips, b.flips, a.items) == (2, 1, 4)
    # half and a quarter of the items differ between the two runs
    assert (a.flip_rate, b.flip_rate) == pytest.approx((0.5, 0.25))
    assert choice.outcome.noise.difference == pytest.approx(1.959964 * (1 / 16 + 1 / 32) ** 0.5)
    assert "Noise: One run moves by 25.0 points (a) and 17.7 (b; standard deviations)." in (
        choice.explain()
    )
    assert "2 and 1 of 4 items changed." in choice.explain()
    assert choice.to_dict()["noise"]["models"][1]["flips"] == 1


def test_more_epochs_and_more_items_by_hand(evals_of):
    """The mean of one model: 40 items, half of them right in one of two runs, half in all."""
    scores = np.ones((1, 40, 2))
    scores[0, :20, 0] = 0.0
    noise = evals_of(scores).noise()
    # variance of the item means 1/16 * 40/39, of which 1/2 * 1/2 / 2 would be noise: all of it
    assert noise.more_items == 40
    scores = np.ones((1, 40, 2))
    scores[0, :4, 0], scores[0, 4:20] = 0.0, 0.0
    noise = evals_of(scores).noise()
    mean = scores[0].mean(axis=1)
    total, within = mean.var(ddof=1), 4 / 40 / 2 / 2
    assert noise.more_items == round(40 * (total / (total - within / 2) - 1))
    assert noise.answers == (80, 2 * noise.more_items)


def test_published_trials():
    """gpt-4o on 50 airline tasks of tau-bench: 26 flip, pass^1 - pass^2 = .42 - .273."""
    (one,) = (noise := eval_noise.as_evals(eval_noise.airline()[np.newaxis], 0).noise()).models
    assert one.flips == 26
    assert one.sd == pytest.approx(((0.42 - 0.2733333) / 50) ** 0.5, rel=1e-4)
    assert noise.difference == pytest.approx(0.150, abs=5e-4)
    # pooled over four agents; single ones have 3 or 7 degrees of freedom and scatter widely
    assert eval_noise.spread_ratio() == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("shape", eval_noise.SHAPES)
def test_simulated_agents(shape):
    sd, realised, flips, true = eval_noise.simulated(
        shape, 114, 20, np.random.default_rng([1, *shape.encode()])
    ).T
    assert np.mean(sd / realised) == pytest.approx(1.0, abs=0.1)
    assert np.mean(flips) == pytest.approx(np.mean(true), abs=0.02)


def test_many_models_are_a_range(evals_of):
    """Of 8 items 2, 1, 2 and 4 differ between two runs: sd = (differing / 2 / 8 / 8) ** .5."""
    scores = np.ones((4, 8, 2))
    for k, differing in enumerate((2, 1, 2, 4)):
        scores[k, :differing, 0] = 0.0
    scores[1] = np.sort(scores[1], axis=0)
    noise = bk.compare_evals(evals_of(scores, names=["a", "b", "c", "d"])).outcome.noise
    assert noise.explain().startswith(
        "One run moves by 8.8 points (b) and 12.5 to 17.7 (the others; standard deviations). "
    )
    assert "1 and 2 to 4 of 8 items changed." in noise.explain()


def test_one_run_has_no_noise(evals_of):
    evals = evals_of(np.eye(2, 9))
    assert bk.compare_evals(evals).outcome.noise is None
    with pytest.raises(ArgumentError, match="two or more runs"):
        evals.noise()
    same = bk.compare_evals(evals_of(np.repeat(np.eye(2, 9)[..., None], 3, axis=2)))
    assert same.outcome.noise.explain() == "Repeated runs gave the same scores."
