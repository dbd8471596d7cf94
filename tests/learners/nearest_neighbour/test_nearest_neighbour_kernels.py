"""Scales and distances of the nearest-neighbour kernels against numpy and plain Python."""

import numpy as np
import pytest

from bestofk.learners.kernels.nearest_neighbour import (
    NONE,
    RANGE,
    STD,
    column_scales,
    nearest_rows,
)


def scales(values: np.ndarray, cardinality: np.ndarray, scale: int) -> tuple[np.ndarray, ...]:
    return column_scales(values, cardinality, np.arange(len(values)), scale)


def test_scales_against_numpy() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 6)) * 10
    values[rng.random((40, 6)) < 0.2] = np.nan
    values[:, 3] = 7.5
    values[:, 4] = np.nan
    cardinality = np.array([0, 0, 0, 0, 0, 4])
    values[:, 5] = rng.integers(0, 4, 40)
    known = values[:, :3]
    low, high, divisor = scales(values, cardinality, STD)
    np.testing.assert_array_equal(low[:3], np.nanmin(known, axis=0))
    np.testing.assert_array_equal(high[:3], np.nanmax(known, axis=0))
    np.testing.assert_allclose(divisor[:3], np.nanstd(known, axis=0), rtol=1e-14)
    assert divisor[3:].tolist() == [0.0, 0.0, 1.0]
    ranges = np.nanmax(known, axis=0) - np.nanmin(known, axis=0)
    np.testing.assert_array_equal(scales(values, cardinality, RANGE)[2][:3], ranges)
    assert scales(values, cardinality, RANGE)[2][3:].tolist() == [0.0, 0.0, 1.0]
    assert scales(values, cardinality, NONE)[2].tolist() == [1.0, 1.0, 1.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", ["normal", "whole", "units", "far", "copies", "tiny", "nominal"])
def test_many_queries_are_answered_as_few(kind: str) -> None:
    # fewer than eight queries at a time are answered without estimates in single precision
    rng = np.random.default_rng(5)
    for n, d in ((1, 3), (257, 1), (700, 12), (3000, 3)):
        rows = rng.normal(size=(n + 30, d))
        cardinality = np.zeros(d, np.int64)
        if kind == "whole":
            rows = np.round(2 * rows)
        elif kind == "units":
            rows = np.round(rows, 1) * 10.0 ** rng.integers(-30, 30, d)
        elif kind == "far":
            rows = 1e9 + np.round(rows, 3)
        elif kind == "copies":
            rows = rows[rng.integers(0, n // 3 + 1, n + 30)]
        elif kind == "tiny":
            rows *= 1e-25
        elif kind == "nominal":
            cardinality[: d // 2 + 1] = 3
            rows[:, cardinality > 0] = rng.integers(0, 3, (n + 30, d // 2 + 1))
            rows[rng.random(rows.shape) < 0.05 * (cardinality > 0)] = np.nan
            rows[-1] = np.nan
        train, queries = rows[:n].copy(), rows[n:].copy()
        columns = np.ascontiguousarray(train.T)
        for scale in (RANGE, STD, NONE):
            fitted = cardinality, *scales(train, cardinality, scale)
            few = [nearest_rows(columns, *fitted, queries[at : at + 5]) for at in range(0, 30, 5)]
            many = nearest_rows(columns, *fitted, queries)
            np.testing.assert_array_equal(many, np.concatenate(few))
