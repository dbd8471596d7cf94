"""Read small files that demand much memory, and measure what every reader needs.

    python studies/reader_bombs.py

Each bomb is a small file (or a short command) that declares or expands to very much: compressed
zeros, sparse tables, nested lists, databases with a column per name, plans of a billion samples.
Print the size of the file, the peak memory beyond that of an idle process, the time and the first
words of the answer. Fail unless every bomb ends in one sentence, or is read with at most 20 times
its size plus 200 MB, within 5 seconds of CPU time.

tests/cli/test_resource_bombs.py runs the same bombs.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

ROOT = Path(__file__).resolve().parent.parent
MAX_RATIO = 20
MAX_BYTES = 200 << 20
MAX_SECONDS = 5.0

RUNNER = """
import json, os, resource, sys, time
import pandas, pyarrow.parquet, pyarrow.csv, sklearn.svm
from bestofk.cli import main
import bestofk.run.compare, bestofk.losses, bestofk.data, bestofk.evals.reading
import bestofk.losses.formats.tracked_runs, bestofk.run.open_study, bestofk.cli.evals
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
    output = b""
    while piece := os.read(read, 65536):
        output = (output + piece)[-100_000:]
    os.close(read)
    _, status, used = os.wait4(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), output.decode(), used.ru_maxrss * 1024,
                      used.ru_utime + used.ru_stime]), flush=True)
