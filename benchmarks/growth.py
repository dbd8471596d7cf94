"""Measure how time and memory of whole commands grow with their input.

- ``learners``: `bestofk scores` on 10 to 3,000 learners x 20 data sets
- ``units``: `bestofk scores` on 5 learners x 10 to 1,000,000 data sets
- ``evals``: `bestofk evals` on 10,000 to 10,000,000 rows of Parquet, 100 models
- ``large``: the same on 10,000,000 and 100,000,000 rows of numbered items, with right or wrong
  answers, sorted by model; ``large-by-item`` and ``large-random``: sorted by item, and in random
  order; ``large-names``: with names of items such as q-0001234; ``large-graded``,
  ``large-graded-by-item`` and ``large-graded-random``: with scores from 0 to 1 (only if named:
  several minutes each)
- ``json``: `bestofk scores --json` on 10 to 1,000 learners x 20 data sets
- ``reports``: `bestofk scores --report` on 6 to 1,000 learners x 20 data sets
- ``resume``, ``show``: `bk.compare` with nothing left to do and `bestofk show`, on a store of
  10,000 to 1,000,000 fits (see ``store_speed``)

Each step runs the command in a process of its own and prints its CPU seconds, its peak memory and
the size of its output. The work of a step is what it reads, tests and shows: cells of the table,
losses of all pairs, and bytes of output. The peer of a step is the step before it, times the ratio
of their works, so a ratio of at least 1 means that time grows no faster than the work. The rows
``... MiB`` do the same for memory, with the numbers that are read and one number per pair as work.
Steps that take less than `MIN_SECONDS` more than the smallest one have no row: the start of Python
dominates them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from timing import Row

DATASETS, MODELS, LEARNERS = 20, 100, 5
MIN_SECONDS = 0.2
SIZES: dict[str, tuple[int, ...]] = {
    "learners": (10, 100, 300, 1_000, 3_000),
    "units": (10, 1_000, 10_000, 100_000, 1_000_000),
    "evals": (10_000, 100_000, 1_000_000, 10_000_000),
    "json": (10, 100, 300, 1_000),
    "reports": (6, 30, 100, 300, 1_000),
    "resume": (10_000, 100_000, 1_000_000),
    "show": (10_000, 100_000, 1_000_000),
}
LARGE: dict[str, dict[str, Any]] = {
    "large": {},
    "large-by-item": {"order": "item"},
    "large-random": {"order": "random"},
    "large-names": {"named": True},
    "large-graded": {"graded": True},
    "large-graded-by-item": {"graded": True, "order": "item"},
    "large-graded-random": {"graded": True, "order": "random"},
}
"""Arguments of `write_numbered`; these parts run only if they are named."""
SIZES |= dict.fromkeys(LARGE, (10_000_000, 100_000_000))


class Step(NamedTuple):
    """The resources of one command, and its work."""

    seconds: float
    mib: float
    work: float
    numbers: float


def write_scores(path: Path, learners: int, datasets: int) -> None:
    """Write a table with one column per learner; a few learners are clearly worse."""
    rng = np.random.default_rng(1)
    means = np.linspace(0.3, 0.4, learners)
    with path.open("w") as file:
        print("dataset", *(f"learner-{k}" for k in range(learners)), sep=",", file=file)
        for d in range(datasets):
            row = np.round(means + rng.normal(0, 0.03, learners), 4).tolist()
            print(f"set-{d}", *row, sep=",", file=file)


def write_evals(path: Path, rows: int) -> None:
    """Write right and wrong answers of the models, one row group per model."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    items = rows // MODELS
    names = pa.array([f"q{i}" for i in range(items)])
    schema = pa.schema([("model", pa.string()), ("item", pa.string()), ("score", pa.int8())])
    with pq.ParquetWriter(path, schema) as writer:
        for k in range(MODELS):
            right = pa.array((rng.random(items) < 0.5 + k / 300).astype(np.int8))
            model = pa.array([f"m{k}"] * items)
            writer.write_table(pa.table([model, names, right], schema=schema))


