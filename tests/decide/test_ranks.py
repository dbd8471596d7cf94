"""Ranks follow from the claims about pairs."""

import itertools

import numpy as np
import pytest

import bestofk as bk


def tables():
    rng = np.random.default_rng(5)
    for K, n, gap in ((2, 12, 0.1), (3, 12, 0.3), (5, 20, 0.15), (5, 20, 0.0), (6, 40, 0.1)):
        values = rng.normal(size=n) + rng.normal(0, 0.3, (K, n)) + gap * np.arange(K)[:, None]
        yield bk.compare_scores(bk.Scores(values, dims=("learner", "dataset")))


@pytest.mark.parametrize("result", [*tables()], ids=lambda one: f"{len(one.order)} learners")
def test_intervals_hold_every_order_that_agrees_with_the_claims(result):
    names, low, high = (result.ranks[name].tolist() for name in ("name", "from", "to"))
    assert tuple(names) == result.order
    claims = [tuple(map(names.index, claim)) for claim in result.decision.claims]
    possible = [set() for _ in names]
    for order in itertools.permutations(range(len(names))):
        position = {name: rank for rank, name in enumerate(order, 1)}
        if all(position[better] < position[worse] for better, worse in claims):
            for name, rank in position.items():
                possible[name].add(rank)
    for k, ranks_of_k in enumerate(possible):
        # equal, since these claims are transitive
        assert (low[k], high[k]) == (min(ranks_of_k), max(ranks_of_k))


def test_one_sided_and_control_families_have_no_ranks():
    table = bk.read_scores("breast-cancer-10x10")
    assert bk.compare_scores(table, family="control", control="dummy").decision.ranks is None
    assert bk.compare_scores(table, family="preference", prefer="listed").decision.ranks is None
