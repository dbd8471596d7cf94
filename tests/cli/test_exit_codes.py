"""Exit codes of docs/use/exit-codes.md."""

import re
from pathlib import Path

import pytest

from bestofk._base.errors import ArgumentError, RunError, StoreError
from bestofk.cli import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "use" / "exit-codes.md"


def test_the_page_lists_every_code():
    codes = {value for name, value in vars(app).items() if name.startswith("EXIT_")}
    listed = {int(code) for code in re.findall(r"^\| `(\d+)` ", PAGE.read_text(), re.M)}
    assert codes <= listed


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ArgumentError("x."), 2),
        (RunError("x."), 4),
        (StoreError("x."), 4),
        (OSError(28, "No space left on device", "f"), 4),
        (MemoryError(), 4),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_have_their_codes(run, scores, monkeypatch, error, code):
    import bestofk.losses

    def failing(*_, **__):
        raise error

    monkeypatch.setattr(bestofk.losses, "read_scores", failing)
    found, out, err = run("scores", scores)
    assert (found, out) == (code, "")
    assert err.lstrip().startswith("bestofk: ")


def test_words_and_commands_are_never_broken(run, monkeypatch):
    for width in (40, 60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        for words in (
            ["compare", "iris", "--metrics", "x"],
            ["compare", f"/tmp/{'a' * 70}/{'b' * 30}.csv"],
            ["compare", "iris", "--report", "r.pdf"],
            ["learners"],
        ):
            _, _, err = run(*words)
            monkeypatch.delenv("COLUMNS")
            _, _, whole = run(*words)
            monkeypatch.setenv("COLUMNS", str(width))
            assert err.split() == whole.split()
            for part in re.findall(r"'bestofk [^']*'|--report \S+|--figure \S+", whole):
                assert part in err
