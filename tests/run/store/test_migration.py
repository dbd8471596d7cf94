"""Files that are not stores, stores of other versions, and damaged stores."""

import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa

from bestofk._base.errors import StoreError
from bestofk.run.cells import Failure
from bestofk.run.store.migration import STEPS, prepare
from bestofk.run.store.payloads import Payload
from bestofk.run.store.schema import APPLICATION_ID, SCHEMA_VERSION
from bestofk.run.store.store import open_store

# The tables as version 0 had them, word for word ({float8}: by server).
VERSION_0 = """
CREATE TABLE bestofk_meta (name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (name));
CREATE TABLE bestofk_studies (id {serial}, digest TEXT NOT NULL UNIQUE, created TEXT NOT NULL,
  title TEXT NOT NULL, specification TEXT NOT NULL, PRIMARY KEY (id));
CREATE TABLE bestofk_cells (digest TEXT NOT NULL, dataset TEXT NOT NULL, learner TEXT NOT NULL,
  splits TEXT NOT NULL, loss_name TEXT NOT NULL, run INTEGER NOT NULL, fold INTEGER NOT NULL,
  repetition INTEGER NOT NULL, loss {float8}, failure_kind TEXT, failure_reason TEXT,
  fit_time {float8}, predict_time {float8}, size BIGINT, n_train BIGINT, n_test BIGINT,
  written TEXT NOT NULL, PRIMARY KEY (digest));
CREATE INDEX bestofk_cells_by_learner ON bestofk_cells (learner);
INSERT INTO bestofk_meta VALUES ('application_id', '1112491595');
INSERT INTO bestofk_meta VALUES ('schema_version', '0');
"""
ROW = (
    "INSERT INTO bestofk_cells VALUES ('{digest}', '{key.dataset}', '{key.learner}', "
    "'{key.splits}', '{key.loss}', {key.run}, {key.fold}, {key.repetition}, {loss}, {failure}, "
    "0.5, NULL, 77, 9, 1, '2026-01-01T00:00:00+00:00');"
)


@pytest.fixture
def old_cells(make_cell):
    known = {"fit_time": 0.5, "size": 77, "n_train": 9, "n_test": 1}
    return [
        make_cell(1, 0.1, **known),
        make_cell(2, failure=Failure(kind="raised", reason="it\nbroke"), **known),
    ]


def version_0(old_cells, **types):
    """Statements that make a store of version 0 with cells in it."""
    statements = [part for part in VERSION_0.format(**types).split(";\n") if part.strip()]
    for cell in old_cells:
        failure = "NULL, NULL"
        if cell.failure is not None:
            reason = cell.failure.reason.replace("\n", "\\n")
            failure = f"'{cell.failure.kind}', '{reason}'"
        loss = "NULL" if cell.loss is None else repr(cell.loss)
        statements.append(
            ROW.format(digest=cell.key.digest, key=cell.key, loss=loss, failure=failure)
        )
    return statements


@pytest.fixture
def old_file(tmp_path, old_cells):
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        for statement in version_0(old_cells, serial="INTEGER NOT NULL", float8=""):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 0")
        connection.commit()
    return path


def holds(url, cells, make_cell):
    with open_store(url) as store:
        found = store.get([cell.key for cell in cells])
        assert [found[cell.key.digest] for cell in cells] == cells
        richer = make_cell(9, 0.5, warnings=("w",), predictions=b"p")
        store.put([richer])
        assert store.get([richer.key])[richer.key.digest] == richer
        assert store.studies() == ()


