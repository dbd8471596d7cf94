"""Every learner on hostile shapes and values predicts known classes or raises an error."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from bestofk._base.errors import BestOfKError
from bestofk.data.schema import Encoded
from bestofk.learners.specification import parse_learner
from bestofk.splits.plans import plan

sys.path.insert(0, str(Path(__file__).parent))
from fingerprints import predicted

LEARNERS = (
    "max", "nmc", "nmc(scale='std')", "logistic", "c4.5", "c4.5(min_leaf=1, confidence=0.5)",
    "c4.5(pruning='holdout')", "nn", "nn(scale='std')", "nn(scale=None)", "naive-bayes", "tan",
    "voted-perceptron",
)  # fmt: skip
HOSTILE = (0.0, -0.0, 1.0, 5e-324, 1e-300, -1e-9, 1e15, -1e150, 1.7e308, -1.7e308, np.nan)


@st.composite
def hostile_data(draw: st.DrawFn) -> Encoded:
    n = draw(st.sampled_from([1, 2, 3, 7, 63, 64, 65, 129]))
    d = draw(st.sampled_from([1, 2, 4, 9, 17, 65]))
    classes = draw(st.sampled_from([1, 2, 2, 3, 9]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["numeric", "nominal", "binary", "mixed"]))
    cardinality = {
        "numeric": np.zeros(d),
        "nominal": rng.integers(1, 40, d),
        "binary": np.full(d, 2),
        "mixed": np.where(rng.random(d) < 0.5, rng.integers(1, 4, d), 0),
    }[kind].astype(np.int64)
    values = rng.choice(HOSTILE, size=(n, d))
    if draw(st.booleans()):
        values = rng.normal(size=(n, d)).round(draw(st.integers(0, 3)))
    for j in np.flatnonzero(cardinality):
        values[:, j] = rng.integers(0, cardinality[j], n)
    values[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = np.nan
    return Encoded(
        values=values,
        cardinality=cardinality,
        y=rng.integers(0, classes, n),
        classes=np.arange(classes),
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("spec", LEARNERS)
def test_predictions_are_classes_of_the_training_rows(spec: str) -> None:
    @settings(
        max_examples=5 if spec == "logistic" else 20,  # it takes a quarter of a second
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(data=hostile_data())
    def check(data: Encoded) -> None:
        check_predictions(spec, data)

    check()


def check_predictions(spec: str, data: Encoded) -> None:
    learner = parse_learner(spec)[1]
    try:
        model = learner.fit_encoded(data)
    except BestOfKError:
        return
    seen = np.unique(data.y)
    strange = data.values[::-1].copy()
    strange[::2] = np.nan
    for values in (data.values, strange, data.values[:0]):
        assert np.isin(model.predict_encoded(values), seen).all()
        if hasattr(model, "_proba_encoded") and len(values):
            shares = model._proba_encoded(values)
            assert shares.shape == (len(values), len(seen))
    if data.n < 4:
        return
    for plan_spec in ("2x2", "bootstrap:2"):
        splits = plan(plan_spec, stratified=False, random_state=0).materialise(data.n)
        try:
            answers = predicted(learner, data, splits)
        except BestOfKError:
            continue
        for (_, _, train, test), codes in zip(splits, answers, strict=True):
            assert len(codes) == len(test)
            assert np.isin(codes, data.y[train]).all()


@pytest.mark.parametrize("spec", LEARNERS)
def test_codes_outside_the_declared_values_are_refused(spec: str) -> None:
    with pytest.raises(BestOfKError, match="codes "):
        parse_learner(spec)[1].fit_encoded(
            Encoded(
                values=np.array([[0.0], [7.0]]),
                cardinality=np.array([2]),
                y=np.array([0, 1]),
                classes=np.arange(2),
            )
        )
