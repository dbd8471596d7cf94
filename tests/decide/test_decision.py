"""Settings of a decision: validated, written and read back."""

import json
import re
from dataclasses import fields
from functools import partial

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.decide import Settings, StoredTest, decide
from bestofk.decide.preference import MeasuredCosts
from bestofk.decide.registry import RULES
from bestofk.decide.settings import check_learners, given_options, with_changes

CALIBRATION = bk.stats.pairwise.Calibration(
    test="use-all-data", alpha=0.05, alternative="two-sided", df=9, df_low=7, df_high=12,
    critical_value=None, critical_low=None, critical_high=None, type1=0.05, type1_low=0.04,
    type1_high=0.06, type1_default=0.2, default_df=99.0, sets=1000, seed=0, level=0.95,
    design="10 runs of 10-fold cross-validation", runs=10, folds=10, learners=("nb", "c4.5"),
    problem="binary", mean_difference=0.0, standard_error=0.01,
)  # fmt: skip


def a_test(a, b, *, alternative="two-sided"):
    """A test of the caller's."""


GIVEN = [
    {},
    {"prefer": "listed", "family": "preference", "alpha": 0.01, "rule": "multitest"},
    {"prefer": ["b", "a"], "correction": "bonferroni", "margin": 0.5},
    {"family": "control", "control": 2, "rule": "multitest"},
    {"prefer": np.array([1, 0]), "family": "control", "control": np.int64(2),
     "rule": "multitest"},
    {"prefer": {"a": 1, "b": 2.5}, "rope": 0.1, "missing": "drop"},
    {"prefer": {0: 3, 1: 2}, "random_state": None},
    {"prefer": "fit_time", "margin": 1},
    {"prefer": MeasuredCosts(what="complexity", costs={"a": 3.0, "b": 70.5})},
    {"test": "use-all-data", "test_options": {"df": 10}, "random_state": 7},
    {"test": "use-all-data", "test_options": {"df": 7.5}},
    {"test": "use-all-data", "test_options": {"df": "calibrated"}},
    {"test": "use-all-data", "test_options": {"df": CALIBRATION}},
    {"test": "permutation", "test_options": {"resamples": 99}},
    {"rule": "most-wins", "correction": "shaffer"},
    {"rule": "anova-choice", "alpha": 0.2},
]  # fmt: skip


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_written_down_and_read_back(given):
    asked = Settings(**given)
    text = json.dumps(asked.to_dict(), allow_nan=False)
    assert Settings.from_dict(json.loads(text)) == asked
    # options of a later version are left out
    assert Settings.from_dict({**json.loads(text), "flavour": "mild"}) == asked
    assert set(asked.to_dict()) == {one.name for one in fields(Settings)}
    assert set(given_options(asked)) == set(given)
    assert Settings(**given_options(asked)) == asked
    assert "  " not in asked.describe()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rule": "magic"}, "There is no rule 'magic'"),
        ({"rule": "roc-hull"}, "decides from scores, not from losses"),
        ({"test": "kfold"}, "There is no pairwise test 'kfold'"),
        ({"test": 3}, "test must be the name of a test or a function; got 3"),
        ({"alpha": 0}, "alpha must be strictly between 0 and 1"),
        ({"alpha": "much"}, "alpha must be a number between 0 and 1"),
        ({"correction": "sidak"}, "correction must be one of"),
        ({"family": "some"}, "family must be one of 'all', 'preference', 'control'; got 'some'"),
        ({"control": "a"}, "control applies to family='control'"),
        ({"margin": 0}, "margin must be a number above 0"),
        ({"rope": -1}, "rope must be a number of at least 0"),
        ({"test_options": {"df": -3}}, "df must be a number above 0"),
        ({"test_options": {"df": "nowhere.json"}}, "There is no file 'nowhere.json'"),
        ({"missing": "ignore"}, "missing must be one of 'refuse', 'drop'"),
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"prefer": "price"}, "prefer must be one of 'listed', 'fit_time'"),
        ({"prefer": 3}, "prefer must be a list of learners"),
        ({"prefer": {"a": "cheap"}}, "prefer must give a number for 'a'; got 'cheap'"),
        ({"rule": "anova-choice", "margin": 0.1}, "margin does not apply to rule"),
        ({"rule": "anova-choice", "test": "sign"}, "test does not apply to rule"),
        ({"rule": "test-first", "family": "all"}, "family does not apply to rule"),
    ],
)
def test_settings_refuse_invalid_values(given, words):
    with pytest.raises(bk.BestOfKError, match=re.escape(words)):
        Settings(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prefer": ["a", "c"]}, "'c', which is not one of the learners: a, b"),
        ({"prefer": ["a", "a"]}, "prefer names 'a' twice"),
        ({"prefer": {"a": 1}}, "prefer must give a price for each of them; got none for 'b'"),
        ({"family": "control", "control": "aa"}, "There is no learner 'aa'"),
    ],
)
def test_decisions_refuse_settings_that_do_not_fit_the_losses(given, words):
    with pytest.raises(bk.BestOfKError, match=re.escape(words)):
        check_learners(Settings(**given), ["a", "b"])


def test_settings_that_json_cannot_hold_are_refused():
    with pytest.raises(ArgumentError, match="random_state must be a whole number"):
        Settings(random_state=np.random.default_rng(0)).to_dict()
    with pytest.raises(ArgumentError, match="weights must be a number or a word"):
        Settings(test_options={"weights": np.zeros(3)}).to_dict()


def test_a_test_of_the_callers_is_known_by_name():
    held = StoredTest.of(a_test)
    assert held.name.endswith("test_decision.a_test")
    read = Settings.from_dict(json.loads(json.dumps(Settings(test=a_test).to_dict())))
    assert read.test == held
    assert StoredTest.of(partial(a_test, alternative="less")) == held
    with pytest.raises(ArgumentError, match=r"a function of yours.*give the function again"):
        decide(np.random.default_rng(0).random((2, 8)), read)


@pytest.mark.parametrize("old", [name for name, one in RULES.items() if one.takes == "losses"])
@pytest.mark.parametrize("new", [name for name, one in RULES.items() if one.takes == "losses"])
def test_the_rule_can_always_be_changed(old, new):
    values = {"correction": "shaffer", "margin": 0.1, "rope": 0.1, "family": "all"}
    entry = RULES[old]
    given = {name: value for name, value in values.items() if name in entry.options}
    given |= {"test": "use-all-data", "test_options": {"df": 9}} if entry.takes_test else {}
    changed = with_changes(Settings(prefer="listed", rule=old, alpha=0.1, **given), rule=new)
    assert (changed.rule, changed.alpha, changed.prefer) == (new, 0.1, "listed")
    if old == new:
        assert changed == Settings(prefer="listed", rule=old, alpha=0.1, **given)


def test_changes():
    asked = Settings(
        family="control", control="a", test="use-all-data", test_options={"df": 9}, alpha=0.1
    )
    assert with_changes(asked) == asked
    assert with_changes(asked, control="b").control == "b"
    assert with_changes(asked, family=None) == Settings(
        rule="multitest", test="use-all-data", test_options={"df": 9}, alpha=0.1
    )
    assert with_changes(asked, test="wilcoxon").test_options == {}
    assert with_changes(asked, test="runs", test_options={"df": 4}).test_options == {"df": 4}
    shaffer = Settings(correction="shaffer")
    assert with_changes(shaffer, family="preference", prefer="listed").correction is None
    assert with_changes(Settings(margin=0.1), family="all") == Settings(family="all")
    with pytest.raises(UnknownNameError, match="did you mean 'margin'"):
        with_changes(asked, margins=1)
