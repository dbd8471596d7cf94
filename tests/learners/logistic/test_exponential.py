"""The vectorised exponential against that of the C library."""

import math

import numpy as np
import pytest

from bestofk.learners.kernels.logistic import exp_of_negative


def test_within_two_units_of_the_last_place() -> None:
    # source: math.exp, good to one unit of the last place
    rng = np.random.default_rng(0)
    points = np.concatenate((-(10.0 ** rng.uniform(-18, 2.85, size=2000)), -np.arange(0.0, 709.0)))
    points = points[points >= -708.0]
    for x, found in zip(points, exp_of_negative(points), strict=True):
        want = math.exp(x)
        assert abs(found - want) <= 2 * math.ulp(want)


def test_ends() -> None:
    found = exp_of_negative(np.array([0.0, -0.0, -709.0, -1e300, -np.inf]))
    assert found[:2].tolist() == [1.0, 1.0]
    assert found[2:] == pytest.approx(math.exp(-708.0), rel=1e-15)
