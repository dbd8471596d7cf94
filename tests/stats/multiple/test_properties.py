"""Properties of all registered tests of K learners; a new entry is tested automatically."""

import re

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError, BestOfKError
from bestofk.papers import stats as paper_tests
from bestofk.stats import multiple
from bestofk.stats.multiple.registry import MULTIPLE_TESTS

ENTRIES = [pytest.param(entry, id=entry.name) for entry in MULTIPLE_TESTS.values()]
ORDER = np.array([2, 0, 3, 1])


def table(entry, seed=0):
    """An asymmetric table of four learners with unsorted means, in the shape wanted."""
    rng = np.random.default_rng(seed)
    shape = (4, 11) if entry.axes == 2 else (4, 7, 3, 5)[: entry.axes]
    lift = np.array([0.25, 0.0, 0.45, 0.1]).reshape(4, *[1] * (entry.axes - 1))
    if entry.zero_one:
        return (rng.random(shape) < 0.4 + lift).astype(float)
    return np.round(rng.random(shape) * 0.5 + lift, 3)


def run(entry, data):
    return entry.load()(data, **({"random_state": 0} if entry.takes("random_state") else {}))


def evidence(result, order=None):
    """What must not depend on the order of the learners, as arrays with the learners put back.

    `compare_scores` says which learner stands at each place of the table that `result` is of.
    """
    actual = {}
    back = None if order is None else np.argsort(order)
    for name in (
        "statistic", "pvalue", "f_statistic", "f_pvalue", "adjusted_pvalue", "epsilon", "df",
        "mse", "critical_difference",
    ):  # fmt: skip
        if getattr(result, name, None) is not None:
            actual[name] = np.asarray(getattr(result, name))
    for name in (
        "pvalues", "adjusted_pvalues", "statistics", "estimates", "means", "average_ranks",
        "mean_ranks", "shares",
    ):  # fmt: skip
        if hasattr(result, name):
            values = np.asarray(getattr(result, name))
            if back is not None:
                values = values[back]
                if values.shape[:2] == (len(back), len(back)):
                    values = values[:, back]
            actual[name] = values
    if hasattr(result, "underlines"):
        position = np.arange(len(result.order)) if order is None else np.asarray(order)
        lines = [[int(position[i]) for i in line] for line in result.underlines]
        different = np.ones((len(position), len(position)))
        for line in lines:
            different[np.ix_(line, line)] = 0
        actual["different"] = different
    return actual


def pvalues(result):
    """The p-values; of an interval of p-values its upper end, which is what can reject."""
    for name in ("pvalues", "pvalue"):
        if hasattr(result, name):
            values = np.asarray(getattr(result, name))
            return values[:, 1] if values.shape == (4, 2) else values
    return np.array(0.0 if any(not window.accepted for window in result.windows) else 1.0)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_learner_never_beats_itself(entry):
    data = table(entry)
    same = np.broadcast_to(data[:1], data.shape)
    result = run(entry, same)
    assert (pvalues(result) == 1.0).all()
    if entry.axes == 2:
        assert re.search("the same|no evidence of a difference", result.explain())


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_order_of_the_learners_does_not_matter(entry):
    data = table(entry)
    single, other = evidence(run(entry, data)), evidence(run(entry, data[ORDER]), ORDER)
    assert single
    for name, values in single.items():
        np.testing.assert_allclose(other[name], values, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("entry", [e for e in ENTRIES if not e.values[0].zero_one])
@pytest.mark.parametrize("unit", [100.0, 0.03125, 1e-9])
def test_the_unit_of_the_loss_does_not_matter(entry, unit):
    data = table(entry)
    single, other = evidence(run(entry, data)), evidence(run(entry, data * unit))
    for name in set(single) - {"means", "estimates", "mse"}:
        np.testing.assert_allclose(other[name], single[name], rtol=1e-7, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("entry", ENTRIES)
def test_pvalues_are_probabilities_and_not_all_the_same(entry):
    p = np.concatenate([np.ravel(pvalues(run(entry, table(entry, seed)))) for seed in range(4)])
    assert ((p >= 0.0) & (p <= 1.0)).all()
    if entry.name not in ("newman-keuls", "duncan"):
        assert len(set(p.tolist())) > 1


@pytest.mark.parametrize("entry", ENTRIES)
def test_clear_differences_are_found(entry):
    data = table(entry)
    if entry.zero_one:
        data = np.repeat([[0.0], [1.0], [0.0], [1.0]], 11, axis=1)
        data[:, :2] = data[::-1, :2]
    else:
        data[0] -= 20.0
        data[1] += 20.0
    assert pvalues(run(entry, data)).min() < 0.05


@pytest.mark.parametrize("entry", ENTRIES)
def test_inputs_are_not_written(entry):
    data = table(entry)
    before = data.copy()
    data.flags.writeable = False
    run(entry, data)
    assert np.array_equal(data, before)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refuses_what_is_not_finite(entry, bad):
    data = table(entry)
    data[(1,) * data.ndim] = bad
    with pytest.raises(ArgumentError, match=r"finite|nan|NaN|missing"):
        run(entry, data)


@pytest.mark.parametrize("entry", ENTRIES)
def test_refuses_fewer_than_two_learners(entry):
    with pytest.raises(ArgumentError):
        run(entry, table(entry)[:1])


@pytest.mark.parametrize("entry", ENTRIES)
def test_refuses_wrong_shapes_and_words(entry):
    for bad in (np.zeros(4), 0.5, "losses", [["a", "b"], ["c", "d"]], np.zeros((2, 0)), None):
        with pytest.raises(BestOfKError) as caught:
            run(entry, bad)
        assert isinstance(caught.value, ArgumentError)
        assert str(caught.value).endswith(".")


@pytest.mark.parametrize("entry", ENTRIES)
def test_explains_with_names(entry):
    result = run(entry, table(entry))
    plain, named = result.explain(), result.explain(names=["svm", "tree", "knn", "max"])
    assert plain.endswith((".", ")"))
    assert len(plain.split()) > 10
    assert any(name in named for name in ("svm", "tree", "knn", "max"))
    assert "nan" not in plain.split()


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.values[0].batch])
def test_leading_axes_are_separate_tests(entry):
    tables = np.stack([table(entry, seed) for seed in range(3)])
    together = entry.load()(tables)
    for row, alone in enumerate(map(entry.load(), tables)):
        np.testing.assert_allclose(together.statistic[row], alone.statistic, rtol=1e-12)
        np.testing.assert_allclose(together.pvalue[row], alone.pvalue, rtol=1e-12)
    assert "3 tests" in together.explain()


def test_every_entry_is_public_and_covers_known_situations():
    known = {"kfold", "repeated-kfold", "5x2", "resample", "bootstrap", "test-set", "datasets"}
    for entry in MULTIPLE_TESTS.values():
        function = entry.function.rpartition(":")[2]
        package = paper_tests if "papers" in entry.function else multiple
        assert getattr(package, function) is entry.load()
        assert function in package.__all__
        assert entry.covers
        assert set(entry.covers) <= known
        assert entry.summary
        assert entry.paper
