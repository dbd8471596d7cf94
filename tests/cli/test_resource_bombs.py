"""Small files and short commands that demand many resources end soon with an error message."""

import gzip
import subprocess
import sys

import pytest

from bestofk._base.errors import ArgumentError, TableError
from bestofk.data.tables import limits, read_table
from bestofk.data.tables.limits import allowed_bytes
from reader_bombs import BOMBS, BoundedCommands, problem_of


@pytest.fixture(scope="module")
def commands():
    running = BoundedCommands()
    yield running
    running.close()


SLOW = (
    "parquet_of_many_columns", "zip_of_one_long_member", "parquet_of_one_long_word",
    "workbook_dimension",
)  # fmt: skip
"""Bombs of several seconds, which only the study runs."""


@pytest.mark.parametrize(
    "bomb", [bomb for bomb in BOMBS if bomb.__name__ not in SLOW], ids=lambda bomb: bomb.__name__
)
def test_bombs_end_in_a_sentence(bomb, commands, tmp_path) -> None:
    # the study measures the time, on a quiet machine
    line, problem = problem_of(bomb, commands, tmp_path, max_seconds=100)
    assert not problem, line


def test_the_advice_works_when_typed(tmp_path, monkeypatch) -> None:
    path = tmp_path / "rows.csv.gz"
    monkeypatch.setattr(limits, "EXPANDED", 1 << 20)
    path.write_bytes(gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n" * 500_000))
    with pytest.raises(TableError, match="unpacks to far more") as caught:
        read_table(path)
    name, value = str(caught.value).rstrip(".").split("environment variable ")[1].split("=")
    monkeypatch.setenv(name, value)
    assert read_table(path).n_rows == 500_000


def test_ordinary_compression_is_no_bomb(tmp_path) -> None:
    rows = "".join(f"{i % 7},{i % 3},{i}\n" for i in range(300_000))
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(f"a,b,c\n{rows}".encode()))
    assert read_table(path).n_rows == 300_000


def test_the_setting_is_a_size(monkeypatch) -> None:
    monkeypatch.setenv("BESTOFK_MAX_MEMORY", "1.5G")
    assert allowed_bytes(10) == 3 << 29
    monkeypatch.setenv("BESTOFK_MAX_MEMORY", "much")
    with pytest.raises(ArgumentError, match="such as 500M"):
        allowed_bytes(10)


@pytest.mark.parametrize(
    "error", [MemoryError(), ImportError("libgomp.so: failed to map segment from shared object")]
)
def test_memory_that_is_not_there_is_one_line(error, capfd, monkeypatch) -> None:
    from bestofk.cli import main

    def fails(*_arguments, **_options):
        raise error

    monkeypatch.setattr("bestofk.losses.read_scores", fails)
    assert main(["scores", "breast-cancer-10x10"]) == 4
    assert "not enough memory" in capfd.readouterr().err


@pytest.mark.parametrize(
    "error", ["MemoryError()", "ImportError('libgomp.so: failed to map segment')"]
)
def test_a_learner_that_needs_more_memory_to_import_is_one_line(
    error, tmp_path, capfd, monkeypatch
) -> None:
    from bestofk.cli import main

    (tmp_path / "large_package.py").write_text(f"raise {error}\n")
    monkeypatch.syspath_prepend(tmp_path)
    learners = ["--learner", "max", "--learner", "large_package:Learner"]
    assert main(["compare", "iris", *learners]) == 4
    assert capfd.readouterr().err == "bestofk: not enough memory; nothing was written.\n"


@pytest.mark.needs("linux", "a limit of the address space")
def test_a_small_address_space_is_one_line(tmp_path) -> None:
    """Importing fails in one of many places, and so may everything that reports it."""
    program = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({300 << 20},) * 2)\n"
        "from bestofk.cli import main; sys.exit(main(['compare', 'iris', '--cv', '2x2']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "bestofk: not enough memory; nothing was written.\n"
