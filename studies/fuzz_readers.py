"""Read randomly damaged files with every reader; only bestofk's errors may come out.

    python studies/fuzz_readers.py --seconds 600 --seed 0
    python studies/fuzz_readers.py --seed 0 --case 1234 --keep case

Each case takes a valid file (tables in every format, logs of every evaluation tool, results of
other tools, databases, a store, a calibration), damages it, and reads it. Damage is to bytes
(flipped, removed, repeated, cut off), to JSON values (replaced by others of any type), to members
of zip archives, or to cells of SQLite tables. A case fails if

- reading raises anything but an error of bestofk, or the message has control characters,
- reading takes more than 20 s of CPU time,
- the process needs more than 1.5 GB.

`--case` repeats one case, whose number is in the message. The small form is
tests/cli/test_fuzz_readers.py.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MAX_SECONDS = 20.0
MAX_GB = 1.5
MAX_FAILURES = 20
STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**62, -(2**63), 10**400, 1e308, -1e-320, 0.5, "",
    " ", "a", "\ud800", "\udfff\x00", "\x1b[31m", "NaN", "inf", "=1+1", "../..", "\\x", "x" * 3000,
    [], {}, [[]], [{}], {"": {}}, [None] * 3, {"a": 1}, [0.1, 0.2], "C", "\u202e", "9" * 500,
)  # fmt: skip
NUMBERS = (
    b"1e999",
    b"-1",
    b"99999999999999999999",
    b"NaN",
    b"0x10",
    b"1e-400",
    b"",
    b"\xff",
    b"\0",
)


@cache
def sources() -> list[tuple[str, Path]]:
    """Make or find the valid files, with the kind of their reader."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-readers-"))
    evals = ROOT / "tests" / "evals" / "golden"
    losses = ROOT / "tests" / "losses" / "golden"
    listed = [("evals", path) for path in sorted(evals.iterdir()) if path.is_dir()]
    listed += [("losses", path) for path in sorted(losses.rglob("*")) if path.is_file()]
    listed += [(kind, path) for kind, make in MADE for path in [make(folder)] if path is not None]
    return listed


def losses_csv(folder: Path) -> Path:
    path = folder / "losses.csv"
    rows = [f"{who},{data},{fold},{0.1 * fold + i / 7}" for i, who in enumerate("abc")
            for data in "xy" for fold in range(4)]  # fmt: skip
    path.write_text("learner,dataset,fold,error\n" + "\n".join(rows) + "\n")
    return path


def losses_gz(folder: Path) -> Path:
    path = folder / "losses.csv.gz"
    path.write_bytes(gzip.compress(losses_csv(folder).read_bytes()))
    return path


def losses_jsonl(folder: Path) -> Path:
    path = folder / "losses.jsonl"
    header, *lines = losses_csv(folder).read_text().splitlines()
    names = header.split(",")
    path.write_text("".join(json.dumps(dict(zip(names, line.split(","), strict=True))) + "\n"
                            for line in lines))  # fmt: skip
    return path


def losses_json(folder: Path) -> Path:
    path = folder / "losses.json"
    lines = losses_jsonl(folder).read_text().splitlines()
    path.write_text(f"[{','.join(lines)}]")
    return path


def losses_parquet(folder: Path) -> Path:
    import pandas as pd

    path = folder / "losses.parquet"
    pd.read_csv(losses_csv(folder)).to_parquet(path)
    return path


def losses_xlsx(folder: Path) -> Path | None:
    try:
        import openpyxl
    except ImportError:
        return None
    book = openpyxl.Workbook()
    for line in losses_csv(folder).read_text().splitlines():
        book.active.append(line.split(","))
    path = folder / "losses.xlsx"
    book.save(path)
    return path


def data_arff(folder: Path) -> Path:
    path = folder / "data.arff"
    rows = [f"{i},{'red' if i % 3 else 'blue'},{'yes' if i % 2 else 'no'}" for i in range(20)]
    path.write_text(
        "@relation r\n@attribute size numeric\n@attribute colour {red,blue}\n"
        "@attribute class {yes,no}\n@data\n" + "\n".join(rows) + "\n{0 3, 2 yes}\n"
    )
    return path


def data_csv(folder: Path) -> Path:
    path = folder / "data.csv"
    rows = [f"{i},{'red' if i % 3 else 'blue'},{'yes' if i % 2 else 'no'}" for i in range(20)]
    path.write_text("size;colour;class\n".replace(";", ",") + "\n".join(rows) + "\n")
    return path


