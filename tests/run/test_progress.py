import io
import sys

import pytest

from bestofk.run import progress
from bestofk.run.progress import Bar, Lines, Progress, TimeLeft, observer


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


def test_lines_show_fits_rate_time_left_failures_and_learner(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Lines(stream) as lines:
        lines.start(total=50, done=10, waiting={"nn on iris": 40})
        for cell in range(20):
            now[0] += 1.0
            lines.item(label="nn on iris", failed=cell == 3, seconds=0.5)
    printed = stream.getvalue().splitlines()
    assert printed[0] == "bestofk: 10 of 50 fits are already in the store"
    # a line every ten seconds, one cell per second
    assert printed[1] == "bestofk: 20 of 50 fits, about 30 s left, 1 failed, nn on iris"
    assert len(printed) == 3


def test_names_cannot_break_a_line(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(total=2, done=0)
    now[0] = 11.0
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


@pytest.mark.parametrize("progress_of", [False, "log"])
def test_short_comparisons_print_no_progress(capsys, progress_of):
    import bestofk as bk

    bk.compare(["max", "nmc"], "iris", cv="kfold:3", progress=progress_of)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ""  # three folds finish before the first line


def test_the_estimate_waits_for_every_learner_and_is_right_for_slow_ones():
    # a fast and a slow learner: 0.01 s and 1 s per fit, 100 fits each
    left = TimeLeft({"quick": 100, "slow": 100})
    estimates = []
    elapsed = 0.0
    for _ in range(100):
        for label, seconds in (("quick", 0.01), ("slow", 1.0)):
            elapsed += seconds
            left.done(label, seconds)
            estimates.append((left.seconds(elapsed=elapsed), 101 - elapsed))
    assert estimates[0][0] is None
    known = [(estimate, truth) for estimate, truth in estimates if estimate is not None]
    assert len(known) > 150
    assert max(abs(estimate - truth) for estimate, truth in known) < 1e-6


def test_the_estimate_ignores_the_imports_of_the_first_fit():
    left = TimeLeft({"a": 101})
    left.done("a", 60.0)  # imports
    left.done("a", 1.0)
    assert left.seconds(elapsed=61.0) == pytest.approx(99.0)


def test_the_estimate_accounts_for_parallel_workers():
    left = TimeLeft({"a": 40})
    for _ in range(20):
        left.done("a", 1.0)
    assert left.seconds(elapsed=5.0) == pytest.approx(5.0)  # four in parallel


def test_a_bar_names_the_start_and_estimates():
    stream = Terminal()
    with Bar(stream) as bar:
        bar.start(total=4, done=0, waiting={"nn on iris": 4})
        bar.bar.refresh()
        assert "starting" in stream.getvalue()


def test_a_notebook_has_one_line_that_is_updated(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Lines(stream, 0.25, end="\r") as lines:
        lines.start(total=10, done=2, waiting={"nn on iris": 8})
        for _ in range(8):
            now[0] += 1.0
            lines.item(label="nn on iris", failed=False, seconds=1.0)
    shown = stream.getvalue().split("\r")
    assert shown[0].startswith("bestofk: 2 of 10 fits, starting")
    assert shown[5].rstrip() == "bestofk: 7 of 10 fits, about 3 s left, nn on iris"
    assert len({len(line) for line in shown[:-1]}) == 1  # a shorter line covers a longer one


def test_a_long_run_announces_its_time_once(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = observer("log", stream=stream, shorter="--budget 5m or --cv 5")
    lines.start(total=2000, done=0, waiting={"a": 1000, "b": 1000})
    for _ in range(5):
        for label in "ab":
            now[0] += 5.0
            lines.item(label=label, failed=False, seconds=5.0)
    printed = stream.getvalue().splitlines()
    # 2,000 fits of 5 s are 2.8 h
    assert printed[0] == "bestofk: 2,000 fits, about 2.8 h; --budget 5m or --cv 5 is shorter"
    assert [line for line in printed[1:] if "shorter" in line] == []


def test_a_race_is_one_run_and_shows_its_standing(monkeypatch):
    from bestofk.run.race import RaceProgress

    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    race = RaceProgress(Lines(stream), total=60)
    for stored, new in ((0, 3), (2, 1)):
        with race:
            race.start(total=stored + new, done=stored)
            for _ in range(new):
                race.item(label="nn on iris", failed=False)
        now[0] += 10.0
        race.standing(text="1 out, 2 left; open: nn against\nc4.5")
    assert stream.getvalue().splitlines() == [
        "bestofk: 3 of 60 fits, nn on iris, 1 out, 2 left; open: nn against c4.5",
        "bestofk: 6 of 60 fits, nn on iris, 1 out, 2 left; open: nn against c4.5",
    ]


def test_the_command_line_shows_at_once_that_it_starts(monkeypatch):
    from bestofk.cli.say import say_start

    for quiet, shown in ((False, "starting ...\r"), (True, "")):
        monkeypatch.setattr("sys.stderr", Terminal())
        say_start(quiet=quiet)
        assert sys.stderr.getvalue() == shown