def write_numbered(
    path: Path, rows: int, *, graded: bool = False, order: str = "model", named: bool = False
) -> None:
    """Write scores of the models on numbered items, in row groups of one row per item."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    items = rows // MODELS
    kind = pa.float64() if graded else pa.int8()
    code, item_kind = pa.dictionary(pa.int32(), pa.string()), pa.string() if named else pa.int32()
    schema = pa.schema([("model", code), ("item", item_kind), ("score", kind)])
    models = pa.array([f"m{k}" for k in range(MODELS)])
    names = pa.array([f"q-{i:07}" for i in range(items)]) if named else None
    easy, cells = rng.random(items), np.arange(rows, dtype=np.int32)
    if order == "random":
        rng.shuffle(cells)
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, items):
            cell = cells[start : start + items]
            model, item = divmod(cell, items) if order != "item" else divmod(cell, MODELS)[::-1]
            score = 0.5 * easy[item] + 0.5 * rng.random(items) + model / 1000
            score = np.round(np.clip(score, 0, 1), 2) if graded else score > 0.5
            columns = [
                pa.DictionaryArray.from_arrays(model, models),
                pa.array(item) if names is None else names.take(pa.array(item)),
                pa.array(score).cast(kind),
            ]
            writer.write_table(pa.table(columns, schema=schema))


def run(*arguments: str) -> tuple[float, float, int]:
    """Return the CPU seconds, the peak MiB and the bytes of output of a bestofk command."""
    return run_command("-m", "bestofk", *arguments)


def run_command(*arguments: str) -> tuple[float, float, int]:
    """Return the CPU seconds, the peak MiB and the bytes of output of Python."""
    with tempfile.TemporaryFile() as output:
        command = [sys.executable, *arguments]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        size = output.seek(0, os.SEEK_END)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, size


def order_step(folder: Path, learners: int, datasets: int, *options: str) -> Step:
    table, page = folder / "scores.csv", folder / "page.html"
    write_scores(table, learners, datasets)
    more = [word.replace("PAGE", str(page)) for word in options]
    seconds, mib, size = run("scores", str(table), "--lower-is-better", *more)
    size = page.stat().st_size if page.exists() else size
    return _step(f"{learners} x {datasets}", learners, datasets, seconds, mib, size)


def evals_step(folder: Path, rows: int) -> Step:
    write_evals(folder / "rows.parquet", rows)
    seconds, mib, size = run("evals", str(folder / "rows.parquet"))
    return _step(f"{rows} rows", MODELS, rows // MODELS, seconds, mib, size)


def large_step(folder: Path, rows: int, **options: Any) -> Step:
    write_numbered(folder / "rows.parquet", rows, **options)
    # sorted by item, the file is so small that bestofk asks before it reads that many rows
    with patch.dict(os.environ, BESTOFK_MAX_MEMORY="8G"):
        seconds, mib, size = run("evals", str(folder / "rows.parquet"))
    return _step(f"{rows} rows", MODELS, rows // MODELS, seconds, mib, size)


def store_step(folder: Path, cells: int, *, command: str) -> Step:
    import store_speed

    path = folder / "study.db"
    store_speed.fill(path, cells)
    # the first command also decides
    seconds, mib, size = run_command(store_speed.__file__, "resume", str(path), str(cells))
    if command == "show":
        seconds, mib, size = run("show", str(path))
    print(f"  {cells} fits: {seconds:.2f} s, {mib:.0f} MiB, output {size / 1e6:.3g} MB", flush=True)
    return Step(seconds, mib, cells, cells)


def _step(name: str, learners: int, units: int, seconds: float, mib: float, size: int) -> Step:
    pairs = learners * (learners - 1) / 2
    print(f"  {name}: {seconds:.2f} s, {mib:.0f} MiB, output {size / 1e6:.3g} MB", flush=True)
    return Step(seconds, mib, learners * units + pairs * units + size, learners * units + pairs)


STEPS: dict[str, Callable[[Path, int], Step]] = {
    "learners": lambda folder, size: order_step(folder, size, DATASETS),
    "units": lambda folder, size: order_step(folder, LEARNERS, size),
    "evals": evals_step,
    **{name: partial(large_step, **options) for name, options in LARGE.items()},
    "json": lambda folder, size: order_step(folder, size, DATASETS, "--json"),
    "reports": lambda folder, size: order_step(folder, size, DATASETS, "--report", "PAGE"),
    "resume": partial(store_step, command="resume"),
    "show": partial(store_step, command="show"),
}


def measure(parts: Sequence[str] = ()) -> Iterator[Row]:
    for part in parts or [name for name in SIZES if name not in LARGE]:
        print(part)
        steps: list[Step] = []
        for size in SIZES[part]:
            with tempfile.TemporaryDirectory() as folder:
                steps.append(STEPS[part](Path(folder), size))
            if len(steps) == 1 or steps[-1].seconds < steps[0].seconds + MIN_SECONDS:
                continue
            before, now = steps[-2], steps[-1]
            for name, ours, peer in (
                (f"{part}-{size}", now.seconds, before.seconds * now.work / before.work),
                (f"{part}-{size} MiB", now.mib, before.mib * now.numbers / before.numbers),
            ):
                yield name, peer / ours, ours, peer
