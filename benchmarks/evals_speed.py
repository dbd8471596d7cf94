"""Measure reading logs and choosing a model against unpacking the same files with the json module.

Logs of 20 models x 10,000 items x 4 epochs:

- ``inspect``: 20 Inspect archives with 40,000 summaries each
- ``lm-eval``: 20 files of lm-evaluation-harness with 10,000 samples, repeated four times each
- ``promptfoo``: 20 promptfoo output files with 40,000 results each
- ``table``: one CSV of 800,000 rows, against pyarrow
- ``parquet``: the same rows as Parquet, against pyarrow
- ``commands``: `bestofk evals` with text, ``--json`` and ``--report`` on a CSV of 100 models x
  10,000 items, against pandas, which reads and pivots the file. Limits: a ratio of at least 1/2,
  and 500 MiB.

bestofk runs `read_evals` and `compare_evals`; the peer runs `json.loads` (line by line if the file
has lines) or pyarrow's reader. Every side runs in a process of its own, right after a run of its
own kind: a virtual machine that has reclaimed free memory takes tenths of a second to return it.
Seconds are CPU seconds; ratios are medians over the repeats. Limits: a ratio of at least 1/3, and
1024 MiB of memory, which is printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from growth import run, run_command
from timing import Row, row

MODELS, ITEMS, EPOCHS = 20, 10_000, 4
REPEATS = 5

OURS = """
import pathlib, re, resource, sys
import bestofk as bk, numpy, pandas, pyarrow.csv, pyarrow.parquet
from bestofk.evals import example_evals, read_evals
bk.compare_evals(example_evals("inspect-sums"))  # import what reading and deciding need
begin = resource.getrusage(resource.RUSAGE_SELF)
evals = read_evals(sys.argv[1])
choice = bk.compare_evals(evals)
end = resource.getrusage(resource.RUSAGE_SELF)
seconds = end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime
status = pathlib.Path("/proc/self/status").read_text()
print(seconds, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024, len(evals))
"""
PEER = """
import json, pathlib, resource, sys, zipfile
import pyarrow.csv, pyarrow.parquet
begin = resource.getrusage(resource.RUSAGE_SELF)
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.*")):
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                json.loads(archive.read(name))
    elif path.suffix == ".jsonl":
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    elif path.suffix == ".json":
        json.loads(path.read_bytes())
    elif path.suffix == ".parquet":
        pyarrow.parquet.read_table(path)
    else:
        pyarrow.csv.read_csv(path)
