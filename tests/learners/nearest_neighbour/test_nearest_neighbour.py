"""The nearest neighbour: distances by hand and against scikit-learn, and interface."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from bestofk._base.errors import ArgumentError
from bestofk.learners import learner
from bestofk.learners.nearest_neighbour import NearestNeighbour

NAN = float("nan")


def which(X: object, queries: object, scale: str | None = "range") -> list[int]:
    """Return the training row nearest to each query (every row is a separate class)."""
    rows = pd.Categorical(np.arange(len(X)))  # type: ignore[arg-type]
    model = NearestNeighbour(scale).fit(X, rows)
    nearest: list[int] = model.predict(queries).tolist()
    return nearest


def test_numbers_are_scaled_by_the_training_range() -> None:
    # Ranges 8 and 80. (2, 40): to row 0 (1/8)^2 + (30/80)^2 = .156, to row 2 (7/8)^2 + (10/80)^2.
    X = [[1.0, 10.0], [2.0, 90.0], [9.0, 50.0]]
    assert which(X, [[2.0, 40.0]]) == [0]
    # Unscaled: 1 + 900 against 0 + 2500 and 49 + 100.
    assert which(X, [[2.0, 40.0]], None) == [2]


def test_standard_deviation_is_that_of_the_population() -> None:
    model = NearestNeighbour("std").fit([[1.0], [2.0], [6.0]], [0, 1, 0])
    assert model.divisor_[0] == pytest.approx(np.sqrt((4 + 1 + 9) / 3), rel=1e-15)


def test_values_outside_the_training_range_are_not_clipped() -> None:
    # Clipped to [0, 1], the queries would be as near to row 1 in the first column as to row 2.
    X = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]]
    # (12, 3): to row 1 (8/4)^2 + (3/4)^2, to row 2 (8/4)^2 + (1/4)^2.
    assert which(X, [[12.0, 3.0], [12.0, 1.0], [-9.0, 0.0]]) == [2, 1, 0]
    # Range 1 in the first, 8 in the second column; (3, 0) is 3^2 from row 0, 2^2 + 1 from row 1;
    # clipped it would be 1 from row 0 and 1 from row 1, and row 0 would win.
    assert which([[0.0, 0.0], [1.0, 8.0]], [[3.0, 0.0]]) == [1]


def test_ties_go_to_the_lowest_row() -> None:
    assert which([[3.0], [1.0], [3.0], [1.0]], [[2.0], [3.0], [1.0]]) == [0, 0, 1]


def test_equal_differences_are_tied_whatever_their_place() -> None:
    # 7 values of range 6: 3/6 - 2/6 and 2/6 - 1/6 differ in the last bit, 1/6 and 1/6 do not.
    X = [[float(v)] for v in (6, 5, 4, 3, 2, 1, 0)]
    rows = [0, 2, 4, 6]
    expected = [0, 1, 2]  # of two neighbours at distance 1 the first
    assert which([X[row] for row in rows], [[5.0], [3.0], [1.0]]) == expected


def test_a_full_range_counts_as_much_as_a_nominal_mismatch() -> None:
    # 49 * (1 / 49) is below 1 in floating point; 49 / 49 is 1, so rows 1 and 2 are tied.
    frame = pd.DataFrame({"a": [0.0, 49.0, 0.0], "b": ["x", "y", "z"]})
    assert which(frame[1:], pd.DataFrame({"a": [0.0], "b": ["y"]})) == [0]


def test_a_constant_column_does_not_count() -> None:
    X = [[5.0, 0.0], [5.0, 1.0]]
    for scale in ("range", "std"):
        assert which(X, [[900.0, 1.0], [-900.0, 0.0]], scale) == [1, 0]


def test_unknown_nominal_values_differ_from_everything() -> None:
    frame = pd.DataFrame({"a": ["x", None, "y"], "b": ["u", "u", "v"]})
    queries = pd.DataFrame({"a": [None, "never seen"], "b": ["v", "u"]})
    # Query 0: 2, 2, 1. Query 1: 1, 1, 2 (an unknown is not equal to an unknown): the lowest row.
    assert which(frame, queries) == [2, 0]


def test_unknown_numbers_lie_at_the_far_end_of_the_range() -> None:
    # Range 0..8. Unknown against 2: max(2, 6) / 8 = .75; against 8: 1; two unknowns: 1.
    X = [[NAN, 0.0], [2.0, 0.0], [8.0, 0.0], [0.0, 4.0]]
    assert which(X, [[NAN, 0.0]]) == [1]
    # Without row 2 the range is 0..2: 8 is max(8, -6) / 2 from the unknown, 6 / 2 from row 1.
    assert which(X[:2] + X[3:], [[8.0, 0.0]]) == [1]
    # 2 is max(2, 6) / 8 = .75 from the unknown, 5 / 8 from 7, 6 / 8 from 8 (tied).
    assert which([[NAN, 0.0], [8.0, 0.0], [7.0, 8.0], [0.0, 8.0]], [[2.0, 0.0]]) == [0]
    assert which([[NAN, 0.0], [8.0, 8.0], [7.0, 0.0], [0.0, 8.0]], [[2.0, 0.0]]) == [2]


@pytest.mark.parametrize("scale", ["range", "std", None])
def test_unknown_numbers_by_a_slow_second_account(scale: str | None) -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, (30, 4)).astype(float)
    X[rng.random(X.shape) < 0.25] = NAN
    queries = rng.integers(-3, 12, (40, 4)).astype(float)
    queries[rng.random(queries.shape) < 0.25] = NAN
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    divisor = {"range": high - low, "std": np.nanstd(X, axis=0), None: np.ones(4)}[scale]
    distances = np.zeros((40, 30))
    for q, query in enumerate(queries):
        for k, row in enumerate(X):
            for j in range(4):
                ends = [low[j], high[j]]
                a = [query[j]] if query[j] == query[j] else ends
                b = [row[j]] if row[j] == row[j] else ends
                distances[q, k] += (max(abs(u - v) for u in a for v in b) / divisor[j]) ** 2
    nearest = which(X, queries, scale)
    best = distances.min(axis=1)
    np.testing.assert_allclose(distances[np.arange(40), nearest], best, rtol=1e-12)


def grid(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw integers 0..8, with both ends in every column: sums of squares are exact."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (n, d)).astype(float)
    X[0], X[1] = 0.0, 8.0
    return X, rng.integers(0, 4, n)


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean"])
def test_unscaled_equals_brute_force_of_scikit_learn(metric: str) -> None:
    X, y = grid(400, 5, 1)
    queries = grid(300, 5, 2)[0]
    ours = NearestNeighbour(scale=None).fit(X, y).predict(queries)
    peer = KNeighborsClassifier(1, algorithm="brute", metric=metric).fit(X, y)
    np.testing.assert_array_equal(ours, peer.predict(queries))


def test_scaled_equals_a_pipeline_of_scikit_learn() -> None:
    X, y = grid(400, 5, 3)
    queries = grid(300, 5, 4)[0] * 2 - 4
    brute = KNeighborsClassifier(1, algorithm="brute", metric="sqeuclidean")
    peer = make_pipeline(MinMaxScaler(), brute).fit(X, y)  # division by 8 is exact
    np.testing.assert_array_equal(
        NearestNeighbour().fit(X, y).predict(queries), peer.predict(queries)
    )
    # Standard deviations are not exact, but these rows have no two neighbours that are near-tied.
    rng = np.random.default_rng(6)
    X, queries = rng.normal(size=(200, 4)) * [1, 10, 0.1, 5], rng.normal(size=(100, 4))
    y = rng.integers(0, 3, 200)
    peer = make_pipeline(StandardScaler(), brute).fit(X, y)
    np.testing.assert_array_equal(
        NearestNeighbour("std").fit(X, y).predict(queries), peer.predict(queries)
    )


def test_probabilities_are_one_for_the_predicted_class() -> None:
    X, y = grid(30, 3, 7)
    model = learner("nn").fit(X, y)
    P = model.predict_proba(X[::-1])
    assert P.shape == (30, len(model.classes_))
    np.testing.assert_array_equal(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X[::-1]))


def test_complexity_is_the_number_of_stored_values() -> None:
    X, y = grid(30, 3, 8)
    assert learner("nn").fit(X, y).complexity() == 90


@pytest.mark.parametrize("scale", ["Range", 1, True, ["range"]])
def test_another_scale_is_refused(scale: object) -> None:
    with pytest.raises(ArgumentError, match="scale must be one of 'range', 'std' and None; got"):
        learner("nn", scale=scale).fit([[1.0], [2.0]], [0, 1])


def test_values_near_the_end_of_the_number_line_do_no_harm() -> None:
    # The range overflows, so that only the second column counts in the first query; in the second
    # one row 0 is farther away than can be written.
    X = [[-1e308, 0.0], [1e308, 1.0], [1e-308, 2.0]]
    for scale in ("range", "std", None):
        assert which(X, [[0.0, 2.0], [1e308, 0.0]], scale) == [2, 1]