def store_db(folder: Path) -> Path:
    import bestofk as bk

    path = folder / "store.db"
    execution = bk.Execution(store=path, progress=False, engine="serial")
    bk.compare(["max", "nmc"], "iris", cv="2x2", random_state=1, execution=execution)
    return path


def calibration(folder: Path) -> Path:
    from bestofk.stats.pairwise.calibration import KIND, Calibration

    path = folder / "df.json"
    content: dict[str, Any] = dict.fromkeys(Calibration.__dataclass_fields__, 1)
    path.write_text(json.dumps({**content, "kind": KIND, "learners": ["a"], "test": "t"}))
    return path


MADE: tuple[tuple[str, Callable[[Path], Path | None]], ...] = (
    ("losses", losses_csv), ("losses", losses_gz), ("losses", losses_jsonl),
    ("losses", losses_json), ("losses", losses_parquet), ("losses", losses_xlsx),
    ("dataset", data_arff), ("dataset", data_csv), ("dataset", losses_parquet),
    ("store", store_db), ("store", store_db),
    ("calibration", calibration),
)  # fmt: skip


def read(kind: str, path: Path) -> str:
    """Read a file as the commands do; return a label of the outcome."""
    import bestofk as bk
    from bestofk._base.errors import BestOfKError

    try:
        if kind == "evals":
            evals = bk.read_evals(path)
            assert evals.notes
        elif kind == "losses":
            with contextlib.suppress(BestOfKError):
                bk.read_scores(path, higher_is_better=False)
            bk.read_scores(path)
        elif kind == "dataset":
            bk.read_data(path).explain()
        elif kind == "store":
            _read_store(path)
        else:
            from bestofk.stats.pairwise.calibration import read_calibration

            read_calibration(path)
    except BestOfKError as error:
        message = str(error)
        assert not any(c in message for c in "\x1b\x00"), f"control characters: {message!r}"
        return f"{kind}: refused"
    return f"{kind}: read"


def _read_store(path: Path) -> None:
    from bestofk.run.open_study import open_study, stored_cells
    from bestofk.run.store.store import open_store

    with open_store(str(path), read_only=True) as store:
        store.n_cells()
        for study in store.studies():
            stored_cells(store, study).tally()
    open_study(path).explain()


def damage_bytes(data: bytes, rng: random.Random) -> bytes:
    """Damage some bytes."""
    for _ in range(rng.choice([1, 1, 2, 8])):
        if not data:
            return data
        at, length = rng.randrange(len(data)), rng.choice([1, 1, 4, 30, 500])
        kind = rng.randrange(7)
        if kind == 0:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[at + length :]
        elif kind == 2:
            data = data[:at] + data[at : at + length] * rng.choice([2, 50]) + data[at:]
        elif kind == 3:
            data = data[:at]
        elif kind == 4:
            data = data[:at] + rng.choice(NUMBERS) + data[at + rng.choice([0, 1, 3]) :]
        elif kind == 5:
            other = rng.randrange(len(data))
            data = data[:at] + data[other : other + length] + data[at + length :]
        else:
            data = (
                data[:at]
                + rng.choice([b",", b"\n", b'"', b"{", b"[", b"\\", b";", b"\t"])
                + data[at:]
            )
    return data


