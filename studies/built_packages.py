"""Build the source distribution and the wheel, install each alone, and try the commands.

    pip install build twine
    python studies/built_packages.py
    python studies/built_packages.py --keep dist

Copy the committed files to an empty folder and run `python -m build` and `twine check` there.
Install the wheel, and then the source distribution, in a new virtual environment. Run every smoke
test from an empty folder, where the source tree cannot be imported. The two installations must have
the same files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCORES = "fold,a,b\n" + "\n".join(f"{i},{0.80 + i / 100},{0.70 + i / 200}" for i in range(10))
ITEMS = "model,item,score\n" + "\n".join(
    f"{model},{i},{int(i % period > 0)}"
    for model, period in (("a", 5), ("b", 4))
    for i in range(200)
)
SMOKE_TESTS = (
    ("bestofk --version", "bestofk, version"),
    ("bestofk --help", "compare"),
    ("bestofk compare iris --cv 5x2 --report report.html", "recommended"),
    ("bestofk compare diabetes --cv 5x2 --set n_jobs=2 --store study.db", "recommended"),
    ("bestofk show study.db", "diabetes"),
    ("bestofk show study.db --report study.html", ""),
    ("bestofk scores breast-cancer-10x10 --json", '"recommended"'),
    ("bestofk scores scores.csv --higher-is-better --design kfold:10 --figure f.svg", "a"),
    ("bestofk evals items.csv", "may be the best"),
    ("bestofk list learners", "c4.5"),
    ("bestofk papers reproduce fundamentals --table 3", ""),
    ('python -c \'import bestofk as bk; print(bk.compare(data="iris", cv="5x2"))\'', "may be"),
)
"""Commands, each with a text that its output contains."""


def run(command: list[str] | str, folder: Path, python: Path | None = None) -> str:
    """Run a command in the folder, with the scripts of the interpreter first; return its output."""
    path = os.pathsep.join([str(python.parent)] if python else []) + os.pathsep + os.environ["PATH"]
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("BESTOFK", "PYTHON"))}
    done = subprocess.run(
        command, cwd=folder, shell=isinstance(command, str), env={**variables, "PATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def build(folder: Path) -> list[Path]:
    """Build both packages from the committed files; return their paths, the wheel first."""
    source = folder / "source"
    run(["git", "clone", "-q", str(ROOT), str(source)], folder)
    run([sys.executable, "-m", "build", "--outdir", str(folder / "dist")], source)
    shutil.rmtree(source)
    packages = sorted((folder / "dist").iterdir(), key=lambda path: path.suffix != ".whl")
    run([sys.executable, "-m", "twine", "check", "--strict", *map(str, packages)], folder)
    return packages


def install_and_try(package: Path, folder: Path) -> set[str]:
    """Install the package in a new environment, run the smoke tests, return the installed files."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run([str(python), "-m", "pip", "install", "-qq", str(package)], folder)
    work = folder / "work"
    work.mkdir()
    (work / "scores.csv").write_text(SCORES, encoding="utf-8")
    (work / "items.csv").write_text(ITEMS, encoding="utf-8")
    for command, text in SMOKE_TESTS:
        output = run(command, work, python)
        if text not in output:
            raise SystemExit(f"The output of {command!r} does not contain {text!r}:\n{output}")
        print(f"  passed: {command}")
    files = run([str(python), "-m", "pip", "show", "--files", "bestofk"], folder).splitlines()
    return {
        line.strip() for line in files if line.startswith("  bestofk") and "__pycache__" not in line
    }


def main() -> int:
    """Build and try both packages; return 0 if all smoke tests pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path, help="copy the built packages to this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        packages = build(Path(name))
        files = []
        for package in packages:
            print(f"{package.name} ({package.stat().st_size / 1e6:.1f} MB)")
            folder = Path(name) / package.suffix.lstrip(".")
            folder.mkdir()
            files.append(install_and_try(package, folder))
        if files[0] ^ files[1]:
            raise SystemExit(f"Only one of the two has these files: {sorted(files[0] ^ files[1])}")
        print(f"Both install the same {len(files[0])} files.")
        if options.keep:
            shutil.copytree(Path(name) / "dist", options.keep, dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
