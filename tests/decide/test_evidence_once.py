"""No pair is tested twice between the losses and the page."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import bestofk as bk
from bestofk.report.write_report import render_report
from bestofk.stats.pairwise import corrected_repeated_kfold_t

NAMES = ["a", "b", "c", "d"]


class Counting:
    """A pairwise test that remembers of which losses it was asked what."""

    __name__ = "counting"

    def __init__(self):
        self.asked = Counter()

    def __call__(self, a, b, *, alternative):
        first, second = np.broadcast_arrays(a, b)
        flat = (x.reshape(-1, *x.shape[-2:]) for x in (first, second))
        for x, y in zip(*flat, strict=True):
            self.asked[frozenset((x.tobytes(), y.tobytes())), alternative] += 1
        return corrected_repeated_kfold_t(a, b, alternative=alternative)


def table():
    noise = np.random.default_rng(0).normal(0, 0.02, (4, 6, 5))
    losses = np.array([0.30, 0.25, 0.24, 0.31])[:, None, None] + noise
    return bk.Scores(losses, dims=("learner", "run", "fold"), learners=NAMES)


@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        ({}, 6),
        ({"prefer": NAMES}, 6),
        ({"prefer": NAMES, "family": "preference"}, 6),
        ({"family": "control", "control": "c"}, 3),
        ({"rule": "most-wins"}, 6),
        ({"rule": "test-first", "prefer": NAMES}, 2),
    ],
)
def test_each_pair_is_tested_once(options, pairs):
    test = Counting()
    decision = bk.compare_scores(table(), test=test, **options)
    family = decision.decision.evidence.alternative
    # a table with itself would be the same pair twice
    assert test.asked == Counter(dict.fromkeys(test.asked, 1))
    assert len(test.asked) == pairs
    decision.explain()
    low, _ = decision.decision.evidence.intervals_at(0.95)
    assert np.isfinite(low).all()
    # intervals come from the same results
    assert len(test.asked) == pairs
    assert {alternative for _, alternative in test.asked} == {family}
    decision.to_dict(pairs=True)
    render_report(decision)
    assert len(test.asked) == pairs
    assert max(test.asked.values()) == 1


def test_many_pairs_are_tested_in_blocks_and_give_the_same(monkeypatch):
    """Above a bound the losses of all pairs are not held side by side."""
    from bestofk.decide import pairs

    held = bk.compare_scores(table(), prefer=NAMES)
    monkeypatch.setattr(pairs, "MAX_PAIRED_LOSSES", 0)
    blocks = bk.compare_scores(table(), prefer=NAMES)
    for name in ("pvalue", "adjusted_pvalue", "low", "high"):
        assert (
            getattr(blocks.decision.evidence, name).tolist()
            == getattr(held.decision.evidence, name).tolist()
        )
