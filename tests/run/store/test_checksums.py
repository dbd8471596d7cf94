"""Changed cells of a store are detected, reported and never used."""

import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestofk as bk
from bestofk._base.errors import BestOfKWarning, StoreError
from bestofk.run.cells import CellKey, CellResult, Failure
from bestofk.run.store.cells import rows_of
from bestofk.run.store.checksums import NAMED, checksums, damaged
from bestofk.run.store.payloads import Payload
from bestofk.run.store.schema import cells
from bestofk.run.store.store import open_store

NAMES = [column.name for column in cells.c]
NUMBERS = ("loss", "fit_time", "predict_time", "size", "n_train", "n_test",
           "run", "fold", "repetition")  # fmt: skip


def row_of(result):
    """Return the checked columns of a row."""
    row = dict(zip(NAMES, rows_of([result], "2026-01-01T00:00:00+00:00")[0], strict=True))
    return [row[name] for name in NAMED]


def flipped(value, bit):
    """Return a number with one flipped bit."""
    form = "<d" if isinstance(value, float) else "<q"
    number = int.from_bytes(struct.pack(form, value), "little") ^ (1 << bit)
    return struct.unpack(form, number.to_bytes(8, "little"))[0]


@given(
    numbers=st.tuples(
        st.floats(allow_nan=False), *[st.none() | st.floats(0, 1e6)] * 2,
        *[st.none() | st.integers(0, 2**40)] * 3, *[st.integers(0, 10**6)] * 3,
    ),
    name=st.sampled_from(NUMBERS),
    bit=st.integers(0, 63),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_every_flipped_bit_is_detected(numbers, name, bit):
    given_numbers = dict(zip(NUMBERS, numbers, strict=True))
    key = CellKey(
        dataset="d", learner="l", splits="s", loss="zero-one",
        **{each: given_numbers.pop(each) for each in ("run", "fold", "repetition")},
    )  # fmt: skip
    row = row_of(CellResult(key=key, **given_numbers))
    assert damaged([row]) == []
    index = NAMED.index(name)
    if row[index] is None:
        row[index] = 1.0 if name in NUMBERS[:3] else 1
    else:
        changed = flipped(row[index], bit)
        # below 2^53 a whole number is hashed exactly; NaN cannot be stored
        if changed != changed or (isinstance(changed, int) and abs(changed) > 2**53):
            changed = None
        row[index] = changed
    assert damaged([row]) == [0]


def full(make_cell, number=1, loss=0.25, **more):
    known = {"fit_time": 0.5, "predict_time": 0.25, "size": 77, "n_train": 9, "n_test": 1}
    return make_cell(number, loss, **{**known, "warnings": ("w",), "predictions": b"abc", **more})


@pytest.mark.parametrize("name", [name for name in NAMED if "checksum" not in name])
@pytest.mark.parametrize("value", [None, "0.25", b"\0", 7, 0.125, "other"])
def test_another_value_or_type_is_detected(make_cell, name, value):
    failed = full(make_cell, failure=Failure(kind="raised", reason="it\nbroke"))
    for result in (full(make_cell), failed):
        row = row_of(result)
        index = NAMED.index(name)
        if row[index] is value or (row[index] == value and type(row[index]) is type(value)):
            continue
        row[index] = value
        assert damaged([row_of(make_cell(2)), row, row_of(make_cell(3))]) == [1]


def test_the_checksum_is_the_documented_sum(make_cell):
    # by hand for one row: 64-bit numbers times the odd numbers of splitmix64, modulo 2^64
    state, factors = 0x424F464B, []
    for _ in range(11):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) % 2**64
        factors.append((mixed ^ (mixed >> 31)) | 1)
    row = row_of(make_cell(1, 0.25))
    named = dict(zip(NAMED, row, strict=True))
    digest = named["digest"].encode()
    numbers = [int.from_bytes(digest[at : at + 8], "little") for at in range(0, 32, 8)]
    for name in NAMED[1:7]:
        value = named[name]
        numbers.append(
            0x7FF8B0F5 if value is None else struct.unpack("<Q", struct.pack("<d", value))[0]
        )
    total = sum(number * factor for number, factor in zip(numbers, factors, strict=False)) % 2**64
    assert checksums([[value] for value in row[:10]]).view(np.uint64).tolist() == [total]
    assert named["checksum"] % 2**64 == total