"""


def gzip_bomb(path: Path, text: bytes, times: int) -> None:
    """Members of a gzip file follow each other: one is packed, and repeated."""
    path.write_bytes(gzip.compress(text) * times)


def gzip_of_zeros(folder: Path) -> list[Any]:
    gzip_bomb(folder / "a.csv.gz", b"0" * 10_000_000, 300)
    return ["scores", folder / "a.csv.gz"]


def gzip_of_rows(folder: Path) -> list[Any]:
    path = folder / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n" * 2_500_000) * 200)
    return ["scores", path]


def gzip_of_empty_objects(folder: Path) -> list[Any]:
    path = folder / "o.json.gz"
    path.write_bytes(gzip.compress(b"[" + b"{}," * 5_000_000 + b"{}]"))
    return ["scores", path]


def gzip_of_gzip(folder: Path) -> list[Any]:
    inner = gzip.compress(b"0" * 10_000_000) * 100
    gzip_bomb(folder / "b.csv.gz", inner, 1)
    return ["scores", folder / "b.csv.gz"]


def gzip_of_arff(folder: Path) -> list[Any]:
    path = folder / "c.arff.gz"
    head = b"@relation r\n@attribute a numeric\n@data\n"
    path.write_bytes(gzip.compress(head) + gzip.compress(b"?\n" * 5_000_000) * 100)
    return ["compare", path]


def parquet_of_one_number(folder: Path) -> list[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({f"c{i}": pa.repeat(1.0, 1_000_000) for i in range(4)})
    with pq.ParquetWriter(folder / "n.parquet", table.schema) as writer:
        for _ in range(40):
            writer.write_table(table)
    return ["compare", folder / "n.parquet"]


def parquet_of_one_long_word(folder: Path, *, coded: bool = True) -> list[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = pa.array([0] * 20_000, type=pa.int32())
    words = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 500_000]))
    path = folder / f"w{coded}.parquet"
    pq.write_table(pa.table({"w": words, "y": codes}), path, store_schema=coded)
    return ["compare", path]


def parquet_of_one_list(folder: Path) -> list[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = pa.nulls(30_000_000, pa.int8())
    lists = pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
    pq.write_table(pa.table({"a": lists, "y": [1]}), folder / "list.parquet")
    return ["compare", folder / "list.parquet"]


def parquet_of_many_columns(folder: Path) -> list[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({f"c{i}": [1.0] for i in range(90_000)}), folder / "wide.parquet")
    return ["compare", folder / "wide.parquet"]


def csv_of_many_columns(folder: Path) -> list[Any]:
    names = ",".join(f"c{i}" for i in range(100_000))
    (folder / "wide.csv").write_text(names + "\n" + "1\n" * 500_000)
    return ["compare", folder / "wide.csv"]


def endless_device(_: Path) -> list[Any]:
    return ["scores", "/dev/zero"]


def endless_configuration(_: Path) -> list[Any]:
    return ["scores", "breast-cancer-10x10", "--config", "/dev/zero"]


def endless_calibration(_: Path) -> list[Any]:
    return ["scores", "breast-cancer-10x10", "--set", "df=/dev/zero"]


LOG = ["inspect-sums", "--metric", "match"]


def endless_log(_: Path) -> list[Any]:
    return ["evals", "/dev/zero"]


def endless_formats(_: Path) -> list[Any]:
    return ["evals", *LOG, "--formats", "/dev/zero"]


def endless_prices(_: Path) -> list[Any]:
    return ["evals", *LOG, "--prices", "/dev/zero"]


def endless_ledger(_: Path) -> list[Any]:
    return ["gate", *LOG, "--ledger", "/dev/zero"]


def endless_store(_: Path) -> list[Any]:
    return ["show", "/dev/zero"]


def pipe_as_log(folder: Path) -> list[Any]:
    os.mkfifo(folder / "log.jsonl")
    return ["evals", folder / "log.jsonl"]


def parquet_of_an_unknown_time_zone(folder: Path) -> list[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    times = pa.array(range(40), pa.timestamp("ms", tz="Mars/Phobos"))
    path = folder / "t.parquet"
    pq.write_table(pa.table({"when": times, "y": ["a", "b"] * 20}), path)
    return ["compare", path, "--cv", "2x2"]


def pipe_without_writer(folder: Path) -> list[Any]:
    os.mkfifo(folder / "ledger.json")
    return ["gate", *LOG, "--ledger", folder / "ledger.json"]


def _toml(folder: Path, value: str) -> Path:
    path = folder / "a.toml"
    path.write_text(f"alpha = {value}\n")
    return path


def long_integer_in_configuration(folder: Path) -> list[Any]:
    return ["scores", "breast-cancer-10x10", "--config", _toml(folder, "9" * 5000)]


def deep_configuration(folder: Path) -> list[Any]:
    path = _toml(folder, "[" * 5000 + "]" * 5000)
    return ["scores", "breast-cancer-10x10", "--config", path]


def long_integer_in_formats(folder: Path) -> list[Any]:
    return ["evals", *LOG, "--formats", _toml(folder, "9" * 5000)]


def deep_formats(folder: Path) -> list[Any]:
    return ["evals", *LOG, "--formats", _toml(folder, "[" * 5000 + "]" * 5000)]


def long_integer_in_prices(folder: Path) -> list[Any]:
    path = folder / "p.json"
    path.write_text(f'{{"a": {"9" * 5000}}}')
    return ["evals", *LOG, "--prices", path]


def parquet_of_one_long_plain_word(folder: Path) -> list[Any]:
    return parquet_of_one_long_word(folder, coded=False)


def commas(folder: Path) -> list[Any]:
    (folder / "d.csv").write_text("," * 4_000_000 + "\n")
    return ["scores", folder / "d.csv"]


def blanks_in_arff(folder: Path) -> list[Any]:
    cell = "a" + " " * 200_000 + "b'" + " " * 200_000
    (folder / "e.arff").write_text(
        f"@relation r\n@attribute a string\n@attribute b numeric\n@data\n{cell}{{,1\n"
    )
    return ["compare", folder / "e.arff"]


def blanks_in_declaration(folder: Path) -> list[Any]:
    (folder / "f.arff").write_text(
        "@relation r\n@attribute" + " " * 300_000 + "{" + " " * 300_000 + "\n@data\n1\n"
    )
    return ["compare", folder / "f.arff"]


def sparse_arff(folder: Path) -> list[Any]:
    names = "".join(f"@attribute a{i} numeric\n" for i in range(50_000))
    (folder / "g.arff").write_text(f"@relation r\n{names}@data\n" + "{}\n" * 50_000)
    return ["compare", folder / "g.arff"]


def deep_json(folder: Path) -> list[Any]:
    (folder / "h.json").write_text("[" * 1_000_000)
    return ["scores", folder / "h.json"]


def deep_json_lines(folder: Path) -> list[Any]:
    deep = "[" * 100_000 + "]" * 100_000
    (folder / "i.jsonl").write_text('{"a": 1}\n{"a": ' + deep + "}\n")
    return ["scores", folder / "i.jsonl"]


def long_integer(folder: Path) -> list[Any]:
    (folder / "j.jsonl").write_text('{"learner": "a", "loss": ' + "9" * 5_000 + "}\n")
    return ["scores", folder / "j.jsonl"]


def longish_integer(folder: Path) -> list[Any]:
    (folder / "k.jsonl").write_text('{"learner": "a", "loss": ' + "9" * 400 + "}\n")
    return ["scores", folder / "k.jsonl"]


def another_column_in_every_row(folder: Path) -> list[Any]:
    with (folder / "l.jsonl").open("w") as file:
        file.writelines(f'{{"c{row}": 1}}\n' for row in range(40_000))
    return ["scores", folder / "l.jsonl"]


def almost_empty_grid(folder: Path) -> list[Any]:
    with (folder / "m.csv").open("w") as file:
        file.write("learner,dataset,fold,error\n")
        file.writelines(f"l{row},d{row},{row},0.5\n" for row in range(5_000))
    return ["scores", folder / "m.csv"]


def long_fold(folder: Path) -> list[Any]:
    (folder / "q.csv").write_text(f"learner,fold,error\na,{'9' * 5000},0.1\nb,{'9' * 5000},0.2\n")
    return ["scores", folder / "q.csv"]


def deep_specification(_: Path) -> list[Any]:
    return ["compare", "iris", "--learner", "max", "--learner", "nmc(scale=" + "[" * 4_000]


def deep_calibration(folder: Path) -> list[Any]:
    (folder / "deep.json").write_text("[" * 500_000)
    return ["scores", "breast-cancer-10x10", "--set", f"df={folder / 'deep.json'}"]


def endless_plan(_: Path) -> list[Any]:
    return ["compare", "iris", "--learner", "max", "--learner", "nmc", "--cv", "9999999999x10"]


def endless_digits(_: Path) -> list[Any]:
    return ["compare", "iris", "--cv", f"kfold:{'9' * 5000}"]


def endless_repetitions(_: Path) -> list[Any]:
    return ["compare", "iris", "--learner", "max", "--learner", "nmc",
            "--set", "repetitions=99999999999"]  # fmt: skip


EVAL = {"model": "m", "task": "t", "created": "2026", "dataset": {}, "config": {}}


def inspect_archive(path: Path, **members: str) -> None:
    """Write an Inspect archive."""
    header = {"version": 2, "status": "success", "eval": EVAL}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", members.pop("header", json.dumps(header)))
        archive.writestr("summaries.json", members.pop("summaries", "[]"))
        for name, text in members.items():
            archive.writestr(f"samples/{name}_epoch_1.json", text)


def inspect_header_of_lists(folder: Path) -> list[Any]:
    header = json.dumps({"version": 2, "status": "success", "eval": EVAL, "plan": 0})
    inspect_archive(folder / "a.eval", header=header.replace("0}", f"[{'[],' * 8_000_000}[]]}}"))
    return ["evals", folder / "a.eval"]


def inspect_summary_of_lists(folder: Path) -> list[Any]:
    inspect_archive(folder / "b.eval", summaries=f'[{{"id": 1, "x": [{"[]," * 8_000_000}[]]}}]')
    return ["evals", folder / "b.eval"]


def inspect_many_summaries(folder: Path) -> list[Any]:
    inspect_archive(folder / "c.eval", summaries=f"[{'{},' * 4_000_000}{{}}]")
    return ["evals", folder / "c.eval"]


def inspect_sample_of_objects(folder: Path) -> list[Any]:
    inspect_archive(
        folder / "d.eval", one=f'{{"id": "one", "epoch": 1, "x": [{"{}," * 6_000_000}1]}}'
    )
    return ["evals", folder / "d.eval"]


def inspect_planned_samples(folder: Path) -> list[Any]:
    spec = {**EVAL, "dataset": {"sample_ids": list(range(50_000))}, "config": {"epochs": 10_000}}
    header = {"version": 2, "status": "success", "eval": spec}
    inspect_archive(folder / "e.eval", header=json.dumps(header))
    return ["evals", folder / "e.eval"]


def inspect_json_of_lists(folder: Path) -> list[Any]:
    text = json.dumps({"version": 2, "status": "success", "eval": EVAL})
    path = folder / "f.json.gz"
    path.write_bytes(gzip.compress((text[:-1] + f', "plan": [{"[]," * 5_000_000}1]}}').encode()))
    return ["evals", path]


def promptfoo_of_lists(folder: Path) -> list[Any]:
    path = folder / "g.json.gz"
    text = '{"version": 3, "results": {"version": 3, "results": [' + "[]," * 5_000_000 + "[]]}}"
    path.write_bytes(gzip.compress(text.encode()))
    return ["evals", path]


def harness_line_of_lists(folder: Path) -> list[Any]:
    path = folder / "samples_t_2026.jsonl.gz"
    line = '{"doc_id": 0, "doc": [' + "[]," * 5_000_000 + '1], "acc": 1}'
    path.write_bytes(gzip.compress(line.encode()))
    return ["evals", path]


def evals_without_common_items(folder: Path) -> list[Any]:
    path = folder / "h.csv"
    with path.open("w") as file:
        file.write("model,item,score\n")
        file.writelines(f"m{row},q{row},1\n" for row in range(6_000))
    return ["evals", path]


def zip_of_members(folder: Path) -> list[Any]:
    path = folder / "i.eval"
    inspect_archive(path, **{f"s{n}": "{}" for n in range(20_000)})
    return ["evals", path]


def zip_of_one_long_member(folder: Path) -> list[Any]:
    inspect_archive(folder / "j.eval", summaries="[" + " " * 400_000_000 + "]")
    return ["evals", folder / "j.eval"]


def store(folder: Path) -> Path:
    """Write a small store."""
    import bestofk as bk

    path = folder / "store.db"
    execution = bk.Execution(store=path, progress=False, engine="serial")
    bk.compare(["max", "nmc"], "iris", cv="2x2", random_state=1, execution=execution)
    return path


def store_of_many_runs(folder: Path) -> list[Any]:
    return _changed_spec(folder, '"runs":2', '"runs":300000000')


def store_of_many_folds(folder: Path) -> list[Any]:
    return _changed_spec(folder, '"folds":2', '"folds":300000000', '"rows":150', '"rows":300000000')


def store_of_many_repetitions(folder: Path) -> list[Any]:
    return _changed_spec(folder, '"repetitions":1', '"repetitions":300000000')


def _changed_spec(folder: Path, *texts: str) -> list[Any]:
    path = store(folder)
    with contextlib.closing(sqlite3.connect(path)) as db:
        ((text,),) = db.execute("SELECT specification FROM bestofk_studies").fetchall()
        for before, after in zip(texts[::2], texts[1::2], strict=True):
            text = text.replace(before, after)
        db.execute(
            "UPDATE bestofk_studies SET specification = ?, checksum = ?",
            (text, crc32(text.encode())),
        )
        db.commit()
    return ["show", path, "--report", folder / "r.html"]


def workbook_of_shared_text(folder: Path) -> list[Any]:
    import openpyxl

    book = openpyxl.Workbook()
    for _ in range(2_000):
        book.active.append(["x" * 30_000])
    book.save(folder / "k.xlsx")
    return ["scores", folder / "k.xlsx"]


def workbook_dimension(folder: Path) -> list[Any]:
    import openpyxl

    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "learner", 1
    book.save(folder / "l.xlsx")
    return ["scores", folder / "l.xlsx"]


def calibration_of_lists(folder: Path) -> list[Any]:
    (folder / "df.json").write_text("[" + "[]," * 8_000_000 + "[]]")
    return ["scores", "breast-cancer-10x10", "--set", f"df={folder / 'df.json'}"]


BOMBS: tuple[Callable[[Path], list[Any]], ...] = (
    gzip_of_zeros, gzip_of_rows, gzip_of_empty_objects, gzip_of_gzip, gzip_of_arff,
    parquet_of_one_number, parquet_of_one_list, parquet_of_many_columns, csv_of_many_columns,
    endless_device, endless_configuration, endless_calibration, endless_log, endless_formats,
    endless_prices, endless_ledger, endless_store, pipe_as_log, pipe_without_writer,
    parquet_of_an_unknown_time_zone, long_integer_in_configuration,
    deep_configuration, long_integer_in_formats, deep_formats, long_integer_in_prices,
    parquet_of_one_long_word,
    parquet_of_one_long_plain_word, commas,
    blanks_in_arff, blanks_in_declaration, sparse_arff, deep_json, deep_json_lines, long_integer,
    longish_integer, another_column_in_every_row, almost_empty_grid, deep_specification, long_fold,
    deep_calibration, endless_plan, endless_digits, endless_repetitions, inspect_header_of_lists,
    inspect_summary_of_lists, inspect_many_summaries, inspect_sample_of_objects,
    inspect_planned_samples, inspect_json_of_lists, promptfoo_of_lists, harness_line_of_lists,
    evals_without_common_items, zip_of_members, zip_of_one_long_member,
    store_of_many_runs, store_of_many_folds, store_of_many_repetitions, workbook_of_shared_text,
    workbook_dimension, calibration_of_lists,
)  # fmt: skip


class BoundedCommands:
    """A process that runs commands, each in a child whose use of resources it reports."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", RUNNER], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        # an idle command has this peak
        self.baseline = self.run(["list", "learners"])[2]

    def run(self, words: list[Any]) -> tuple[int, str, int, float]:
        """Return exit code, output, peak memory in bytes and CPU seconds of a command."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        self._process.stdin.flush()
        code, output, memory, seconds = json.loads(self._process.stdout.readline())
        return code, output, memory, seconds

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def size_of(words: list[Any]) -> int:
    """Return the size of the files of a command."""
    return sum(word.stat().st_size for word in words if isinstance(word, Path) and word.exists())


def problem_of(
    bomb: Callable[[Path], list[Any]],
    commands: BoundedCommands,
    folder: Path,
    *,
    max_seconds: float = MAX_SECONDS,
) -> tuple[str, str]:
    """Run a bomb; return its line in the table, and what is wrong with it."""
    words = bomb(folder)
    size = size_of(words)
    code, output, memory, seconds = commands.run(words)
    used = max(memory - commands.baseline, 0)
    name = bomb.__name__
    first = " ".join(output.split())[:70]
    line = f"{name:32} {size / 1e3:9.1f} KB {used / 1e6:7.1f} MB {seconds:5.2f} s  {code} {first}"
    problem = ""
    if code not in (0, 2, 4) or "Traceback" in output:
        problem = f"exit code {code}: {output[-500:]}"
    elif code and (len(output.strip().splitlines()) != 1 or len(output) > 2000):
        problem = f"not one sentence: {output[:500]}"
    elif used > MAX_RATIO * size + MAX_BYTES:
        problem = f"{used / 1e6:.0f} MB"
    elif seconds > max_seconds:
        problem = f"{seconds:.1f} s"
    return line, problem


def main() -> int:
    """Run all bombs; return 1 if one is not defused."""
    commands, failed = BoundedCommands(), 0
    for bomb in BOMBS:
        with tempfile.TemporaryDirectory() as folder:
            line, problem = problem_of(bomb, commands, Path(folder))
        print(line + (f"  FAILED: {problem}" if problem else ""), flush=True)
        failed += bool(problem)
    commands.close()
    print(f"{len(BOMBS)} bombs, {failed} not defused")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
