"""The quick ends of permutation intervals against the exact tail, which is counted out."""

import numpy as np
import pytest

from bestofk.stats.null_distributions.sign_flips import upper_tail
from bestofk.stats.pairwise.signed_ranks import least_shift, upper_tail_by_saddlepoint


def differences(kind, n, seed):
    rng = np.random.default_rng(seed)
    d = rng.standard_normal((12, n)) + 0.4
    if kind == "rounded":
        return np.round(d, 1)
    return d * np.exp(rng.standard_normal(n)) if kind == "uneven" else d


@pytest.mark.parametrize("kind", ["normal", "rounded", "uneven"])
@pytest.mark.parametrize("alpha", [0.025, 0.0025])
def test_at_the_quick_end_the_exact_test_is_about_to_change_its_mind(kind, alpha):
    d = differences(kind, 16, 3)
    ends = least_shift(d, alpha)
    reach = d.mean(axis=1) - ends
    zero = np.zeros_like(d)
    # a little further out the exact test rejects, a little further in it accepts
    apart = 0.25 if kind == "uneven" else 0.12
    outside, inside = (d - (d.mean(axis=1) - f * reach)[:, None] for f in (1 + apart, 1 - apart))
    assert (upper_tail(outside, zero)[0] <= alpha * 1.05).all()
    assert (upper_tail(inside, zero)[0] >= alpha * 0.95).all()


def test_the_tail_is_that_of_the_normal_for_many_differences():
    from scipy.stats import norm

    d = (
        np.random.default_rng(0).standard_normal((5, 4000))
        + np.array([0, 0.01, 0.02, 0.03, 0.04])[:, None]
    )
    z = d.sum(axis=1) / np.sqrt(np.square(d).sum(axis=1))
    np.testing.assert_allclose(upper_tail_by_saddlepoint(d), norm.sf(z), rtol=0.05)


def test_degenerate_differences_have_a_tail():
    d = np.array([[0.0] * 6, [1.0] * 6, [-1.0] * 6, [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]])
    tail = upper_tail_by_saddlepoint(d)
    assert np.isfinite(tail).all()
    assert tail[0] == 1.0
    assert tail[1] < 0.05
    assert tail[2] > 0.95
    assert 0.3 < tail[3] < 0.7
    many = np.random.default_rng(1).standard_normal((2, 5000))
    assert np.isfinite(least_shift(many, 1e-6)).all()
