"""Show the progress of a run: a bar on a terminal, lines in a notebook, a pipe or a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self, TextIO

from bestofk._base.formatting import printable

if TYPE_CHECKING:
    from bestofk.run.task import Times

LOG_LINE_SECONDS = 10.0
"""Time between two lines with ``progress="log"``."""
PIPE_LINE_SECONDS = 30.0
"""Time between two lines in a pipe by default."""
NOTEBOOK_LINE_SECONDS = 0.25
"""Time between two updates of the line in a notebook."""
BAR_SECONDS = 0.1
"""Time between two updates of the bar."""
MIN_ESTIMATE_SECONDS = 3.0
"""Time of work before the remaining time is estimated."""
STARTING = "starting: importing packages, starting workers"
"""Text until the first fit is done."""
LINE_WIDTH = 79
"""Width of a line that replaces another one."""
LONG_RUN_SECONDS = 120.0
"""Announce the whole time of runs that take longer."""


def wait_words(seconds: float) -> str:
    """Return a duration in rounded seconds, minutes or hours."""
    if seconds < 90:
        return f"{max(seconds, 1.0):.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class Progress:
    """Base class of progress displays, which shows nothing."""

    def start(
        self, *, total: int, done: int, unit: str = "fits", times: Times | None = None
    ) -> None:
        """Start a run of `total` items, of which the store has `done`.

        `unit` is their noun, and `times` estimates the remaining time.
        """

    def item(self, *, label: str, failed: bool) -> None:
        """Count a finished item."""

    def stored(self, *, count: int) -> None:
        """Count more items that the store already has."""

    def standing(self, *, text: str) -> None:
        """Show what the run waits for, or which learners are out of a race."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End the display."""


class Lines(Progress):
    """A line at regular intervals; it replaces the last one if `end` is a carriage return."""

    total = done = failed = 0
    unit = "fits"
    label = text = ""
    announced = False
    times: Times | None = None

    def __init__(
        self, stream: TextIO, every: float = LOG_LINE_SECONDS, *, end: str = "\n", shorter: str = ""
    ) -> None:
        self.stream, self.every, self.end, self.shorter = stream, every, end, shorter
        self.begin = self.last = self.asked = time.monotonic()

    def start(
        self, *, total: int, done: int, unit: str = "fits", times: Times | None = None
    ) -> None:
        self.total, self.done, self.unit, self.times = total, done, unit, times
        self.begin = self.last = self.asked = time.monotonic()
        self.begun()

    def begun(self) -> None:
        """Show that the run has started."""
        if self.end == "\r":
            self.show(STARTING)
        elif self.done:
            self.write(f"{self.done:,} of {self.total:,} {self.unit} are already in the store")

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        self.label = label
        self.refresh()

    def stored(self, *, count: int) -> None:
        self.done += count

    def standing(self, *, text: str) -> None:
        self.text = text
        self.refresh()

    def refresh(self) -> None:
        """Announce a long run as soon as its time is known, and write a line if it is time."""
        now = time.monotonic()
        due = now - self.last >= self.every
        if not (due or (not self.announced and now - self.asked >= MIN_ESTIMATE_SECONDS)):
            return
        self.asked = now
        elapsed, left = now - self.begin, None
        if self.times is not None and elapsed >= MIN_ESTIMATE_SECONDS:
            left = self.times.left(elapsed=elapsed)
        if left is not None and not self.announced:
            self.announced = True
            whole = elapsed + left
            if whole >= LONG_RUN_SECONDS:
                shorter = f"; {self.shorter} is shorter" if self.shorter else ""
                self.write(f"{self.total:,} {self.unit}, about {wait_words(whole)}{shorter}")
        if not due:
            return
        self.last = now
        parts = (
            "" if left is None else f"about {wait_words(left)} left",
            f"{self.failed} failed" if self.failed else "",
            self.label,
            self.text,
        )
        self.show(", ".join(filter(None, parts)))

    def show(self, state: str) -> None:
        """Show the current state."""
        self.write(f"{self.done:,} of {self.total:,} {self.unit}, {state}", self.end)

    def write(self, line: str, end: str = "\n") -> None:
        """Write a line."""
        text = f"bestofk: {printable(' '.join(line.split()))}"
        self.stream.write((text if end == "\n" else text.ljust(LINE_WIDTH)) + end)
        self.stream.flush()


class Bar(Lines):
    """A bar on a terminal."""

    def __init__(self, stream: TextIO, *, shorter: str = "") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bars, TextColumn

        super().__init__(stream, BAR_SECONDS, shorter=shorter)
        self.bar = Bars(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(file=stream),
            transient=True,
            refresh_per_second=5,
        )
        self.task: Any = None

    def begun(self) -> None:
        """Show that the run has started."""
        self.last = 0.0
        self.bar.start()
        self.task = self.bar.add_task(STARTING, total=self.total, completed=self.done)

    def show(self, state: str) -> None:
        """Show the current state."""
        self.bar.update(self.task, completed=self.done, description=printable(state))

    def write(self, line: str, end: str = "\n") -> None:
        """Write a line above the bar."""
        self.bar.console.print(printable(line), markup=False, end=end)

    def __exit__(self, *error: object) -> None:
        self.bar.stop()


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def observer(
    progress: bool | str | Progress, shorter: str = "", stream: TextIO | None = None
) -> Progress:
    """Return a bar on a terminal, lines elsewhere, or an empty display.

    Lines come every ten seconds with ``"log"``, and every half minute by default in a pipe.
    `shorter` names options that make a long run shorter.
    """
    stream = sys.stderr if stream is None else stream
    if isinstance(progress, Progress):
        return progress
    if not progress:
        return Progress()
    if progress == "log":
        return Lines(stream, shorter=shorter)
    if in_notebook():
        return Lines(sys.stdout, NOTEBOOK_LINE_SECONDS, end="\r", shorter=shorter)
    if stream.isatty():
        return Bar(stream, shorter=shorter)
    return Lines(stream, PIPE_LINE_SECONDS, shorter=shorter)
