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


@pytest.mark.parametrize("decision", [*tables()], ids=lambda one: f"{len(one.by_mean)} learners")
def test_intervals_hold_every_order_that_agrees_with_the_claims(decision):
    ranks = decision.ranks
    assert ranks.names == decision.by_mean
    claims = [tuple(map(ranks.names.index, claim)) for claim in decision.claims]
    possible = [set() for _ in ranks.names]
    for order in itertools.permutations(range(len(ranks))):
        position = {name: rank for rank, name in enumerate(order, 1)}
        if all(position[better] < position[worse] for better, worse in claims):
            for name, rank in position.items():
                possible[name].add(rank)
    for k, ranks_of_k in enumerate(possible):
        # equal, since these claims are transitive
        assert (ranks.low[k], ranks.high[k]) == (min(ranks_of_k), max(ranks_of_k))


def test_ranks_of_a_stored_table():
    """The expected ranks follow from the claims of Bonferroni's correction over 15 pairs."""
    ranks = bk.compare_scores(bk.read_scores("breast-cancer-10x10")).ranks
    assert ranks.low.tolist() == [1, 2, 2, 2, 2, 6]
    assert ranks.high.tolist() == [1, 5, 5, 5, 5, 6]
    assert ranks.to_frame().shape == (6, 3)


def test_one_sided_and_control_families_have_no_ranks():
    table = bk.read_scores("breast-cancer-10x10")
    assert bk.compare_scores(table, family="control", control="dummy").ranks is None
    assert bk.compare_scores(table, family="preference", prefer="listed").ranks is None
