"""Compute fingerprints in a separate process for every kernel library."""

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
    variant: str, source: Path | None = None, server: Any = None
) -> dict[str, dict[str, str]]:
    """Return the fingerprints of a variant, or of the library at a path.

    `source` is the folder of another package. `server` is the fixture ``fork_server``, if a new
    interpreter is not needed.
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
    found: dict[str, dict[str, str]] = json.loads(run.stdout)
    return found
