"""The same tests for stores in memory, SQLite and PostgreSQL."""

import math
import sqlite3
import struct
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import bestofk as bk
from bestofk._base.errors import StoreError, UnknownNameError
from bestofk.run.cells import FAILURE_KINDS, Failure
from bestofk.run.live import Live
from bestofk.run.record import StoredDecision
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))
from made_cells import RECORD, fields, found, made_record, make_cell

SERIAL = bk.Execution(engine="serial", progress=False)

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


def test_floats_keep_all_bits(lasting_url):
    written = [make_cell(number, value) for number, value in enumerate(HARD_FLOATS)]
    with open_store(lasting_url) as store:
        store.put(RECORD, written)
    with open_store(lasting_url) as store:
        back = store.find(RECORD, {RECORD.key(cell): cell for cell in written})
    for cell in written:
        loss = back[RECORD.key(cell)].loss
        assert type(loss) is float
        assert bits(loss) == bits(cell.loss)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    loss=st.floats(allow_nan=False),
    fit_time=st.none() | st.floats(min_value=0, allow_nan=False),
    size=st.none() | st.integers(0, 2**63 - 1),
    predictions=st.none() | st.binary(max_size=50),
    metric=st.text(max_size=20),
    reason=st.none() | st.text(st.characters(), max_size=30),
    kind=st.sampled_from([kind for kind in FAILURE_KINDS if kind != "timeout"]),
)
def test_every_field_is_kept(store, loss, reason, kind, metric, **more):
    failure = Failure(kind=kind, reason=reason or "", detail="numpy")
    score = loss if reason is None else failure
    record = made_record(metric, f"{metric}2")
    cell = make_cell(store.n_cells(), score, failure, **more)
    store.put(record, [cell])
    assert found(store, [cell], record) == fields([cell])


def test_any_text_is_kept(store):
    for number, text in enumerate(HARD_TEXTS):
        failed = make_cell(number, Failure(kind="raised", reason=text))
        store.put(made_record(text), [failed])
        assert found(store, [failed], made_record(text)) == fields([failed])


def test_only_requested_cells_and_predictions_are_returned(store):
    store.put(RECORD, [make_cell(number, predictions=b"p") for number in range(5)])
    wanted = [make_cell(number) for number in (3, 4, 5, 3)]
    assert found(store, wanted, predictions=False) == fields([make_cell(3), make_cell(4)])
    for other in (made_record("zero-one", learner="a1b3"), made_record("zero-one", dataset="e")):
        assert found(store, wanted, other) == []


def test_a_key_depends_on_everything_but_the_metric(live):
    record, cell = live.record, next(live.record.cells())
    assert record.key(cell) == replace(record, metric_keys=("brier",)).key(cell)
    changes = [{name: 1} for name in ("run", "fold", "repetition", "dataset", "learner")]
    keys = {record.key(replace(cell, **change)) for change in changes}
    assert len(keys | {record.key(cell)}) == 6


FAILED = Failure(kind="timeout", reason="60 s", detail="60.0")
# what is stored one after the other, by metric, and what is kept in the end
CHANGES = {
    "a score never changes": ([{"a": 0.25}, {"a": 0.5}, {"a": FAILED}], {"a": 0.25}),
    "a later result replaces a failure": ([{"a": FAILED}, {"a": 0.125}], {"a": 0.125}),
    "other metrics are added": ([{"a": 0.25}, {"a": 0.5, "b": 1.5}], {"a": 0.25, "b": 1.5}),
    "so are their failures": ([{"a": 0.25}, {"b": FAILED}], {"a": 0.25, "b": FAILED}),
    "which are replaced": ([{"a": 0.25, "b": FAILED}, {"b": 2.0}], {"a": 0.25, "b": 2.0}),
}


@pytest.mark.parametrize("flush", [True, False], ids=["stored", "waiting"])
@pytest.mark.parametrize(("steps", "kept"), CHANGES.values(), ids=CHANGES)
def test_one_row_has_the_scores_by_all_metrics(store, steps, kept, flush):
    for scores in steps:
        store.put(made_record(*scores), [make_cell(3, *scores.values())])
        if flush:
            store.flush()
    cell = make_cell(3, *kept.values())
    assert found(store, [cell], made_record(*kept)) == fields([cell])
    assert found(store, [cell], made_record(*kept, "c")) == []
    assert store.n_cells() == 1


@pytest.mark.parametrize("flush", [True, False], ids=["stored", "waiting"])
def test_predictions_are_added_to_a_result_that_had_none(store, flush):
    for more in ({"fit_time": 2.0}, {"predictions": b"abc"}, {"predictions": b"later"}, {}):
        store.put(RECORD, [make_cell(3, **more)])
        if flush:
            store.flush()
    kept = make_cell(3, fit_time=2.0, predictions=b"abc")
    assert found(store, [kept]) == fields([kept])


def test_payloads_are_kept_and_never_change(store):
    values = {str(number): bytes(range(256)) * number for number in range(5)}
    for digest, data in values.items():
        store.put_array(digest, data, kind="test")
    store.flush()
    for _ in range(2):
        store.put_array("4", b"later", kind="test")
        store.put_array("5", b"first", kind="test")
    expected = {**{digest: values[digest] for digest in "403"}, "5": b"first"}
    assert store.get_arrays(["4", "0", "3", "9", "5"]) == expected
    assert (store.n_arrays(), store.n_cells()) == (6, 0)