def test_an_older_file_is_migrated_with_its_cells(old_file, old_cells, make_cell):
    holds(old_file, old_cells, make_cell)
    with closing(sqlite3.connect(old_file)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        rows = connection.execute("SELECT name, value FROM bestofk_meta ORDER BY name").fetchall()
    assert rows == [("application_id", "1112491595"), ("schema_version", str(SCHEMA_VERSION))]


def test_an_older_server_is_migrated_with_its_cells(postgresql, old_cells, make_cell):
    url = postgresql.emptied()
    name = url.rpartition("/")[2]
    for statement in version_0(old_cells, serial="SERIAL NOT NULL", float8="DOUBLE PRECISION"):
        postgresql.sql(statement, name)
    holds(url, old_cells, make_cell)
    value = postgresql.sql("SELECT value FROM bestofk_meta WHERE name = 'schema_version'", name)
    assert value == [(str(SCHEMA_VERSION),)]


def columns_of(path):
    with closing(sqlite3.connect(path)) as connection:
        found = [
            sorted(
                (name, kind, required, key)
                for _, name, kind, required, _, key in connection.execute(
                    f"PRAGMA table_info(bestofk_{table})"
                )
            )
            for table in ("cells", "payloads", "claims", "claimers")
        ]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    return found, version


def test_a_migrated_file_has_the_columns_of_a_new_one(old_file, tmp_path):
    open_store(old_file).close()
    open_store(tmp_path / "new.db").close()
    assert columns_of(old_file) == columns_of(tmp_path / "new.db")


# What takes a store of today back to version 2, which had neither checksums nor claims, and from
# there to version 1, which had no payloads either.
BACK_TO_2 = (
    "DROP TABLE bestofk_claims",
    "DROP TABLE bestofk_claimers",
    "ALTER TABLE bestofk_cells DROP COLUMN checksum",
    "ALTER TABLE bestofk_cells DROP COLUMN predictions_checksum",
    "ALTER TABLE bestofk_payloads DROP COLUMN checksum",
    "UPDATE bestofk_meta SET value = '2' WHERE name = 'schema_version'",
)
BACK_TO_1 = (
    *BACK_TO_2[:-1],
    "DROP TABLE bestofk_payloads",
    "UPDATE bestofk_meta SET value = '1' WHERE name = 'schema_version'",
)


def taken_back(path, statements, version):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()


@pytest.fixture
def file_of_version_1(tmp_path, old_cells):
    path = tmp_path / "one.db"
    with open_store(path) as store:
        store.put(old_cells)
    taken_back(path, BACK_TO_1, 1)
    return path


def test_a_store_without_payloads_is_read_as_it_is(file_of_version_1, old_cells):
    before = file_of_version_1.read_bytes()
    with open_store(file_of_version_1, read_only=True) as store:
        assert store.get([old_cells[0].key])[old_cells[0].key.digest] == old_cells[0]
        assert store.get_payloads(["d"], name="n") == {}
        assert store.n_payloads() == 0
    assert file_of_version_1.read_bytes() == before


def test_a_store_without_payloads_gets_them_and_keeps_its_cells(
    file_of_version_1, old_cells, make_cell
):
    holds(file_of_version_1, old_cells, make_cell)
    with open_store(file_of_version_1) as store:
        store.put_payloads([Payload(digest="d", name="n", kind="k", data=b"x")])
        assert store.get_payloads(["d"], name="n") == {"d": b"x"}


def test_a_server_without_payloads_gets_them(postgresql, old_cells, make_cell):
    url = postgresql.emptied()
    with open_store(url) as store:
        store.put(old_cells)
    name = url.rpartition("/")[2]
    for statement in BACK_TO_1:
        postgresql.sql(statement, name)
    with open_store(url, read_only=True) as store:
        assert store.get_payloads(["d"], name="n") == {}
    holds(url, old_cells, make_cell)
    with open_store(url) as store:
        store.put_payloads([Payload(digest="d", name="n", kind="k", data=b"x")])
        assert store.get_payloads(["d"], name="n") == {"d": b"x"}


def test_cells_without_checksums_are_taken_as_they_are(
    lasting_url, postgresql, old_cells, make_cell
):
    kept = Payload(digest="d", name="n", kind="k", data=b"x")
    with open_store(lasting_url) as store:
        store.put(old_cells)
        store.put_payloads([kept])
    if "://" in lasting_url:
        for statement in BACK_TO_2:
            postgresql.sql(statement, lasting_url.rpartition("/")[2])
    else:
        taken_back(lasting_url, BACK_TO_2, 2)
    with open_store(lasting_url, read_only=True) as store:  # as it is
        assert store.get([old_cells[0].key])[old_cells[0].key.digest] == old_cells[0]
        assert store.get_payloads(["d"], name="n") == {"d": b"x"}
    holds(lasting_url, old_cells, make_cell)  # and migrated
    with open_store(lasting_url) as store:
        assert store.get_payloads(["d"], name="n") == {"d": b"x"}


def test_a_migration_that_breaks_changes_nothing(old_file, old_cells, make_cell):
    def half(connection):
        STEPS[0](connection)
        raise RuntimeError("power cut")

    before = old_file.read_bytes()
    store = open_store(old_file.with_name("other.db"))
    from bestofk.run.store.database import sqlite_engine

    engine = sqlite_engine(old_file, read_only=False, busy_timeout=1.0)
    with (
        pytest.raises(RuntimeError),
        engine.execution_options(writes=True).begin() as connection,
    ):
        prepare(connection, "old.db", steps={0: half})
    engine.dispose()
    store.close()
    assert old_file.read_bytes() == before
    holds(old_file, old_cells, make_cell)


def test_an_older_store_opened_to_read_is_left_as_it_is(old_file):
    before = old_file.read_bytes()
    with pytest.raises(StoreError, match="the older schema version 0: opened to write, it is"):
        open_store(old_file, read_only=True)
    assert old_file.read_bytes() == before


def test_a_store_of_a_later_version_is_refused(tmp_path):
    path = tmp_path / "later.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    refused(path, f"schema version {SCHEMA_VERSION + 1}, and this bestofk knows versions up to")


def test_a_server_of_a_later_version_is_refused(postgresql):
    url = postgresql.emptied()
    open_store(url).close()
    name = url.rpartition("/")[2]
    postgresql.sql("UPDATE bestofk_meta SET value = '99' WHERE name = 'schema_version'", name)
    with pytest.raises(StoreError, match="schema version 99, and this bestofk knows"):
        open_store(url)


def test_other_tables_of_a_server_are_left_alone(postgresql, make_cell):
    url = postgresql.database()
    name = url.rpartition("/")[2]
    postgresql.sql("CREATE TABLE cells (x int)", name)
    postgresql.sql("INSERT INTO cells VALUES (7)", name)
    with open_store(url) as store:
        store.put([make_cell(1)])
    assert postgresql.sql("SELECT x FROM cells", name) == [(7,)]


def test_tables_of_our_names_that_are_not_ours(postgresql):
    url = postgresql.database()
    name = url.rpartition("/")[2]
    postgresql.sql("CREATE TABLE bestofk_meta (x int)", name)
    with pytest.raises(StoreError, match="the tables are not those of a bestofk store"):
        open_store(url)


def test_a_server_whose_encoding_knows_few_letters(postgresql, make_cell, experiment):
    url = postgresql.database("ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    failed = make_cell(
        1, loss_name="\u540d", failure=Failure(kind="raised", reason="\u540d\0\ud800"),
        warnings=("\U0001f333",),
    )  # fmt: skip
    with open_store(url) as store:
        number = store.register(experiment, title="\u540d")
        store.put([failed])
        assert store.get([failed.key])[failed.key.digest] == failed
        assert store.study(number).spec.title == "\u540d"


def refused(path, sentence):
    """The file gets one sentence and keeps its bytes, with nothing laid beside it."""
    before, beside = path.read_bytes(), sorted(path.parent.iterdir())
    for how in ({}, {"read_only": True}):
        with pytest.raises(StoreError, match=sentence) as said:
            open_store(path, **how)
        assert "\n" not in str(said.value)
        assert str(said.value).startswith(str(path))
        assert path.read_bytes() == before
        assert sorted(path.parent.iterdir()) == beside


FOREIGN = {
    "text": b"learner,fold,error\nsmall,1,0.25\n" * 20,
    "one byte": b"S",
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(500),
    "header alone": b"SQLite format 3\0",
    "half a header": b"SQLite format 3\0" + bytes(60),
    "zeros": bytes(8192),
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_not_touched(tmp_path, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    refused(path, "this is not a bestofk store; it was left as it is")


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_program_is_not_touched(tmp_path, journal):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE bestofk_meta (name, value)")
        connection.execute("CREATE TABLE bookmarks (title)")
        connection.commit()
    refused(path, "an SQLite file of another program, not a bestofk store")


@pytest.fixture
def filled(tmp_path, make_cell):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        store.put([make_cell(number, predictions=bytes(500)) for number in range(400)])
    return path


def test_a_truncated_store_is_not_touched(filled):
    content = filled.read_bytes()
    for length in (4096, len(content) // 2, len(content) - 4096):
        filled.write_bytes(content[:length])
        refused(filled, "the store is damaged; it was left as it is")


@pytest.mark.parametrize("page", [0, 1, 3, 9])
def test_a_store_with_damaged_pages_is_not_touched(filled, page):
    content = bytearray(filled.read_bytes())
    start = page * 4096 + (100 if page == 0 else 0)
    content[start : start + 600] = b"\xa5" * 600
    filled.write_bytes(content)
    refused(filled, "the store is damaged; it was left as it is")


def test_an_empty_file_becomes_a_store_only_where_one_is_wanted(tmp_path, make_cell):
    path = tmp_path / "made.db"
    path.touch()
    with pytest.raises(StoreError, match="not a bestofk store but an empty file"):
        open_store(path, create=False)
    assert path.read_bytes() == b""
    with open_store(path) as store:
        store.put([make_cell(1)])
    with open_store(path) as store:
        assert store.n_cells() == 1


def test_a_new_file_says_in_its_header_what_it_is(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        # the offsets are those of the SQLite file format, section 1.3
        header = path.read_bytes()[:100]
        assert header[68:72] == b"BOFK"
        assert int.from_bytes(header[60:64]) == SCHEMA_VERSION
        with store._database.reading() as connection:
            mode = connection.execute(sa.text("PRAGMA journal_mode")).scalar_one()
            durable = connection.execute(sa.text("PRAGMA synchronous")).scalar_one()
    assert (mode, durable) == ("wal", 2)
