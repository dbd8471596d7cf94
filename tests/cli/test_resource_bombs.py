"""Small files and short commands that demand many resources end soon with an error message."""

import gzip
import json
import os
from pathlib import Path

import pytest

import bestofk
from bestofk._base.errors import ArgumentError, TableError
from bestofk.data.tables import read_table
from bestofk.data.tables.limits import allowed_bytes

MOST_BYTES = 1 << 30
MOST_SECONDS = 5.0
RUNNER = """
import json, os, resource, sys, time
import pandas, pyarrow.parquet, pyarrow.csv, sklearn.svm
from bestofk.cli import main
import bestofk.run.compare, bestofk.losses, bestofk.data
for line in sys.stdin:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, 1), os.dup2(write, 2)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        code = main(json.loads(line))
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    os.close(write)
    said = b""
    while piece := os.read(read, 65536):
        said = (said + piece)[-100_000:]
    os.close(read)
    _, status, used = os.wait4(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), said.decode(), used.ru_maxrss * 1024,
                      used.ru_utime + used.ru_stime]), flush=True)
"""


@pytest.fixture(scope="module")
def run_bounded(fork_server):
    """A process that runs commands, each in a child whose use of resources it reports."""
    where = str(Path(bestofk.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": where, "OMP_NUM_THREADS": "1"}
    with fork_server.start(["-c", RUNNER], env=environment) as process:

        def call(*arguments):
            process.stdin.write(json.dumps([str(word) for word in arguments]) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield call
        process.stdin.close()


def gzip_bomb(path, text, times):
    """Members of a gzip file follow each other: one is packed, and repeated."""
    path.write_bytes(gzip.compress(text) * times)


def gzip_of_zeros(folder):
    gzip_bomb(folder / "a.csv.gz", b"0" * 10_000_000, 300)
    return ["order", folder / "a.csv.gz"]


def gzip_of_rows(folder):
    path = folder / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n" * 2_500_000) * 200)
    return ["order", path]


def gzip_of_empty_objects(folder):
    path = folder / "o.json.gz"
    path.write_bytes(gzip.compress(b"[" + b"{}," * 5_000_000 + b"{}]"))
    return ["order", path]


def gzip_of_gzip(folder):
    inner = gzip.compress(b"0" * 10_000_000) * 100
    gzip_bomb(folder / "b.csv.gz", inner, 1)
    return ["order", folder / "b.csv.gz"]


def gzip_of_arff(folder):
    path = folder / "c.arff.gz"
    head = b"@relation r\n@attribute a numeric\n@data\n"
    path.write_bytes(gzip.compress(head) + gzip.compress(b"?\n" * 5_000_000) * 100)
    return ["compare", path]


def parquet_of_one_number(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({f"c{i}": pa.repeat(1.0, 1_000_000) for i in range(4)})
    with pq.ParquetWriter(folder / "n.parquet", table.schema) as writer:
        for _ in range(40):
            writer.write_table(table)
    return ["compare", folder / "n.parquet"]


def parquet_of_one_long_word(folder, *, coded=True):
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = pa.array([0] * 20_000, type=pa.int32())
    words = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 500_000]))
    path = folder / f"w{coded}.parquet"
    pq.write_table(pa.table({"w": words, "y": codes}), path, store_schema=coded)
    return ["compare", path]


def parquet_of_one_long_plain_word(folder):
    return parquet_of_one_long_word(folder, coded=False)


def commas(folder):
    (folder / "d.csv").write_text("," * 4_000_000 + "\n")
    return ["order", folder / "d.csv"]


def blanks_in_arff(folder):
    cell = "a" + " " * 200_000 + "b'" + " " * 200_000
    (folder / "e.arff").write_text(
        f"@relation r\n@attribute a string\n@attribute b numeric\n@data\n{cell}{{,1\n"
    )
    return ["compare", folder / "e.arff"]


def blanks_in_declaration(folder):
    (folder / "f.arff").write_text(
        "@relation r\n@attribute" + " " * 300_000 + "{" + " " * 300_000 + "\n@data\n1\n"
    )
    return ["compare", folder / "f.arff"]


def sparse_arff(folder):
    names = "".join(f"@attribute a{i} numeric\n" for i in range(50_000))
    (folder / "g.arff").write_text(f"@relation r\n{names}@data\n" + "{}\n" * 50_000)
    return ["compare", folder / "g.arff"]


def deep_json(folder):
    (folder / "h.json").write_text("[" * 1_000_000)
    return ["order", folder / "h.json"]


def deep_json_lines(folder):
    deep = "[" * 100_000 + "]" * 100_000
    (folder / "i.jsonl").write_text('{"a": 1}\n{"a": ' + deep + "}\n")
    return ["order", folder / "i.jsonl"]


def long_integer(folder):
    (folder / "j.jsonl").write_text('{"learner": "a", "loss": ' + "9" * 5_000 + "}\n")
    return ["order", folder / "j.jsonl"]


def longish_integer(folder):
    (folder / "k.jsonl").write_text('{"learner": "a", "loss": ' + "9" * 400 + "}\n")
    return ["order", folder / "k.jsonl"]


def another_column_in_every_row(folder):
    with (folder / "l.jsonl").open("w") as file:
        file.writelines(f'{{"c{row}": 1}}\n' for row in range(40_000))
    return ["order", folder / "l.jsonl"]


def almost_empty_grid(folder):
    with (folder / "m.csv").open("w") as file:
        file.write("learner,dataset,fold,error\n")
        file.writelines(f"l{row},d{row},{row},0.5\n" for row in range(5_000))
    return ["order", folder / "m.csv"]


def long_fold(folder):
    (folder / "q.csv").write_text(f"learner,fold,error\na,{'9' * 5000},0.1\nb,{'9' * 5000},0.2\n")
    return ["order", folder / "q.csv"]


def deep_specification(folder):
    return ["compare", "iris", "--learner", "max", "--learner", "nmc(scale=" + "[" * 4_000]


def deep_calibration(folder):
    (folder / "deep.json").write_text("[" * 500_000)
    return ["order", "breast-cancer-10x10", "--df", folder / "deep.json"]


def endless_plan(folder):
    return ["compare", "iris", "--learner", "max", "--learner", "nmc", "--cv", "9999999999x10"]


def endless_digits(folder):
    return ["compare", "iris", "--cv", f"kfold:{'9' * 5000}"]


def endless_repetitions(folder):
    return ["compare", "iris", "--learner", "max", "--learner", "nmc",
            "--repetitions", "99999999999"]  # fmt: skip


BOMBS = (
    gzip_of_zeros, gzip_of_rows, gzip_of_empty_objects, gzip_of_gzip, gzip_of_arff,
    parquet_of_one_number, parquet_of_one_long_word, parquet_of_one_long_plain_word, commas,
    blanks_in_arff, blanks_in_declaration, sparse_arff, deep_json, deep_json_lines, long_integer,
    longish_integer, another_column_in_every_row, almost_empty_grid, deep_specification, long_fold,
    deep_calibration, endless_plan, endless_digits, endless_repetitions,
)  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_bombs_end_in_a_sentence(bomb, run_bounded, tmp_path) -> None:
    code, said, memory, seconds = run_bounded(*bomb(tmp_path))
    assert code in ((0, 2) if bomb is long_fold else (2,)), said[-2000:]
    assert "Traceback" not in said
    if code:
        assert len(said.strip().splitlines()) == 1, said[:2000]
        assert len(said) < 2000
    assert memory < MOST_BYTES
    assert seconds < MOST_SECONDS


def test_the_advice_works_when_typed(tmp_path, monkeypatch) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n" * 5_000_000))
    with pytest.raises(TableError, match="unpacks to far more") as caught:
        read_table(path)
    name, value = str(caught.value).rstrip(".").split("environment variable ")[1].split("=")
    monkeypatch.setenv(name, value)
    assert read_table(path).n_rows == 5_000_000


def test_ordinary_compression_is_no_bomb(tmp_path) -> None:
    rows = "".join(f"{i % 7},{i % 3},{i}\n" for i in range(300_000))
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(f"a,b,c\n{rows}".encode()))
    assert read_table(path).n_rows == 300_000


def test_the_setting_is_a_size(monkeypatch) -> None:
    monkeypatch.setenv("BESTOFK_MAX_MEMORY", "1.5G")
    assert allowed_bytes(10, 10) == 3 << 29
    monkeypatch.setenv("BESTOFK_MAX_MEMORY", "much")
    with pytest.raises(ArgumentError, match="such as 500M"):
        allowed_bytes(10, 10)


def test_memory_that_is_not_there_is_one_line(capfd, monkeypatch) -> None:
    from bestofk.cli import main

    def fails(*_arguments, **_options):
        raise MemoryError

    monkeypatch.setattr("bestofk.cli.options.read_table", fails)
    monkeypatch.setattr("bestofk.cli.order.read_table", fails)
    assert main(["order", "somewhere.csv"]) == 1
    assert "not enough memory" in capfd.readouterr().err
