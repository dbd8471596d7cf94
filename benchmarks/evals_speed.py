"""Logs of 20 models x 10,000 items x 4 epochs: seconds against the json module, and memory.

    inspect    20 archives of Inspect with 40,000 summaries each
    lm-eval    20 files of lm-evaluation-harness with 10,000 samples, repeated four times each
    promptfoo  20 output files of promptfoo with 40,000 results each
    table      one CSV of 800,000 rows, against pyarrow
    parquet    the same rows as Parquet, against pyarrow

"ours" is `read_evals` and `choose_model`; "peer" is unpacking and `json.loads` of the same files
(a line at a time where the file has lines; pyarrow's CSV reader for the table), each in a process
of its own and in seconds of the processor, in turn; printed are medians over the repeats, and
"user" is the ratio without the system's seconds. Every run comes right after one of its own kind:
a virtual machine that takes free memory back needs tenths of a second to give it again, which would
be counted against the side that needs more than the one before it. The promise is at most 3 times
the peer, and 1024 MiB at the most. ``--small`` takes a tenth of the items.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from statistics import median

import numpy as np

MODELS, ITEMS, EPOCHS = 20, 10_000, 4

OURS = """
import pathlib, re, resource, sys
import bestofk as bk, numpy, pandas, pyarrow.csv, pyarrow.parquet
from bestofk.evals import example_evals, read_evals
bk.choose_model(example_evals("inspect-sums"))  # imports what reading and deciding need
begin = resource.getrusage(resource.RUSAGE_SELF)
evals = read_evals(sys.argv[1])
choice = bk.choose_model(evals)
end = resource.getrusage(resource.RUSAGE_SELF)
user, system = end.ru_utime - begin.ru_utime, end.ru_stime - begin.ru_stime
status = pathlib.Path("/proc/self/status").read_text()
print(user + system, user, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024, len(evals))
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
user, system = end.ru_utime - begin.ru_utime, end.ru_stime - begin.ru_stime
print(user + system, user)
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
        place = folder / f"m{model}"
        place.mkdir()
        told = {"results": {"t": {"acc,none": 0.5}}, "configs": {"t": {}}, "versions": {"t": 1},
                "higher_is_better": {"t": {"acc": True}}, "model_name": f"m{model}"}  # fmt: skip
        (place / "results_2025-01-01T00-00-00.0.json").write_text(json.dumps(told))
        with (place / "samples_t_2025-01-01T00-00-00.0.jsonl").open("w") as file:
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


def measure(code: str, folder: Path) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], check=True, capture_output=True, text=True
    )
    return [float(word) for word in re.split(r"\s+", done.stdout.strip())]


def second(code: str, folder: Path) -> list[float]:
    """Measured after a run of its own kind, so that each finds as much memory that is ready."""
    measure(code, folder)
    return measure(code, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", default=list(MAKERS))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    items = ITEMS // 10 if given.small else ITEMS
    print(
        f"{'format':<10} {'MB':>6} {'rows':>8} {'ours s':>7} {'peer s':>7} {'ratio':>6} "
        f"{'user':>6} {'MiB':>6}"
    )
    for name in given.formats or MAKERS:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            MAKERS[name](folder, items)
            size = sum(path.stat().st_size for path in folder.rglob("*.*")) / 1e6
            # in turn, so that what else the machine does meets both
            turns = [(second(OURS, folder), second(PEER, folder)) for _ in range(given.repeats)]
            ours, peer = (median(turn[side][0] for turn in turns) for side in (0, 1))
            ratio, user = (median(one[of] / other[of] for one, other in turns) for of in (0, 1))
            memory, rows = max(one[2] for one, _ in turns), turns[0][0][3]
            print(f"{name:<10} {size:>6.0f} {rows:>8.0f} {ours:>7.2f} {peer:>7.2f} "
                  f"{ratio:>6.2f} {user:>6.2f} {memory:>6.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