def test_many_and_large_cells(lasting_url):
    cells = [make_cell(number, number / 7) for number in range(9_000)]
    large = [make_cell(n, predictions=bytes([n % 251]) * (6 << 20)) for n in range(9_000, 9_004)]
    with open_store(lasting_url) as store:
        store.put(RECORD, cells + large)
        store.put_array("x", bytes(20 << 20), kind="k")
    with open_store(lasting_url) as store:
        assert found(store, cells + large) == fields(cells + large)
        assert len(store.get_arrays(["x"])["x"]) == 20 << 20


def test_a_result_is_committed_without_another_call(lasting_url):
    with open_store(lasting_url) as writer, open_store(lasting_url) as reader:
        for number in range(3):
            writer.put(RECORD, [make_cell(number)])
        writer.put_array("1", b"data", kind="k")
        deadline = time.monotonic() + 60
        while reader.n_cells() < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (reader.n_cells(), reader.n_arrays()) == (3, 1)


CELL = f"""
import os, sys, warnings
warnings.simplefilter("error")
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from bestofk._base.errors import StoreError
from bestofk.run.store.store import open_store
from made_cells import RECORD, make_cell

store = open_store(sys.argv[1])
store.put(RECORD, [make_cell(0)])
"""
FORK = """
if os.fork() == 0:
    try:
        store.put(RECORD, [make_cell(1)])
    except StoreError as said:
        print(said)
    sys.exit(0)
os.wait()
store.put(RECORD, [make_cell(2)])
store.close()
"""


def test_a_store_that_nobody_closes_writes_at_the_end(tmp_path, fork_server):
    done = fork_server.run(["-c", CELL, tmp_path / "study.db"])
    assert (done.returncode, done.stderr) == (0, "")
    with open_store(tmp_path / "study.db") as store:
        assert store.n_cells() == 1


@pytest.mark.needs("posix", "it tests a fork")
def test_a_fork_leaves_the_store_of_its_parent_alone(lasting_url, fork_server):
    done = fork_server.run(["-c", CELL + FORK, lasting_url])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "A store cannot be used in a fork of the process that opened it.\n"
    with open_store(lasting_url) as store:
        assert store.n_cells() == 2


# studies


def test_a_study_keeps_its_number(store, live):
    first = store.register(replace(live.record, title="first"))
    other = replace(live.record, title="again", notes=("a note",))
    assert store.register(other) == first
    more = replace(other, repetitions=3)
    assert store.register(more) == first + 1
    assert [study.number for study in store.studies()] == [first, first + 1]
    assert store.study(first + 1).as_json() == more.as_json()
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


def test_the_text_of_a_learner_does_not_make_another_study(store, live):
    records = [
        Live.of({"a": Strange(text), **live.learners}, live.datasets, live.splits,
                live.metrics).record
        for text in ("<Strange at 0x1>", "<Strange\n at 0x2>", None, "x" * 10_000)
    ]  # fmt: skip
    assert len({store.register(record) for record in records}) == 1
    assert records[1].learners[0].settings == "<Strange at 0x2>"
    assert records[2].learners[0].settings.endswith("Strange")
    assert len(records[3].learners[0].settings) == 2000


def test_a_study_is_kept_completely(lasting_url, live):
    title = "".join(text for text in HARD_TEXTS if "\ud800" not in text)[:300]
    command = ("bestofk", "compare", "\u540d \0")
    record = replace(
        live.record, title=title, decisions=(StoredDecision(options={}, command=command),)
    )
    with open_store(lasting_url) as store:
        number = store.register(record)
    with open_store(lasting_url) as store:
        study = store.study(number)
    assert study == replace(record, number=number, created=study.created)
    assert study.created.endswith("+00:00")
    assert study.versions["numpy"]
    assert study.learners[1].settings == "DecisionTreeClassifier(max_depth=1)"
    assert [(data.rows, data.columns) for data in study.datasets] == [(30, 3), (20, 3)]


# damage

X = np.random.default_rng(2).normal(size=(48, 3))
Y = np.tile(["a", "b", "c"], 16)
OPTIONS = {"cv": "2x3", "execution": SERIAL}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "s.db"
    bk.compare(["nmc", "max"], X, Y, store=path, **OPTIONS)
    return path


def changed(compared, folder, statement, *values):
    path = folder / "s.db"
    path.write_bytes(compared.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement, values)
        connection.commit()
    return path


@pytest.mark.parametrize(
    "assignment",
    [
        "payload = x'ff'",
        "payload = replace(payload, '0.', '1.')",
        "checksum = 1",
        "payload = first.payload, checksum = first.checksum FROM "
        "(SELECT payload, checksum FROM bestofk_cells ORDER BY digest LIMIT 1) AS first",
        "run = 'x'",
        "splits = x'ff'",
    ],
)
def test_a_damaged_cell_is_one_error_message(compared, tmp_path, assignment):
    path = changed(compared, tmp_path, f"UPDATE bestofk_cells SET {assignment}")
    with pytest.raises(StoreError, match=r"s\.db: a stored result is damaged: restore a copy"):
        bk.open_study(path)
    if assignment.startswith(("payload", "checksum")):  # a fit is found by its digest alone
        with pytest.raises(StoreError, match="a stored result is damaged"):
            bk.compare(["nmc", "max"], X, Y, store=path, **OPTIONS)


def test_damaged_predictions_and_arrays_are_one_error_message(tmp_path):
    path = tmp_path / "s.db"
    with open_store(path) as store:
        store.put(RECORD, [make_cell(1, predictions=b"abc")])
        store.put_array("a", b"xyz", kind="k")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE bestofk_cells SET predictions = x'61'")
        connection.commit()
    with open_store(path) as store:
        assert found(store, [make_cell(1)], predictions=False)
        for use in (lambda: found(store, [make_cell(1)]), lambda: store.get_arrays(["a"])):
            with pytest.raises(StoreError, match="a stored result is damaged"):
                use()
