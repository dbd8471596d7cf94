"""Damage the ledger of a gate in random ways: is anything lost, and is every damage reported?

Usage: python studies/gate_faults.py [--faults 500] [--seed 1]

A fault is one of: bytes changed, the file cut off, a line removed, copied or moved, a process
killed while it writes, two processes that write at the same time, and two branches merged by git's
conflict markers. After each fault the ledger must hold every build that was reported as recorded,
or reading it must end with an error of bestofk.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from bestofk._base.errors import StoreError
from bestofk.release import gate as release
from bestofk.release.gate import gate
from bestofk.release.ledger import Ledger, read_ledger

WRITER = """
import sys
import numpy as np
from bestofk.release.gate import gate
print("ready", flush=True)
for k in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
    scores = (np.random.default_rng(k).random(200) < 0.7) * 1.0
    print(gate(scores, ledger=sys.argv[1], build=f"p{k}").build, flush=True)
"""


def scores(seed: int) -> np.ndarray:
    """Return right and wrong answers to 200 items."""
    return (np.random.default_rng(seed).random(200) < 0.7) * 1.0


def start(path: Path, builds: int) -> None:
    """Write a ledger with some builds."""
    release.start(scores(9999), ledger=path)
    for build in range(builds):
        gate(scores(build), ledger=path, build=f"b{build}")


def outcome(path: Path, before: Ledger) -> str:
    """Return how reading a damaged ledger ends."""
    try:
        after = read_ledger(path)
    except StoreError:
        return "reported"
    same = {one["hash"] for one in after.builds} == {one["hash"] for one in before.builds}
    return "harmless" if same and after.baseline == before.baseline else "UNNOTICED"


def change_bytes(path: Path, rng: random.Random) -> str:
    before, content = read_ledger(path), bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 1, 5, 100))):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content)
    return outcome(path, before)


def cut_off(path: Path, rng: random.Random) -> str:
    before, content = read_ledger(path), path.read_bytes()
    # without the last line break nothing is missing
    path.write_bytes(content[: rng.randrange(len(content) - 1)])
    return outcome(path, before)


def shuffle_lines(path: Path, rng: random.Random) -> str:
    before, lines = read_ledger(path), path.read_text().splitlines(keepends=True)
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    line = lines.pop(at)
    if rng.random() < 0.7:
        lines.insert(other, line)
    if rng.random() < 0.3:
        lines.insert(at, line)
    path.write_text("".join(lines))
    return outcome(path, before)


def writer(path: Path, first: int, count: int) -> subprocess.Popen[str]:
    """Start a process that tests `count` builds."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first), str(count)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def recorded(path: Path, output: str) -> str:
    """Check that every build that was printed is in the ledger."""
    printed = set(output.split()) - {"ready"}
    ledger = read_ledger(path)
    names = {build["build"] for build in ledger.builds}
    leftovers = [one for one in path.parent.iterdir() if one.name.endswith(".lock")]
    return "harmless" if printed <= names and not leftovers else "LOST"


def kill(path: Path, rng: random.Random) -> str:
    process = writer(path, rng.randrange(10**6), 1000)
    first = process.stdout.readline()
    time.sleep(rng.random() * 0.1)
    os.kill(process.pid, signal.SIGKILL)
    return recorded(path, first + process.communicate()[0])


def two_processes(path: Path, rng: random.Random) -> str:
    processes = [writer(path, rng.randrange(10**6), 4) for _ in range(2)]
    output = "".join(process.communicate()[0] for process in processes)
    ok = all(process.returncode == 0 for process in processes) and len(output.split()) == 10
    return recorded(path, output) if ok else "LOST"


def merge(path: Path, rng: random.Random) -> str:
    """Merge two branches through a file with conflict markers, as git writes it."""
    sides = [path.with_name(name) for name in ("ours.json", "theirs.json")]
    for side in sides:
        side.write_bytes(path.read_bytes())
        for _ in range(rng.randrange(1, 4)):
            seed = rng.randrange(10**6)
            gate(scores(seed), ledger=side, build=f"m{seed}")
    base = path.with_name("base.json")
    base.write_bytes(path.read_bytes())
    done = subprocess.run(
        ["git", "merge-file", "-p", *rng.choice(([], ["--diff3"])), sides[0], base, sides[1]],
        capture_output=True, check=False,
    )  # fmt: skip
    path.write_bytes(done.stdout)
    builds = [build["build"] for side in sides for build in read_ledger(side).builds]
    names = {build["build"] for build in read_ledger(path).builds}
    return "merged" if names == set(builds) else "LOST"


FAULTS = {
    "bytes changed": change_bytes, "cut off": cut_off, "lines moved": shuffle_lines,
    "killed": kill, "two processes": two_processes, "merged": merge,
}  # fmt: skip


def run_case(kind: str, seed: int) -> str:
    """Return the outcome of one fault."""
    rng = random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gate.json"
        start(path, rng.randrange(1, 6))
        return FAULTS[kind](path, rng)


def main() -> None:
    """Print the outcomes of all faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for kind in FAULTS:
        # processes take longer
        count = options.faults // (10 if kind in ("killed", "two processes") else 1)
        outcomes = Counter(run_case(kind, options.seed + case) for case in range(count))
        print(f"{kind:14} {dict(outcomes)}", flush=True)


if __name__ == "__main__":
    main()
