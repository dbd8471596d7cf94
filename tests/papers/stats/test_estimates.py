"""The .632 family against hand calculations, and against the error that a peer makes."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.papers.fundamentals import bootstrap_632_per_sample
from bestofk.papers.stats import estimates
from bestofk.splits import plan

rates = st.floats(0, 1)


def nearest_neighbour(X, y, train, rows):
    """Predictions of a one-nearest-neighbour learner; the lowest row wins ties."""
    distance = np.abs(X[rows][:, None] - X[train][None, :])
    return y[train[distance.argmin(axis=1)]]


def problem(n=40, seed=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=n) + y, y


def losses_of(learner, X, y, samples):
    n = len(y)
    splits = plan(f"bootstrap:{samples}", random_state=5).materialise(n, y)
    losses = np.empty((samples, n))
    for _, b, train, _test in splits:
        losses[b] = learner(X, y, train, np.arange(n)) != y
    return losses, splits.marks


def test_632_by_hand_with_efrons_weights():
    # Ler prints the weights swapped, which would give 0.1736.
    assert estimates.bootstrap_632(0.1, 0.3) == pytest.approx(0.2264, rel=1e-14)


@pytest.mark.parametrize(
    ("apparent", "left_out", "gamma", "expected"),
    [
        # R = (.3 - .1) / (.5 - .1) = 1/2, w = .632 / .816; exact fractions by hand.
        (0.1, 0.3, 0.5, 0.1 + 0.2 * 0.632 / 0.816),
        (0.0, 0.5, 0.5, 0.5),
        (0.2, 0.2, 0.5, 0.2),
        # worse than no information, equation 32 with Err1' = .5 and R = 1:
        # .368 * .1 + .632 * .6 + (.5 - .1) * .368 * .632 / .632
        (0.1, 0.6, 0.5, 0.5632),
        (0.3, 0.2, 0.5, 0.368 * 0.3 + 0.632 * 0.2),  # R below 0 is cut to 0
        (0.5, 0.6, 0.5, 0.368 * 0.5 + 0.632 * 0.6),  # gamma = err: x / 0
        (0.5, 0.5, 0.5, 0.5),  # 0 / 0
        (0.5, 0.6, 0.4, 0.368 * 0.5 + 0.632 * 0.6),  # gamma below err
    ],
)
def test_632_plus_by_hand(apparent, left_out, gamma, expected):
    result = estimates.bootstrap_632_plus(apparent, left_out, gamma)
    assert result == pytest.approx(expected, rel=1e-14)


@given(rates, rates, rates)
def test_632_plus_lies_between_632_and_the_left_out_error(apparent, left_out, gamma):
    plus = estimates.bootstrap_632_plus(apparent, left_out, gamma)
    plain = estimates.bootstrap_632(apparent, left_out)
    low, high = min(plain, left_out), max(plain, left_out)
    assert low - 1e-12 <= plus <= high + 1e-12


def test_no_information_rate_is_the_mean_over_all_pairs():
    # Efron and Tibshirani define it as the mean loss over all n^2 pairs (y_i, prediction_j).
    y = np.array([0, 0, 1, 2, 2, 2, 2])
    predicted = np.array([0, 1, 1, 2, 2, 2, 1])
    expected = (y[:, None] != predicted[None, :]).mean()
    got = estimates.no_information_rate(np.bincount(y), np.bincount(predicted))
    assert got == pytest.approx(expected, rel=1e-14)


def test_leave_one_out_bootstrap_by_hand():
    losses = np.array([[1.0, 0.0, np.nan, 0.5], [np.nan, 1.0, np.nan, 0.25], [0, 1, 7, np.inf]])
    out = np.array([[1, 1, 0, 1], [0, 1, 0, 1], [1, 1, 0, 0]], dtype=bool)
    r = estimates.leave_one_out_bootstrap_error(losses, out)
    # points: (1 + 0)/2, (0 + 1 + 1)/3, never, (0.5 + 0.25)/2
    assert r == pytest.approx((1 / 2 + 2 / 3 + 3 / 8) / 3, rel=1e-15)


def test_mean_over_points_is_not_the_mean_over_samples():
    losses = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    out = np.array([[True, False], [False, True], [False, True]])
    # per point: (1 + 0) / 2 = 1/2; pooled over cells or samples it would be 1/3.
    assert estimates.leave_one_out_bootstrap_error(losses, out) == 0.5


def test_apparent_error_is_of_the_learner_fitted_to_all_the_data():
    # A nearest neighbour makes no error on what it was fitted to, so its .632 estimate is
    # .632 Err1. A peer takes the bootstrap model on all rows, left-out points included, for the
    # training error and comes out higher.
    X, y = problem()
    rows = np.arange(len(y))
    losses, draws = losses_of(nearest_neighbour, X, y, 60)
    left_out = estimates.leave_one_out_bootstrap_error(losses, draws == 0)
    apparent = float(np.mean(nearest_neighbour(X, y, rows, rows) != y))
    right = estimates.bootstrap_632(apparent, left_out)
    assert apparent == 0
    assert right == pytest.approx(0.632 * left_out, rel=1e-14)
    peers_training_error = losses.mean()
    assert peers_training_error > 0.05
    per_sample = bootstrap_632_per_sample(losses, draws)
    assert per_sample < 0.368 * peers_training_error + 0.632 * left_out - 0.02


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimates.bootstrap_632(float("nan"), 0.1), "apparent must be finite"),
        (lambda: estimates.bootstrap_632([0.1, 0.2], 0.1), "apparent must be one number"),
        (lambda: estimates.no_information_rate([1, 2], [1, 2, 3]), "same classes"),
        (lambda: estimates.no_information_rate([0, 0], [1, 2]), "not all 0"),
        (lambda: estimates.no_information_rate([-1, 2], [1, 2]), "counts of"),
        (lambda: estimates.leave_one_out_bootstrap_error([1, 0], [True, False]), "shape"),
        (lambda: estimates.leave_one_out_bootstrap_error([[1, 0]], [[True]]), "same shape"),
        (lambda: estimates.leave_one_out_bootstrap_error([[1, 0]], [[0, 0]]), "at least one"),
        (lambda: estimates.leave_one_out_bootstrap_error([[np.nan]], [[True]]), "finite"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
