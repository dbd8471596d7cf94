import json

import numpy as np
import pytest

import bestofk as bk
from bestofk.errors import ArgumentError, DesignError

RNG = np.random.default_rng(11)
DIMS = ("algorithm", "dataset", "run", "fold", "repetition")


def losses(means=(0.4, 0.2, 0.2005), runs=4, folds=5, names=("a", "b", "c"), **more):
    noise = RNG.normal(0, 0.01, (len(means), 1, runs, folds, 1))
    values = np.asarray(means)[:, None, None, None, None] + noise
    return bk.Losses(values, dims=DIMS, algorithms=names, **more)


def test_prior_by_names_prices_and_parts():
    table = losses()
    assert bk.order(table).best == "b"
    assert bk.order(table, prior=["c", "b", "a"]).best == "c"
    assert bk.order(table, prior={"a": 3.0, "b": 2.0, "c": 1.0}).prior == ("c", "b", "a")
    part = bk.order(table, prior=["c"])
    assert part.prior == ("c", "a", "b")
    assert "leaves out 2 learners" in part.explain()


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (["a", "x"], "'x', which is none of the learners: a, b, c"),
        (["a", "a"], "'a' twice"),
        ("abc", "list of learners"),
        ({"a": 1.0}, "none for 'b'"),
        ({"a": 1, "b": "cheap", "c": 2}, "a number for 'b'; got 'cheap'"),
    ],
)
def test_bad_priors(prior, words):
    with pytest.raises(ArgumentError, match=words):
        bk.order(losses(), prior=prior)


def test_equal_prices_keep_the_order_given():
    assert bk.order(losses(), prior={"c": 1.0, "b": 2.0, "a": 1.0}).prior == ("a", "c", "b")


def test_json_is_strict_and_holds_the_promised_keys():
    constant = np.broadcast_to(np.array([0.5, 0.25])[:, None], (2, 4))
    decision = bk.order(bk.Losses(constant, dims=("algorithm", "fold"), algorithms=["x", "y"]))
    text = decision.to_json()
    held = json.loads(text, parse_constant=pytest.fail)
    assert {
        "best", "order", "prior", "procedure", "test", "alpha", "correction", "edges",
        "evidence", "means", "failures", "explanation", "version",
    } <= set(held)  # fmt: skip
    row = held["evidence"][0]
    assert row == {
        "a": "x", "b": "y", "estimate": 0.25, "statistic": None, "pvalue": 0.0,
        "adjusted_pvalue": 0.0, "rejected": True, "degenerate": True,
    }  # fmt: skip
    assert held["best"] == "y"
    assert held["edges"] == [["x", "y"]]


def test_explanation_names_winners_losers_and_ties():
    text = bk.order(losses()).explain()
    assert "MultiTest chooses b as the best of 3 learners." in text
    assert "Order, best first: b, c, a." in text
    assert "b (mean loss" in text
    assert "is significantly better than a (" in text
    assert "ties with c (" in text
    assert "The data override it in 2 of 3 pairs: b over a and c over a." in text
    assert "Holm's correction over 3 comparisons" in text
    assert str(bk.order(losses())).startswith("MultiTest chooses b")


def test_a_smaller_but_not_significant_mean_is_said():
    table = bk.Losses(
        [[0.30, 0.20, 0.31, 0.22], [0.29, 0.21, 0.28, 0.22]],
        dims=("algorithm", "fold"),
        algorithms=["small", "large"],
    )
    decision = bk.order(table)
    assert decision.best == "small"
    assert "large has a smaller mean but not significantly so" in decision.explain()


def test_repetitions_on_several_data_sets_bring_bootstrap_b():
    values = RNG.random((3, 6, 1, 5, 4)) * 0.1
    values[0] += 0.5
    table = bk.Losses(values, dims=DIMS, algorithms=["a", "b", "c"])
    decision = bk.order(table)
    assert decision.beside is not None
    assert decision.beside.pvalues.shape == (3, 2)
    assert "Bootstrap-B" in decision.explain() or "bootstrap-b" in decision.explain()
    one = bk.Losses(values[..., :1], dims=DIMS, algorithms=["a", "b", "c"])
    assert bk.order(one).beside is None
    two = bk.Losses(values[:, :2, ..., :2], dims=DIMS, algorithms=["a", "b", "c"])
    assert bk.order(two).beside is not None
    one_set = bk.Losses(values[:, :1], dims=DIMS, algorithms=["a", "b", "c"])
    assert bk.order(one_set).beside is None


def test_missing_cells_are_refused_or_dropped():
    values = RNG.random((3, 8)) * 0.1
    values[0] += 1
    values[1, 3] = np.nan
    table = bk.Losses(
        values,
        dims=("algorithm", "dataset"),
        algorithms=["a", "b", "c"],
        missing="declared",
    )
    with pytest.raises(DesignError, match=r"lack 1 of 24 cells, 'b' on '3'"):
        bk.order(table)
    decision = bk.order(table, missing="drop")
    assert "1 of 8 data sets were left out" in decision.explain()
    kept = np.delete(values, 3, axis=1)
    np.testing.assert_allclose(list(decision.means.values()), kept.mean(axis=1))


