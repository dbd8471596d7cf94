"""Compute fingerprints in a separate process for every library."""

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
def fingerprints_of(
    variant: str, source: Path | None = None, server: Any = None
) -> dict[str, dict[str, str]]:
    """Return the fingerprints of a variant or a library path, with the package in `source`.

    `server` is the fixture ``fork_server``, if a new interpreter is not needed.
    """
    environment = {**os.environ, library.VARIANT: variant}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    if server is not None:
        program = (
            f"import runpy; runpy.run_path({str(HERE / 'fingerprints.py')!r}, None, '__main__')"
        )
        done = server.run(["-c", program], env=environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    run = subprocess.run(
        [sys.executable, str(HERE / "fingerprints.py")],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    fingerprints: dict[str, dict[str, str]] = json.loads(run.stdout)
    return fingerprints
