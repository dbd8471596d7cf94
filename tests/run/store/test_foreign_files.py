"""Files that are not stores, stores of other schema versions, and damaged stores."""

import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from bestofk._base.errors import StoreError
from bestofk.run.cells import Failure
from bestofk.run.store.database import SCHEMA_VERSION
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))
from made_cells import RECORD, fields, found, make_cell


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_a_store_of_another_version_is_refused(tmp_path, version):
    path = tmp_path / "other.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE bestofk_meta SET value = '{version}'")
        connection.commit()
    refused(path, f"schema version {version}, but this bestofk needs version {SCHEMA_VERSION}")


def test_other_tables_of_a_server_are_not_changed(postgresql):
    url = postgresql.database()
    name = url.rpartition("/")[2]
    postgresql.sql("CREATE TABLE cells (x int)", name)
    postgresql.sql("INSERT INTO cells VALUES (7)", name)
    with open_store(url) as store:
        store.put(RECORD, [make_cell(1)])
    assert postgresql.sql("SELECT x FROM cells", name) == [(7,)]


def test_foreign_tables_with_the_same_names_are_refused(postgresql):
    url = postgresql.database()
    name = url.rpartition("/")[2]
    postgresql.sql("CREATE TABLE bestofk_meta (x int)", name)
    with pytest.raises(StoreError, match="the tables are not those of a bestofk store"):
        open_store(url)


def test_a_server_with_a_small_character_set(postgresql, live):
    url = postgresql.database("ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    failed = make_cell(1, Failure(kind="raised", reason="\u540d\0\ud800"))
    with open_store(url) as store:
        number = store.register(replace(live.record, title="\u540d"))
        store.put(RECORD, [failed])
        assert found(store, [make_cell(1)]) == fields([failed])
        assert store.study(number).title == "\u540d"


def refused(path, sentence):
    """Check that the file gets one error message and does not change."""
    before, beside = path.read_bytes(), sorted(path.parent.iterdir())
    for how in ({}, {"read_only": True}):
        with pytest.raises(StoreError, match=sentence) as error:
            open_store(path, **how)
        assert "\n" not in str(error.value)
        assert str(error.value).startswith(str(path))
        assert path.read_bytes() == before
        assert sorted(path.parent.iterdir()) == beside


FOREIGN = {
    "text": b"learner,fold,error\nsmall,1,0.25\n" * 20,
    "header alone": b"SQLite format 3\0",
    "zeros": bytes(8192),
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_not_changed(tmp_path, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    refused(path, "this is not a bestofk store; it was not changed")


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_program_is_not_changed(tmp_path, journal):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE bestofk_meta (name, value)")
        connection.execute("CREATE TABLE bookmarks (title)")
        connection.commit()
    refused(path, "this is not a bestofk store; it was not changed")


@pytest.fixture
def filled(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        store.put(RECORD, [make_cell(number, predictions=bytes(500)) for number in range(400)])
    return path


def test_a_damaged_store_is_one_error_message(filled):
    content = bytearray(filled.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    filled.write_bytes(content)
    with pytest.raises(StoreError, match=r"study.db: the store is damaged: restore a copy"):
        open_store(filled).n_cells()


def test_an_empty_file_becomes_a_store_only_if_opened_for_writing(tmp_path):
    path = tmp_path / "made.db"
    path.touch()
    with pytest.raises(StoreError, match="this is not a bestofk store"):
        open_store(path, read_only=True)
    assert path.read_bytes() == b""
    with open_store(path) as store:
        store.put(RECORD, [make_cell(1)])
    with open_store(path) as store:
        assert store.n_cells() == 1


def test_the_header_of_a_new_file(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        # the offsets are those of the SQLite file format, section 1.3
        header = path.read_bytes()[:100]
        assert header[68:72] == b"BOFK"

        def pragmas(connection):
            names = ("journal_mode", "synchronous")
            return [connection.execute(sa.text(f"PRAGMA {name}")).scalar_one() for name in names]

        assert store._database.commit(pragmas) == ["wal", 2]
        assert store._database.commit(pragmas, lightly=True) == ["wal", 1]
