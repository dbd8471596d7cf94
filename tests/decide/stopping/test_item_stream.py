"""Looking at every item rarely leads to a false claim."""

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.decide.stopping import item_stream
from bestofk.decide.stopping.items import STAKES


def test_the_capital_by_hand():
    # one stake at a time, item after item
    losses = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.5]])
    best = 0.0
    for n in (1, 2, 3):
        capital = 0.0
        for stake in STAKES:
            product = 1.0
            for gain in (1.0, -1.0, 0.5)[:n]:
                product *= 1 + stake * gain
            capital += product / len(STAKES)
        best = max(best, capital)
    assert item_stream(losses).pvalue[0, 1] == pytest.approx(1 / best)


def test_equal_learners_are_hardly_ever_told_apart_whatever_the_number_of_looks():
    # 300 studies of 4 equal learners on 800 items; p is the smallest over all 800 looks, so one
    # call at the end counts every look. Allowed: 5 percent and what chance adds in 300 draws
    rng = np.random.default_rng(11)
    false = sum(
        item_stream((rng.random((4, 800)) < 0.3).astype(float)).better.any() for _ in range(300)
    )
    assert false / 300 <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 300)


def test_a_claim_once_made_is_never_taken_back():
    rng = np.random.default_rng(12)
    losses = (rng.random((3, 400)) < np.array([0.4, 0.25, 0.2])[:, None]).astype(float)
    before = np.zeros((3, 3), dtype=bool)
    for n in range(0, 401, 20):
        now = item_stream(losses[:, :n]).better
        assert not (before & ~now).any()
        before = now
    assert before[2, 0]


@pytest.mark.parametrize(
    ("losses", "words"), [([[0.1, 1.4], [0, 0]], "between 0 and 1"), ([[0.1, 0.2]], "2 learners")]
)
def test_what_cannot_be_bet_on_is_refused(losses, words):
    with pytest.raises(ArgumentError, match=words):
        item_stream(losses)
