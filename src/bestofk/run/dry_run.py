"""Estimate the time and the memory of a comparison from one fit of each learner."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bestofk._base.formatting import counted
from bestofk.run.cells import Cell
from bestofk.run.engine import Engine, Execution
from bestofk.run.live import Live
from bestofk.run.progress import wait_words


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a comparison needs.

    - `fits`: Number of planned fits.
    - `seconds`: Seconds of work, by learner; without the learners that failed.
    - `memory`: Largest memory of a worker, in bytes; None if the system does not tell.
    - `workers`: Number of workers on this machine.
    """

    fits: int
    seconds: dict[str, float]
    memory: int | None
    workers: int

    def __str__(self) -> str:
        lines = [f"{counted(self.fits, 'fit')}; nothing was kept"]
        if self.seconds:
            work = sum(self.seconds.values())
            slowest = max(self.seconds, key=lambda name: self.seconds[name])
            lines.append(
                f"about {wait_words(work / self.workers)} on {counted(self.workers, 'worker')} "
                f"({wait_words(work)} of work, {slowest} {self.seconds[slowest] / work:.0%})"
            )
        if self.memory is not None:
            lines.append(f"about {self.memory / 1e6:.0f} MB per worker")
        return "\n".join(lines)


def dry_run(live: Live, execution: Execution) -> Estimate:
    """Fit every learner once in a worker, on the data set with the most numbers.

    The time on other data sets is taken to be proportional to the numbers in them.
    """
    splits, record = live.splits, live.record
    sizes = [data.n * max(data.d, 1) for data in live.datasets]
    largest = sizes.index(max(sizes))
    # the folds of a nested run share a model
    models = [of.runs * of.folds + of.subset_runs for of in splits]
    cells = [Cell(learner=learner, dataset=largest, run=0, fold=0, repetition=0)
             for learner in range(len(record.learners))]  # fmt: skip
    with Engine(Execution(engine="processes", n_jobs=1, timeout=execution.timeout)) as engine:
        done = list(engine.run(live, cells))
        memory = _largest_memory(engine.pids)
    share = sum(size * count for size, count in zip(sizes, models, strict=True)) / sizes[largest]
    times = share * record.repetitions
    seconds = {record.names[cell.learner]: cell.seconds * times
               for cell in done if cell.failure is None}  # fmt: skip
    fits = sum(models) * len(cells) * record.repetitions
    return Estimate(fits, seconds, memory, Engine(execution).workers)


def _largest_memory(pids: Iterable[int]) -> int | None:
    """Return the largest memory that one of the processes had; None if the system does not tell."""
    with suppress(OSError, ValueError):
        status = [Path(f"/proc/{pid}/status").read_text(encoding="ascii") for pid in pids]
        return 1024 * max(int(text.split("VmHWM:")[1].split()[0]) for text in status)
    return None
