"""Invariants of all registered plans, including those of other packages."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.splits import PLANS, plan
from bestofk.testing import check_plan

ENTRIES = [pytest.param(entry, id=entry.name) for entry in PLANS.values()]
N = 43
Y = np.array(["a", "b", "b"])[np.arange(N) % 3]
GROUPS = np.arange(N) * 5 % 14
ROWS = pd.DataFrame({"x": np.arange(N), "fold": np.arange(N) % 4})


def splits(entry, seed=3, groups=None):
    groups = GROUPS if entry.needs == "groups" else groups
    return plan(entry.example, random_state=seed).materialise(N, Y, groups, X=ROWS)


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_passes_the_checks_for_plugins(entry):
    check_plan(entry.name)


@pytest.mark.parametrize("entry", ENTRIES)
def test_its_entry_is_complete(entry):
    assert entry.summary
    assert not entry.summary.endswith(".")
    assert entry.paper
    assert entry.pattern


WITHOUT_GROUPS = {"time", "predefined"}
"""Plans that rows in another order, or a column, decide: groups that they divide are refused."""


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.values[0].name not in WITHOUT_GROUPS])
@given(seed=st.integers(0, 10**6), groups=st.lists(st.integers(0, 11), min_size=N, max_size=N))
@settings(max_examples=10)
def test_no_group_is_on_both_sides_whatever_the_plan(entry, seed, groups):
    groups = np.array([*range(10), *groups[10:]])  # ten groups at least, so that folds can be plan_
    plan_ = plan(entry.example, random_state=seed)
    try:
        splits = plan_.materialise(N, Y, groups, X=ROWS)
    except ArgumentError as refusal:
        # a plan of somebody else's that does not know groups is refused, never used
        if entry.function and "No group may train and test in one split" in str(refusal):
            return
        raise
    assert 2 <= splits.design.groups <= len(set(groups.tolist()))
    for _, _, train, test in splits:
        assert not set(groups[train]) & set(groups[test])
    again = plan_.materialise(N, Y, groups, X=ROWS)
    assert again.fingerprint == splits.fingerprint


@pytest.mark.parametrize("name", sorted(WITHOUT_GROUPS))
def test_a_plan_that_divides_groups_is_refused(name):
    with pytest.raises(ArgumentError, match=r"No group may train and test in one split.*group-kf"):
        splits(PLANS[name], groups=np.arange(N) % 6 // 2)
    whole = splits(PLANS[name], groups=np.arange(N))
    assert whole.design.groups == N


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.values[0].needs == "groups"])
def test_a_grouped_plan_needs_groups(entry):
    with pytest.raises(ArgumentError, match=r"needs groups: pass groups=\.\.\."):
        plan(entry.example).materialise(N, Y)
