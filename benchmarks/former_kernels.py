"""The kernels in C beside those that were compiled on first use, learner by learner.

The last commit with the former ones is 5d78cf2. BESTOFK_FORMER_PYTHON names an interpreter that
has it installed::

    python -m venv former && git worktree add former/source 5d78cf2
    former/bin/pip install former/source
    BESTOFK_FORMER_PYTHON=former/bin/python python benchmarks/run.py former_kernels

``former_kernels:nn`` or ``former_kernels:logistic`` measures one learner. The sets of `nn` are the
16 of `neighbour_speed` (the nine real ones with BESTOFK_DATA), as they are and scaled both ways,
50 times 5x2; those of the others are the UCI sets, four times 5x2. Processor seconds of one
thread, each side in a process of its own, the best of three after one call that compiles or loads;
both sides have to make the same predictions.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).parent
RUNS = {"nn": 250}
LEARNERS = ("max", "nmc", "nmc(scale='std')", "logistic", "c4.5", "naive-bayes", "nn")


def data_of(learner: str) -> Iterator[tuple[str, Any]]:
    """Names and encoded rows."""
    sys.path.insert(0, str(HERE))
    if learner.startswith("nn"):
        from neighbour_speed import data_sets

        yield from data_sets()
        return
    from linear_speed import data_sets as uci

    yield from ((data.name, data.encoded()) for data in uci())


def one_side(learner: str) -> None:
    """Print the seconds and the predictions' hash of every set, a line each."""
    from threadpoolctl import threadpool_limits

    from bestofk.learners.specification import parse_learner
    from bestofk.splits import plan

    forms = [learner]
    if learner == "nn":
        forms = ["nn(scale=None)", "nn(scale='range')", "nn(scale='std')"]
    with threadpool_limits(1):
        for name, data in data_of(learner):
            few = plan("1x2", stratified=False, random_state=0).materialise(data.n)
            spec = f"{RUNS.get(learner, 20)}x2"
            splits = plan(spec, stratified=False, random_state=0).materialise(data.n)
            for form in forms:
                model = parse_learner(form)[1]
                model._predict_plan(data, few)
                model._predict_plan(data, splits)
                best = float("inf")
                for _ in range(3):
                    fresh = replace(data)  # nothing is known of it
                    begin = process_time()
                    predicted = model._predict_plan(fresh, splits)
                    best = min(best, process_time() - begin)
                digest = hashlib.sha256()
                for codes in predicted:
                    digest.update(codes.tobytes())
                print(json.dumps([f"{form}-{name}", best, digest.hexdigest()]), flush=True)


def measure(only: Sequence[str] = ()) -> Iterator[tuple[str, float, float, float]]:
    """One row for each learner and set."""
    former = os.environ.get("BESTOFK_FORMER_PYTHON")
    if former is None:
        raise SystemExit("BESTOFK_FORMER_PYTHON must name an interpreter with commit 5d78cf2.")
    for learner in only or LEARNERS:
        command = [str(HERE / "former_kernels.py"), learner]
        hidden = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        ours, theirs = (
            [
                json.loads(line)
                for line in subprocess.run(
                    [python, *command], check=True, stdout=subprocess.PIPE, text=True, env=where
                ).stdout.splitlines()
            ]
            for python, where in ((sys.executable, os.environ), (former, hidden))
        )
        for (name, seconds, said), (_, former_seconds, former_said) in zip(
            ours, theirs, strict=True
        ):
            assert said == former_said, f"{name}: the predictions differ"
            yield name, former_seconds / seconds, seconds, former_seconds


if __name__ == "__main__":
    one_side(sys.argv[1])
