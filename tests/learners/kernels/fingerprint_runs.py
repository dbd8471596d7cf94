"""Fingerprints from a process of its own for every library."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from bestofk.learners.kernels import library

HERE = Path(__file__).parent


@cache
def said_by(
    variant: str, source: Path | None = None, python: Any = None
) -> dict[str, dict[str, str]]:
    """By a variant, or the library at a path; of the package in `source` if one is given.

    `python` is what runs it, where a new interpreter need not (the fixture ``run_loaded``).
    """
    environment = {**os.environ, library.VARIANT: variant}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    if python is not None:
        program = (
            f"import runpy; runpy.run_path({str(HERE / 'fingerprints.py')!r}, None, '__main__')"
        )
        done = python("-c", program, env=environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    run = subprocess.run(
        [sys.executable, str(HERE / "fingerprints.py")],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    found: dict[str, dict[str, str]] = json.loads(run.stdout)
    return found
