"""What a run says while it runs: a live bar on a terminal, plain lines to a log, or nothing."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self, TextIO

from bestofk.wording import printable

LINE_EVERY = 10.0
"""Seconds between two lines in a log."""


class Progress:
    """Says nothing; the base of those that do."""

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        """`done` of `total` items, which are called `unit`, are there already."""

    def item(self, *, label: str, failed: bool) -> None:
        """One more item is done: the one that `label` describes."""

    def waiting(self, *, count: int) -> None:
        """All that is left, `count` items, is being worked on by other processes."""

    def found(self, *, count: int) -> None:
        """So many items more are there already."""

    def standing(self, *, words: str) -> None:
        """Who is out of a race, and what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """The run is over, or broke off."""


class Lines(Progress):
    """A line now and then, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.total = self.done = self.failed = self.old = 0
        self.unit = "fits"
        self.waited = False
        self.begin = self.last = time.monotonic()

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        self.total, self.done, self.old, self.unit = total, done, done, unit
        self.begin = self.last = time.monotonic()
        if done:
            self._say(f"{done} of {total} {unit} are in the store already")

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if now - self.last >= LINE_EVERY:
            self.last = now
            rate = (self.done - self.old) / (now - self.begin)
            left = (self.total - self.done) / rate
            self._say(
                f"{self.done} of {self.total} {self.unit}, {rate:.3g} per second, {left:.0f} s "
                f"left, {self.failed} failed, now {label}"
            )

    def waiting(self, *, count: int) -> None:
        now = time.monotonic()
        if not self.waited or now - self.last >= LINE_EVERY:
            self.last, self.waited = now, True
            self._say(waiting_words(count, self.unit))

    def found(self, *, count: int) -> None:
        self.done += count
        self.old += count

    def standing(self, *, words: str) -> None:
        self._say(f"{self.done} of {self.total} {self.unit}: {words}")

    def _say(self, line: str) -> None:
        self.stream.write(f"bestofk: {printable(' '.join(line.split()))}\n")
        self.stream.flush()


class Bar(Progress):
    """A live bar with the learner and data set at work, the rate, time left and failures."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress as RichProgress,
            TextColumn,
            TimeRemainingColumn,
        )

        self.failed = 0
        self.bar = RichProgress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[failures]}"),
            TextColumn("{task.fields[standing]}", markup=False),
            TextColumn("{task.description}", markup=False),
            console=Console(file=stream),
            transient=True,
            refresh_per_second=5,
        )
        self.task: Any = None

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        self.begin, self.done, self.unit = time.monotonic(), 0, unit
        self.bar.start()
        self.task = self.bar.add_task(
            "", total=total, completed=done, rate="", failures="", standing=""
        )

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        spent = time.monotonic() - self.begin
        self.bar.update(
            self.task,
            advance=1,
            description=printable(label),
            rate=f"{self.done / spent:.3g} {self.unit}/s" if spent > 0 else "",
            failures=f"{self.failed} failed" if self.failed else "",
        )

    def waiting(self, *, count: int) -> None:
        self.bar.update(self.task, description=waiting_words(count, self.unit))

    def found(self, *, count: int) -> None:
        self.bar.update(self.task, advance=count)

    def standing(self, *, words: str) -> None:
        self.bar.update(self.task, standing=printable(words))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.bar.stop()


def waiting_words(count: int, unit: str) -> str:
    """That other processes do what is left."""
    return f"waiting for another process that works on {count} {unit}"


def observer(progress: bool | str | Progress, stream: TextIO | None = None) -> Progress:
    """A bar on a terminal, lines elsewhere on request, or nothing.

    `progress` True shows something on a terminal only; ``"log"`` writes lines wherever stderr goes.
    """
    stream = sys.stderr if stream is None else stream
    if isinstance(progress, Progress):
        return progress
    if progress == "log":
        return Lines(stream)
    if progress and stream.isatty():
        return Bar(stream)
    return Progress()
