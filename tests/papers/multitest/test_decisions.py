"""All runs at once against the library's procedures run by run."""

import numpy as np
import pytest

from bestofk.decide import multitest
from bestofk.decide.compare_scores import decide_by_rule
from bestofk.papers.multitest.tables import decide

N = 40


def drawn_losses(seed, runs, folds):
    """Learners close enough for every kind of decision to occur."""
    rng = np.random.default_rng(seed)
    means = rng.choice([0.2, 0.21, 0.23, 0.3], size=(N, 5))
    return means[..., None, None] + rng.normal(0, 0.02, (N, 5, runs, folds))


def number(best):
    return -1 if best is None else best


@pytest.mark.parametrize(
    ("test", "correction", "shape"),
    [("5x2cv-t", "bonferroni", (5, 2)), ("corrected-repeated-kfold-t", "holm", (3, 4))],
)
def test_decisions_are_those_of_the_procedures(test, correction, shape):
    losses = drawn_losses(3, *shape)
    decisions = decide(losses, test=test, correction=correction)
    # as published
    settings = {"test": test, "correction": correction, "family": "preference"}
    rules = {
        "Anova": ("anova-choice", {}),
        "TestFirst": ("test-first", {"test": test, "correction": correction}),
        "Newman-Keuls": ("newman-keuls-choice", {}),
        "MultiTest": ("multitest", settings),
    }
    for name, (rule, options) in rules.items():
        assert decisions.chosen[name].tolist() == [
            number(decide_by_rule(rule, run, **options).recommended) for run in losses
        ], name
    edges = [sorted(multitest(run, **settings).edges) for run in losses]
    assert edges == [[tuple(e) for e in np.argwhere(graph).tolist()] for graph in decisions.edges]
    # a fixture that shows nothing proves nothing
    assert len(set(decisions.chosen["Newman-Keuls"].tolist())) > 3
    assert -1 in decisions.chosen["TestFirst"]


def test_a_zero_denominator_is_no_rejection():
    losses = np.full((2, 5, 2), 0.25)
    losses[0] = 0.5
    # nor is it in MultiTest: losses of such steps do not show that their spread is none
    assert multitest(losses, test="5x2cv-t").recommended == 0
    assert decide(losses).chosen["MultiTest"] == 0


def test_leading_axes_are_separate_decisions():
    losses = drawn_losses(4, 5, 2)
    together = decide(losses.reshape(4, 10, 5, 5, 2))
    apart = decide(losses)
    for name, chosen in together.chosen.items():
        assert (chosen.ravel() == apart.chosen[name]).all()


def test_the_lists_of_section_4_4_are_judged_by_most_runs():
    from bestofk.papers.multitest.tables import Decisions, claims

    always = np.zeros((2, 40), dtype=np.int64)
    torn = np.array([[0] * 40, [0] * 20 + [-1] * 20])
    decisions = Decisions(
        chosen={"Newman-Keuls": torn, "MultiTest": always}, edges=None, losses=None, alpha=0.05
    )
    table = claims(decisions, ("balance", "glass"))
    # on balance both always select the first learner, as published; on glass half of the runs fail
    assert table.ours.tolist() == [["same", "never"], ["same", "50.0 %"]]
    assert table.judged.tolist() == [[True, True], [False, True]]
