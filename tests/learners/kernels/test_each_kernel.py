"""Kernels of the papers on hostile values; every kernel is covered by a test."""

import importlib
import pkgutil
import sys
from pathlib import Path

import numpy as np
import pytest

import bestofk.learners
import bestofk.papers
from bestofk.data.schema import Encoded
from bestofk.learners.kernels.c45 import leaf_estimates
from bestofk.learners.kernels.library import DECLARED, Kernel
from bestofk.learners.specification import parse_learner
from bestofk.papers.calibrated import weka_learners as weka
from bestofk.papers.multitest import learners as multitest
from bestofk.papers.multitest.learners import Prepared
from bestofk.splits.plans import plan

sys.path.insert(0, str(Path(__file__).parent))
from fingerprints import predicted

Rng = np.random.Generator
STRANGE = (0.0, -0.0, 5e-324, 1.0, -3.5, 1e15, 1e150, -1e150)
SEEDS = range(6)
FUZZED = pytest.mark.parametrize("seed", SEEDS)
LEARNERS = (
    "max", "nmc", "nmc(scale='std')", "logistic", "c4.5", "c4.5(pruning='holdout')", "nn",
    "nn(scale=None)", "naive-bayes", "voted-perceptron", "tan",
)  # fmt: skip
LEARNERS_OF_NUMBERS = LEARNERS[:-1]


def drawn(rng: Rng, *, n: int, d: int, classes: int, kind: str) -> Encoded:
    cardinality = {
        "numeric": np.zeros(d),
        "nominal": rng.integers(1, 5, d),
        "mixed": np.where(rng.random(d) < 0.5, rng.integers(1, 5, d), 0),
    }[kind].astype(np.int64)
    values = rng.choice(STRANGE, size=(n, d)) if rng.random() < 0.5 else rng.normal(size=(n, d))
    for j in np.flatnonzero(cardinality):
        values[:, j] = rng.integers(0, cardinality[j], n)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(min(classes, n))
    return Encoded(values=values, cardinality=cardinality, y=y, classes=np.arange(classes))


def paper_data(rng: Rng) -> tuple[Prepared, np.ndarray]:
    """Draw a data set in the form of the MultiTest paper, and halves."""
    n, classes = int(rng.choice([4, 9, 64, 65, 130])), int(rng.choice([2, 3, 4]))
    encoded = drawn(rng, n=n, d=int(rng.choice([1, 3, 9])), classes=classes, kind="mixed")
    values = encoded.values
    values[rng.random(values.shape) < rng.choice([0.0, 0.2])] = np.nan
    data = Prepared(
        name="drawn", values=values, cardinality=encoded.cardinality,
        whole=rng.random(values.shape[1]) < 0.5, y=encoded.y, n_classes=classes, learning_rate=0.05,
    )  # fmt: skip
    marks = np.array([rng.permutation(np.arange(n) % 2 == 0) for _ in range(3)])
    return data, marks


@FUZZED
def test_paper_learners(seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    data, marks = paper_data(rng)
    sizes = np.column_stack(((~marks).sum(axis=1), marks.sum(axis=1)))
    seeds = rng.integers(0, 2**32, (len(marks), 2), dtype=np.uint32)
    with np.errstate(all="ignore"):
        for learner in multitest.LEARNERS:
            errors = multitest.count_errors(data, learner, marks, seeds)
            assert errors.shape == sizes.shape
            assert ((errors >= 0) & (errors <= sizes)).all()
    # source: counted with numpy
    counted = multitest.count_errors(data, "MAX", marks, seeds)
    for line, errors in zip(marks, counted, strict=True):
        for fold in (0, 1):
            train, test = data.y[line != bool(fold)], data.y[line == bool(fold)]
            common = np.bincount(train, minlength=data.n_classes).argmax()
            assert errors[fold] == np.count_nonzero(test != common)


@FUZZED
def test_paper_filling(seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    data, marks = paper_data(rng)
    train = np.flatnonzero(marks[0])
    filled, fills = multitest.fill(data, train)
    known = ~np.isnan(data.values)
    np.testing.assert_array_equal(filled[known], data.values[known])
    assert not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[~known], np.broadcast_to(fills, filled.shape)[~known])
    halves = np.array([half for line in marks for half in (line, ~line)])
    same = all(
        np.array_equal(multitest.fill(data, np.flatnonzero(half))[1], fills) for half in halves
    )
    if (data.cardinality > 0).all():
        assert multitest.modes_agree(data, marks, fills) == same
    else:
        multitest.modes_agree(data, marks, fills)


@FUZZED
def test_weka_learners(seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    n, d, classes, n_folds = int(rng.choice([6, 40, 65])), int(rng.choice([1, 4, 9])), 2, 3
    values = rng.integers(1, 4, d)
    codes = np.column_stack([rng.integers(0, v, n) for v in values]).astype(np.int64)
    y = rng.integers(0, classes, n)
    folds = rng.permutation(np.arange(n) % n_folds).astype(np.int64)
    offset = np.concatenate(([0], np.cumsum(values))).astype(np.int64)
    sizes = np.bincount(folds, minlength=n_folds)
    wrong = weka.first_neighbour_errors(codes, y, folds, n_folds)
    for fold in range(n_folds):  # source: every pair of rows
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        apart = (codes[test][:, None] != codes[train][None]).sum(axis=2)
        assert wrong[fold] == np.count_nonzero(y[train[apart.argmin(axis=1)]] != y[test])
    inputs = rng.choice(STRANGE[:5], size=(n, d))
    for errors in (
        weka.voted_perceptron_errors(inputs, y == 1, folds, n_folds, 1),
        weka.network_errors(codes, offset, y, classes, folds, n_folds),
    ):
        assert ((errors >= 0) & (errors <= sizes)).all()


CASES = (test_paper_learners, test_paper_filling, test_weka_learners)


@pytest.mark.filterwarnings("ignore")
def test_no_kernel_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kernel is called by a test of this file, or by a learner on hostile data."""
    for package in (bestofk.learners, bestofk.papers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "kernel" in module.name or module.name.endswith("split_marks"):
                importlib.import_module(module.name)
    called = set()
    call = Kernel.__call__

    def noticed(self: Kernel, *arguments: object) -> int:
        called.add(self.name)
        return call(self, *arguments)

    monkeypatch.setattr(Kernel, "__call__", noticed)
    leaf_estimates.cache_clear()
    for case in CASES:
        for seed in SEEDS[:2]:
            case(seed)
    for seed, kind in enumerate(("numeric", "nominal", "mixed")):
        data = drawn(np.random.default_rng(seed), n=60, d=4, classes=2, kind=kind)
        for spec in LEARNERS if kind == "nominal" else LEARNERS_OF_NUMBERS:
            learner = parse_learner(spec)[1]
            model = learner.fit_encoded(data)
            model.predict_encoded(data.values)
            if hasattr(model, "_proba_encoded"):
                model._proba_encoded(data.values)
            for plan_spec in ("2x2", "bootstrap:2"):
                splits = plan(plan_spec, stratified=False, random_state=0).materialise(data.n)
                predicted(learner, data, splits)
    assert set(DECLARED) == called
