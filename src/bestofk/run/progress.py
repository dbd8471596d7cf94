"""What a run tells while it runs: a live bar on a terminal, plain lines to a log, or nothing."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self, TextIO

from bestofk.wording import printable

LINE_EVERY = 10.0
"""Seconds between two lines in a log."""


class Silence:
    """Tells nothing; the base of those that do."""

    def start(self, *, total: int, done: int) -> None:
        """`done` of `total` cells are there already."""

    def cell(self, *, learner: str, dataset: str, failed: bool) -> None:
        """One more cell is done."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """The run is over, or broke off."""


class Lines(Silence):
    """A line now and then, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.total = self.done = self.failed = self.old = 0
        self.begin = self.last = time.monotonic()

    def start(self, *, total: int, done: int) -> None:
        self.total, self.done, self.old = total, done, done
        self.begin = self.last = time.monotonic()
        if done:
            self._say(f"{done} of {total} fits are in the store already")

    def cell(self, *, learner: str, dataset: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if now - self.last >= LINE_EVERY:
            self.last = now
            rate = (self.done - self.old) / (now - self.begin)
            left = (self.total - self.done) / rate
            self._say(
                f"{self.done} of {self.total} fits, {rate:.3g} per second, {left:.0f} s left, "
                f"{self.failed} failed, now {learner} on {dataset}"
            )

    def _say(self, line: str) -> None:
        self.stream.write(f"bestofk: {printable(' '.join(line.split()))}\n")
        self.stream.flush()


class Bar(Silence):
    """A live bar with the learner and data set at work, the rate, time left and failures."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self.failed = 0
        self.bar = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[failures]}"),
            TextColumn("{task.description}", markup=False),
            console=Console(file=stream),
            transient=True,
            refresh_per_second=5,
        )
        self.task: Any = None

    def start(self, *, total: int, done: int) -> None:
        self.begin, self.done = time.monotonic(), 0
        self.bar.start()
        self.task = self.bar.add_task("", total=total, completed=done, rate="", failures="")

    def cell(self, *, learner: str, dataset: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        spent = time.monotonic() - self.begin
        self.bar.update(
            self.task,
            advance=1,
            description=printable(f"{learner} on {dataset}"),
            rate=f"{self.done / spent:.3g} fits/s" if spent > 0 else "",
            failures=f"{self.failed} failed" if self.failed else "",
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.bar.stop()


def observer(progress: bool | str | Silence, stream: TextIO | None = None) -> Silence:
    """Who tells: a bar on a terminal, lines elsewhere on request, or nobody.

    `progress` True tells on a terminal only; ``"log"`` writes lines wherever stderr goes.
    """
    stream = sys.stderr if stream is None else stream
    if isinstance(progress, Silence):
        return progress
    if progress == "log":
        return Lines(stream)
    if progress and stream.isatty():
        return Bar(stream)
    return Silence()
