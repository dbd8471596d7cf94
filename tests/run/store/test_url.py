"""Store addresses; passwords are never printed."""

import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bestofk._base.errors import ArgumentError, MissingExtraError, StoreError
from bestofk.run.record import StoredDecision
from bestofk.run.store.store import open_store
from bestofk.run.store.url import hide_passwords, parse_address


@pytest.mark.parametrize(
    "where", [None, ":memory:", "sqlite://", "sqlite:///:memory:", "sqlite:///"]
)
def test_memory(where):
    assert parse_address(where).is_memory
    assert open_store(where).shown_url == "memory"


@pytest.mark.parametrize(
    ("where", "path"),
    [
        ("study.db", "study.db"),
        (Path("a/study.db"), "a/study.db"),
        ("sqlite:///study.db", "study.db"),
        ("sqlite:////var/study.db", "/var/study.db"),
        ("~/study.db", str(Path.home() / "study.db")),
        ("C:\\data\\study.db", "C:\\data\\study.db"),
    ],
)
def test_files(where, path):
    address = parse_address(where)
    assert address.path == Path(path)


@pytest.mark.parametrize(
    "name",
    ["a b.db", "per%20cent.db", "q?mark#hash.db", "\u540d.db", "-x", "a=b.db", "host.db", "x@y.db"],
)
def test_strange_names_of_files(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with open_store(name) as store:
        assert store.shown_url == hide_passwords(name) == name
    assert name in [path.name for path in tmp_path.iterdir()]
    open_store(name, read_only=True).close()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_servers(scheme):
    address = parse_address(f"{scheme}://ann:secret@db.example:5433/losses")
    assert address.url.drivername == "postgresql+psycopg"
    assert address.url.password == "secret"
    assert address.shown == f"{scheme}://ann:***@db.example:5433/losses"
    assert "secret" not in repr(address)


@pytest.mark.parametrize(
    "wrong",
    ["", "  ", 7, b"study.db", "a\0b", "mysql://ann:secret@host/db", "sqlite://host/x.db",
     "postgresql+psycopg2://ann:secret@host/db", "sqlite:///x.db?mode=ro", "http://x",
     "postgresql://ann:secret@host:port/db", "postgresql://ann:secret@host/db?plugin=os"],
)  # fmt: skip
def test_invalid_addresses(wrong):
    with pytest.raises(ArgumentError, match="store must be") as error:
        open_store(wrong)
    assert "secret" not in str(error.value)
    assert "secret" not in "".join(traceback.format_exception(error.value))


@given(
    password=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    user=st.from_regex(r"[a-z]{0,8}", fullmatch=True),
)
def test_no_password_is_shown(password, user):
    secret = f"SECRET{password}SECRET"
    shown = hide_passwords(f"postgresql+psycopg://{user}:{secret}@db.example/losses")
    assert shown == f"postgresql+psycopg://{user}:***@db.example/losses"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://h/d?password=x&sslmode=off", "postgresql://h/d?password=***&sslmode=off"),
        ("postgresql://ann@h/d?user=b&PASSWORD=x", "postgresql://ann@h/d?user=b&PASSWORD=***"),
        ("--store=postgresql://ann:x@h/d", "--store=postgresql://ann:***@h/d"),
        ("study.db", "study.db"),
        ("https://h/x?a=b", "https://h/x?a=b"),
    ],
)
def test_passwords_in_other_positions(address, shown):
    assert hide_passwords(address) == shown


def test_a_study_keeps_no_password_of_its_command_line(store, live):
    command = ["bestofk", "compare", "--store", "postgresql://ann:s3cret@h/d"]
    decision = StoredDecision(options={}, command=command)
    number = store.register(replace(live.record, decisions=(decision,)))
    record = store.study(number)
    assert record.command[-1] == "postgresql://ann:***@h/d"
    assert "s3cret" not in record.as_json()


def test_a_wrong_password_is_not_repeated(postgresql):
    name = postgresql.emptied().rpartition("/")[2]
    for user, password in (("ann", "wr0ng-w0rd"), ("nobody", "wr0ng-w0rd"), ("ann", "ann")):
        with pytest.raises(StoreError) as error:
            open_store(postgresql.url(name, user=user, password=password))
        assert f"{user}:***@127.0.0.1" in str(error.value)
        assert "wr0ng" not in "".join(traceback.format_exception(error.value))
    with pytest.raises(StoreError, match="does not exist") as error:
        open_store(postgresql.url("nowhere"))
    assert "p@ss" not in "".join(traceback.format_exception(error.value))


def test_a_server_that_does_not_exist():
    pytest.importorskip("psycopg")
    url = "postgresql+psycopg://ann:hunter2@127.0.0.1:1/losses"
    with pytest.raises(StoreError) as error:
        open_store(url)
    assert str(error.value).startswith("postgresql+psycopg://ann:***@127.0.0.1:1/losses: ")
    assert "hunter2" not in "".join(traceback.format_exception(error.value))


def test_a_missing_driver_is_named():
    script = """
import sys
sys.modules["psycopg"] = None
from bestofk.run.store.store import open_store
try:
    open_store("postgresql+psycopg://ann:hunter2@h/d")
except ImportError as said:
    print(type(said).__name__, said)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    expected = MissingExtraError("PostgreSQL stores", "'psycopg[binary]'")
    assert done.stdout.strip() == f"MissingExtraError {expected}"


MISTYPED = (
    "postgresql:/ann:SECRET@host/db",
    "postgresql//ann:SECRET@host/db",
    "postgres:\\\\ann:SECRET@host/db",
    "postgresql : // ann:SECRET@host/db",
    "mysql:/ann:SECRET@host/db",
    "ann:SECRET@host:5432",
    "host=h dbname=d user=ann password=SECRET",
    "postgresq://ann:SECRET@host/db?password=SECRET",
    "postgresql://ann@host/db?sslpassword=SECRET&port=nothing",
)


@pytest.mark.parametrize("wrong", MISTYPED)
def test_mistyped_addresses_show_no_password_and_create_no_file(
    wrong, tmp_path, monkeypatch, capfd
):
    from bestofk.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["show", wrong]) in (2, 4)
    assert main(["compare", "iris", "--learner", "max", "--learner", "nmc", "--cv", "kfold:2",
                 "--store", wrong, "--quiet"]) in (2, 4)  # fmt: skip
    captured = capfd.readouterr()
    assert "SECRET" not in captured.err + captured.out
    assert "SECRET" not in hide_passwords(wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_not_a_store(tmp_path, capfd):
    import os

    from bestofk.cli import main

    path = tmp_path / "pipe.db"
    os.mkfifo(path)
    assert main(["show", str(path)]) == 4
    assert main(["compare", "iris", "--learner", "max", "--learner", "nmc", "--store", str(path),
                 "--cv", "kfold:2", "--quiet"]) == 4  # fmt: skip
    assert capfd.readouterr().err.count("a store is a file; this is a pipe") == 2
