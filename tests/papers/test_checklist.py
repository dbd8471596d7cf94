"""Every command of the checklist runs, and every name and file that it cites exists."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from bestofk.cli.app import bestofk

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "docs" / "papers" / "checklist.md").read_text().splitlines()
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in LINES
    if line.startswith("| ") and not line.startswith(("| item", "| ---"))
]
SOURCES = [row[2].strip("` ") for row in ROWS]
COMMANDS = sorted({source for source in SOURCES if source.startswith("bestofk ")})
NAMES = sorted({source for source in SOURCES if not source.startswith("bestofk ")})


def test_every_row_has_four_cells_and_an_existing_proof():
    assert len(ROWS) > 246
    for row in ROWS:
        assert len(row) == 4, row
        assert (ROOT / row[3].strip("` ")).exists(), row


@pytest.mark.parametrize("name", NAMES)
def test_names_exist(name):
    parts = name.split(".")
    found = None
    for split in range(len(parts) - 1, 0, -1):
        try:
            found = import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            found = getattr(found, part)
        break
    assert getattr(found, "__name__", "") == parts[-1]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command):
    assert re.match(r"bestofk \w+", command)
    done = CliRunner().invoke(bestofk, shlex.split(command)[1:])
    assert done.exit_code == 0, (done.output, done.exception)
