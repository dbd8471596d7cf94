"""Fingerprints from a process of its own for every library."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from bestofk.kernels import library

HERE = Path(__file__).parent


@cache
def said_by(variant: str, source: Path | None = None) -> dict[str, dict[str, str]]:
    """By a variant, or the library at a path; of the package in `source` if one is given."""
    environment = {**os.environ, library.VARIANT: variant}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    run = subprocess.run(
        [sys.executable, str(HERE / "fingerprints.py")],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    found: dict[str, dict[str, str]] = json.loads(run.stdout)
    return found