def damage_value(value: Any, rng: random.Random) -> Any:
    """Replace a value somewhere in a JSON value."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {name: part for name, part in value.items() if name != key}
        if rng.random() < 0.1:
            return {**value, str(rng.choice(STRANGE))[:50]: rng.choice(STRANGE)}
        return {**value, key: damage_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        if rng.random() < 0.1:
            return value[:at] + value[at + 1 :]
        return [*value[:at], damage_value(value[at], rng), *value[at + 1 :]]
    return rng.choice(STRANGE)


def damage_json(data: bytes, rng: random.Random) -> bytes:
    """Damage values of a JSON text, or of one line of it."""
    try:
        lines = data.decode().splitlines()
        whole = len(lines) < 2 or data[:1] == b"["
        text = data.decode() if whole or not _is_json(lines[0]) else None
        at = rng.randrange(len(lines))
        value = json.loads(lines[at] if text is None else text)
    except (ValueError, IndexError):
        return damage_bytes(data, rng)
    for _ in range(rng.choice([1, 1, 3])):
        value = damage_value(value, rng)
    try:
        new = json.dumps(value)
    except ValueError:
        return data
    if text is None:
        lines[at] = new
        new = "\n".join(lines)
    return new.encode("utf-8", "surrogatepass")


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def damage_zip(path: Path, rng: random.Random) -> None:
    """Damage one member of a zip archive and write all again."""
    with zipfile.ZipFile(path) as archive:
        members = {name: _member(archive, name) for name in archive.namelist()}
    name = rng.choice(list(members))
    members[name] = (damage_json if rng.random() < 0.7 else damage_bytes)(members[name], rng)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, data in members.items():
            archive.writestr(other, data)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except (NotImplementedError, zipfile.BadZipFile):
        return b"{}"


def damage_sqlite(path: Path, rng: random.Random) -> None:
    """Replace cells of a database, or drop a table or a column."""
    with contextlib.closing(sqlite3.connect(path)) as db, contextlib.suppress(sqlite3.Error):
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        for _ in range(rng.choice([1, 2, 5])):
            table = rng.choice(names)
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
            column = rng.choice(columns)
            strange = rng.choice(STRANGE)
            if (
                column in ("specification", "value_json", "distribution_json")
                and rng.random() < 0.8
            ):
                row = db.execute(f'SELECT rowid, "{column}" FROM "{table}"').fetchone()
                if row is not None:
                    new = damage_json(str(row[1]).encode(), rng).decode("utf-8", "replace")
                    db.execute(
                        f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (new, row[0])
                    )
            elif rng.random() < 0.05:
                db.execute(f'DROP TABLE "{table}"')
                names.remove(table)
            elif rng.random() < 0.05:
                db.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
            else:
                if isinstance(strange, list | dict):
                    strange = json.dumps(strange)
                elif isinstance(strange, str):
                    strange = strange.encode("utf-8", "replace").decode()
                elif isinstance(strange, int) and abs(strange) >= 2**63:
                    strange = 2.0**80
                few = rng.choice(["", " WHERE rowid = 1", " WHERE rowid % 2"])
                db.execute(f'UPDATE "{table}" SET "{column}" = ?{few}', (strange,))
        db.commit()


def damage(path: Path, rng: random.Random) -> None:
    """Damage a file in place."""
    data = path.read_bytes()
    if data[:2] == b"PK" and rng.random() < 0.7:
        damage_zip(path, rng)
    elif data[:15] == b"SQLite format 3" and rng.random() < 0.7:
        damage_sqlite(path, rng)
    elif path.suffix in (".json", ".jsonl", ".ndjson") and rng.random() < 0.7:
        path.write_bytes(damage_json(data, rng))
    else:
        path.write_bytes(damage_bytes(data, rng))


def check_case(seed: int, case: int, folder: Path) -> str:
    """Check one case in a folder; return a label of the outcome."""
    rng = random.Random(f"{seed} {case}")
    kind, original = rng.choice(sources())
    target = folder / original.name
    if original.is_dir():
        shutil.copytree(original, target)
        files = [path for path in sorted(target.rglob("*")) if path.is_file()]
        damage(rng.choice(files), rng)
    else:
        shutil.copyfile(original, target)
        damage(target, rng)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = read(kind, target)
    seconds = time.process_time() - begin
    assert seconds < MAX_SECONDS, f"{outcome} took {seconds:.1f} s"
    return outcome


@contextlib.contextmanager
def case_folder(keep: Path | None) -> Iterator[Path]:
    """Make a folder for a case; keep it if its path is given."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
    else:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            yield Path(folder)


def main() -> int:
    """Check cases until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--cases", type=int, help="stop after this many cases")
    parser.add_argument("--case", type=int, help="repeat one case")
    parser.add_argument("--keep", type=Path, help="keep the damaged file of the case here")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    end = time.monotonic() + options.seconds
    case, failed = options.case or 0, 0
    while time.monotonic() < end and (options.cases is None or case < options.cases):
        with case_folder(options.keep) as folder:
            try:
                outcomes[check_case(options.seed, case, folder)] += 1
            except Exception as error:
                failed += 1
                reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
                last = traceback.extract_tb(error.__traceback__)[-1]
                ours = [frame for frame in traceback.extract_tb(error.__traceback__)
                        if "bestofk" in frame.filename]  # fmt: skip
                frame = ours[-1] if ours else last
                line = f"{Path(frame.filename).name}:{frame.lineno}"
                print(
                    f"Case {case} of seed {options.seed} failed at {line}: {reason!a}",
                    flush=True,
                )
                if options.case is not None:
                    raise
        case += 1
        if options.case is not None or failed == MAX_FAILURES:
            break
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome}: {count}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    passed = sum(outcomes.values())
    print(f"{passed} cases of seed {options.seed} passed, {failed} failed; peak {peak:.2f} GB")
    return int(failed > 0 or peak > MAX_GB)


if __name__ == "__main__":
    sys.exit(main())
