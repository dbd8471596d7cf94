"""`order_many` on a stack returns exactly what `compare_scores` returns for every table."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestofk as bk
from bestofk._base.errors import ArgumentError, BestOfKError
from bestofk.decide import RULES, order_many
from bestofk.decide.evidence import FAMILIES
from bestofk.decide.multitest_order import multitest
from bestofk.splits.design import Design
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.pairwise import corrected_repeated_kfold_t
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

DIMS = ("learner", "dataset", "run", "fold", "repetition")
NAMES = ("a", "b", "c", "d")

DESIGNS = {
    "kfold": (Design(kind="cv", folds=7), 1),
    "repeated-kfold": (Design(kind="cv", runs=3, folds=4, repetitions=2), 1),
    "5x2": (Design(kind="cv", runs=5, folds=2), 1),
    "resample": (Design(kind="resample", folds=6, n_train=(45,) * 6, n_test=(15,) * 6), 1),
    "bootstrap": (Design(kind="bootstrap", folds=6, n_train=(40,) * 6, n_test=(20,) * 6), 1),
    "test-set": (Design(kind="test-set", folds=11), 1),
    "time": (Design(kind="time", folds=9, n_train=tuple(range(10, 100, 10)), n_test=(10,) * 9), 1),
    "test-set-auc": (Design(kind="test-set-auc", folds=11), 1),
    "test-set-metric": (Design(kind="test-set-metric", folds=11), 1),
    "loo": (Design(kind="loo", folds=30), 1),
    "seeds": (Design(kind="seeds", folds=5), 1),
    "datasets": (Design(kind="cv", runs=2, folds=3), 12),
    "nested": (
        Design(kind="cv", runs=2, folds=3, nested_runs=6), 1,
    ),
}  # fmt: skip
ONE_TABLE = [name for name, entry in RULES.items() if entry.takes == "losses"]


def drawn(design, datasets, *, tables=5, learners=4, seed=0, decimals=None, zero_one=False):
    """Losses of all kinds of tables, some learners equal, with those on parts of the rows."""
    rng = np.random.default_rng(seed)
    means = rng.choice([0.2, 0.22, 0.3, 0.5], size=(tables, learners))[:, :, None, None, None, None]
    # of some tables two learners never differ
    spread = rng.choice([0.002, 0.05], size=(tables, 1, 1, 1, 1, 1))
    shapes = [(datasets, design.runs, design.folds, design.repetitions)]
    if design.nested_runs:
        shapes.append((datasets, design.nested_runs, 2, design.repetitions))
    made = []
    for shape in shapes:
        noise = rng.normal(0, 1, (tables, learners, *shape))
        values = means + spread * noise
        if zero_one:
            values = (rng.random(values.shape) < means).astype(float)
        elif decimals is not None:
            values = np.round(values, decimals)
        values[0, 1] = values[0, 0]
        made.append(values)
    return made[0], made[1] if len(made) > 1 else None


def table_of(values, parts, design, at, names=NAMES):
    return bk.Scores(
        values[at],
        dims=DIMS,
        learners=list(names)[: values.shape[1]],
        design=design,
        subset_values=None if parts is None else parts[at],
    )


def assert_same(many, decisions):
    """Every field of `many` against the decision on every table."""
    decisions = [getattr(one, "decision", one) for one in decisions]
    place = {name: at for at, name in enumerate(sorted(decisions[0].by_preference))}
    assert len(many.recommended) == len(decisions)
    for at, one in enumerate(decisions):
        number = -1 if one.recommended is None else place[one.recommended]
        assert many.recommended[at] == number
        kept = [k for k in many.ranking[at].tolist() if k >= 0]
        assert kept == [place[name] for name in one.ranking]
        for found, pairs in ((many.claims, one.claims), (many.edges, one.edges)):
            said = {(place[i], place[j]) for i, j in pairs}
            assert set(map(tuple, np.argwhere(found[at]).tolist())) == said
        for row in one.standings if one.best is not None else ():
            found = [each[at, place[row.name]] for each in (many.at_least, many.at_most)]
            expected = [np.nan if end is None else end for end in (row.at_least, row.at_most)]
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
            assert many.candidates[at, place[row.name]] == (row.name in one.candidates)
        evidence = one.pair_evidence
        first = [place[evidence.names[k]] for k in evidence.first]
        second = [place[evidence.names[k]] for k in evidence.second]
        # numpy adds the losses of one pair in another order than those of several
        for name in ("pvalue", "adjusted_pvalue"):
            found, expected = getattr(many, name)[at][first, second], getattr(evidence, name)
            np.testing.assert_allclose(found, expected, rtol=0 if len(first) > 1 else 1e-9)
        tested = {frozenset(pair) for pair in np.argwhere(~np.isnan(many.pvalue[at])).tolist()}
        assert tested == set(map(frozenset, zip(first, second, strict=True)))
        assert one.test in many.tests


def check_same(values, parts, design, **options):
    """Both ways, or the same refusal both ways."""
    stack = {"design": design, "learners": NAMES[: values.shape[1]], "subset_values": parts}
    tables = [table_of(values, parts, design, at) for at in range(len(values))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            decisions = [bk.compare_scores(table, **options) for table in tables]
        except BestOfKError as refused:
            with pytest.raises(type(refused)):
                order_many(values, **stack, **options)
            return None
        many = order_many(values, **stack, **options)
    assert_same(many, decisions)
    return many


@pytest.mark.parametrize("rule", ONE_TABLE)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_rule_on_every_design(rule, design):
    made = DESIGNS[design]
    margin = {"margin": 0.05} if "margin" in RULES[rule].options else {}
    found = check_same(*drawn(*made, tables=2), made[0], rule=rule, prefer=["c", "b"], **margin)
    assert found is not None


@pytest.mark.filterwarnings("ignore:hierarchical-bayes")  # few draws
@pytest.mark.parametrize("test", PAIRWISE_TESTS)
def test_every_test(test):
    entry = PAIRWISE_TESTS[test]
    design, datasets = DESIGNS["datasets" if entry.axes == 3 else entry.covers[0]]
    slow = {"tables": 2, "learners": 2} if entry.axes == 3 else {}
    made = drawn(design, datasets, zero_one=entry.zero_one, seed=3, **slow)
    few = {"signed-rank-bayes": {"samples": 500}, "hierarchical-bayes": {"samples": 64}}.get(test)
    family = {"family": "preference"} if "greater" in entry.sides else {}
    for more in ({}, family, {"margin": 0.1}):
        found = check_same(*made, design, test=test, prefer="listed", test_options=few, **more)
        if found is not None:
            assert found.tests == (test,)


@given(data=st.data())
def test_the_law(data):
    """Any option with any other; losses with and without a step."""
    pick = data.draw
    rule = pick(st.sampled_from(ONE_TABLE))
    design, datasets = DESIGNS[pick(st.sampled_from(sorted(DESIGNS)))]
    learners = pick(st.integers(2, 4))
    names = list(NAMES[:learners])
    zero_one = design.kind == "test-set" and pick(st.booleans())
    made = drawn(
        design, datasets, learners=learners, seed=pick(st.integers(0, 10**6)), zero_one=zero_one,
        decimals=pick(st.sampled_from([None, 1, 2])), tables=pick(st.integers(1, 6)),
    )  # fmt: skip
    preferences = [None, "listed", names[::-1], names[1:2], dict.fromkeys(names, 1.0)]
    options = {
        "prefer": pick(st.sampled_from(preferences)),
        "alpha": pick(st.sampled_from([0.01, 0.05, 0.3])),
    }
    offered = {
        "correction": (None, *CORRECTIONS),
        "family": (None, *FAMILIES),
        "margin": (None, 0.02, 0.2),
    }
    for name, values in offered.items():
        if name in RULES[rule].options:
            options[name] = pick(st.sampled_from(values))
    if options.get("family") == "control":
        options["control"] = pick(st.sampled_from(names))
    check_same(*made, design, rule=rule, **options)


def test_a_generator_is_drawn_from_table_by_table():
    losses = np.random.default_rng(2).exponential(1.0, (3, 3, 25, 1, 1, 1))
    asked = {"test": "signed-rank-bayes", "prefer": "listed", "test_options": {"samples": 500}}
    one_by_one, at_once = np.random.default_rng(9), np.random.default_rng(9)
    decisions = [bk.compare_scores(one, random_state=one_by_one, **asked) for one in losses]
    assert_same(order_many(losses, random_state=at_once, **asked), decisions)


def test_a_function_as_test_is_called_once():
    calls = []

    def test(a, b, alternative):
        calls.append(np.shape(a))
        return corrected_repeated_kfold_t(a, b, alternative=alternative)

    losses = np.random.default_rng(1).random((50, 4, 1, 10))
    order_many(losses, test=test, prefer="listed")
    assert [np.prod(shape[:-2]) for shape in calls] == [50 * 6]


def test_a_rule_without_a_rule_for_many_is_asked_table_by_table(monkeypatch):
    from dataclasses import replace

    losses = np.random.default_rng(4).random((5, 3, 8)) + np.array([0.5, 0.0, 0.3])[:, None]
    expected = order_many(losses, prefer="listed", rule="most-wins")
    entries = {**RULES._entries, "most-wins": replace(RULES["most-wins"], many="")}
    monkeypatch.setattr(RULES, "_entries", entries)
    found = order_many(losses, prefer="listed", rule="most-wins")
    assert (found.ranking == expected.ranking).all()
    assert (found.claims == expected.claims).all()


@pytest.mark.parametrize(
    ("losses", "options", "words"),
    [
        (np.zeros((3, 4)), {}, "losses must have at least 3 axes"),
        (np.zeros((0, 3, 4)), {}, "at least one table"),
        (np.zeros((2, 3, 4, 5, 6)), {}, "got shape \\(2, 3, 4, 5, 6\\)"),
        (np.full((2, 3, 4), np.nan), {}, "losses must be finite; got nan"),
        (np.zeros((2, 3, 4)), {"learners": "ab"}, "learners must name 3 learners; got 2"),
        (np.zeros((2, 3, 4)), {"rule": "test-first", "margin": 1.0}, "margin does not apply"),
    ],
)
def test_refusals(losses, options, words):
    with pytest.raises(ArgumentError, match=words):
        order_many(losses, **options)


def test_by_hand():
    """Fig. 2 of Yildiz and Alpaydin (2006) and the same learners without any difference."""
    noise = np.random.default_rng(0).normal(0, 1e-3, (4, 5, 2))
    clear = np.array([0.4, 0.3, 0.2, 0.3])[:, None, None] + noise
    stack = np.stack([clear, np.full((4, 5, 2), 0.25)])
    found = order_many(stack, prefer="listed", test="5x2cv-f", rule="multitest")
    assert found.ranking.tolist() == [[2, 1, 3, 0], [0, 1, 2, 3]]
    assert multitest(clear, test="5x2cv-f").ranking == (2, 1, 3, 0)
    edges = [[0, 1], [0, 2], [0, 3], [1, 2]]
    assert np.argwhere(found.edges[0]).tolist() == edges
    assert not found.claims[1].any()
    best = order_many(stack, prefer="listed", test="5x2cv-f")
    assert best.candidates.tolist() == [[False, False, True, False], [True] * 4]
    assert best.recommended.tolist() == [2, 0]
