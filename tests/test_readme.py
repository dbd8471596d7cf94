"""The README shows the output of its first command, and about 500 words."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SPEC = importlib.util.spec_from_file_location("make_readme", ROOT / "docs" / "make_readme.py")
make_readme = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_readme)


def test_the_output_of_the_first_command_is_that_of_the_program():
    block = make_readme.BLOCK.search((ROOT / "README.md").read_text())
    shown, printed = (
        re.sub(r" +[\d.]+ (?:s|ms|µs)$", " TIME", text, flags=re.MULTILINE)
        for text in (block[3], make_readme.printed(block[2].split()))
    )
    assert printed == shown


def test_the_pictures_exist_and_are_small():
    text = (ROOT / "README.md").read_text()
    for name in ("forest-light.svg", "forest-dark.svg"):
        assert f"docs/screenshots/{name}" in text
        assert 1_000 < (ROOT / "docs" / "screenshots" / name).stat().st_size < 30_000


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) < 750


def test_ci_runs_the_test_command_of_the_readme():
    text = (ROOT / "README.md").read_text()
    command = text.split("<!-- test command -->\n```console\n")[1].split("\n```")[0]
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()
