"""The learners of Table 7: by hand, against bestofk's learners, against published formulas."""

import numpy as np
import pytest
from scipy.special import gammaln

from bestofk.lab.problems.classes import BinaryAttributes
from bestofk.lab.simulation import simulate
from bestofk.learners.voted_perceptron import VotedPerceptron
from bestofk.papers.calibrated import weka_kernel as kernel
from bestofk.papers.calibrated.experiments import shuffled_runs
from bestofk.papers.calibrated.weka_learners import SEED, run_losses, weka_losses


def test_the_first_of_tied_neighbours_by_hand():
    """One attribute that is constant: all rows tie, so the first row of the first other fold."""
    problem = BinaryAttributes(rows=40, attributes=1, attribute_probability=1e-12)
    losses = weka_losses(problem, sets=2, runs=3, seed=5)["nn"]
    assert losses.shape == (2, 3, 10)
    # all rows of a fold get one class: its error is the share of the other class, 2 of 4 rows
    # where the classes are stratified and even, else 1 of 4 or 3 of 4
    assert set(np.unique(losses)) <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_first_neighbour_has_the_folds_of_the_simulation():
    """Attributes that tell rows apart: few ties, so that it must mostly equal our nn."""
    problem = BinaryAttributes(rows=30, attributes=19, attribute_probability=0.5)
    ours = simulate(["max", "nn"], problem, "2x10", sets=2, random_state=4).losses[:, 0, 1, 0]
    theirs = weka_losses(problem, sets=2, runs=2, seed=4)["nn"]
    same = np.isclose(theirs, ours[..., 0])
    assert same.mean() > 0.6  # ties are left, and rare


@pytest.mark.parametrize(
    ("seed", "first"), [(0, 0.730967787376657), (1, 0.7308781907032909), (42, 0.7275636800328681)]
)
def test_doubles_of_java(seed, first):
    """What ``new java.util.Random(seed).nextDouble()`` prints."""
    assert kernel.first_double(seed) == first


def test_the_shuffle_is_one_cycle():
    """Each place is exchanged with an earlier one: S. Sattolo (1986) shows that no cycle closes."""
    rows = np.arange(270)
    kernel.java_shuffle(rows, SEED)
    at, steps = int(rows[0]), 1
    while at != 0:
        at, steps = int(rows[at]), steps + 1
    assert steps == 270


def test_the_perceptron_is_ours_on_shuffled_training_rows():
    (run,), *_ = shuffled_runs(BinaryAttributes(rows=60, attributes=4), sets=1, runs=1, seed=2)
    found = run_losses(run)["vp"]
    for fold in range(10):
        rows = np.flatnonzero(run.folds != fold)
        kernel.java_shuffle(rows, SEED)
        model = VotedPerceptron().fit_encoded(run.encoded.take(rows))
        test = run.encoded.take(np.flatnonzero(run.folds == fold))
        wrong = model._predict_encoded(test.values) != test.y
        assert found[fold] == pytest.approx(wrong.mean())


def _arcs(codes, y):
    return kernel.arcs(codes, 2 * np.arange(codes.shape[1] + 1), y, 2)


def _score(child, given):
    """Log marginal likelihood of a binary column (Cooper and Herskovits 1992, Dirichlet 0.5)."""
    total = 0.0
    for cell in np.unique(given):
        counts = np.bincount(child[given == cell], minlength=2)
        total += gammaln(counts + 0.5).sum() - gammaln(counts.sum() + 1) - 2 * gammaln(0.5)
    return total


def test_arcs_are_those_that_raise_the_score():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 2, (80, 4))
    codes[:, 2] = np.where(rng.random(80) < 0.9, codes[:, 0], 1 - codes[:, 0])
    y = rng.integers(0, 2, 80)
    gains = np.array(
        [
            [-9.0 if i == j else _score(codes[:, i], 2 * y + codes[:, j]) - _score(codes[:, i], y)
             for j in range(4)]
            for i in range(4)
        ]
    )  # fmt: skip
    # only the columns 0 and 2 have to do with each other
    assert (gains > 0).sum() == 2
    child, parent = np.unravel_index(gains.argmax(), gains.shape)
    expected = np.full(4, -1)
    expected[child] = parent
    assert {int(child), int(parent)} == {0, 2}
    assert np.array_equal(_arcs(codes, y), expected)


def test_arcs_close_no_circle():
    """Three copies of a column: two arcs, as a third would come back to its own start."""
    column = np.tile([0, 1], 30)
    parent = _arcs(np.column_stack([column] * 3), np.repeat([0, 1], 30))
    assert (parent >= 0).sum() == 2
    for at in range(3):
        for _ in range(3):
            at = -1 if at < 0 else int(parent[at])
        assert at < 0


def test_without_arcs_the_network_is_naive_bayes():
    """One column: by hand, with 0.5 added to every cell."""
    (run,), *_ = shuffled_runs(BinaryAttributes(rows=50, attributes=1), sets=1, runs=1, seed=9)
    found = run_losses(run)["tan"]
    x, y = run.encoded.values[:, 0].astype(int), run.encoded.y
    for fold in range(10):
        train = run.folds != fold
        table = np.zeros((2, 2))
        np.add.at(table, (y[train], x[train]), 1)
        of_class = table.sum(axis=1, keepdims=True)
        joint = (of_class + 0.5) * (table + 0.5) / (of_class + 1)
        wrong = joint.argmax(axis=0)[x[~train]] != y[~train]
        assert found[fold] == pytest.approx(wrong.mean())


def test_shuffled_rows_come_by_fold_then_by_class_and_hold_the_same_rows():
    problem = BinaryAttributes(rows=40, attributes=3)
    (first, second), *_ = shuffled_runs(problem, sets=1, runs=2, seed=1)
    for run in (first, second):
        assert np.array_equal(run.folds, np.sort(run.folds))
        for fold in range(10):
            y = run.encoded.y[run.folds == fold]
            assert (np.diff(y) != 0).sum() <= 1
    rows = [np.sort(run.encoded.values @ [4, 2, 1] + 8 * run.encoded.y) for run in (first, second)]
    assert np.array_equal(*rows)
    assert not np.array_equal(first.encoded.values, second.encoded.values)
