"""Invariants of every registered rule; new entries are covered automatically."""

import json

import numpy as np
import pytest

import bestofk as bk
from bestofk.decide.registry import RULES

ENTRIES = [
    pytest.param(entry, id=entry.name) for entry in RULES.values() if entry.takes == "losses"
]
NAMES = ("tree", "bayes", "mean", "forest")


def table(names=NAMES, unit=1.0):
    """Four learners with unsorted means; two of them close."""
    rng = np.random.default_rng(5)
    means = np.array([0.30, 0.12, 0.21, 0.205])[:, None, None]
    values = means + 0.04 * rng.normal(size=(4, 4, 5))
    places = [NAMES.index(name) for name in names]
    return bk.Scores(unit * values[places], learners=list(names))


def decide(entry, losses, unit=1.0, prefer=NAMES):
    asked = {"margin": 0.02 * unit} if "margin" in entry.options else {}
    return bk.compare_scores(losses, rule=entry.name, prefer=list(prefer), **asked)


@pytest.mark.parametrize("entry", ENTRIES)
def test_it_decides_by_its_name_and_says_why(entry):
    decision = decide(entry, table())
    assert decision.decision.rule == entry.name
    assert {decision.recommended} <= {None, *NAMES}
    assert len(set(decision.decision.ranking)) == len(decision.decision.ranking)
    assert set(decision.decision.ranking) <= set(NAMES)
    assert decision.headline
    assert decision.explain()
    json.dumps(decision.to_dict(), allow_nan=False)


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_order_of_the_rows_does_not_matter(entry):
    one, other = decide(entry, table()), decide(entry, table(NAMES[::-1]))
    assert (one.recommended, one.decision.ranking) == (other.recommended, other.decision.ranking)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("unit", [100.0, 2.0**-20])
def test_the_unit_of_the_loss_does_not_matter(entry, unit):
    one, other = decide(entry, table()), decide(entry, table(unit=unit), unit)
    assert (one.recommended, one.decision.ranking) == (other.recommended, other.decision.ranking)


@pytest.mark.parametrize("entry", ENTRIES)
def test_losses_are_never_written_and_decisions_repeat(entry):
    losses = table()
    before = losses.values.copy()
    first, second = decide(entry, losses), decide(entry, losses)
    np.testing.assert_array_equal(losses.values, before)
    assert first.explain() == second.explain()


@pytest.mark.parametrize("entry", [pytest.param(e, id=e.name) for e in RULES.values()])
def test_its_entry_is_complete(entry):
    assert entry.summary
    assert not entry.summary.endswith(".")
    assert entry.paper
    assert entry.title[:1].isupper()
    assert entry.called
    assert entry.load().__doc__.strip()
