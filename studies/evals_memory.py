"""Measure seconds and peak memory of reading a million samples in one log, by format.

    table      a CSV of 2 models x 500,000 items, in one file; with --models 100 of 100 models
    graded     the same with scores between 0 and 1
    jsonl      the same as JSON lines
    inspect    two Inspect archives with 500,000 summaries each
    crashed    two Inspect archives without summaries: 500,000 samples, one member each
    lm-eval    two files of lm-evaluation-harness with 500,000 samples each

Each is read in a process of its own and must take less than 1 GiB. ``--samples`` sets another
number of samples: 100 million of 100 models must take less than 4 GiB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

MODELS = ("a", "b")
READ = """
import pathlib, re, sys, time
import bestofk as bk, numpy, pandas, pyarrow.csv
begin = time.perf_counter()
evals = bk.read_evals(sys.argv[1])
if len(evals.models) > 2:
    bk.compare_evals(evals)
took = time.perf_counter() - begin
status = pathlib.Path("/proc/self/status").read_text()
print(len(evals), took, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024)
"""


def right(model: str, item: int) -> bool:
    """Return whether a model answers an item correctly; `b` is right more often."""
    return item % (3 if model == "a" else 7) > 0


def make_table(folder: Path, items: int) -> None:
    with (folder / "long.csv").open("w") as file:
        print("model,item,score", file=file)
        for model in MODELS:
            for i in range(items):
                print(f"{model},q{i},{int(right(model, i))}", file=file)


def make_tables_of(models: int, graded: bool) -> Callable[[Path, int], None]:
    """Return a function that writes a CSV of so many models; `items` is that of two models."""
    import numpy as np
    import pandas as pd

    def make(folder: Path, items: int) -> None:
        count, draw = 2 * items // models, np.random.default_rng(1)
        names = [f"q{i}" for i in range(count)]
        for k in range(models):
            score = draw.random(count) ** (1 - k / (3 * models))
            score = score.round(3) if graded else (score > 0.5).astype(int)
            frame = pd.DataFrame({"model": f"m{k}", "item": names, "score": score})
            frame.to_csv(folder / "long.csv", mode="a", index=False, header=k == 0)

    return make


def make_jsonl(folder: Path, items: int) -> None:
    with (folder / "long.jsonl").open("w") as file:
        for model in MODELS:
            for i in range(items):
                row = {"model": model, "item": f"q{i}", "score": right(model, i)}
                print(json.dumps(row), file=file)


def header(model: str) -> str:
    return json.dumps({"version": 2, "status": "success",
                       "eval": {"task": "t", "model": model, "created": "2025"}})  # fmt: skip


def sample(model: str, item: int) -> dict[str, object]:
    return {"id": f"q{item}", "epoch": 1, "input": "?", "target": "x",
            "scores": {"match": {"value": "C" if right(model, item) else "I"}}}  # fmt: skip


def make_inspect(folder: Path, items: int) -> None:
    for model in MODELS:
        with zipfile.ZipFile(folder / f"{model}.eval", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", header(model))
            with archive.open("summaries.json", "w") as file:
                for i in range(items):
                    file.write((b"," if i else b"[") + json.dumps(sample(model, i)).encode())
                file.write(b"]")


def make_crashed(folder: Path, items: int) -> None:
    for model in MODELS:
        with zipfile.ZipFile(folder / f"{model}.eval", "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("_journal/start.json", header(model))
            for i in range(items):
                archive.writestr(f"samples/q{i}_epoch_1.json", json.dumps(sample(model, i)))


def make_lm_eval(folder: Path, items: int) -> None:
    for model in MODELS:
        home = folder / model
        home.mkdir()
        results = {"results": {"t": {"acc,none": 0.5}}, "configs": {"t": {}}, "versions": {"t": 1},
                "higher_is_better": {"t": {"acc": True}}, "model_name": model}  # fmt: skip
        (home / "results_2025-01-01T00-00-00.0.json").write_text(json.dumps(results))
        with (home / "samples_t_2025-01-01T00-00-00.0.jsonl").open("w") as file:
            for i in range(items):
                row = {"doc_id": i, "doc": {"q": i}, "target": "x", "arguments": {}, "resps": [],
                       "filter": "none", "metrics": ["acc"], "doc_hash": f"{i:064d}",
                       "acc": float(right(model, i))}  # fmt: skip
                print(json.dumps(row), file=file)


MAKERS: dict[str, Callable[[Path, int], None]] = {
    "table": make_table,
    "jsonl": make_jsonl,
    "inspect": make_inspect,
    "crashed": make_crashed,
    "lm-eval": make_lm_eval,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", default=list(MAKERS))
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=len(MODELS), help="of table and graded")
    options = parser.parse_args()
    MAKERS["graded"] = make_tables_of(options.models, graded=True)
    if options.models > len(MODELS):
        MAKERS["table"] = make_tables_of(options.models, graded=False)
    print(f"{'format':<10} {'MB':>6} {'rows':>8} {'seconds':>8} {'MiB':>6}")
    for name in options.formats or MAKERS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            MAKERS[name](folder, options.samples // len(MODELS))
            size = sum(path.stat().st_size for path in folder.rglob("*.*")) / 1e6
            done = subprocess.run(
                [sys.executable, "-c", READ, temporary], check=True, capture_output=True, text=True
            )
            rows, seconds, memory = map(float, done.stdout.split())
            print(f"{name:<10} {size:>6.0f} {rows:>8.0f} {seconds:>8.1f} {memory:>6.0f}")


if __name__ == "__main__":
    main()
