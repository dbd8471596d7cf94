"""Hashes of the results of all learners on 12 data sets. As a program, print them as JSON.

``exact`` hashes every bit of predictions, probabilities and fitted numbers. ``stored`` hashes only
predictions, which do not depend on the C library either.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from typing import Any

import numpy as np

from bestofk.data.schema import Encoded
from bestofk.learners.base import predict_encoded_splits
from bestofk.learners.specification import parse_learner
from bestofk.splits.plans import plan
from bestofk.splits.splits import Splits

SETS = range(12)
LEARNERS = (
    "nmc(scale=None)",
    "nmc(scale='std')",
    "nmc(scale='range')",
    "logistic",
    "c4.5",
    "c4.5(criterion='gain', min_leaf=1)",
    "c4.5(pruning=None)",
    "c4.5(pruning='holdout')",
    "nn",
    "nn(scale='std')",
    "nn(scale=None)",
    "naive-bayes",
    "tan",
    "voted-perceptron",
)


def drawn_data(seed: int) -> Encoded:
    """Draw numeric, nominal, binary or mixed columns; every third set has missing cells."""
    rng = np.random.default_rng([seed, 7])
    n, d = int(rng.choice([12, 63, 64, 65, 150, 300])), int(rng.choice([1, 3, 8, 13, 20]))
    classes = int(rng.choice([2, 2, 3, 5]))
    cardinality = {
        0: np.zeros(d),
        1: np.full(d, 2),
        2: rng.integers(1, 6, d),
        3: np.where(rng.random(d) < 0.5, rng.integers(1, 5, d), 0),
    }[seed % 4].astype(np.int64)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    values = np.empty((n, d))
    for j, size in enumerate(cardinality.tolist()):
        if size:
            values[:, j] = np.where(rng.random(n) < 0.5, y % size, rng.integers(0, size, n))
        else:
            values[:, j] = np.round(rng.normal(size=n) + y * rng.normal(), int(rng.integers(0, 4)))
    if seed % 3 == 0:
        values[rng.random((n, d)) < 0.1] = np.nan
    return Encoded(values=values, cardinality=cardinality, y=y, classes=np.arange(classes))


def suits(spec: str, data: Encoded) -> bool:
    """Return whether the learner accepts the data set."""
    if spec == "tan":
        return bool(data.cardinality.all())
    return spec != "voted-perceptron" or data.n_classes == 2


def hash_of(arrays: list[np.ndarray]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.kind} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def predicted(learner: Any, data: Encoded, splits: Splits) -> list[np.ndarray]:
    """Predict all splits, at once if the learner can."""
    if hasattr(learner, "_predict_plan"):
        return learner._predict_plan(data, splits)
    return predict_encoded_splits(learner, data, splits)


def fitted_numbers(model: object) -> list[np.ndarray]:
    """Return the public arrays of a fitted model."""
    values = [value for name, value in sorted(vars(model).items()) if name.endswith("_")]
    flat = [part for value in values for part in (value if isinstance(value, tuple) else [value])]
    return [part for part in flat if isinstance(part, np.ndarray)]


def fingerprints() -> dict[str, dict[str, str]]:
    result: dict[str, dict[str, str]] = {"exact": {}, "stored": {}}
    sets = {seed: drawn_data(seed) for seed in SETS}
    for spec in LEARNERS:
        exact, stored = [], []
        for seed, data in sets.items():
            if not suits(spec, data):
                continue
            learner = parse_learner(spec)[1]
            for plan_spec in ("3x2", "kfold:4", "bootstrap:2"):
                splits = plan(plan_spec, stratified=False, random_state=seed)
                stored += predicted(learner, data, splits.materialise(data.n))
            model = learner.fit_encoded(data)
            stored.append(model.predict_encoded(data.values))
            exact += fitted_numbers(model)
            if hasattr(model, "_proba_encoded"):
                exact.append(model._proba_encoded(data.values))
        result["stored"][spec] = hash_of(stored)
        result["exact"][spec] = hash_of(stored + exact)
    return result


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump(fingerprints(), sys.stdout, indent=1)