def change(url, postgresql, assignment, where="true"):
    statement = f"UPDATE bestofk_cells SET {assignment} WHERE {where}"
    if "://" in url:
        postgresql.sql(statement, url.rpartition("/")[2])
        return
    with closing(sqlite3.connect(url)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_damaged_cell_is_reported_deleted_and_rewritten(lasting_url, postgresql, make_cell):
    created = [full(make_cell, number, number / 7) for number in range(5)]
    with open_store(lasting_url) as store:
        store.put(created)
    digest = created[3].key.digest
    change(lasting_url, postgresql, "loss = loss + 0.0625", f"digest = '{digest}'")
    keys = [each.key for each in created]
    with (
        open_store(lasting_url, read_only=True) as store,
        pytest.warns(BestOfKWarning, match="1 stored result is damaged and was ignored: the"),
    ):
        assert digest not in store.get(keys)
    with open_store(lasting_url) as store:
        with pytest.warns(BestOfKWarning, match="damaged and was deleted, to be computed again"):
            results = store.get(keys)
        assert sorted(results) == sorted({each.key.digest for each in created} - {digest})
        assert store.n_cells() == 4
        store.put([created[3]])
        assert store.get(keys)[digest] == created[3]


def test_damaged_predictions_and_payloads_are_detected(tmp_path, make_cell):
    path = tmp_path / "s.db"
    with open_store(path) as store:
        store.put([full(make_cell, 1)])
        store.put_payloads([Payload(digest=d, name="n", kind="k", data=b"xyz") for d in "ab"])
    change(str(path), None, "predictions = x'61'")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE bestofk_payloads SET data = 'text' WHERE digest = 'a'")
        connection.commit()
    key = full(make_cell, 1).key
    with open_store(path) as store:
        assert store.get([key], predictions=False)[key.digest].loss == 0.25
        with pytest.warns(BestOfKWarning, match="1 stored result is damaged"):
            assert store.get([key]) == {}
        with pytest.warns(BestOfKWarning, match="1 stored result is damaged"):
            assert store.get_payloads(["a", "b"], name="n") == {"b": b"xyz"}
        assert store.n_payloads() == 1


X = np.random.default_rng(2).normal(size=(48, 3))
Y = np.tile(["a", "b", "c"], 16)
OPTIONS = {"cv": "2x3", "progress": False, "execution": bk.Execution(engine="serial")}


@pytest.mark.parametrize("assignment", [
    "loss = 0.0078125", "loss = NULL", "loss = 'abc'", "run = 99", "run = 'x'", "fold = -1",
    "failure_kind = 'bogus'", "failure_kind = 'bogus', checksum = NULL", "fit_time = 'soon'",
    "warnings = '{'", "n_train = x'00'", "loss = NULL, checksum = NULL", "learner = x'ff'",
    "checksum = 'y'",
])  # fmt: skip
def test_a_comparison_repeats_damaged_fits(tmp_path, assignment):
    path = tmp_path / "s.db"
    learners = ["nmc", "max"]
    first = bk.compare(learners, X, Y, store=path, **OPTIONS)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            f"UPDATE bestofk_cells SET {assignment} WHERE digest = "
            "(SELECT min(digest) FROM bestofk_cells)"
        )
        connection.commit()
    if "learner" not in assignment:  # otherwise the cell no longer belongs to the study
        with pytest.warns(BestOfKWarning, match="1 stored result is damaged and was ignored"):
            bk.open_study(path)
    with pytest.warns(BestOfKWarning, match="1 stored result is damaged and was deleted") as caught:
        again = bk.compare(learners, X, Y, store=path, **OPTIONS)
    assert len(caught) == 1
    np.testing.assert_array_equal(again.losses.values, first.losses.values)
    whole = bk.open_study(path)
    np.testing.assert_array_equal(whole.losses.values, first.losses.values)


@pytest.mark.parametrize("value", ["'{'", "'[]'", "'null'", "x'00'", "'{\"learners\": 3}'"])
def test_a_damaged_study_is_one_error_message(tmp_path, value):
    path = tmp_path / "s.db"
    bk.compare(["nmc", "max"], X, Y, store=path, **OPTIONS)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE bestofk_studies SET specification = {value}")
        connection.commit()
    with pytest.raises(StoreError, match="the specification of study 1 is damaged"):
        bk.open_study(path)


def test_an_invalid_schema_version_is_one_error_message(postgresql):
    url = postgresql.emptied()
    open_store(url).close()
    postgresql.sql("UPDATE bestofk_meta SET value = 'x' WHERE name = 'schema_version'",
                   url.rpartition("/")[2])  # fmt: skip
    with pytest.raises(StoreError, match="the store does not state its schema version"):
        open_store(url)
