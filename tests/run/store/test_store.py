"""The same tests for stores in memory, SQLite and PostgreSQL."""

import dataclasses
import math
import struct
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from bestofk._base.errors import ArgumentError, StoreError, UnknownNameError
from bestofk.run.cells import FAILURE_KINDS, CellResult, Failure
from bestofk.run.experiment import NamedLearner
from bestofk.run.store.store import open_store
from bestofk.run.store.stored_study import study_of

HARD_FLOATS = [
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 1.0, -1.0,
    1 / 3, 2.0**53 + 2, 9007199254740993.0, 1e300, 123456789012345678.0, math.inf, -math.inf,
    math.nextafter(1.0, 2.0), math.pi * 1e-200,
]  # fmt: skip
HARD_TEXTS = [
    "plain", "", "'; DROP TABLE bestofk_cells; --", '"quo\'tes"', "line\nbreak\r\ttab",
    "<script>alert(1)</script>", "back\\slash \\u0041 \\x00", "NUL \0 inside", "lone \ud800 half",
    "\u540d\u524d \U0001f333 e\u0301 \u202e", "%(digest)s %s ? :name {x}", "x" * 100_000,
]  # fmt: skip


def bits(value):
    return struct.pack("<d", value)


def stored(store, result):
    return store.get([result.key])[result.key.digest]


def test_a_new_store_is_empty(store, make_cell):
    assert store.get([make_cell(1).key]) == {}
    assert store.get([]) == {}
    assert store.n_cells() == 0
    assert store.studies() == ()
    with pytest.raises(StoreError, match="has no studies"):
        store.study(1)


def test_floats_keep_all_bits(lasting_url, make_cell):
    written = [
        make_cell(number, value, fit_time=value, predict_time=-value)
        for number, value in enumerate(HARD_FLOATS)
    ]
    with open_store(lasting_url) as store:
        store.put(written)
    with open_store(lasting_url) as store:
        results = store.get([result.key for result in written])
    for result in written:
        back = results[result.key.digest]
        for name in ("loss", "fit_time", "predict_time"):
            assert type(getattr(back, name)) is float
            assert bits(getattr(back, name)) == bits(getattr(result, name)), name


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    loss=st.floats(allow_nan=False),
    fit_time=st.none() | st.floats(min_value=0, allow_nan=False),
    size=st.none() | st.integers(0, 2**63 - 1),
    n_train=st.none() | st.integers(0, 2**63 - 1),
    warnings=st.lists(st.text(), max_size=3).map(tuple),
    predictions=st.none() | st.binary(max_size=50),
    loss_name=st.text(max_size=20),
    reason=st.none() | st.text(st.characters(), max_size=30),
    kind=st.sampled_from(FAILURE_KINDS),
)
def test_every_field_is_kept(store, make_cell, loss, reason, kind, loss_name, **fields):
    failed = {} if reason is None else {"failure": Failure(kind=kind, reason=reason)}
    result = make_cell(store.n_cells(), loss, loss_name=loss_name, **failed, **fields)
    if store.get([result.key]):
        return
    store.put([result])
    back = stored(store, result)
    assert back == result
    if reason is None:
        assert bits(back.loss) == bits(loss)


@pytest.mark.parametrize("text", HARD_TEXTS, ids=range(len(HARD_TEXTS)))
def test_any_text_is_kept(store, make_cell, text):
    failed = make_cell(
        1, loss_name=text, failure=Failure(kind="raised", reason=text), warnings=(text, "second")
    )
    store.put([failed])
    assert stored(store, failed) == failed


def test_missing_values_are_none_and_not_zero(store, make_cell):
    bare = make_cell(3)
    store.put([bare])
    back = stored(store, bare)
    assert back == bare
    for name in ("failure", "fit_time", "predict_time", "size", "n_train", "n_test", "predictions"):
        assert getattr(back, name) is None
    assert back.warnings == ()


def test_empty_predictions_are_not_missing_ones(store, make_cell):
    empty = make_cell(3, predictions=b"")
    store.put([empty])
    assert stored(store, empty).predictions == b""


