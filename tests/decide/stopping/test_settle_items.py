"""Decisions settled early on planned items agree with those of all items."""

import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.decide.stopping.items import settle_items

NAMES = ["a", "b", "c", "d"]


def items(seed, errors, n=400):
    rng = np.random.default_rng(seed)
    return (rng.random((len(errors), n)) < np.array(errors)[:, None]).astype(float)


def by_all(losses):
    """The first listed that no other beats on all items, by scipy's t test at alpha / (K - 1)."""
    K = len(losses)

    def beaten(i, j):
        with np.errstate(divide="ignore", invalid="ignore"):
            test = stats.ttest_rel(losses[i], losses[j])
        return test.statistic > 0 and test.pvalue <= 0.05 / (K - 1)

    return next(i for i in range(K) if not any(beaten(i, j) for j in range(K) if j != i))


@pytest.mark.parametrize(
    "errors", [(0.4, 0.2, 0.3, 0.35), (0.3, 0.3, 0.3, 0.3), (0.5, 0.1, 0.1, 0)]
)
def test_settled_items_recommend_as_all_items_do(errors):
    rng = np.random.default_rng(5)
    for seed in range(6):
        losses = items(seed, errors)
        found = settle_items(losses, planned=400, names=NAMES, prefer="listed", risk=0.0)
        assert found.settled
        assert found.recommended == NAMES[by_all(losses)]
        # what was not needed turns about
        for level in (rng.integers(0, 2, 4) for _ in range(6)):
            other = losses.copy()
            for row, name in enumerate(NAMES):
                other[row, found.items[name] :] = level[row]
            assert found.recommended == NAMES[by_all(other)]


def test_with_a_risk_much_is_saved_and_the_same_is_recommended():
    saved = []
    for seed in range(30):
        losses = items(seed, (0.45, 0.15, 0.4, 0.42), n=600)
        found = settle_items(losses, planned=600, names=NAMES, prefer="listed")
        saved.append(found.saved)
        assert found.recommended == NAMES[by_all(losses)]
    assert np.mean(saved) > 0.4


def test_fed_block_by_block_it_stops_where_a_replay_does_and_asks_for_no_more_than_it_needs():
    losses = items(3, (0.4, 0.2, 0.3, 0.35))
    at_once = settle_items(losses, planned=400, names=NAMES, prefer="listed")
    fed = np.full_like(losses, np.nan)
    wanted = dict.fromkeys(NAMES, 10)
    for _ in range(200):
        for row, name in enumerate(NAMES):
            fed[row, : wanted[name]] = losses[row, : wanted[name]]
        found = settle_items(fed, planned=400, every=10, names=NAMES, prefer="listed")
        if found.settled:
            break
        assert found.open_pairs
        assert set(found.go_on) == {name for pair in found.open_pairs for name in pair}
        fewest = min(found.items[name] for name in found.go_on)
        for name in found.go_on:
            wanted[name] = max(wanted[name], fewest + 10)
    assert found == at_once
    assert max(found.items.values()) < 400
    assert f"of 400 items ({100 * found.saved:.0f} % of the work is saved)" in found.explain()


def test_unsettled_items_name_their_open_pairs():
    found = settle_items(items(1, (0.3, 0.31))[:, :100], planned=400, names=["x", "y"])
    assert not found.settled
    assert found.explain() == (
        "Not settled after 100 of 400 items; open: "
        f"{found.open_pairs[0][0]} against {found.open_pairs[0][1]}. "
        f"More items are needed for {found.go_on[0]} and {found.go_on[1]}."
    )
    # learners that never differ: no item can tell them apart, and the first is as good
    same = items(2, (0.3,))[[0, 0]]
    assert settle_items(same, planned=400, names=["x", "y"], prefer="listed").recommended == "x"


@pytest.mark.parametrize(
    ("losses", "options", "words"),
    [
        (np.zeros(5), {}, "axes"),
        (np.full((2, 40), 1.5), {}, "rescale"),
        (np.zeros((2, 40)), {"planned": 41}, "planned=42 works"),
        (np.zeros((2, 40)), {"every": 7}, "planned=42 works"),
        (np.zeros((2, 40)), {"planned": 30}, "at least the 40 items"),
        (np.full((2, 40), np.nan), {}, "the first"),
        (np.zeros((2, 40)), {"risk": 2}, "risk must be"),
        (np.zeros((2, 40)), {"alpha": 0.95}, "alpha must be at most 0.5"),
        (np.zeros((2, 40)), {"names": ["a"]}, "2 different names"),
        (np.zeros((2, 40)), {"target": "all"}, "target must be"),
    ],
)
def test_settle_items_refuses_invalid_arguments(losses, options, words):
    with pytest.raises(ArgumentError, match=words):
        settle_items(losses, **{"planned": 40, **options})
