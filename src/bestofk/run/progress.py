"""Show the progress of a run: a bar on a terminal or in a notebook, lines in a pipe or log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from bestofk._base.formatting import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

LOG_LINE_SECONDS = 10.0
"""Time between two lines with ``progress="log"``."""
PIPE_LINE_SECONDS = 30.0
"""Time between two lines in a pipe by default."""
MIN_ESTIMATE_SECONDS = 3.0
"""Time of work before the remaining time is estimated."""
STARTING = "starting: importing packages, starting workers"
"""Text until the first fit is done."""
NOTEBOOK_UPDATE_SECONDS = 0.25
"""Time between two updates of a bar in a notebook."""


class TimeLeft:
    """Estimate of the remaining time from the times of each learner on each data set.

    Learners differ a thousandfold in speed, so the overall rate says little before the slow ones
    start. There is no estimate until each learner with remaining work has finished a fit.

    Examples
    --------
    >>> left = TimeLeft({"quick": 10, "slow": 10})
    >>> left.done("quick", 0.1); left.seconds(elapsed=5.0) is None
    True
    >>> left.done("slow", 9.9); round(left.seconds(elapsed=10.0))
    90
    """

    def __init__(self, waiting: Mapping[str, int]) -> None:
        self.waiting = dict(waiting)
        self.count: dict[str, int] = {}
        self.spent: dict[str, float] = {}
        self.first: dict[str, float] = {}

    def done(self, label: str, seconds: float | None) -> None:
        """Count a finished fit that took `seconds`; None if that is unknown."""
        self.waiting[label] = self.waiting.get(label, 0) - 1
        if seconds is not None:
            self.first.setdefault(label, seconds)
            self.count[label] = self.count.get(label, 0) + 1
            self.spent[label] = self.spent.get(label, 0.0) + seconds

    def seconds(self, *, elapsed: float) -> float | None:
        """Return the estimate after `elapsed` seconds; None if there is too little data."""
        total = sum(self.spent.values())
        if elapsed < MIN_ESTIMATE_SECONDS or total <= 0:
            return None
        left = 0.0
        for label, fits in self.waiting.items():
            if fits > 0:
                if label not in self.count:
                    return None
                left += fits * self._each(label)
        # accounts for parallel workers and for the time between fits
        return left * elapsed / total

    def _each(self, label: str) -> float:
        """Return the time of one fit, without the first one, which includes imports."""
        others = self.count[label] - 1
        if others < 1:
            return self.spent[label]
        return (self.spent[label] - self.first[label]) / others


def _wait(seconds: float) -> str:
    """Return a duration in rounded seconds, minutes or hours."""
    if seconds < 90:
        return f"{max(seconds, 1.0):.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class Progress:
    """Base class of progress displays, which shows nothing."""

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        """Start a run of `total` items, of which the store has `done`; `unit` is their noun."""

    def expects(self, waiting: Mapping[str, int]) -> None:
        """Receive the number of items to do by label, before `start`."""

    def took(self, *, label: str, seconds: float | None) -> None:
        """Receive the time of an item, before its `item`."""

    def item(self, *, label: str, failed: bool) -> None:
        """Count a finished item."""

    def waiting(self, *, count: int) -> None:
        """Show that other processes work on the remaining `count` items."""

    def stored(self, *, count: int) -> None:
        """Count more items that the store already has."""

    def standing(self, *, text: str) -> None:
        """Show which learners are out of a race and which pairs are open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the display."""


class _Estimated(Progress):
    """A display with an estimate of the remaining time."""

    time_left: TimeLeft | None = None
    begin = 0.0

    def expects(self, waiting: Mapping[str, int]) -> None:
        self.time_left = TimeLeft(waiting)

    def took(self, *, label: str, seconds: float | None) -> None:
        if self.time_left is not None:
            self.time_left.done(label, seconds)

    def left(self, now: float) -> str:
        """Return a text such as ``about 2 min left``; empty without an estimate."""
        if self.time_left is None:
            return ""
        seconds = self.time_left.seconds(elapsed=now - self.begin)
        return "" if seconds is None else f"about {_wait(seconds)} left"


class Lines(_Estimated):
    """A line at regular intervals, for logs."""

    def __init__(self, stream: TextIO, every: float = LOG_LINE_SECONDS) -> None:
        self.stream, self.every = stream, every
        self.total = self.done = self.failed = self.old = 0
        self.unit = "fits"
        self.waited = False
        self.begin = self.last = time.monotonic()

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        self.total, self.done, self.old, self.unit = total, done, done, unit
        self.begin = self.last = time.monotonic()
        if done:
            self._write(f"{done} of {total} {unit} are already in the store")

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            rate = (self.done - self.old) / (now - self.begin)
            left = self.left(now)
            self._write(
                f"{self.done} of {self.total} {self.unit}, {_rate(rate)} per second, "
                f"{f'{left}, ' if left else ''}{self.failed} failed, now {label}"
            )

    def waiting(self, *, count: int) -> None:
        now = time.monotonic()
        if not self.waited or now - self.last >= LOG_LINE_SECONDS:
            self.last, self.waited = now, True
            self._write(waiting_text(count, self.unit))

    def stored(self, *, count: int) -> None:
        self.done += count
        self.old += count

    def standing(self, *, text: str) -> None:
        now = time.monotonic()
        if self.every > LOG_LINE_SECONDS and now - self.last < self.every:
            return  # the default in a pipe
        self.last = now
        self._write(f"{self.done} of {self.total} {self.unit}: {text}")

    def _write(self, line: str) -> None:
        self.stream.write(f"bestofk: {printable(' '.join(line.split()))}\n")
        self.stream.flush()


class Bar(_Estimated):
    """A live bar with the current learner and data set, the rate, time left and failures."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress as RichProgress,
            TextColumn,
        )
        from rich.text import Text

        class WithStanding(RichProgress):
            """A bar with an extra line for the standing of a race."""

            def get_renderables(self) -> Iterable[RenderableType]:
                yield from super().get_renderables()
                for task in self.tasks:
                    if task.fields["standing"]:
                        yield Text(task.fields["standing"])

        self.failed = 0
        self.bar = WithStanding(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[failures]}"),
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
            STARTING, total=total, completed=done, rate="", failures="", left="", standing=""
        )

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        spent = now - self.begin
        self.bar.update(
            self.task,
            advance=1,
            description=printable(label),
            rate=f"{_rate(self.done / spent)} {self.unit}/s" if spent > 0 else "",
            failures=f"{self.failed} failed" if self.failed else "",
            left=self.left(now),
        )

    def waiting(self, *, count: int) -> None:
        self.bar.update(self.task, description=waiting_text(count, self.unit))

    def stored(self, *, count: int) -> None:
        self.bar.update(self.task, advance=count)

    def standing(self, *, text: str) -> None:
        self.bar.update(self.task, standing=printable(text))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()


