"""Verdicts and counts of the interval paper on constructed p-values."""

from __future__ import annotations

import numpy as np

from bestofk.papers.intervals.experiments import (
    Ranges,
    Scalar,
    draw_problem,
    packed,
    range_evidence,
    range_multiple,
    range_pairs,
    scalar_evidence,
    scalar_multiple,
    scalar_pairs,
    simulate,
    tally,
    unpacked,
)


def scalar(**changes):
    """One simulation: everything significant as a whole, no pair, A_i ahead of A_j."""
    parts = {
        "anova": np.array([0.01]),
        "friedman": np.array([0.01]),
        "bootstrap_a": np.full((1, 5), 0.02),
        "t": np.ones((1, 10)),
        "wilcoxon": np.ones((1, 10)),
        "bootstrap_a_pairs": np.ones((1, 10)),
        "differences": np.full((1, 10), -0.1),
    }
    return Scalar(**(parts | changes))


def test_pairs_are_counted_behind_their_own_multiple_comparison():
    p = np.full((1, 10), 1e-6)
    every = scalar(t=p, wilcoxon=p, bootstrap_a_pairs=p, anova=np.array([0.2]))
    verdicts = scalar_pairs(every, "as_printed")
    assert (verdicts["t"] == 1).all()
    assert (verdicts["Wilcoxon"] == 0).all()
    assert (verdicts["Bootstrap-A"] == 0).all()
    # 5 * 0.02 > 0.05: only the counting that leaves the adjustment out goes on
    assert scalar_multiple(every, "as_printed")["Bootstrap-A"].all()
    assert not scalar_multiple(every, "named")["Bootstrap-A"].any()
    assert (scalar_pairs(every, "named")["Bootstrap-A"] == 1).all()


def test_as_printed_judges_a_pair_by_the_one_at_the_place_of_its_first_index():
    p = np.ones((1, 10))
    p[0, 1] = 0.001  # (A1, A3): decides on the pairs of A2
    named = scalar_pairs(scalar(bootstrap_a=np.full((1, 5), 0.001), t=p), "named")["t"]
    printed = scalar_pairs(scalar(t=p), "as_printed")["t"]
    assert np.flatnonzero(named[0] == 0).tolist() == [1]
    assert np.flatnonzero(printed[0] == 0).tolist() == [4, 5, 6]


def test_a_significant_difference_of_the_wrong_sign_is_an_error():
    differences = np.full((1, 10), -0.1)
    differences[0, 9] = 0.1
    verdicts = scalar_pairs(
        scalar(wilcoxon=np.full((1, 10), 1e-6), differences=differences), "named"
    )["Wilcoxon"]
    assert tally(verdicts, (0, 1)).tolist() == [9, 0, 1, 0]


def test_hochberg_is_applied_to_t_and_wilcoxon_but_not_to_bootstrap_a():
    p = np.full((1, 10), 0.9)
    p[0, 0] = 0.02
    verdicts = scalar_pairs(
        scalar(t=p, wilcoxon=p, bootstrap_a_pairs=p, bootstrap_a=np.full((1, 5), 0.001)), "named"
    )
    counts = {test: int((v == 0).sum()) for test, v in verdicts.items()}
    assert counts == {"t": 0, "Wilcoxon": 0, "Bootstrap-A": 1, "Bootstrap-A, Hochberg": 0}


def test_bootstrap_b_is_inconclusive_between_its_ends():
    algorithms = np.tile([0.5, 0.9], (3, 5, 1)).astype(float)
    algorithms[0, 0] = 0.001, 0.005
    algorithms[1, 0] = 0.001, 0.9
    pairs = np.tile([0.001, 0.9], (3, 10, 1)).astype(float)
    pairs[:, 0] = 0.001, 0.02
    p = Ranges(algorithms=algorithms, pairs=pairs, differences=np.full((3, 10), -1.0))
    assert range_multiple(p, "named").tolist() == [0, 3, 1]
    verdicts = range_pairs(p, "named")
    assert verdicts[0].tolist() == [0] + [3] * 9
    assert (verdicts[1:] == 1).all()


def test_evidence_survives_the_store():
    rng = np.random.default_rng(0)
    losses = simulate(draw_problem(0.05, rng), 2, rng, outliers=True)
    evidence = scalar_evidence(losses.mean(axis=(-2, -1)), rng)
    ranges = range_evidence(losses, "Bootstrap-B", rng)
    columns = packed(evidence, ranges)
    # 2 + 5 + 4 x 10 scalar columns, 2 x 5 + 3 x 10 of ranges
    assert columns.shape == (2, 47 + 40)
    for one, again in zip((evidence, ranges), unpacked(columns, Scalar, Ranges), strict=True):
        assert all(map(np.array_equal, one, again))
    assert (ranges.pairs[..., 0] <= ranges.pairs[..., 1]).all()