end = resource.getrusage(resource.RUSAGE_SELF)
print(end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime)
"""


def make_inspect(folder: Path, items: int) -> None:
    draw = np.random.default_rng(1)
    for model in range(MODELS):
        right = draw.random((items, EPOCHS)) < 0.5 + model / 50
        summaries = [
            {
                "id": f"q{i}", "epoch": e + 1, "input": f"What is the answer to question {i}? " * 3,
                "target": str(i), "metadata": {"passage": i // 4},
                "scores": {"match": {"value": "C" if right[i, e] else "I", "answer": "17",
                                     "explanation": "The answer is seventeen. " * 4}},
                "model_usage": {f"m{model}": {"input_tokens": 100, "output_tokens": 20,
                                              "total_tokens": 120}},
                "started_at": "2025-01-01T00:00:00", "completed_at": "2025-01-01T00:00:01",
                "total_time": 1.5, "working_time": 1.25, "uuid": f"{model}-{i}-{e}", "retries": 0,
                "completed": True,
            }
            for e in range(EPOCHS) for i in range(items)
        ]  # fmt: skip
        header = {"version": 2, "status": "success",
                  "eval": {"task": "t", "model": f"m{model}", "created": "2025"}}  # fmt: skip
        path = folder / f"{model}.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("header.json", json.dumps(header))
            archive.writestr("summaries.json", json.dumps(summaries))


def make_lm_eval(folder: Path, items: int) -> None:
    draw = np.random.default_rng(1)
    for model in range(MODELS):
        right = (draw.random((items, EPOCHS)) < 0.5 + model / 50).astype(float)
        home = folder / f"m{model}"
        home.mkdir()
        results = {"results": {"t": {"acc,none": 0.5}}, "configs": {"t": {}}, "versions": {"t": 1},
                "higher_is_better": {"t": {"acc": True}}, "model_name": f"m{model}"}  # fmt: skip
        (home / "results_2025-01-01T00-00-00.0.json").write_text(json.dumps(results))
        with (home / "samples_t_2025-01-01T00-00-00.0.jsonl").open("w") as file:
            for i in range(items):
                question = f"What is the answer to question {i}? " * 5
                row = {
                    "doc_id": i, "doc": {"question": question, "passage": i // 4}, "target": "17",
                    "arguments": {"gen_args_0": {"arg_0": question, "arg_1": {"until": ["\n"]}}},
                    "resps": [[question]], "filtered_resps": [question], "filter": "none",
                    "metrics": ["acc"], "doc_hash": f"{i:064d}", "prompt_hash": f"{i:064d}",
                    "target_hash": f"{i:064d}", "acc": right[i].mean(),
                    "scores_per_repeat": {"acc": right[i].tolist()},
                }  # fmt: skip
                file.write(json.dumps(row) + "\n")


def make_promptfoo(folder: Path, items: int) -> None:
    draw = np.random.default_rng(1)
    for model in range(MODELS):
        right = draw.random((items, EPOCHS)) < 0.5 + model / 50
        rows = [
            {
                "provider": {"id": f"m{model}"}, "prompt": {"raw": "x", "label": "x"},
                "promptIdx": 0, "testIdx": i, "vars": {"question": f"What is question {i}? " * 5},
                "success": bool(right[i, e]), "score": float(right[i, e]), "namedScores": {},
                "failureReason": 0 if right[i, e] else 1, "latencyMs": 1200, "cost": 0.01,
                "response": {"output": "seventeen " * 10, "tokenUsage": {"total": 120}},
                "tokenUsage": {"prompt": 100, "completion": 20, "total": 120},
                "testCase": {"vars": {"question": f"What is question {i}? " * 5},
                             "assert": [{"type": "equals", "value": str(i)}]},
            }
            for e in range(EPOCHS) for i in range(items)
        ]  # fmt: skip
        value = {"evalId": "e", "results": {"version": 3, "timestamp": "2025", "prompts": [],
                                            "results": rows, "stats": {}}}  # fmt: skip
        (folder / f"{model}.json").write_text(json.dumps(value))


def make_table(folder: Path, items: int) -> None:
    draw = np.random.default_rng(1)
    with (folder / "long.csv").open("w") as file:
        print("model,item,epoch,score,cost,latency", file=file)
        for model in range(MODELS):
            for e in range(EPOCHS):
                right = (draw.random(items) < 0.5 + model / 50).astype(int)
                for i in range(items):
                    print(f"m{model},q{i},{e + 1},{right[i]},0.01,1.25", file=file)


def make_parquet(folder: Path, items: int) -> None:
    from pyarrow import csv, parquet

    make_table(folder, items)
    parquet.write_table(csv.read_csv(folder / "long.csv"), folder / "long.parquet")
    (folder / "long.csv").unlink()


MAKERS = {
    "inspect": make_inspect,
    "lm-eval": make_lm_eval,
    "promptfoo": make_promptfoo,
    "table": make_table,
    "parquet": make_parquet,
}


PIVOT = """
import sys
import pandas
rows = pandas.read_csv(sys.argv[1])
rows.pivot(index="item", columns="model", values="score")
"""


def commands(models: int = 100) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder, "long.csv"), Path(folder, "page.html")
        draw = np.random.default_rng(1)
        with table.open("w") as file:
            print("model,item,score", file=file)
            for model in range(models):
                for i, right in enumerate(draw.random(ITEMS) < 0.5 + model / (3 * models)):
                    print(f"m{model},q{i},{int(right)}", file=file)
        for name, options in {
            "text": (), "json": ("--json",), "report": ("--report", str(page))
        }.items():  # fmt: skip
            turns = [
                (run("evals", str(table), *options), run_command("-c", PIVOT, str(table)))
                for _ in range(REPEATS)
            ]
            print(f"{name}: {max(ours[1] for ours, _ in turns):.0f} MiB")
            yield row(
                f"evals-{name}", [ours[0] for ours, _ in turns], [peer[0] for _, peer in turns]
            )


def second_run(code: str, folder: Path) -> list[float]:
    """Run the code twice in new processes; return the numbers that the second one prints."""
    command = [sys.executable, "-c", code, str(folder)]
    for _ in range(2):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def measure(formats: Sequence[str] = (*MAKERS, "commands")) -> Iterator[Row]:
    for name in formats:
        if name == "commands":
            yield from commands()
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            MAKERS[name](folder, ITEMS)
            turns = [(second_run(OURS, folder), second_run(PEER, folder)) for _ in range(REPEATS)]
        memory, rows = max(ours[1] for ours, _ in turns), turns[0][0][2]
        print(f"{name}: {rows:.0f} rows, {memory:.0f} MiB")
        yield row(f"evals-{name}", [ours[0] for ours, _ in turns], [peer[0] for _, peer in turns])
