"""Errors of whole plans equal those counted split by split."""

import numpy as np
import pytest

from bestofk.data.schema import Encoded
from bestofk.learners.base import predict_encoded_splits
from bestofk.learners.kernels.splits import SplitMarks
from bestofk.learners.specification import parse_learner
from bestofk.papers.whole_plans import plan_errors
from bestofk.splits.plans import plan


def drawn(seed: int) -> Encoded:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 41)
    values = np.column_stack([(y + rng.integers(0, 2, 41)) % 3, rng.integers(0, 2, 41)])
    return Encoded(
        values=values.astype(float), cardinality=np.array([3, 2]), y=y, classes=np.arange(2)
    )


@pytest.mark.parametrize("plan_spec", ["3x2", "2x10", "loo", "resample:4:0.3"])
@pytest.mark.parametrize("spec", ["max", "nmc", "c4.5", "naive-bayes", "nn", "tan", "logistic"])
def test_errors_are_those_of_every_split(spec: str, plan_spec: str) -> None:
    data = drawn(len(spec))
    splits = plan(plan_spec, stratified=False, random_state=3).materialise(data.n)
    marks = SplitMarks.of(splits)
    assert marks is not None
    learner = parse_learner(spec)[1]
    errors = plan_errors(learner, data, splits, marks)
    assert errors is not None
    expected = np.zeros(marks.marks.shape, dtype=bool)
    counts = []
    apart = predict_encoded_splits(learner, data, splits)
    for (_, _, _, test), codes, (line, _) in zip(splits, apart, marks.wanted.tolist(), strict=True):
        expected[line, test] = codes != data.y[test]
        counts.append(np.count_nonzero(codes != data.y[test]))
    np.testing.assert_array_equal(errors.wrong, expected)
    np.testing.assert_array_equal(errors.counts(), counts)


def test_a_learner_without_whole_plans_has_no_errors_here() -> None:
    data = drawn(0)
    splits = plan("kfold:2", stratified=False, random_state=0).materialise(data.n)
    marks = SplitMarks.of(splits)
    assert marks is not None
    assert plan_errors(object(), data, splits, marks) is None
