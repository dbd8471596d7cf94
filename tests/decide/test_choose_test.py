import numpy as np
import pytest
from scipy import stats

import bestofk as bk
import bestofk.decide
from bestofk._base.errors import ArgumentError, DesignError
from bestofk.decide.choose_test import choose_test, covering
from bestofk.decide.problem import as_problem
from bestofk.splits.design import Design
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


def table(*, datasets=1, runs=1, folds=1, repetitions=1, design=None, values=None, seed=7):
    shape = (3, datasets, runs, folds, repetitions)
    return bk.Scores(
        np.random.default_rng(seed).random(shape) if values is None else values,
        dims=("learner", "dataset", "run", "fold", "repetition"),
        learners=["a", "b", "c"],
        design=design,
    )


def split_design(kind, n, **sizes):
    return Design(kind=kind, folds=n, **sizes)


TABLES = {
    "5x2cv-f": table(runs=5, folds=2),
    "corrected-repeated-kfold-t": table(runs=3, folds=4),
    "corrected-resampled-t": table(
        folds=12, design=split_design("resample", 12, n_train=(90,), n_test=(10,))
    ),
    "skew-corrected-t": table(datasets=12),
    "mcnemar": table(
        folds=40,
        values=np.random.default_rng(3).integers(0, 2, (3, 1, 1, 40, 1)),
        design=split_design("test-set", 40),
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_auto_takes_the_test_of_the_contract(name):
    decision = bk.compare_scores(TABLES[name])
    assert decision.test == name
    assert "chosen for" in decision.decision.test_reason
    assert name in decision.explain()


def test_auto_on_graded_losses_of_one_test_set():
    graded = table(folds=30, design=split_design("test-set", 30))
    assert bk.compare_scores(graded).test == "skew-corrected-t"


@pytest.mark.parametrize(
    ("shape", "test"),
    [((3, 1, 5, 2, 2), "5x2cv-f"), ((3, 5, 2), "5x2cv-f"), ((3, 2), "corrected-repeated-kfold-t")],
)
def test_arrays_have_runs_folds_and_repetitions(shape, test):
    assert bk.compare_scores(np.random.default_rng(0).random(shape)).test == test


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("test", PAIRWISE_TESTS)
def test_every_test_is_taken_or_refused_by_its_registry_entry(name, test):
    losses = TABLES[name]
    problem = as_problem(losses)
    entry = PAIRWISE_TESTS[test]
    covers = bool(
        set(entry.covers) & set(losses.design.situations(n_datasets=len(losses.datasets)))
    )
    few = name == "paired-t" and entry.at_least_units > 6
    if covers and not few and (not entry.zero_one or name == "mcnemar"):
        assert test in covering(problem)
        choice = choose_test(problem, test, one_sided=False)
        assert choice.name == test
        decision = bk.compare_scores(losses, test=test)
        assert np.isfinite(decision.decision.evidence.pvalue).all()
        assert decision.explain()
    else:
        with pytest.raises(DesignError) as refusal:
            choose_test(problem, test, one_sided=False)
        message = str(refusal.value)
        assert test in message
        assert "tests that fit are" in message
        for offered in message.split("tests that fit are ")[1].rstrip(".").split(", "):
            assert choose_test(problem, offered, one_sided=False).name == offered


def test_one_number_a_learner_cannot_be_tested():
    with pytest.raises(DesignError, match="nothing to test"):
        bk.compare_scores(table())


def test_sizes_come_from_the_design():
    losses = TABLES["corrected-resampled-t"]
    decision = bk.compare_scores(losses, prefer=["a", "b", "c"])
    x = losses.losses[:, 0, 0, :, 0]
    # 100 rows, and losses that are not error rates
    widened = 1 + 2.4 / 100**0.5
    by_hand = bk.stats.pairwise.corrected_resampled_t(
        x[0], x[1], n_train=90, n_test=10, widened=widened
    )
    assert decision.decision.evidence.pvalue[0] == pytest.approx(by_hand.pvalue, rel=1e-12)


def test_unknown_split_sizes_are_refused():
    unknown = table(folds=12, design=split_design("resample", 12))
    with pytest.raises(DesignError, match="n_train and n_test"):
        bk.compare_scores(unknown)
    assert bk.compare_scores(unknown, test="resampled-t").test == "resampled-t"


def test_decision_names_calibrated_df():
    values = np.random.default_rng(2).random((2, 10, 10))
    measured = bk.Scores(values, learners=["naive-bayes", "c4.5"])
    assert (
        "calibrated"
        in bk.compare_scores(
            measured, test="use-all-data", test_options={"df": "calibrated"}
        ).explain()
    )
    losses = table(runs=10, folds=10)
    with pytest.warns(bk.BestOfKWarning, match="with a, c and b; using the nearest"):
        decision = bk.compare_scores(losses, test="use-all-data", test_options={"df": "calibrated"})
    assert "The df of 10 is calibrated: use-all-data on 10 x 10 folds" in decision.explain()
    ten = bk.compare_scores(losses, test="use-all-data", test_options={"df": 10})
    np.testing.assert_array_equal(decision.decision.evidence.pvalue, ten.decision.evidence.pvalue)
    with pytest.warns(bk.BestOfKWarning, match="using the nearest measurement"):
        bk.compare_scores(
            table(runs=3, folds=4), test="use-all-data", test_options={"df": "calibrated"}
        )
    with pytest.raises(ArgumentError, match="df does not apply"):
        bk.compare_scores(TABLES["skew-corrected-t"], test_options={"df": 4})
    with pytest.raises(ArgumentError, match="applies to use-all-data, folds"):
        bk.compare_scores(losses, test_options={"df": "calibrated"})


def test_rope_reaches_a_bayesian_test():
    losses = TABLES["corrected-repeated-kfold-t"]
    decision = bk.compare_scores(losses, test="correlated-t", rope=10.0)
    assert decision.decision.edges == ()
    assert decision.decision.evidence.pvalue == pytest.approx(1)


@pytest.mark.parametrize(
    "function",
    [
        stats.ttest_rel,
        lambda a, b: stats.ttest_rel(a, b),
        lambda a, b: stats.ttest_rel(a, b).pvalue,
        lambda a, b, alternative: stats.ttest_rel(a, b, alternative=alternative),
    ],
)
def test_a_function_serves_as_a_test(function):
    losses = table(folds=9)
    decision = bk.compare_scores(losses, test=function, rule="multitest")
    kfold = bk.compare_scores(losses, test="kfold-t", rule="multitest")
    np.testing.assert_allclose(
        decision.decision.evidence.pvalue, kfold.decision.evidence.pvalue, rtol=1e-9
    )
    assert decision.headline == kfold.headline


def test_a_function_that_returns_no_pvalue_is_refused():
    with pytest.raises(ArgumentError, match=r"must return one p-value .* got 'high'"):
        bk.compare_scores(table(folds=9), test=lambda a, b: "high", rule="multitest")
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        bk.compare_scores(table(folds=9), test=lambda a, b: 7.0, rule="multitest")


def test_the_step_of_error_rates_is_one_instance_of_a_fold():
    """Folds of 20 and 30 rows: errors change by 1/25 on average; other losses by what they show."""
    sizes = np.array([20, 20, 30, 30])
    wrong = np.random.default_rng(5).integers(0, 9, (3, 1, 2, 4, 1))
    design = Design(kind="cv", runs=2, folds=4, n_train=75, n_test=tuple(sizes.tolist()) * 2)
    counted = table(runs=2, folds=4, values=wrong / sizes[:, None], design=design)
    choice = choose_test(as_problem(counted), "corrected-repeated-kfold-t")
    assert choice.arguments["resolution"] == pytest.approx(1 / 25)
    graded = table(runs=2, folds=4, values=wrong / 7, design=design)
    choice = choose_test(as_problem(graded), "corrected-repeated-kfold-t")
    assert choice.arguments["resolution"] == pytest.approx(1 / 7)


class TestDesignsThatTheNumberOfFoldsSuggests:
    VALUES = np.random.default_rng(1).random((2, 50))

    @pytest.mark.parametrize(
        "make", [lambda x: x, bk.Scores, lambda x: bk.Scores(x, higher_is_better=True)]
    )
    def test_no_test_is_chosen_for_an_unclear_number(self, make):
        with pytest.raises(DesignError, match="50 splits may come from several") as refusal:
            bk.compare_scores(make(self.VALUES))
        assert "design='10x5'" in str(refusal.value)
        assert (
            bk.compare_scores(bk.Scores(self.VALUES, design="10x5")).decision.problem.design.runs
            == 10
        )
        assert bk.compare_scores(make(self.VALUES), test="kfold-t").test == "kfold-t"

    def test_a_stated_or_clear_design_is_tested(self):
        stated = bk.Scores(self.VALUES, dims=("learner", "fold"))
        assert (
            bk.compare_scores(stated).test
            == bk.compare_scores(bk.Scores(self.VALUES, design="kfold:50")).test
        )
        assert (
            bk.compare_scores(bk.Scores(self.VALUES[:, :10])).test
            == bk.compare_scores(self.VALUES[:, :10]).test
        )
        scores = bk.Scores(self.VALUES, datasets=[str(i) for i in range(50)])
        assert bk.compare_scores(scores).decision.problem.n_datasets == 50


def test_short_series_are_refused():
    with pytest.raises(DesignError, match="needs at least 4 losses of each learner; got 3"):
        bk.compare_scores(bk.Scores(np.random.default_rng(1).random((2, 3)), design="time"))
