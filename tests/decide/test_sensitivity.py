"""Orders at other levels and preferences equal those of a new MultiTest."""

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.decide import most_wins, multitest
from bestofk.decide.sensitivity import decisions_by_alpha, decisions_by_preference


def table(n, seed, runs=3, folds=4):
    rng = np.random.default_rng(seed)
    mean = 0.3 + 0.1 * rng.standard_normal((n, 1, 1))
    return mean + 0.05 * rng.standard_normal((n, runs, folds))


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"guard": False},
        {"family": "preference"},
        {"family": "preference", "guard": False, "correction": "bonferroni"},
        {"family": "control", "control": 1},
        {"correction": "benjamini-hochberg"},
        {"correction": "none"},
        {"correction": "shaffer"},
    ],
    ids=str,
)
@pytest.mark.parametrize(("n", "seed"), [(2, 1), (5, 2), (9, 3)])
def test_every_level_gives_the_order_of_a_new_decision(n, seed, asked):
    losses = table(n, seed)
    decision = multitest(losses, **asked)
    path = decisions_by_alpha(decision)
    assert len(path.orders) == len(path.breaks) + 1
    assert all(a != b for a, b in zip(path.orders, path.orders[1:], strict=False))
    levels = np.concatenate(
        [np.geomspace(0.001, 0.5, 25), path.breaks, np.nextafter(path.breaks, 0)]
    )
    for alpha in levels:
        again = multitest(losses, alpha=float(alpha), **asked)
        assert path.at(float(alpha)) == again.ranking


def test_breaks_are_found():
    path = decisions_by_alpha(multitest(table(9, 3)))
    assert len(path.breaks) >= 2
    assert "the order changes" in path.explain()


@pytest.mark.parametrize("asked", [{}, {"guard": False}, {"family": "preference"}], ids=str)
@pytest.mark.parametrize("test", ["auto", "sorted-runs", "sign"])
def test_every_position_in_the_preference_gives_the_order_of_a_new_decision(test, asked):
    n = 6
    names = [f"learner {k}" for k in range(n)]
    values = table(n, 11) if test != "sign" else table(n, 11, runs=20, folds=1)
    if test == "sign":  # its p-values in the two directions do not add up to 1
        losses = bk.Losses(values[:, :, 0], dims=("algorithm", "dataset"), algorithms=names)
    else:
        losses = bk.Losses(values, dims=("algorithm", "run", "fold"), algorithms=names)
    asked = {**asked, "test": test, "alpha": 0.2}
    decision = bk.order(losses, prefer="listed", **asked)
    for learner in (names[0], names[4]):
        path = decisions_by_preference(decision, learner)
        assert path.positions == tuple(range(1, n + 1))
        rest = [name for name in names if name != learner]
        for place, found in enumerate(path.orders):
            prefer = [*rest[:place], learner, *rest[place:]]
            assert found == bk.order(losses, prefer=prefer, **asked).ranking
        assert path.orders[path.position - 1] == decision.ranking
    assert decisions_by_preference(decision).learner == names[-1]


def test_sentences_say_when_a_learner_is_the_best():
    losses = bk.Losses(
        [[0.50, 0.52, 0.51, 0.50], [0.11, 0.12, 0.10, 0.12], [0.12, 0.11, 0.11, 0.10]],
        algorithms=["max", "nn", "nmc"],
    )
    decision = bk.order(losses, test="kfold-t", prefer="listed")
    assert decisions_by_preference(decision, "max").explain() == (
        "max is not recommended at any position in the preference."
    )
    assert decisions_by_preference(decision, "nmc").explain() == (
        "nmc is recommended at positions 1 and 2 of 3 in the preference; its current position is 3."
    )


def test_what_is_refused():
    decision = multitest(table(3, 1))
    with pytest.raises(ArgumentError, match="must come from 'multitest'"):
        decisions_by_alpha(most_wins(table(3, 1), test="corrected-repeated-kfold-t"))
    with pytest.raises(ArgumentError, match="low must be below high"):
        decisions_by_alpha(decision, low=0.2, high=0.1)
    with pytest.raises(UnknownNameError, match="There is no learner"):
        decisions_by_preference(decision, "nobody")
    with pytest.raises(ArgumentError, match="without a preference the smallest mean"):
        decisions_by_alpha(bk.order(bk.Losses(table(3, 1))))
