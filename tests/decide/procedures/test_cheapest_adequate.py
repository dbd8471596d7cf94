"""The most preferred learner that is shown to be adequate, and its guarantees."""

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk import decide as ordering
from bestofk._base.errors import ArgumentError
from bestofk.decide.gather import against_margin

MARGIN = 0.02


def folds(rng, means, spread, n=10):
    return np.asarray(means)[:, None] + spread * rng.standard_normal((len(means), n))


def test_recommended_is_the_first_that_is_shown_against_all_others():
    rng = np.random.default_rng(1)
    for _ in range(40):
        values = folds(rng, rng.normal(0.3, 0.02, 4), 0.01)
        decision = ordering.cheapest_adequate(values, margin=MARGIN, test="kfold-t")
        shown = against_margin(decision.problem, decision.test_choice, MARGIN, alpha=0.05).shown
        good = [i for i in range(4) if all(shown[i, j] for j in range(4) if j != i)]
        assert decision.recommended == (good[0] if good else None)
        rest = sorted(set(range(4)) - set(good), key=lambda k: values[k].mean())
        assert decision.ranking == (*good, *rest)


def test_nothing_is_recommended_where_nothing_is_shown():
    values = folds(np.random.default_rng(2), [0.3, 0.3, 0.3], 0.5)
    decision = ordering.cheapest_adequate(values, margin=0.001, test="kfold-t")
    assert decision.recommended is None
    assert decision.best is None
    assert decision.standings == ()
    assert decision.adequate == ()
    assert decision.explain().startswith("No learner can be recommended yet: none is shown")
    assert decision.to_dict()["recommended"] is None


CASES = {
    "the cheapest is worse by just the margin": (0.30 + MARGIN, 0.30, 0.30),
    "the two cheapest are": (0.30 + MARGIN, 0.30 + MARGIN, 0.30),
    "one more, each worse than the next": (0.30 + 2 * MARGIN, 0.30 + MARGIN, 0.30),
    "all are equal": (0.30, 0.30, 0.30),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_promised(case):
    """The recommended one is worse than the truly best by the margin in at most 5 percent."""
    means = np.array(CASES[case])
    rng = np.random.default_rng([9, *case.encode()])
    studies = 500
    values = np.stack([folds(rng, means, 0.012) for _ in range(studies)])
    decided = ordering.order_many(
        values, procedure="cheapest-adequate", prefer="listed", margin=MARGIN, test="kfold-t"
    )
    chosen = decided.recommended[decided.recommended >= 0]
    wrong = int((means[chosen] >= means.min() + MARGIN - 1e-12).sum())
    assert stats.binom.sf(wrong - 1, studies, 0.05) > 1e-3


def test_it_finds_the_cheap_one_where_multitest_goes_for_a_difference_that_does_not_matter():
    rng = np.random.default_rng(4)
    means = (0.30 + MARGIN / 2, 0.30, 0.31)
    found = {"multitest": 0, "cheapest-adequate": 0}
    for _ in range(60):
        table = bk.Losses(folds(rng, means, 0.005), algorithms=["cheap", "dear", "dearest"])
        for procedure in found:
            margin = {"margin": MARGIN} if procedure == "cheapest-adequate" else {}
            decision = bk.order(
                table, prefer="listed", procedure=procedure, test="kfold-t", **margin
            )
            found[procedure] += decision.recommended == "cheap"
    assert found["cheapest-adequate"] >= 50
    assert found["cheapest-adequate"] > 2 * found["multitest"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"prefer": "listed"}, "needs a margin: the difference that does not matter, such as"),
        ({"margin": 0.01}, "needs a preference: give prefer="),
        ({"margin": -1, "prefer": "listed"}, "margin must be"),
    ],
)
def test_what_is_refused(cross_validated, asked, words):
    with pytest.raises(ArgumentError, match=words):
        bk.order(cross_validated(), procedure="cheapest-adequate", **asked)
