"""Preferences, and the order that follows from them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.decide.preference import FACTOR, MeasuredCosts, arrange

NAMES = ("a", "b", "c", "d")
MEANS = np.array([0.4, 0.2, 0.3, 0.1])


def prior_of(prefer, means=MEANS, names=NAMES):
    places, preference, _ = arrange(names, prefer, np.asarray(means, dtype=float))
    return "".join(names[k] for k in places), str(preference)


def test_none_goes_by_the_means():
    assert prior_of(None) == ("dbca", "none")
    # equal means stay as listed
    assert prior_of(None, [0.2, 0.1, 0.2, 0.1]) == ("bdac", "none")


@pytest.mark.parametrize(
    ("prefer", "order", "words"),
    [
        ("listed", "abcd", "stated"),
        (["c", "a", "d", "b"], "cadb", "stated"),
        (("b",), "bdca", "stated"),
        (["a", "c"], "acdb", "stated"),
        ({"a": 4, "b": 3, "c": 2, "d": 1}, "dcba", "stated"),
        ({"a": -1, "b": 0, "c": 0.5, "d": 1e9}, "abcd", "stated"),
        # equal prices leave it to the means
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "dbca", "stated"),
        ({"a": 1, "b": 2, "c": 1, "d": 2}, "cadb", "stated"),
        (
            MeasuredCosts(what="fit_time", costs={"a": 1, "b": 10, "c": 100, "d": 1000}),
            "abcd",
            "measured: fit_time",
        ),
    ],
)
def test_every_kind_of_preference(prefer, order, words):
    assert prior_of(prefer) == (order, words)


@pytest.mark.parametrize(
    ("prefer", "words"),
    [
        (["a", "x"], "'x', which is not one of the learners: a, b, c"),
        (["a", "a"], "'a' twice"),
        ("abc", "list of learners"),
        ("fit_time", "costs are measured by compare alone"),
        ({"a": 1.0}, "none for 'b'"),
        ({"a": 1, "b": "cheap", "c": 2}, "a number for 'b'; got 'cheap'"),
        ({"a": 1, "b": float("nan"), "c": 2}, "a number for 'b'; got nan"),
        ({"a": 1, "b": 2, "c": 3, "x": 4}, "'x', which is not one of"),
    ],
)
def test_bad_priors(cross_validated, prefer, words):
    with pytest.raises(ArgumentError, match=words):
        bk.compare_scores(cross_validated(), prefer=prefer)


costs = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=7)


@given(costs, st.integers(0, 10**6))
def test_measured_costs_are_compared_by_factors_of_two(values, seed):
    names = [f"l{k}" for k in range(len(values))]
    means = np.random.default_rng(seed).permutation(len(values)).astype(float)
    order, _, _ = arrange(
        names, MeasuredCosts(what="size", costs=dict(zip(names, values, strict=True))), means
    )
    # groups by the words: a new one begins at twice the smallest of the last
    groups, start = {}, None
    for k in sorted(range(len(values)), key=values.__getitem__):
        if start is None or values[k] >= FACTOR * start:
            start = values[k]
        groups[k] = start
    assert order == sorted(range(len(values)), key=lambda k: (groups[k], means[k]))
    # of two, the one that costs at least twice as much is never preferred
    for rank, k in enumerate(order):
        for other in order[rank + 1 :]:
            assert values[k] < FACTOR * values[other]


def test_costs_of_nothing_are_one_group():
    assert prior_of(MeasuredCosts(what="fit_time", costs=dict.fromkeys(NAMES, 0.0)))[0] == "dbca"
    costs = {"a": 0.0, "b": 0.0, "c": 1e-9, "d": 1e-9}
    assert prior_of(MeasuredCosts(what="fit_time", costs=costs))[0] == "badc"
