"""Orders by level and by prior against MultiTest run again at each of them."""

from __future__ import annotations

import numpy as np
import pytest

import bestofk as bk
from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.ordering.sensitivity import orders_by_alpha, orders_by_prior

NAMES = ["d", "b", "a", "c"]
VALUES = np.random.default_rng(3).normal(0.3, 0.06, (4, 12)) + np.array([[0.1], [0.05], [0], [0]])


def decided(prior=NAMES, alpha=0.05, correction="holm"):
    table = bk.Losses(VALUES, algorithms=NAMES)
    return bk.order(table, prior=prior, alpha=alpha, test="kfold-t", correction=correction)


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_every_level_gives_the_order_of_that_level(correction):
    path = orders_by_alpha(decided(correction=correction))
    assert path.breaks
    assert len(path.orders) == len(path.breaks) + 1
    assert (path.low, path.high, path.alpha) == (0.001, 0.5, 0.05)
    for level in (0.001, 0.01, 0.1, 0.49, *path.breaks):
        assert path.at(level) == decided(alpha=level, correction=correction).order
    for level, before, after in zip(path.breaks, path.orders[:-1], path.orders[1:], strict=True):
        assert before != after
        just_below = decided(alpha=level * (1 - 1e-9), correction=correction)
        assert just_below.order == before


def test_a_break_at_the_upper_level_counts_and_at_the_lower_one_it_is_the_start():
    path = orders_by_alpha(decided())
    level = path.breaks[0]
    assert orders_by_alpha(decided(), high=level).breaks == (level,)
    later = orders_by_alpha(decided(), low=level)
    assert later.orders == path.orders[1:]
    assert later.breaks == path.breaks[1:]
    with pytest.raises(ArgumentError, match="low must be below high"):
        orders_by_alpha(decided(), low=0.2, high=0.2)


@pytest.mark.parametrize("learner", [None, "d", "a"])
def test_every_place_in_the_prior_gives_the_order_of_that_prior(learner):
    path = orders_by_prior(decided(), learner)
    name = "c" if learner is None else learner
    assert path.learner == name
    assert path.positions == (1, 2, 3, 4)
    assert path.position == NAMES.index(name) + 1
    others = [other for other in NAMES if other != name]
    for place, found in enumerate(path.orders):
        assert found == decided([*others[:place], name, *others[place:]]).order


def test_refuses():
    with pytest.raises(UnknownNameError, match="'x'"):
        orders_by_prior(decided(), "x")
    other = bk.order(bk.Losses(VALUES, algorithms=NAMES), procedure="most-wins")
    for function in (orders_by_alpha, orders_by_prior):
        with pytest.raises(ArgumentError, match="must come from 'multitest'"):
            function(other)
