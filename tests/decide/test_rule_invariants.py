"""Invariants of every registered rule; new entries are covered automatically."""

import pytest

from bestofk.decide.registry import RULES
from bestofk.testing import check_rule


@pytest.mark.parametrize("name", [e.name for e in RULES.values() if e.takes == "losses"])
def test_every_entry_passes_the_checks_for_plugins(name):
    check_rule(name)


@pytest.mark.parametrize("entry", [pytest.param(e, id=e.name) for e in RULES.values()])
def test_its_entry_is_complete(entry):
    assert entry.summary
    assert not entry.summary.endswith(".")
    assert entry.paper
    assert entry.title[:1].isupper()
    assert entry.called
    assert entry.load().__doc__.strip()