def test_predictions_are_optional(lasting_url, make_cell):
    result = make_cell(3, predictions=bytes(range(256)))
    with open_store(lasting_url) as store:
        store.put([result])
        assert stored(store, result) == result
        without = store.get([result.key], predictions=False)[result.key.digest]
        assert without == dataclasses.replace(result, predictions=None)


def test_only_requested_cells_are_returned(store, make_cell):
    store.put([make_cell(number) for number in range(5)])
    keys = [make_cell(number).key for number in (3, 4, 5, 3)]
    assert set(store.get(keys)) == {make_cell(3).key.digest, make_cell(4).key.digest}


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset": "e" * 64},
        {"learner": "a1b3"},
        {"splits": "6:c0ffee"},
        {"loss": "brier"},
        {"run": 1},
        {"fold": 4},
        {"repetition": 1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_cells_with_other_keys_are_never_returned(store, make_cell, changes):
    store.put([make_cell(3)])
    other = dataclasses.replace(make_cell(3).key, **changes)
    assert store.get([other]) == {}


def test_a_loss_never_changes(store, make_cell):
    store.put([make_cell(3, 0.25)])
    store.flush()
    store.put([make_cell(3, 0.5), make_cell(3, failure=Failure(kind="raised", reason="no"))])
    assert stored(store, make_cell(3)).loss == 0.25
    assert store.n_cells() == 1


@pytest.mark.parametrize("flush", [True, False], ids=["stored", "waiting"])
def test_a_later_result_replaces_a_failure(store, make_cell, flush):
    first = make_cell(3, failure=Failure(kind="timeout", reason="60 s"))
    second = make_cell(3, failure=Failure(kind="memory", reason="8 GB"))
    last = make_cell(3, 0.125, fit_time=2.0)
    for result in (first, second, last):
        store.put([result])
        if flush:
            store.flush()
            assert stored(store, result) == result
    assert stored(store, last) == last
    assert store.n_cells() == 1


@pytest.mark.parametrize("flush", [True, False], ids=["stored", "waiting"])
def test_predictions_are_added_to_a_loss_that_had_none(store, make_cell, flush):
    store.put([make_cell(3, 0.25)])
    if flush:
        store.flush()
    richer = make_cell(3, 0.25, predictions=b"abc")
    store.put([richer])
    if flush:
        store.flush()
    store.put([make_cell(3, 0.25, predictions=b"later"), make_cell(3, 0.25)])
    assert stored(store, richer) == richer


def test_values_that_are_not_cells_are_refused(store, make_cell):
    with pytest.raises(ArgumentError, match="the loss of a cell must be a number, or a failure"):
        store.put([make_cell(1), make_cell(2, math.nan)])
    with pytest.raises(ArgumentError, match="results must be cells; got 0"):
        store.put([0])
    assert store.n_cells() == 0


def test_results_may_come_from_a_generator(store, make_cell):
    results = [make_cell(number) for number in range(3)]
    before = list(results)
    store.put(result for result in results)
    assert results == before
    assert store.n_cells() == 3


def test_a_closed_store_raises(store_url, make_cell):
    store = open_store(store_url)
    store.put([make_cell(1)])
    store.close()
    store.close()
    for use in (lambda: store.put([make_cell(2)]), store.flush, lambda: store.get([])):
        with pytest.raises(StoreError, match="The store is closed"):
            use()


def test_many_cells_at_once(lasting_url, make_cell):
    cells = [make_cell(number, number / 7) for number in range(9_000)]
    with open_store(lasting_url) as store:
        store.put(cells)
        results = store.get([cell.key for cell in cells])
    assert len(results) == 9_000
    assert all(results[cell.key.digest].loss == cell.loss for cell in cells)


def test_large_predictions_are_written_in_portions(lasting_url, make_cell):
    cells = [make_cell(number, predictions=bytes([number]) * (6 << 20)) for number in range(7)]
    with open_store(lasting_url) as store:
        store.put(cells)
        results = store.get([cell.key for cell in cells])
    assert [results[cell.key.digest] for cell in cells] == cells


def test_a_result_is_committed_within_a_second_without_another_call(lasting_url, make_cell):
    with open_store(lasting_url) as writer, open_store(lasting_url) as reader:
        for number in range(3):
            writer.put([make_cell(number)])
        deadline = time.monotonic() + 10
        while reader.n_cells() < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert reader.n_cells() == 3


def test_results_before_an_exception_are_kept(lasting_url, make_cell):
    with pytest.raises(ZeroDivisionError), open_store(lasting_url) as store:  # noqa: PT012
        store.put([make_cell(1)])
        raise ZeroDivisionError
    with open_store(lasting_url) as store:
        assert store.n_cells() == 1


def test_a_store_that_nobody_closes_writes_at_the_end(tmp_path, fork_server):
    path = tmp_path / "study.db"
    script = """
import sys, warnings
warnings.simplefilter("error")
from bestofk.run.cells import CellKey, CellResult
from bestofk.run.experiment import NamedLearner
from bestofk.run.store.store import open_store
key = CellKey(dataset="d", learner="l", splits="s", loss="x", run=0, fold=0, repetition=0)
store = open_store(sys.argv[1])
store.put([CellResult(key=key, loss=0.5)])
"""
    done = fork_server.run(["-c", script, path])
    assert (done.returncode, done.stderr) == (0, "")
    with open_store(path) as store:
        assert store.n_cells() == 1


def test_several_threads_fill_one_store(store, make_cell):
    def fill(start):
        for number in range(start, 900, 3):
            store.put([make_cell(number)])

    threads = [threading.Thread(target=fill, args=(start,)) for start in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.n_cells() == 900


@pytest.mark.needs("posix", "it tests a fork")
def test_a_fork_leaves_the_store_of_its_parent_alone(lasting_url, fork_server):
    script = """
import os, sys
from bestofk._base.errors import StoreError
from bestofk.run.cells import CellKey, CellResult
from bestofk.run.experiment import NamedLearner
from bestofk.run.store.store import open_store

def cell(fold):
    key = CellKey(dataset="d", learner="l", splits="s", loss="x", run=0, fold=fold, repetition=0)
    return CellResult(key=key, loss=0.5)

store = open_store(sys.argv[1])
store.put([cell(0)])
if os.fork() == 0:
    try:
        store.put([cell(1)])
    except StoreError as said:
        print(said)
    sys.exit(0)
os.wait()
store.put([cell(2)])
store.close()
"""
    done = fork_server.run(["-c", script, lasting_url])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "A store cannot be used in a fork of the process that opened it.\n"
    with open_store(lasting_url) as store:
        assert store.n_cells() == 2


def test_a_study_keeps_its_number(store, experiment):
    first = store.register(study_of(experiment, title="first"))
    other = study_of(experiment, title="again", command=["bestofk", "compare"])
    assert store.register(other) == first
    more = dataclasses.replace(other, repetitions=3)
    assert store.register(more) == first + 1
    assert [study.id for study in store.studies()] == [first, first + 1]
    assert store.study(first + 1).spec == more
    with pytest.raises(UnknownNameError, match="There is no study '77'"):
        store.study(77)


class Strange:
    """A learner with a useless repr."""

    def __init__(self, text):
        self.text = text

    def get_params(self, deep=True):
        return {}

    def __repr__(self):
        if self.text is None:
            raise RuntimeError("no text")
        return self.text


def test_the_text_of_a_learner_does_not_make_another_study(store, experiment):
    specs = [
        study_of(
            dataclasses.replace(
                experiment, learners=(NamedLearner.of("a", Strange(text)), *experiment.learners)
            )
        )
        for text in ("<Strange at 0x1>", "<Strange\n at 0x2>", None, "x" * 10_000)
    ]
    assert len({store.register(spec) for spec in specs}) == 1
    assert specs[1].learners[0].settings == "<Strange at 0x2>"
    assert specs[2].learners[0].settings.endswith("Strange")
    assert len(specs[3].learners[0].settings) == 2000


def test_a_study_is_kept_completely(lasting_url, experiment):
    title = "".join(text for text in HARD_TEXTS if "\ud800" not in text)[:300]
    spec = study_of(experiment, title=title, command=["bestofk", "compare", "\u540d \0"])
    with open_store(lasting_url) as store:
        number = store.register(spec)
    with open_store(lasting_url) as store:
        study = store.study(number)
    assert study.spec == spec
    assert study.created.endswith("+00:00")
    assert [learner.name for learner in study.spec.learners] == [
        learner.name for learner in experiment.learners
    ]
    assert study.spec.versions["numpy"]
    assert study.spec.learners[1].settings == "DecisionTreeClassifier(max_depth=1)"
    assert [(data.rows, data.columns) for data in study.spec.datasets] == [(30, 3), (20, 3)]


def test_the_tally_of_a_study_counts_every_name(store, experiment, evaluated):
    spec = study_of(experiment)
    store.register(spec)
    assert spec.n_cells == experiment.n_cells
    assert store.tally(spec).missing == experiment.n_cells
    results = evaluated()
    # two of the four learners are equal, so a quarter of the names share their cells
    assert len(results) == experiment.n_cells * 3 // 4
    lone = experiment.learners[1].fingerprint
    failed, done = [], []
    for result in results:
        if result.key.learner == lone and result.key.repetition == 1:
            reason = "fold 0" if result.key.fold == 0 else "other fold"
            failed.append(
                CellResult(key=result.key, loss=None, failure=Failure(kind="raised", reason=reason))
            )
        else:
            done.append(result)
    store.put(done[1:])
    store.put(failed)
    tally = store.tally(spec)
    shared = 2 if done[0].key.learner == experiment.learners[0].fingerprint else 1
    names = {experiment.learners[1].name}
    assert tally.cells == experiment.n_cells
    assert tally.failed == len(failed)
    assert tally.missing == shared
    assert tally.done == experiment.n_cells - len(failed) - shared
    assert tally.seconds == pytest.approx(0.375 * tally.done)
    assert {failure.learner for failure in tally.failures} == names
    first_folds = sum(result.key.fold == 0 for result in failed)
    counts = {failure.reason: failure.count for failure in tally.failures}
    assert counts == {"fold 0": first_folds, "other fold": len(failed) - first_folds}
    assert tally.failures[0].count >= tally.failures[1].count
    sentence = tally.explain()
    assert f"{tally.done} of {tally.cells} fits have a loss, {len(failed)} failed" in sentence


def test_cells_of_other_studies_are_not_counted(store, experiment, evaluated, make_cell):
    spec = study_of(experiment)
    store.put(evaluated())
    full = store.tally(spec)
    assert (full.done, full.failed, full.missing) == (spec.n_cells, 0, 0)
    fewer = dataclasses.replace(spec, repetitions=1, learners=spec.learners[1:3])
    assert store.tally(fewer).done == fewer.n_cells
    first_run = tuple(
        dataclasses.replace(
            data, splits=data.splits[:1], folds=data.folds if spec.kind == "cv" else 1, runs=1
        )
        for data in spec.datasets
    )
    assert store.tally(dataclasses.replace(spec, datasets=first_run)).missing == 0
    assert store.tally(dataclasses.replace(spec, loss="brier")).done == 0
    store.put([make_cell(number) for number in range(30)])
    assert store.tally(spec) == full


def test_cells_of_a_study_are_found_by_index(store, experiment, evaluated):
    spec = study_of(experiment)
    results = {result.key.digest: result for result in evaluated()}
    store.put(results.values())
    cells = {}
    for batch, indices in store.batches_of(spec):
        for row, dataset, learner in indices:
            key = batch.key(row, spec.loss)
            cells[learner, dataset, key.run, key.fold, key.repetition] = batch.result(row, key)
    assert len(cells) == experiment.n_cells
    for cell in experiment.cells():
        indices = (cell.learner, cell.dataset, cell.run, cell.fold, cell.repetition)
        assert cells[indices] == results[experiment.key(cell).digest]


def test_the_repr_names_the_store(store):
    assert repr(store).endswith(f"({store.shown_url!r})")
