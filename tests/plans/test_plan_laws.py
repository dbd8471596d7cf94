"""Laws that every registered plan obeys; a new entry is covered on its first day."""

import pickle

import numpy as np
import pytest

from bestofk.plans import PLANS, plan

ENTRIES = [pytest.param(entry, id=entry.name) for entry in PLANS.values()]
N = 43
Y = np.array(["a", "b", "b"])[np.arange(N) % 3]


def splits(entry, seed=3):
    return plan(entry.example, random_state=seed).materialise(N, Y)


@pytest.mark.parametrize("entry", ENTRIES)
def test_its_example_is_understood_and_written_back(entry):
    made = plan(entry.example, random_state=7)
    assert made.kind == entry.kind
    assert plan(made.spec, random_state=7) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert made.explain()
    assert made.materialise(N, Y).design.kind == entry.kind


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_row_trains_and_tests_at_once(entry):
    for _, _, train, test in splits(entry):
        assert len(train)
        assert len(test)
        assert not set(train.tolist()) & set(test.tolist())
        assert set(train.tolist()) | set(test.tolist()) <= set(range(N))


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_same_seed_gives_the_same_splits(entry):
    one, other = list(splits(entry)), list(splits(entry))
    assert len(one) == len(other)
    for first, second in zip(one, other, strict=True):
        assert first[:2] == second[:2]
        np.testing.assert_array_equal(first[2], second[2])
        np.testing.assert_array_equal(first[3], second[3])


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.values[0].kind in ("cv", "loo")])
def test_every_row_is_tested_once_per_run(entry):
    made = splits(entry)
    tested = np.zeros((made.runs, N), dtype=int)
    for run, _, _, test in made:
        if run < made.runs:
            tested[run, test] += 1
    assert (tested == 1).all()


@pytest.mark.parametrize("entry", ENTRIES)
def test_its_entry_is_complete(entry):
    assert entry.summary
    assert not entry.summary.endswith(".")
    assert entry.paper
    assert entry.pattern
