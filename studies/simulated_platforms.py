"""Run the core of the test suite without what Windows or macOS lack.

    python studies/simulated_platforms.py
    python studies/simulated_platforms.py --platforms windows --tests tests/run/engines

Modules of bestofk see an `os`, `signal` and `sys` of that system (see
tests/simulated_platform/sitecustomize.py), in the test process and in all processes that it starts.
Tests of what only Linux can do are skipped. This shows uses of missing attributes. It does not show
how files, paths and processes behave on another system.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from dependency_versions import CORE, ROOT

FOLDER = ROOT / "tests" / "simulated_platform"


def main() -> int:
    """Run the tests for each platform; return 0 if all pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platforms", nargs="+", choices=["windows", "macos"],
                        default=["windows", "macos"])  # fmt: skip
    parser.add_argument("--tests", nargs="+", default=list(CORE))
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    codes = {}
    for platform in options.platforms:
        path = os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "BESTOFK_SIMULATED_PLATFORM": platform,
        }
        command = [sys.executable, "-m", "pytest", "-n", options.jobs, "-p", "no:cacheprovider"]
        codes[platform] = subprocess.run(
            [*command, *options.tests], cwd=ROOT, env=environment
        ).returncode
    for platform, code in codes.items():
        print(f"simulated {platform}: {'passed' if code == 0 else f'exit code {code}'}")
    return max(codes.values())


if __name__ == "__main__":
    sys.exit(main())
