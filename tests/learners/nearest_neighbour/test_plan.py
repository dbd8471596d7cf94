"""Whole plans equal predictions split by split, on every kind of data and plan."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from bestofk.data.schema import Encoded
from bestofk.learners import nearest_neighbour as nearest_neighbour_plan
from bestofk.learners.nearest_neighbour import NearestNeighbour
from bestofk.splits.plans import plan
from bestofk.splits.splits import Splits

SCALES = ("range", "std", None)
BY_CLASS = (1, 1000)
"""Neighbours are parted by class from so many words of 64 runs on: always, and never."""


def split_by_split(
    model: NearestNeighbour, data: Encoded, splits: Splits
) -> list[npt.NDArray[np.int64]]:
    return [
        model.fit_encoded(data.take(train)).predict_encoded(data.values[test])
        for _, _, train, test in splits
    ]


def assert_equal(data: Encoded, splits: Splits, scales: tuple[str | None, ...] = SCALES) -> None:
    before = data.values.copy()
    for scale in scales:
        model = NearestNeighbour(scale)
        parts = split_by_split(model, data, splits)
        for min_words in BY_CLASS:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(nearest_neighbour_plan, "_lists_pay", lambda *_: True)
                patch.setattr(nearest_neighbour_plan, "_MIN_WORDS_BY_CLASS", min_words)
                whole = model._predict_plan(data, splits)
            assert len(whole) == len(parts) == splits.runs * splits.folds
            for ours, expected in zip(whole, parts, strict=True):
                assert ours.dtype == np.int64
                np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(data.values, before)


def make(kind: str, n: int, d: int, seed: int) -> Encoded:
    """Draw rows of a kind; every row is a separate class, which reveals a wrong neighbour."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d))
    cardinality = np.zeros(d, dtype=np.int64)
    if "tied" in kind:
        values = np.round(values)
    if "tailed" in kind:  # ranges and deviations differ much from split to split
        values = np.sign(values) * np.abs(values) ** 6
    if "sparse" in kind:  # columns that are constant in many training parts
        values[rng.random((n, d)) < 0.9] = 0.0
    if "twins" in kind:
        values = values[rng.integers(0, max(1, n // 4), n)]
    if "nominal" in kind or "mixed" in kind:
        for j in range(0, d, 1 if "nominal" in kind else 2):
            cardinality[j] = 3
            values[:, j] = rng.integers(0, 3, n)
    if "missing" in kind:
        values[rng.random((n, d)) < 0.2] = np.nan
    return Encoded(values=values, cardinality=cardinality, y=np.arange(n), classes=np.arange(n))


KINDS = (
    "numeric",
    "numeric tied",
    "numeric tailed",
    "numeric sparse tied",
    "numeric sparse tailed",
    "numeric twins",
    "nominal",
    "nominal missing",
    "mixed",
    "mixed tied missing",
    "mixed tailed twins",
    "numeric missing",
    "numeric sparse missing",
    "numeric tailed missing",
)
PLANS = ("5x2", "10x10", "67x2", "3x3", "loo", "holdout:0.3", "resample:70:0.4", "bootstrap:70")


def one_scale(*indices: int) -> tuple[str | None]:
    """Choose a scale for each case of a table, so that each pair of settings occurs."""
    return (SCALES[sum(indices) % len(SCALES)],)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_plan_equals_split_by_split(kind: str) -> None:
    data = make(kind, 61, 5, seed=len(kind))
    for index, spec in enumerate(PLANS):
        splits = plan(spec, stratified=False, random_state=1).materialise(data.n)
        assert_equal(data, splits, one_scale(KINDS.index(kind), index))


@given(
    kind=st.sampled_from(KINDS),
    spec=st.sampled_from(("3x2", "2x3", "loo", "holdout:0.5", "resample:3:0.8", "bootstrap:4")),
    n=st.integers(4, 24),
    d=st.integers(1, 11),
    seed=st.integers(0, 10_000),
)
def test_whole_plan_equals_split_by_split_on_tiny_data(
    kind: str, spec: str, n: int, d: int, seed: int
) -> None:
    splits = plan(spec, stratified=False, random_state=seed).materialise(n)
    assert_equal(make(kind, n, d, seed), splits)


@pytest.mark.parametrize("kind", ["numeric tailed", "numeric sparse tailed", "nominal", "mixed"])
def test_lists_grow_where_their_first_part_does_not_do(kind: str) -> None:
    # 700 rows: lists of 64 and of 256 are too short for some; in one group of 600 rows the
    # nearest training row is beyond all the others of the group.
    data = make(kind, 700, 6, seed=3)
    assert_equal(data, plan("4x2", stratified=False, random_state=2).materialise(700))
    groups = np.maximum(np.arange(700) - 599, 0)
    splits = plan("2x2", stratified=False, random_state=2).materialise(700, groups=groups)
    assert_equal(data, splits)


@pytest.mark.parametrize("index", range(3))
def test_outliers_rule_more_columns_than_a_bound_takes(index: int) -> None:
    data = make(("numeric tailed", "numeric sparse tailed", "mixed tailed")[index], 260, 19, seed=5)
    for other, spec in enumerate(("67x2", "13x5", "resample:70:0.5")):
        splits = plan(spec, stratified=False, random_state=3).materialise(data.n)
        assert_equal(data, splits, one_scale(index, other))


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(
    ("index", "kind"),
    [
        (0, "numeric"),
        (1, "numeric tied"),
        (2, "numeric sparse tied"),
        (3, "numeric sparse tailed"),
        (4, "mixed twins"),
    ],
)
def test_plans_of_few_classes_equal_split_by_split(index: int, kind: str, classes: int) -> None:
    # Few classes, in most places one of them: predictions are known without the nearest neighbour.
    data = make(kind, 130, 6, seed=classes)
    rng = np.random.default_rng(0)
    y = (np.nan_to_num(data.values).sum(axis=1) > 0) * (classes - 1)
    y = np.where(rng.random(data.n) < 0.1, rng.integers(0, classes, data.n), y)
    data = replace(data, y=y, classes=np.arange(classes))
    for other, spec in enumerate(("67x2", "66x3", "resample:70:0.5")):
        splits = plan(spec, stratified=False, random_state=3).materialise(data.n)
        assert_equal(data, splits, one_scale(index, classes, other))


@pytest.mark.parametrize("classes", [2, 1300])
def test_more_neighbours_than_are_passed_over_at_once(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Bounds are taken of 8, of 64 and of 512 neighbours.
    data = make("numeric tailed", 1300, 12, seed=5)
    y = np.arange(data.n) % classes
    data = replace(data, y=y, classes=np.arange(classes))
    splits = plan("66x2", stratified=False, random_state=4).materialise(data.n)
    monkeypatch.setattr(nearest_neighbour_plan, "_MIN_WORDS_BY_CLASS", 1)
    for scale in ("range", "std"):
        whole = NearestNeighbour(scale)._predict_plan(data, splits)
        for run in (0, 33, 65):
            train, test = splits.train(run, 0), splits.test(run, 0)
            fitted = NearestNeighbour(scale).fit_encoded(data.take(train))
            expected = fitted.predict_encoded(data.values[test])
            np.testing.assert_array_equal(whole[2 * run], expected)


def test_more_copies_than_are_put_in_order_at_once() -> None:
    rng = np.random.default_rng(6)
    values = rng.normal(size=(3, 4))[rng.integers(0, 3, 300)]
    values[:20] += np.round(rng.normal(size=(20, 4)))
    data = Encoded(
        values=values, cardinality=np.zeros(4, dtype=np.int64), y=np.arange(300),
        classes=np.arange(300),
    )  # fmt: skip
    assert_equal(data, plan("67x2", stratified=False, random_state=0).materialise(300))
    groups = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
    assert_equal(
        data, plan("3x2", stratified=False, random_state=0).materialise(300, groups=groups)
    )


def test_rows_beyond_single_precision() -> None:
    # Row 0 never trains: its terms leave the range of single precision.
    data = make("numeric", 90, 9, seed=7)
    values = data.values.copy()
    values[0] *= 1e30
    splits = plan("resample:70:0.5", stratified=False, random_state=0).materialise(90)
    far = Encoded(values=values, cardinality=data.cardinality, y=data.y, classes=data.classes)
    assert_equal(far, splits)
    assert_equal(far, plan("loo", stratified=False, random_state=0).materialise(90))


def test_more_splits_than_are_taken_at_once() -> None:
    data = make("mixed", 7, 2, seed=0)
    splits = plan("8200x2", stratified=False, random_state=0).materialise(7)
    model = NearestNeighbour("range")
    whole = model._predict_plan(data, splits)
    assert len(whole) == 16400
    for split in (0, 1, 8191, *range(16380, 16400)):
        run, fold = divmod(split, 2)
        model.fit_encoded(data.take(splits.train(run, fold)))
        expected = model.predict_encoded(data.values[splits.test(run, fold)])
        np.testing.assert_array_equal(whole[split], expected)


def test_more_values_and_columns_than_a_byte_holds() -> None:
    rng = np.random.default_rng(0)
    splits = plan("3x2", stratified=False, random_state=0).materialise(400)
    for d, v in ((2, 300), (260, 3), (255, 254)):
        data = Encoded(
            values=rng.integers(0, v, (400, d)).astype(float),
            cardinality=np.full(d, v),
            y=np.arange(400),
            classes=np.arange(400),
        )
        assert_equal(data, splits, (None,))


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e-90, 1e90, 1e140, 1e200])
def test_far_from_one(factor: float) -> None:
    data = make("numeric tailed", 30, 3, seed=4)
    values = data.values * [1.0, factor, 1.0]
    far = Encoded(values=values, cardinality=data.cardinality, y=data.y, classes=data.classes)
    assert_equal(far, plan("5x2", stratified=False, random_state=1).materialise(30))


def test_values_closer_than_single_precision_tells() -> None:
    rng = np.random.default_rng(0)
    values = 1.0 + rng.integers(0, 5, (60, 3)) * 2.0**-40
    values[:4, 2] = [0.0, 3.0, 7.0, 9.0]
    data = Encoded(
        values=values, cardinality=np.zeros(3, np.int64), y=np.arange(60), classes=np.arange(60)
    )
    assert_equal(data, plan("40x2", stratified=False, random_state=1).materialise(60))
