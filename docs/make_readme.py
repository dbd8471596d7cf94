"""Write the answer and the forest plot that the README shows.

python docs/make_readme.py
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from unittest import mock

import bestofk as bk
from bestofk.report.figures.output import svg
from bestofk.report.figures.registry import draw
from bestofk.report.figures.style import DARK, LIGHT

ROOT = Path(__file__).parent.parent
WIDTH = "80"
BLOCK = re.compile(r"(```console\n\$ bestofk ([^\n]*)\n)(.*?)(\n```)", re.DOTALL)
"""The first command of the README with its output."""


def main() -> None:
    """Run the command of the README, and draw its result in both colour schemes."""
    readme = ROOT / "README.md"
    text = readme.read_text()
    block = BLOCK.search(text)
    assert block is not None
    shown = printed(block[2].split())
    readme.write_text(text[: block.start(3)] + shown + text[block.end(3) :])
    study = bk.compare(None, "breast-cancer", progress=False)
    picture = draw(study, "forest", note=False)
    for name, shades in (("light", LIGHT), ("dark", DARK)):
        path = ROOT / "docs" / "screenshots" / f"forest-{name}.svg"
        path.write_text(svg(picture, themed=False, shades=shades))


def printed(words: list[str]) -> str:
    """Return the output of a command on a terminal of 80 columns."""
    from bestofk.cli.app import bestofk

    out = io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": WIDTH}), contextlib.redirect_stdout(out):
        bestofk.main([*words, "--set", "n_jobs=1"], standalone_mode=False, obj=("bestofk", *words))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


if __name__ == "__main__":
    main()
