"""Write random tables in every format, and check that all are read as the same table.

    python studies/same_readers.py --tables 2000 --seed 0

Each table is a data set (columns of numbers, texts, labels, money, dates, booleans and missing
cells, with a target) or a table of losses (long or wide). It is written as CSV, TSV, gzip, Excel,
Parquet and JSON lines, and passed as a list of dictionaries and as frames of pandas, polars and
Arrow. All ten must be read alike: the same cells, kinds, rows, notes and fingerprint of a data set,
and the same losses, names and decision of a table of losses; or all must be refused. Numbers have
at most 15 digits, which is what Excel keeps. No text begins with = (in Excel a formula) or with an
apostrophe (which protects text in CSV).

tests/data/tables/test_same_table.py runs a small form.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import bestofk as bk

LETTERS = "abcdeXYZ äßø名,;|\t\"'#&<%.-_:/()0123456789"
WORDS = ["red", "green", "blue", "unknown", "n/a", "NA", "None", "-", "?", "true", "No", "1e5",
         "007", "3,5", "$3.00", "12 %", "1,204", "2024-01-31", "31.12.2024", "x y", "Ä", "a,b",
         'a"b', "a\tb", "it's", "00:10", "1_000", "０", "½"]  # fmt: skip
Rows = list[dict[str, Any]]


def some_text(rng: np.random.Generator) -> str:
    length = int(rng.integers(1, 8))
    return "".join(rng.choice(list(LETTERS), length)).strip().lstrip("'") or "x"


def column(rng: np.random.Generator, n: int) -> list[Any]:
    """Return the cells of a column of a random kind, some of them missing."""
    levels = [some_text(rng) for _ in range(int(rng.integers(2, 6)))]
    make: Callable[[], Any] = [
        lambda: round(float(rng.normal()), 12),
        lambda: float(np.round(rng.normal() * 1000, int(rng.integers(0, 4)))),
        lambda: float(10.0 ** rng.integers(-300, 300)),
        lambda: int(rng.integers(-50, 50)),
        lambda: int(rng.integers(0, 10**15)),
        lambda: bool(rng.integers(2)),
        lambda: str(rng.choice(levels)),
        lambda: some_text(rng),
        lambda: str(rng.choice(WORDS)),
        lambda: f"${rng.integers(1, 9999):,}.{rng.integers(0, 99):02d}",
        lambda: f"{rng.integers(1, 999_999):,}",
        lambda: f"{rng.integers(0, 100)}%",
        lambda: f"2024-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}",
        lambda: f"{rng.integers(0, 10):03d}",
    ][int(rng.integers(14))]  # fmt: skip
    missing = float(rng.choice([0.0, 0.0, 0.1, 0.5]))
    return [None if rng.random() < missing else make() for _ in range(n)]


def data_rows(rng: np.random.Generator) -> Rows:
    """Return the rows of a data set with the target `y`."""
    n = int(rng.integers(6, 40))
    columns = {f"c{i}": column(rng, n) for i in range(int(rng.integers(1, 6)))}
    columns["y"] = (
        [round(float(v), 12) for v in rng.normal(size=n)]
        if rng.random() < 0.3
        else [str(v) for v in rng.choice(["yes", "no", "it is"], n)]
    )
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def loss_rows(rng: np.random.Generator) -> Rows:
    """Return a table of losses, long or wide."""
    learners = list(dict.fromkeys(f"m{some_text(rng)}" for _ in range(int(rng.integers(2, 5)))))
    folds, sets = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    digits = int(rng.integers(1, 16))
    loss = np.round(rng.random((sets, folds, len(learners))), digits).tolist()
    names = [f"d{some_text(rng)}" for _ in range(sets)]
    if rng.random() < 0.5:
        return [{"fold": fold, **dict(zip(learners, loss[0][fold], strict=True))}
                for fold in range(folds)]  # fmt: skip
    return [
        {"learner": learner, "dataset": names[i], "fold": fold, "error": loss[i][fold][k]}
        for i in range(sets) for fold in range(folds) for k, learner in enumerate(learners)
    ]  # fmt: skip


def sources(rows: Rows, folder: Path) -> dict[str, Any]:
    """Write the rows in every format; return what the readers take, by format."""
    frame = pd.DataFrame(rows)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    frame.to_csv(folder / "t.csv.gz", index=False)
    frame.to_excel(folder / "t.xlsx", index=False)
    frame.to_parquet(folder / "t.parquet")
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    polars = pl.DataFrame(rows, infer_schema_length=None)
    files = {name: folder / f"t.{name}" for name in
             ("csv", "tsv", "csv.gz", "xlsx", "parquet", "jsonl")}  # fmt: skip
    return {**files, "rows": rows, "pandas": frame, "polars": polars, "arrow": polars.to_arrow()}


def as_data(source: Any) -> tuple[Any, ...]:
    """Return everything that a data set was read as, and all its cells."""
    data = bk.read_data(source, "y", name="t")
    cells = [[None if pd.isna(cell) else cell for cell in data.X[name].tolist()] for name in data.X]
    return data.kinds, data.task, data.notes, cells, data.y.tolist(), data.fingerprint


def as_losses(source: Any) -> tuple[Any, ...]:
    """Return everything that a table of losses was read as, and its decision."""
    losses = bk.read_scores(source, higher_is_better=False)
    decided = bk.compare_scores(losses)
    names = losses.learners, losses.dims, losses.datasets
    return names, losses.losses.tolist(), decided.headline


def outcome(read: Callable[[Any], tuple[Any, ...]], source: Any) -> tuple[Any, ...]:
    """Return what a source was read as, or that it was refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(source)
        except bk.BestOfKError as error:
            return ("refused", type(error).__name__)


def differences(seed: int, table: int, folder: Path) -> tuple[str, dict[str, tuple[Any, Any]]]:
    """Check one table; return its kind, and what differs from CSV by format."""
    rng = np.random.default_rng([seed, table])
    make, read = ((data_rows, as_data), (loss_rows, as_losses))[int(rng.integers(2))]
    outcomes = {name: outcome(read, source) for name, source in sources(make(rng), folder).items()}
    expected = outcomes["csv"]
    kind = f"{read.__name__[3:]}, {'refused' if expected[0] == 'refused' else 'read'}"
    return kind, {
        name: _first_difference(expected, found)
        for name, found in outcomes.items()
        if found != expected
    }


def _first_difference(expected: Any, found: Any) -> tuple[Any, Any]:
    """Return the innermost parts that differ first."""
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        for one, other in zip(expected, found, strict=False):
            if one != other:
                return _first_difference(one, other)
    return expected, found


def main() -> int:
    """Check tables; return 1 if one is read differently."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", type=int, help="check one table only")
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    failed = 0
    tables = range(options.tables) if options.table is None else [options.table]
    for table in tables:
        with tempfile.TemporaryDirectory(prefix="same-") as name:
            kind, differ = differences(options.seed, table, Path(name))
        kinds[kind] += 1
        failed += bool(differ)
        for form, (expected, found) in differ.items():
            print(f"table {table}, {form}: {expected!r:.300} but {found!r:.300}", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items())))
    print(f"{len(tables)} tables in 10 formats, {failed} read differently")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
