"""The learners of Table 7: by hand, against built-in learners and other formulas."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import gammaln

from bestofk.papers.calibrated import weka_learners as kernel
from bestofk.papers.calibrated.experiments import shuffled_runs
from bestofk.papers.calibrated.weka_learners import SEED, run_losses, weka_losses
from bestofk.papers.lab.problems.classes import BinaryAttributes
from bestofk.papers.learners.voted_perceptron import VotedPerceptron


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualShares(BinaryAttributes):
    """Attributes that all have the second value with the same probability."""

    share: float

    def encoded(self, rng):
        values = rng.random((self.rows, self.attributes)) < self.share
        return replace(BinaryAttributes.encoded(self, rng), values=values.astype(np.float64))


def test_the_first_of_tied_neighbours_by_hand():
    """One attribute that is constant: all rows tie, so the first row of the first other fold."""
    problem = EqualShares(rows=40, attributes=1, share=1e-12)
    losses = weka_losses(problem, sets=2, splitting="3x10", seed=5)[..., 0]
    assert losses.shape == (2, 3, 10)
    # all rows of a fold get one class: its error is the share of the other class, 2 of 4 rows
    # where the classes are stratified and even, else 1 of 4 or 3 of 4
    assert set(np.unique(losses)) <= {0.0, 0.25, 0.5, 0.75, 1.0}


def java_shuffle(rows, seed):
    """Shuffle in place as Weka did: swap every row, from the last, with an earlier one.

    The random numbers are those of ``java.util.Random``, a linear congruential generator.
    """
    state = (seed ^ 0x5DEECE66D) % 2**48
    for last in range(len(rows) - 1, 0, -1):
        bits = 0
        for width in (26, 27):
            state = (state * 0x5DEECE66D + 0xB) % 2**48
            bits = (bits << width) + (state >> (48 - width))
        other = int(bits / 2**53 * last)
        rows[last], rows[other] = rows[other], rows[last]


@pytest.mark.parametrize(("splitting", "folds"), [("1x10", 10), ("5x2", 2), ("resample:3:0.1", 1)])
def test_the_perceptron_is_ours_on_shuffled_training_rows(splitting, folds):
    problem = BinaryAttributes(rows=60, attributes=4)
    (run, *_), *_ = shuffled_runs(problem, sets=1, splitting=splitting, seed=2)
    losses = run_losses(run)["vp"]
    for fold in range(folds):
        rows = np.flatnonzero(run.folds != fold)
        java_shuffle(rows, SEED)
        model = VotedPerceptron().fit_encoded(run.encoded.take(rows))
        test = run.encoded.take(np.flatnonzero(run.folds == fold))
        wrong = model._predict_encoded(test.values) != test.y
        assert losses[fold] == pytest.approx(wrong.mean())


def _score(child, cells):
    """Log marginal likelihood of a binary column (Cooper and Herskovits 1992, Dirichlet 0.5)."""
    total = 0.0
    for cell in np.unique(cells):
        counts = np.bincount(child[cells == cell], minlength=2)
        total += gammaln(counts + 0.5).sum() - gammaln(counts.sum() + 1) - 2 * gammaln(0.5)
    return total


def _parents(codes, y):
    """Add the arc with the largest gain, as long as it raises the score and closes no cycle."""
    d = codes.shape[1]
    parent = np.full(d, -1)

    def above(column):
        while column >= 0:
            yield column
            column = parent[column]

    while True:
        gains = {
            (i, j): _score(codes[:, i], 2 * y + codes[:, j]) - _score(codes[:, i], y)
            for i in range(d) for j in range(d)
            if parent[i] < 0 and i not in above(j)
        }  # fmt: skip
        best = max(gains, key=gains.get, default=None)
        if best is None or gains[best] <= 0:
            return parent
        parent[best[0]] = best[1]


@pytest.mark.parametrize("seed", range(4))
def test_the_network_is_that_of_the_best_arcs(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 80)
    codes = rng.integers(0, 2, (80, 4))
    codes[:, 2] = np.where(rng.random(80) < 0.8, codes[:, 0] ^ y, 1 - codes[:, 0])
    codes[:, 3] = np.where(rng.random(80) < 0.8, codes[:, 2], y)
    folds = np.arange(80) % 4
    wrong = kernel.network_errors(codes, 2 * np.arange(5), y, 2, folds, 4)
    for fold in range(4):
        train, test = folds != fold, folds == fold
        parent = _parents(codes[train], y[train])
        assert (parent >= 0).any()
        joint = np.zeros((test.sum(), 2))
        for label in (0, 1):
            of_class = codes[train & (y == label)]
            joint[:, label] = np.log(len(of_class) + 0.5)
            for i, j in enumerate(parent):
                for row, cells in enumerate(codes[test]):
                    known = of_class if j < 0 else of_class[of_class[:, j] == cells[j]]
                    share = ((known[:, i] == cells[i]).sum() + 0.5) / (len(known) + 1)
                    joint[row, label] += np.log(share)
        assert wrong[fold] == (joint.argmax(axis=1) != y[test]).sum()


def test_shuffled_rows_come_by_fold_then_by_class_and_hold_the_same_rows():
    problem = BinaryAttributes(rows=40, attributes=3)
    (first, second), *_ = shuffled_runs(problem, sets=1, splitting="2x10", seed=1)
    for run in (first, second):
        assert np.array_equal(run.folds, np.sort(run.folds))
        for fold in range(10):
            y = run.encoded.y[run.folds == fold]
            assert (np.diff(y) != 0).sum() <= 1
    rows = [np.sort(run.encoded.values @ [4, 2, 1] + 8 * run.encoded.y) for run in (first, second)]
    assert np.array_equal(*rows)
    assert not np.array_equal(first.encoded.values, second.encoded.values)
