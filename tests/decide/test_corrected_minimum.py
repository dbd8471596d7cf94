"""The corrected minimum against enumeration and simulation."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import bestofk as bk
import corrected_minimum_bias


def exact(losses):
    """Return the mean over all samples of n of n units that leave a unit out."""
    losses = np.asarray(losses, dtype=float)
    n = losses.shape[1]
    result = []
    for sample in itertools.product(range(n), repeat=n):
        out = [unit for unit in range(n) if unit not in sample]
        if out:
            best = np.argmin(losses[:, sample].sum(axis=1))
            result.append(losses[best, out].mean())
    return np.mean(result)


def test_many_samples_approximate_all_samples():
    losses = np.array([[1.0, 5.0, 2.0, 4.0], [4.0, 1.5, 3.0, 2.5], [2.0, 2.25, 6.0, 1.0]])
    result = bk.corrected_minimum(losses, resamples=40_000)
    assert result.corrected == pytest.approx(exact(losses), abs=0.02)
    assert (result.chosen, result.naive) == (1, 2.75)
    assert result.bias == pytest.approx(2.75 - result.corrected)


@pytest.mark.parametrize("case", corrected_minimum_bias.CASES, ids=lambda case: case.name)
def test_naive_minimum_is_optimistic_and_the_corrected_one_is_not(case):
    rows = corrected_minimum_bias.measure(60, (case,))
    equal = rows[0]
    assert equal.learners == "equal"
    assert equal.naive < -0.8
    # within .2 standard errors, plus four Monte Carlo errors
    assert abs(equal.corrected) < 0.2 + 4 * equal.error
    if equal.covered is not None:
        assert equal.covered >= 0.8
    if equal.all_folds is not None:
        # folds of several runs share rows, so using them as units corrects almost nothing
        assert equal.all_folds < equal.corrected - 0.4
        assert equal.fold_numbers < equal.corrected - 0.4


def test_one_clear_winner_needs_no_correction():
    rng = np.random.default_rng(1)
    losses = rng.normal(0.4, 0.02, (5, 30))
    losses[2] -= 0.3
    result = bk.corrected_minimum(losses)
    assert result.chosen == 2
    assert result.chosen_again == 1.0
    assert result.corrected == pytest.approx(losses[2].mean(), rel=1e-12)
    # one run of folds gives no interval that covers often enough
    assert (result.low, result.high) == (None, None)
    runs = bk.corrected_minimum(losses.reshape(5, 2, 15))
    assert 0.0 <= runs.low < runs.corrected < runs.high <= 1.0


@pytest.mark.parametrize(
    ("losses", "unit", "units"),
    [
        (bk.Losses(np.eye(3), dims=("algorithm", "dataset")), "data sets", 3),
        (bk.Losses(np.eye(3), dims=("algorithm", "instance")), "instances", 3),
        (bk.Losses(np.ones((2, 5, 2)), design="5x2"), "folds of a run", 2),
        (bk.Losses(np.ones((2, 7)), design="resample"), "splits", 7),
        (np.ones((2, 4, 3)), "folds of a run", 3),
    ],
)
def test_units(losses, unit, units):
    result = bk.corrected_minimum(losses, resamples=50)
    assert (result.unit, result.units) == (unit, units)
    assert ("share rows" in result.explain()) is (unit == "splits")


def test_one_number_per_learner_is_refused():
    with pytest.raises(bk.DesignError, match="one number per learner"):
        bk.corrected_minimum(bk.Losses([[0.1], [0.2]]))
    with pytest.raises(bk.ArgumentError, match="resamples"):
        bk.corrected_minimum(np.eye(3), resamples=0)


def test_json_and_words():
    result = bk.corrected_minimum(
        bk.Losses([[0.1, 0.2, 0.3], [0.3, 0.2, 0.2]], algorithms=["nn", "c4.5"])
    )
    value = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert value["chosen"] == "nn"
    assert "nn has the lowest of 2 mean losses, 0.2." in result.explain()
    assert str(result) == result.explain()


@example(seed=999999, K=4, n=2, scale=0.001)
@given(
    seed=st.integers(0, 2**20), K=st.integers(2, 6), n=st.integers(2, 12),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_the_unit_and_the_origin_of_the_loss_do_not_matter(seed, K, n, scale):
    losses = np.random.default_rng(seed).integers(0, 64, (K, n)) / 64.0
    a = bk.corrected_minimum(losses, resamples=60, random_state=seed)
    b = bk.corrected_minimum(losses * scale + scale, resamples=60, random_state=seed)
    assert b.chosen == a.chosen
    for name in ("naive", "corrected"):
        assert getattr(b, name) == pytest.approx(scale * (getattr(a, name) + 1.0), rel=1e-9)
    assert losses.min() <= a.corrected <= losses.max()


def test_a_seed_gives_the_same_again():
    losses = np.random.default_rng(0).normal(size=(4, 2, 5))
    assert bk.corrected_minimum(losses, random_state=3) == bk.corrected_minimum(
        losses, random_state=3
    )
    assert bk.corrected_minimum(losses, random_state=3) != bk.corrected_minimum(
        losses, random_state=4
    )


@pytest.mark.parametrize(
    ("losses", "about"),
    [
        (bk.Losses(np.random.default_rng(0).random((3, 12)), dims=("algorithm", "dataset")), ""),
        (
            bk.Losses(np.random.default_rng(0).random((3, 60)), dims=("algorithm", "dataset")),
            "next data set",
        ),
        (bk.Losses(np.random.default_rng(0).random((3, 9)), design="resample"), ""),
        (bk.Losses(np.random.default_rng(0).random((3, 40)), dims=("algorithm", "instance")), ""),
        (bk.Losses(np.random.default_rng(0).random((3, 2, 5))), "expected loss"),
        (bk.Losses(5 * np.random.default_rng(0).random((3, 2, 5))), ""),
    ],
)
def test_an_interval_is_reported_only_if_it_covers(losses, about):
    result = bk.corrected_minimum(losses, resamples=100)
    assert result.interval_of == about
    assert (result.low is None) == (about == "")
    assert ("interval" in result.explain()) == (about != "")
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["low"] == (
        None if about == "" else pytest.approx(result.low)
    )
