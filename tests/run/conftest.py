"""Stores of every kind, and a private PostgreSQL server if PostgreSQL is installed."""

import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bestofk.run.live import Live
from bestofk.run.metrics import as_loss
from bestofk.run.store.store import open_store
from bestofk.splits.plans import plan as make_plan

PASSWORD = "p@ss:w/ord%7"


def server_programs():
    """Return the folder of the newest initdb and pg_ctl of Debian or on the path, or None."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name)
    )
    installed = [folder for folder in folders if (folder / "pg_ctl").exists()]
    if installed:
        return installed[-1]
    on_path = shutil.which("pg_ctl")
    return Path(on_path).resolve().parent if on_path and shutil.which("initdb") else None


def as_server_user(command):
    """Run `command` as another user if this is root, whom PostgreSQL refuses."""
    if os.name == "posix" and os.geteuid() == 0:
        return ["runuser", "-u", "postgres", "--", *map(str, command)]
    return list(map(str, command))


class Server:
    """A private PostgreSQL server."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.made, self.shared = 0, None

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
        # a log file, so that the server does not inherit the pipes of this process
        self.run("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-w",
                 "-o", settings, "start")  # fmt: skip

    def down(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")

    def owner(self):
        import pwd

        user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        return user, pwd.getpwnam(user).pw_gid

    def url(self, database, *, user="ann", password=PASSWORD):
        from urllib.parse import quote

        return f"postgresql+psycopg://{user}:{quote(password, '')}@127.0.0.1:{self.port}/{database}"

    def sql(self, statement, database="postgres"):
        import psycopg

        address = self.url(database).replace("+psycopg", "")
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def emptied(self):
        """Return one database for many tests, without the tables of the previous test."""
        if self.shared is None:
            self.shared = self.database()
        name = self.shared.rpartition("/")[2]
        kinds = ("meta", "studies", "cells", "payloads", "claims", "claimers")
        tables = ", ".join(f"bestofk_{kind}" for kind in kinds)
        self.sql(f"DROP TABLE IF EXISTS {tables}", name)
        return self.shared

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
    """Address of a new store."""
    if request.param == "memory":
        return None
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgresql").emptied()


@pytest.fixture
def store(store_url):
    """New store of every kind."""
    with open_store(store_url) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
def lasting_url(request, tmp_path):
    """Address of a new store that outlives its process."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgresql").emptied()


WEIRD_NAMES = ("tree", "q\"uo'te\n<b>&amp;", "\u540d\u524d \U0001f333 e\u0301", "twin of tree")


@pytest.fixture
def live():
    """Four learners with strange names, two of them the same; two data sets; two repetitions."""
    from sklearn.tree import DecisionTreeClassifier

    from bestofk.data import read_data

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    datasets = (
        read_data(X, np.repeat([0, 1], 15), name="data, with 'comma'"),
        read_data(X[:20], np.tile(["u", "v"], 10), name='<script>"'),
    )
    plan = make_plan("2x3", random_state=5)
    depths = (None, 1, 2, None)
    return Live.of(
        {
            name: DecisionTreeClassifier(max_depth=depth)
            for name, depth in zip(WEIRD_NAMES, depths, strict=True)
        },
        datasets,
        [plan.materialise(data.n, data.y) for data in datasets],
        [as_loss("zero-one", classes=datasets[0].classes)],
        repetitions=2,
        random_state=5,
    )


@pytest.fixture
def evaluated(live):
    """Return a made-up result for every cell of the study, without fitting; twins share theirs."""

    def cells():
        made = {}
        for cell in live.record.cells():
            key = live.record.key(cell)
            made.setdefault(
                key,
                replace(
                    cell,
                    scores=(int(key[:8], 16) / 2**33 / 3,),
                    fit_time=0.25,
                    predict_time=0.125,
                    size=100 + cell.run,
                ),
            )
        return list(made.values())

    return cells
