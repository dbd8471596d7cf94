import io

import pytest

from bestofk.run import progress
from bestofk.run.progress import Bar, Lines, Progress, observer


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_on_a_terminal_and_silence_elsewhere():
    assert isinstance(observer(True, Terminal()), Bar)
    assert type(observer(True, io.StringIO())) is Progress
    assert type(observer(False, Terminal())) is Progress
    assert isinstance(observer("log", io.StringIO()), Lines)
    mine = Progress()
    assert observer(mine) is mine


def test_lines_tell_fits_rate_time_left_failures_and_who_is_at_work(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Lines(stream) as lines:
        lines.start(total=50, done=10)
        for cell in range(20):
            now[0] += 1.0
            lines.item(label="nn on iris", failed=cell == 3)
    said = stream.getvalue().splitlines()
    assert said[0] == "bestofk: 10 of 50 fits are in the store already"
    # a line every ten seconds, one cell a second
    assert said[1] == "bestofk: 20 of 50 fits, 1 per second, 30 s left, 1 failed, now nn on iris"
    assert len(said) == 3


def test_names_cannot_break_a_line(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(total=2, done=0)
    now[0] = 11.0
    lines.item(label="two\nlines on d", failed=False)
    assert stream.getvalue().count("\n") == 1


def test_the_bar_shows_what_is_done_and_goes_away():
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
def test_a_comparison_tells_only_what_was_asked(capsys, progress_of):
    import bestofk as bk

    bk.compare(["max", "nmc"], data="iris", plan="kfold:3", progress=progress_of)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ""  # three folds are done before the first line is due


def test_a_race_is_one_run_of_many_rounds_and_tells_who_is_out():
    from bestofk.run.race.race_progress import RaceProgress

    stream = io.StringIO()
    race = RaceProgress(Lines(stream), total=60)
    for found, made in ((0, 3), (2, 1)):
        with race:
            race.start(total=found + made, done=found)
            for _ in range(made):
                race.item(label="nn on iris", failed=False)
        race.standing(words="1 out, 2 left; open: nn against\nc4.5")
    race.close()
    assert stream.getvalue().splitlines() == [
        "bestofk: 3 of 60 fits: 1 out, 2 left; open: nn against c4.5",
        "bestofk: 6 of 60 fits: 1 out, 2 left; open: nn against c4.5",
    ]


def test_the_bar_shows_who_is_out():
    from bestofk.run.race.race_progress import RaceProgress

    stream = Terminal()
    bar = Bar(stream)
    race = RaceProgress(bar, total=6)
    with race:
        race.start(total=2, done=0)
        race.item(label="nn", failed=False)
    race.standing(words="1 out, 2 left; open: [nn] against c4.5")
    assert bar.bar.tasks[0].fields["standing"] == "1 out, 2 left; open: [nn] against c4.5"
    with race:
        race.start(total=2, done=2)
    assert (bar.bar.tasks[0].completed, bar.bar.tasks[0].total) == (3, 6)
    race.close()
