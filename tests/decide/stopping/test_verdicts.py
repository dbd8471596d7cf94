"""The learner that the full plan recommends is always among the candidates."""

import numpy as np
from hypothesis import given, strategies as st

from bestofk.decide.best import sort_by_overrides
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import Bounds, PlannedT, interval_verdict
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.tails import pvalue_of_t

TEST = PlannedT(runs=10, folds=10, df=99, test_share=1 / 9, span=1.0)


def decided(t, means, family, *, stated):
    """The order that statistics and means of the full plan lead to, and (i, j): j beats i."""
    K = len(means)
    rows, columns = np.triu_indices(K, 1)
    square = np.zeros((K, K))
    square[rows, columns] = t
    first, second = family.pairs()
    own = square[first, second]
    claimed = family.adjust(np.asarray(pvalue_of_t(own, TEST.df, family.alternative))) <= 0.05
    beaten = np.zeros((K, K), dtype=bool)
    beaten[first, second] = claimed & (own > 0)
    if family.name == "best":
        beaten[second, first] = claimed & (own < 0)
    if not stated:
        return np.argsort(means, kind="stable"), beaten
    return sort_by_overrides(beaten), beaten


def drawn(rng, K, width):
    """Means and statistics of a full plan, and bounds that hold them."""
    rows, columns = np.triu_indices(K, 1)
    means = rng.normal(0, 0.1, K)
    pairs = means[rows] - means[columns]
    t = 40 * pairs + rng.normal(0, 0.5, len(rows))
    reach = width * rng.random((4, len(rows)))
    bounds = Bounds(
        t_low=t - reach[0], t_high=t + reach[1],
        mean_low=pairs - 0.05 * reach[2], mean_high=pairs + 0.05 * reach[3],
    )  # fmt: skip
    return means, t, bounds


@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(2, 6),
    correction=st.sampled_from(sorted(CORRECTIONS)),
    family=st.sampled_from(["best", "all", "preference", "control"]),
    stated=st.booleans(),
    width=st.floats(0.0, 3.0),
)
def test_full_plan_recommendation_is_among_the_candidates(
    seed, K, correction, family, stated, width
):
    rng = np.random.default_rng(seed)
    if CORRECTIONS[correction].needs_all_pairs:
        family = "all"
    hypotheses = Family(
        name=family, learners=K, alpha=0.05, correction=correction,
        control=int(rng.integers(K)) if family == "control" else None,
    )  # fmt: skip
    means, t, bounds = drawn(rng, K, width)
    verdict = interval_verdict(bounds, TEST, hypotheses, stated=stated)
    order, claims = decided(t, means, hypotheses, stated=stated)
    assert verdict.candidates()[order[0]]
    settled, whole = verdict.order()
    assert settled.tolist() == order[: len(settled)].tolist()
    if whole:
        assert len(settled) == K
    # MultiTest's claims against the preference, or all claims of the rule of the best
    own = np.ones((K, K), dtype=bool) if family == "best" else np.triu(np.ones((K, K), dtype=bool))
    assert not (verdict.sure & own & ~claims).any()
    assert not (claims & ~verdict.possible).any()


@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(2, 6),
    family=st.sampled_from(["best", "all", "preference", "control"]),
    width=st.floats(0.0, 3.0),
)
def test_learners_that_the_preference_leaves_alike_come_by_their_means_at_the_end(
    seed, K, family, width
):
    rng = np.random.default_rng(seed)
    control = int(rng.integers(K)) if family == "control" else None
    ranks = np.sort(rng.integers(0, 3, K)).astype(float)
    rows, columns = np.triu_indices(K, 1)
    means, t, bounds = drawn(rng, K, width)
    generated = {"name": family, "learners": K, "alpha": 0.05, "correction": "holm"}
    verdict = interval_verdict(bounds, TEST, Family(control=control, **generated), ranks=ranks)
    # the full plan knows all means: its order of preference, and the statistics in that order
    known = np.lexsort((means, ranks))
    square = np.zeros((K, K))
    square[rows, columns] = t
    square -= square.T
    at = None if control is None else int(np.flatnonzero(known == control)[0])
    order, claims = decided(
        square[np.ix_(known, known)][rows, columns], means[known], Family(control=at, **generated),
        stated=True,
    )  # fmt: skip
    assert verdict.candidates()[known[order[0]]]
    settled, _ = verdict.order()
    assert settled.tolist() == known[order[: len(settled)]].tolist()
    for i, j in np.argwhere(claims):
        assert verdict.possible[known[i], known[j]]
