import io
import sys
from pathlib import Path

import pytest

from bestofk.run import progress
from bestofk.run.progress import Bar, Lines, Progress, observer
from bestofk.run.task import Times

sys.path.insert(0, str(Path(__file__).parent))
from squares_task import Squares, run_squares


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_on_a_terminal_and_lines_elsewhere():
    assert isinstance(observer(True, stream=Terminal()), Bar)
    assert observer(True, stream=io.StringIO()).every == 30.0
    assert observer("log", stream=io.StringIO()).every == 10.0
    assert type(observer(False, stream=Terminal())) is Progress
    assert isinstance(observer("log", stream=io.StringIO()), Lines)
    mine = Progress()
    assert observer(mine) is mine


@pytest.fixture
def now(monkeypatch):
    """The time in a list."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_lines_show_fits_rate_time_left_failures_and_learner(now):
    stream, times = io.StringIO(), Times({"nn": 40})
    with Lines(stream) as lines:
        lines.start(total=50, done=10, times=times)
        for cell in range(20):
            now[0] += 1.0
            times.done("nn", 0.5)
            lines.item(label="nn on iris", failed=cell == 3)
    printed = stream.getvalue().splitlines()
    assert printed[0] == "bestofk: 10 of 50 fits are already in the store"
    # a line every ten seconds, one cell per second
    assert printed[1] == "bestofk: 20 of 50 fits, about 30 s left, 1 failed, nn on iris"
    assert len(printed) == 3


def test_names_cannot_break_a_line(now):
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(total=2, done=0)
    now[0] += 11.0
    lines.item(label="two\nlines on d", failed=False)
    assert stream.getvalue().count("\n") == 1


def test_the_bar_shows_progress():
    stream = Terminal()
    with Bar(stream) as bar:
        bar.start(total=4, done=1)
        bar.item(label="[red]nn on iris", failed=True)
        bar.bar.refresh()
        shown = stream.getvalue()
    assert "2/4" in shown
    assert "1 failed" in shown
    assert "[red]nn on iris" in shown


def test_a_notebook_has_one_line_that_is_updated(now):
    stream, times = io.StringIO(), Times({"nn": 8})
    with Lines(stream, 0.25, end="\r") as lines:
        lines.start(total=10, done=2, times=times)
        for _ in range(8):
            now[0] += 1.0
            times.done("nn", 1.0)
            lines.item(label="nn on iris", failed=False)
    shown = stream.getvalue().split("\r")
    assert shown[0].startswith("bestofk: 2 of 10 fits, starting")
    assert shown[5].rstrip() == "bestofk: 7 of 10 fits, about 3 s left, nn on iris"
    assert len({len(line) for line in shown[:-1]}) == 1  # a shorter line covers a longer one


def test_a_long_run_announces_its_time_once(now):
    stream, times = io.StringIO(), Times({"a": 1000, "b": 1000})
    lines = observer("log", stream=stream, shorter="--budget 5m or --cv 5")
    lines.start(total=2000, done=0, times=times)
    for _ in range(5):
        for label in "ab":
            now[0] += 5.0
            times.done(label, 5.0)
            lines.item(label=label, failed=False)
    printed = stream.getvalue().splitlines()
    # 2,000 fits of 5 s are 2.8 h
    assert printed[0] == "bestofk: 2,000 fits, about 2.8 h; --budget 5m or --cv 5 is shorter"
    assert [line for line in printed[1:] if "shorter" in line] == []


def test_a_race_is_one_run_and_shows_its_standing(now):
    stream, times, task = io.StringIO(), Times({}), Squares()
    lines = Lines(stream)
    lines.start(total=60, done=0)
    for items in ([1, 2, 3], [2, 3, 4]):
        run_squares(task, items, progress=lines, times=times)
        now[0] += 10.0
        lines.standing(text="1 out, 2 left; open: nn against\nc4.5")
    assert stream.getvalue().splitlines() == [
        "bestofk: 3 of 60 fits, square of 3, 1 out, 2 left; open: nn against c4.5",
        "bestofk: 6 of 60 fits, square of 4, 1 out, 2 left; open: nn against c4.5",
    ]


def test_the_command_line_shows_at_once_that_it_starts(monkeypatch):
    from bestofk.cli.say import say_start

    for quiet, shown in ((False, "starting ...\r"), (True, "")):
        monkeypatch.setattr("sys.stderr", Terminal())
        say_start(quiet=quiet)
        assert sys.stderr.getvalue() == shown
