"""Stores of every kind, and a PostgreSQL server of our own where one is installed."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from bestofk.run.store import open_store

PASSWORD = "p@ss:w/ord%7"


def server_programs():
    """The folder of Debian's newest initdb and pg_ctl, or of those on the path; else None."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name)
    )
    found = [folder for folder in folders if (folder / "pg_ctl").exists()]
    if found:
        return found[-1]
    on_path = shutil.which("pg_ctl")
    return Path(on_path).resolve().parent if on_path and shutil.which("initdb") else None


def as_server_user(command):
    """`command` as another user where we are root, whom PostgreSQL refuses."""
    if os.name == "posix" and os.geteuid() == 0:
        return ["runuser", "-u", "postgres", "--", *map(str, command)]
    return list(map(str, command))


class Server:
    """A private server; every `database()` is a new, empty one."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.made = 0

    def run(self, *command, **options):
        return subprocess.run(
            as_server_user([self.programs / command[0], *command[1:]]),
            check=True, capture_output=True, text=True, cwd=self.folder, timeout=120, **options,
        )  # fmt: skip

    def start(self):
        password = self.folder / "password"
        password.write_text(PASSWORD)
        shutil.chown(password, *self.owner())
        self.run(
            "initdb", "-D", self.folder / "data", "-U", "ann", "-A", "scram-sha-256",
            f"--pwfile={password}", "--encoding=UTF8", "--locale=C", "-N",
        )  # fmt: skip
        self.up()

    def up(self):
        settings = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off "
            f"-c unix_socket_directories={self.folder}"
        )
        # A log of its own: the server must not hold the pipes of this process.
        self.run("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-w",
                 "-o", settings, "start")  # fmt: skip

    def down(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")

    def owner(self):
        user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        return user, pwd.getpwnam(user).pw_gid

    def url(self, database, *, user="ann", password=PASSWORD):
        from urllib.parse import quote

        return f"postgresql+psycopg://{user}:{quote(password, '')}@127.0.0.1:{self.port}/{database}"

    def sql(self, statement, database="postgres"):
        import psycopg

        address = self.url(database).replace("+psycopg", "")
        with psycopg.connect(address, autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else None

    def database(self, options=""):
        self.made += 1
        self.sql(f"CREATE DATABASE d{self.made} {options}")
        return self.url(f"d{self.made}")


@pytest.fixture(scope="session")
def postgresql():
    pytest.importorskip("psycopg", reason="PostgreSQL's driver psycopg is not installed")
    programs = server_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with tempfile.TemporaryDirectory(prefix="bestofk-pg-") as name:
        folder = Path(name)
        server = Server(programs, folder)
        shutil.chown(folder, *server.owner())
        folder.chmod(0o755)
        server.start()
        yield server
        server.down()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store_url(request, tmp_path):
    """Where a new store can be opened."""
    if request.param == "memory":
        return None
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgresql").database()


@pytest.fixture
def store(store_url):
    """A new store of every kind."""
    with open_store(store_url) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
def lasting_url(request, tmp_path):
    """Where a new store can be opened that outlives its process."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgresql").database()
