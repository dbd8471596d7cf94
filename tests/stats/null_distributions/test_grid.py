"""Common units of values, and values that are equal up to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk.stats.null_distributions.sums import common_unit, levelled


@pytest.mark.parametrize("factor", [1.0, np.pi, 1e-9, 1e12])
def test_a_common_unit_is_found_in_any_unit(factor):
    heights = np.array([3, 7, 12, 30]) / 600 * factor
    unit = common_unit(heights, smallest=1e-6 * factor, noise=1e-14 * factor)
    assert unit == pytest.approx(factor / 600, rel=1e-12)


def test_no_common_unit_in_arbitrary_numbers():
    heights = np.random.default_rng(1).random(50)
    assert common_unit(heights, smallest=1e-6, noise=1e-15) is None


def test_a_unit_that_fits_only_nearly_is_none():
    heights = np.array([3, 7, 12, 30]) / 600
    heights[2] += 1e-8
    assert common_unit(heights, smallest=1e-5, noise=1e-15) is None


def test_values_that_differ_by_the_rounding_of_a_mean_are_equal():
    values = np.array([[0.1 + 0.2, 1.0], [0.3, 2.0]])
    heights, _ = levelled(values)
    assert heights[:, 0].tolist() == [0.0, 0.0]
