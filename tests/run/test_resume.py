"""Stored cells are never computed again, however the run ended."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk.data import read_data

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit the path
import strange_learners as strange

SERIAL = bk.Execution(engine="serial", progress=False)

X = np.random.default_rng(2).normal(size=(48, 3))
Y = np.tile(["a", "b", "c"], 16)


def fits(log):
    return Counter(log.read_text().split()) if log.exists() else Counter()


@pytest.fixture
def counted(tmp_path):
    """`counted(...)` returns a study and how often each learner was fitted for it."""
    log, store = tmp_path / "fits", tmp_path / "study.db"

    def go(names, datasets=None, *, settings=None, repetitions=1, **options):
        before = fits(log)
        learners = {
            name: strange.Counted(log=str(log), tag=name, **(settings or {})) for name in names
        }
        datasets = datasets or {"d": (X, Y)}
        data = [read_data(*one, name=name) for name, one in datasets.items()]
        options = {"cv": "2x3", "random_state": 4, **options}
        study = bk.compare(
            learners,
            data,
            store=store,
            progress=False,
            **options,
            execution=bk.Execution(engine="serial", repetitions=repetitions),
        )
        return study, dict(fits(log) - before)

    return go


def test_only_what_is_missing_is_computed(counted):
    first, done = counted("ab")
    assert done == {"a": 6, "b": 6}
    again, done = counted("ab")
    assert done == {}
    np.testing.assert_array_equal(again.scores.losses, first.scores.losses)

    more, done = counted("cab")
    assert done == {"c": 6}
    np.testing.assert_array_equal(more.scores.losses[1:], first.scores.losses)

    longer, done = counted("ab", cv="5x3")
    assert done == {"a": 9, "b": 9}
    np.testing.assert_array_equal(longer.scores.losses[:, :, :2], first.scores.losses)

    other = {"d": (X, Y), "e": (X + 1.0, Y)}
    both, done = counted("ab", other)
    assert done == {"a": 6, "b": 6}
    np.testing.assert_array_equal(both.scores.losses[:, :1], first.scores.losses)

    repeated, done = counted("ab", repetitions=3)
    assert done == {"a": 12, "b": 12}
    np.testing.assert_array_equal(repeated.scores.losses[..., :1], first.scores.losses)


def test_a_data_set_is_identified_by_its_content_not_its_name(counted):
    first, _ = counted("ab", {"one name": (X, Y)})
    renamed, done = counted("ab", {"another": (X.copy(), Y.copy())})
    assert done == {}
    np.testing.assert_array_equal(renamed.scores.losses, first.scores.losses)


def one_cell_changed():
    changed = X.copy()
    changed[17, 1] = np.nextafter(changed[17, 1], np.inf)
    return changed, Y


def one_label_changed():
    return X, np.array([*Y[:-1], "a"])


def rows_swapped():
    return X[::-1], Y[::-1]


@pytest.mark.parametrize("data", [one_cell_changed, one_label_changed, rows_swapped])
def test_changed_data_are_detected(counted, data):
    counted("ab")
    _, done = counted("ab", {"d": data()})
    assert done == {"a": 6, "b": 6}


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"nap": 1e-6}},
        {"random_state": 5},
        {"cv": "2x4"},
        {"scoring": "balanced_accuracy"},
    ],
)
def test_changed_settings_are_detected(counted, change):
    counted("ab")
    _, done = counted("ab", **change)
    runs_of = 8 if change.get("cv") == "2x4" else 6
    assert done == {"a": runs_of, "b": runs_of}


def test_a_stopped_run_resumes(tmp_path):
    log = tmp_path / "fits"
    learners = {
        "once": strange.FailsOnce(log=str(tmp_path / "mark")),
        "c": strange.Counted(log=str(log), tag="c"),
    }
    options = {"cv": "2x3", "store": tmp_path / "s.db", "execution": SERIAL}
    with pytest.raises(bk.BestOfKError, match="once failed on 'data'"):
        bk.compare(
            learners,
            X,
            Y,
            **{**options, "execution": bk.Execution(engine="serial", on_failure="stop")},
        )
    study = bk.compare(learners, X, Y, **options)
    assert fits(log) == {"c": 6}
    assert study.scores.learners == ("c",)  # failures are stored