def test_two_complete_parts_are_enough_and_one_is_not():
    rng = np.random.default_rng(4)
    for shape, axis, what in (((2, 4, 1, 1, 1), 1, "data sets"), ((2, 1, 4, 3, 1), 2, "runs"),
                              ((2, 1, 1, 4, 1), 3, "folds")):  # fmt: skip
        values = rng.random(shape)
        gone = np.moveaxis(values, axis, 0)
        gone[:2] = np.nan
        table = bk.Losses(values, dims=DIMS, missing="declared")
        decision = bk.order(table, missing="drop")
        assert f"2 of 4 {what} were left out" in decision.explain()
        kept = np.moveaxis(gone[2:], 0, axis).reshape(2, -1).mean(axis=1)
        np.testing.assert_allclose(list(decision.means.values()), kept)
        gone[2] = np.nan
        with pytest.raises(DesignError, match=f"losses hold 1 {what}"):
            bk.order(bk.Losses(values, dims=DIMS, missing="declared"), missing="drop")


def test_one_of_two_data_sets_is_not_enough():
    values = RNG.random((2, 2, 1, 6, 1))
    values[0, 1, 0, 3] = np.nan
    with pytest.raises(DesignError, match="losses hold 1 data sets"):
        bk.order(bk.Losses(values, dims=DIMS, missing="declared"), missing="drop")


def test_without_a_seed_the_seed_is_zero():
    values = RNG.normal(0.3, 0.1, (3, 9))
    table = bk.Losses(values, dims=("algorithm", "dataset"), algorithms=["a", "b", "c"])
    for procedure in ("multitest", "test-first", "most-wins"):
        asked = {"procedure": procedure, "test": "signed-rank-bayes", "samples": 200}
        plain = bk.order(table, **asked).evidence.pvalue
        np.testing.assert_array_equal(
            plain, bk.order(table, **asked, random_state=0).evidence.pvalue
        )
    for function in (bk.ordering.multitest, bk.ordering.test_first, bk.ordering.most_wins):
        plain, seeded = (
            function(table, test="signed-rank-bayes", samples=200, **seed).evidence.pvalue
            for seed in ({}, {"random_state": 0})
        )
        np.testing.assert_array_equal(plain, seeded)


def test_missing_folds_drop_folds_or_runs():
    values = RNG.random((2, 1, 3, 4, 1))
    values[0, 0, 1, 2, 0] = np.nan
    table = bk.Losses(values, dims=DIMS, missing="declared")
    decision = bk.order(table, missing="drop")
    assert "1 of 3 runs were left out" in decision.explain()
    assert "2 runs of 4-fold" in decision.design
    one_run = bk.Losses(values[:, :, 1:2], dims=DIMS, missing="declared")
    decision = bk.order(one_run, missing="drop")
    assert "1 of 4 folds were left out" in decision.explain()


def test_procedures_that_want_scores_say_so():
    with pytest.raises(DesignError, match=r"bestofk\.ordering\.roc_hull"):
        bk.order(losses(), procedure="roc-hull")


def test_arguments_that_do_not_apply_are_refused():
    with pytest.raises(ArgumentError, match="test does not apply to procedure 'anova-choice'"):
        bk.order(losses(), procedure="anova-choice", test="kfold-t")
    with pytest.raises(ArgumentError, match="correction does not apply"):
        bk.order(losses(), procedure="newman-keuls-choice", correction="holm")


def test_unknown_procedure_offers_the_nearest():
    with pytest.raises(bk.UnknownNameError, match="did you mean 'multitest'"):
        bk.order(losses(), procedure="multi-test")


def test_a_file_or_a_frame_will_do(tmp_path):
    table = losses()
    table.to_csv(tmp_path / "losses.csv")
    expected = bk.order(table)
    assert bk.order(tmp_path / "losses.csv").order == expected.order
    assert bk.order(str(tmp_path / "losses.csv")).order == expected.order
    assert bk.order(table.frame()).order == expected.order


def test_hostile_names_pass_through():
    names = ('"; DROP TABLE', "<script>alert(1)</script>", "line\nbreak")
    decision = bk.order(losses(names=names))
    assert set(decision.order) == set(names)
    assert json.loads(decision.to_json())["best"] in names


def test_every_procedure_of_losses_runs_by_name():
    from bestofk.ordering.registry import PROCEDURES

    for name, entry in PROCEDURES.items():
        assert entry.load() is getattr(bk.ordering, name.replace("-", "_"))
        if entry.takes_losses:
            decision = bk.order(losses(), procedure=name)
            assert decision.procedure == name
            assert decision.explain()
            json.loads(decision.to_json())
            assert repr(decision).startswith("Order(")
