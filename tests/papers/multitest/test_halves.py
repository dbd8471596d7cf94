import numpy as np
import pytest

from bestofk.papers.multitest.learners import halves

Y = np.repeat([0, 1, 2], [41, 21, 9])


def drawn_halves(learner, design="own", runs=range(4), name="a", seed=0):
    return halves(name, Y, learner, design, runs, seed)[0].reshape(len(runs), 5, -1)


@pytest.mark.parametrize("learner", ["MAX", "LGC", "C4.5"])
def test_halves_are_halves(learner):
    sizes = drawn_halves(learner).sum(axis=-1)
    assert set(sizes.ravel().tolist()) <= {len(Y) // 2, len(Y) - len(Y) // 2}


def test_the_logistic_model_has_halves_of_its_own_by_class():
    marks = drawn_halves("LGC")
    for label in range(3):
        rows = np.flatnonzero(label == Y)
        counts = marks[..., rows].sum(axis=-1)
        assert set(counts.ravel().tolist()) <= {len(rows) // 2, len(rows) - len(rows) // 2}
    assert (marks != drawn_halves("MAX")).any(axis=-1).all()


def test_c45_shares_the_first_replication_only():
    tree, others = drawn_halves("C4.5"), drawn_halves("NN")
    assert (tree[:, 0] == others[:, 0]).all()
    assert (tree[:, 1:] != others[:, 1:]).any(axis=-1).all()


def test_max_nmc_and_nn_share_all_and_in_design_a_every_learner_does():
    for learner in ("NMC", "NN"):
        assert (drawn_halves(learner) == drawn_halves("MAX")).all()
    for learner in ("MAX", "NMC", "LGC", "C4.5", "NN"):
        assert (drawn_halves(learner, "shared") == drawn_halves("MAX")).all()


def test_a_run_does_not_depend_on_the_others():
    assert (drawn_halves("C4.5", runs=range(2, 4)) == drawn_halves("C4.5", runs=range(4))[2:]).all()
    seeds = halves("a", Y, "C4.5", "own", range(4), 0)[1]
    assert (halves("a", Y, "C4.5", "own", range(3, 4), 0)[1] == seeds[15:]).all()
    assert len(np.unique(seeds)) == 40


def test_names_and_seeds_give_other_halves():
    assert (drawn_halves("MAX") != drawn_halves("MAX", name="b")).any()
    assert (drawn_halves("MAX") != drawn_halves("MAX", seed=1)).any()
