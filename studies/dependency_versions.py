"""Run the core of the test suite with the oldest and the newest supported dependencies.

    python studies/dependency_versions.py
    python studies/dependency_versions.py --versions oldest --tests tests/cli
    python studies/dependency_versions.py --folder environments

Make one virtual environment for each end of the version ranges in pyproject.toml, install bestofk
and its optional dependencies there, and run the core of the suite. The oldest versions are exactly
the lower bounds; the newest are whatever pip finds. Both environments run the same code with the
Python version of this interpreter. `--folder` keeps the environments for the next call.

Packages that only tests use (pytest, statsmodels and others) are installed in versions that fit.
Warnings are no errors here, because other versions deprecate other functions.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = (
    "tests/_base", "tests/cli", "tests/data", "tests/decide", "tests/evals", "tests/learners",
    "tests/losses", "tests/run", "tests/splits", "tests/stats", "src",
)  # fmt: skip
"""The suite without papers, reports and documentation."""
EXTRAS = ("dask", "excel", "parquet", "plot", "postgres")
TEST_PACKAGES = (
    "pytest", "pytest-xdist", "hypothesis", "mpmath", "statsmodels", "mlxtend",
    "scikit-posthocs", "baycomp", "autorank", "import-linter",
)  # fmt: skip


def requirements(versions: str) -> list[str]:
    """Return the dependencies of bestofk, pinned to their lower bounds for "oldest"."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    return [line.replace(">=", "==") for line in lines] if versions == "oldest" else lines


def environment(folder: Path, versions: str) -> Path:
    """Make the environment if it does not exist; return its interpreter."""
    python = folder / versions / ("Scripts" if os.name == "nt" else "bin") / "python"
    installed = folder / versions / "installed"
    if not installed.exists():
        venv.create(folder / versions, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        upgrade = ["--upgrade"] if versions == "newest" else []
        packages = [*requirements(versions), *TEST_PACKAGES]
        subprocess.run([*pip, *upgrade, *packages], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
        installed.touch()
    return python


def run_core(python: Path, tests: list[str], jobs: str) -> int:
    """Run tests with an interpreter; return the exit code of pytest."""
    command = [str(python), "-m", "pytest", "-n", jobs, "-p", "no:cacheprovider", "-W", "default"]
    return subprocess.run([*command, *tests], cwd=ROOT).returncode


def main() -> int:
    """Run both environments; return 0 if all tests pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--versions", nargs="+", choices=["oldest", "newest"],
                        default=["oldest", "newest"])  # fmt: skip
    parser.add_argument("--tests", nargs="+", default=list(CORE))
    parser.add_argument("--folder", type=Path, help="keep the environments here")
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    codes = {}
    with tempfile.TemporaryDirectory() as temporary:
        for versions in options.versions:
            python = environment(options.folder or Path(temporary), versions)
            subprocess.run([str(python), "-m", "pip", "list"], check=True)
            codes[versions] = run_core(python, options.tests, options.jobs)
    for versions, code in codes.items():
        print(f"{versions} dependencies: {'passed' if code == 0 else f'exit code {code}'}")
    return max(codes.values())


if __name__ == "__main__":
    sys.exit(main())