def waiting_text(count: int, unit: str) -> str:
    """Say that other processes work on the remaining items."""
    return f"waiting for another process that works on {count} {unit}"


class NotebookBar(_Estimated):
    """A bar in a notebook: one line of HTML that is updated in place."""

    def __init__(self, display: Any = None) -> None:
        if display is None:
            from IPython import display as notebook

            display = notebook.display
        self.display = display
        self.handle: Any = None
        self.total = self.done = self.failed = self.old = 0
        self.unit, self.shown = "fits", 0.0

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        self.total, self.done, self.old, self.unit = total, done, done, unit
        self.begin = time.monotonic()
        self._show(STARTING)

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if now - self.shown < NOTEBOOK_UPDATE_SECONDS:
            return
        self.shown = now
        self._show(", ".join(part for part in (self.left(now), self._failures(), label) if part))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        took = f"in {_wait(time.monotonic() - self.begin)}"
        self._show(", ".join(part for part in (took, self._failures()) if part))

    def stored(self, *, count: int) -> None:
        self.done += count

    def standing(self, *, text: str) -> None:
        self._show(text)

    def _failures(self) -> str:
        return f"{self.failed} failed" if self.failed else ""

    def _show(self, text: str) -> None:
        from html import escape

        state = (
            f'<progress value="{self.done}" max="{max(self.total, 1)}"></progress> '
            f"{self.done} of {self.total} {self.unit} {escape(printable(text))}"
        )
        shown = {"text/html": state, "text/plain": f"{self.done} of {self.total} {self.unit}"}
        if self.handle is None:
            self.handle = self.display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def observer(progress: bool | str | Progress, stream: TextIO | None = None) -> Progress:
    """Return a bar on a terminal or in a notebook, lines elsewhere, or an empty display.

    Lines come every ten seconds with ``"log"``, and every half minute by default in a pipe.
    """
    stream = sys.stderr if stream is None else stream
    if isinstance(progress, Progress):
        return progress
    if progress == "log":
        return Lines(stream)
    if not progress:
        return Progress()
    if in_notebook():
        return NotebookBar()
    return Bar(stream) if stream.isatty() else Lines(stream, PIPE_LINE_SECONDS)


def _rate(each_second: float) -> str:
    """Return a rate such as ``1,254``, ``12.3`` or ``0.0123``."""
    return f"{each_second:,.0f}" if each_second >= 100 else f"{each_second:.3g}"
