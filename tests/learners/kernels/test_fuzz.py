"""A small form of studies/fuzz_kernels.py, and the cases that it and others found."""

import sys
from pathlib import Path

import numpy as np
import pytest

from bestofk.data.schema import Encoded
from bestofk.learners import logistic
from bestofk.learners.specification import parse_learner
from bestofk.papers.multitest import learners as multitest
from bestofk.papers.multitest.learners import Prepared
from bestofk.splits.plans import plan

sys.path.insert(0, str(Path(__file__).parent))
from fingerprints import predicted

from fuzz_kernels import check_case


@pytest.mark.parametrize("start", range(0, 60, 12))
def test_random_data_of_extreme_magnitudes(start: int) -> None:
    for case in range(start, start + 12):
        check_case(20261117, case)


def numeric(values: np.ndarray, y: np.ndarray) -> Encoded:
    values = np.asarray(values, dtype=float).reshape(len(y), -1)
    cardinality = np.zeros(values.shape[1], dtype=np.int64)
    return Encoded(values=values, cardinality=cardinality, y=y, classes=np.unique(y))


def check_plan(spec: str, data: Encoded) -> None:
    """Compare a whole plan with single fits."""
    splits = plan("2x2", stratified=False, random_state=0).materialise(data.n)
    learner = parse_learner(spec)[1]
    for (_, _, train, test), codes in zip(splits, predicted(learner, data, splits), strict=True):
        alone = parse_learner(spec)[1].fit_encoded(data.take(train))
        np.testing.assert_array_equal(codes, alone.predict_encoded(data.values[test]))


@pytest.mark.parametrize("values", [(-1.7e308, -1.0e308), (1.0e308, 1.7e308), (-1.7e308, 1.7e308)])
def test_cuts_between_values_whose_sum_overflows(values: tuple[float, float]) -> None:
    y = np.tile([0, 1], 20)
    data = numeric(np.array(values)[y], y)
    for spec in ("c4.5", "c4.5(pruning='holdout')", "c4.5(min_leaf=1, confidence=0.5)"):
        model = parse_learner(spec)[1].fit_encoded(data)
        np.testing.assert_array_equal(model.predict_encoded(data.values), y)
        check_plan(spec, data)


def test_the_tree_of_the_paper_cuts_between_values_whose_sum_overflows() -> None:
    y = np.tile([0, 1], 20)
    data = Prepared(
        name="drawn", values=np.array([-1.7e308, -1.0e308])[y].reshape(-1, 1),
        cardinality=np.zeros(1, dtype=np.int64), whole=np.zeros(1, dtype=bool), y=y, n_classes=2,
        learning_rate=0.05,
    )  # fmt: skip
    marks = np.array([np.arange(40) % 4 < 2])
    errors = multitest.count_errors(data, "C4.5", marks, np.zeros((1, 2), dtype=np.uint32))
    np.testing.assert_array_equal(errors, [[0, 0]])


def test_naive_bayes_has_no_nan_if_moments_overflow() -> None:
    y = np.tile([0, 1], 20)
    data = numeric(np.where(np.arange(40) % 3 == 0, 1.7e308, -1.7e308), y)
    shares = parse_learner("naive-bayes")[1].fit_encoded(data)._proba_encoded(data.values)
    assert np.isfinite(shares).all()
    check_plan("naive-bayes", data)


def test_naive_bayes_on_many_columns_in_tiny_units() -> None:
    """Each density is about 1e30, and the product of twenty must not overflow."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    data = numeric((rng.normal(size=(60, 20)) + 3 * y[:, None]) * 1e-30, y)
    model = parse_learner("naive-bayes")[1].fit_encoded(data)
    assert np.isfinite(model._proba_encoded(data.values)).all()
    np.testing.assert_array_equal(model.predict_encoded(data.values), y)


def test_logistic_on_a_row_that_is_infinitely_far_away() -> None:
    y = np.tile([0, 1, 2], 10)
    data = numeric(np.column_stack([y * 1e-300, np.zeros(30)]), y)
    model = parse_learner("logistic")[1].fit_encoded(data)
    far = np.array([[1e300, -1e300], [-1e300, np.nan]])
    assert np.isfinite(model._proba_encoded(far)).all()


def test_logistic_needs_no_square_matrix_for_many_inputs() -> None:
    """Source: the same minimum from the dense diagonal matrix."""
    z = np.random.default_rng(0).normal(size=(30, logistic._MAX_MATRIX_ROWS + 5))
    diagonal = logistic._inverse_at_zero(z, 2, 1.0)
    assert diagonal.shape == (1, z.shape[1])
    y, start = np.tile([0, 1], 15), np.zeros((z.shape[1], 1))
    sparse = logistic.kernel.minimise(z, y, 1.0, start, diagonal, 1e-9, 100)
    dense = logistic.kernel.minimise(z, y, 1.0, start, np.diag(diagonal[0]), 1e-9, 100)
    np.testing.assert_array_equal(sparse[0], dense[0])
