"""Build the kernels with and without a compiler, and load them."""

import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bestofk._base.errors import BestOfKError
from bestofk.learners.kernels import library

sys.path.insert(0, str(Path(__file__).parent))
from fingerprint_runs import fingerprints_of

ROOT = Path(__file__).parents[3]
BUILDER = ROOT / "hatch_build.py"
pytestmark = pytest.mark.skipif(not BUILDER.is_file(), reason="installed without its sources")


def without_compiler() -> dict[str, str]:
    """Return the environment without a C compiler on the path."""
    hidden = {name: text for name, text in os.environ.items() if name != "CC"}
    return {**hidden, "PATH": str(ROOT / "nowhere")}


def test_without_any_compiler_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys, importlib.util as u; real = u.find_spec; "
        "u.find_spec = lambda name, *rest: None if name == 'ziglang' else real(name, *rest); "
        f"sys.path.insert(0, {str(ROOT)!r}); import hatch_build; hatch_build.find_compiler()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=without_compiler(),
        cwd=tmp_path,
    )
    assert run.returncode == 1
    assert run.stderr == (
        "bestofk cannot be built without a C compiler: install a C compiler (gcc or clang), or "
        "the package ziglang with pip.\n"
    )


def test_a_compiler_that_fails_is_named(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(BUILDER), "--into", str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "CC": "no-such-compiler"},
    )
    assert run.returncode == 1
    first = run.stderr.splitlines()[0]
    assert first.startswith(
        "bestofk cannot be built because the C compiler no-such-compiler failed"
    )
    assert first.endswith("install a C compiler (gcc or clang), or the package ziglang with pip.")


@pytest.mark.skipif(
    os.environ.get("BESTOFK_TEST_ZIG") != "1",
    reason="a wheel built by zig takes a minute: set BESTOFK_TEST_ZIG=1 to test it",
)
def test_a_wheel_built_with_no_compiler_on_the_path_gives_the_same_bits(tmp_path: Path) -> None:
    """Pip asks for ziglang, only because there is no other compiler.

    The wheel is then used without the source tree: by tests that stand elsewhere, and for the
    fingerprints of each of its libraries, which another compiler made than those in the tree.
    """
    reached = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "-d",
            str(tmp_path),
            "ziglang",
        ],
        capture_output=True,
    )
    if reached.returncode != 0:
        pytest.skip("ziglang cannot be downloaded: no network, or no pip")
    (whole,) = tmp_path.glob("ziglang-*.whl")
    (tmp_path / "zig").mkdir()
    keep_c_for_this_system(whole, tmp_path / "zig" / whole.name)
    # a copy: what is built goes next to the sources, and the tree keeps its other compiler's
    clone = tmp_path / "clone"
    without = shutil.ignore_patterns("__pycache__", "built", "*.bin")
    shutil.copytree(ROOT / "src", clone / "src", ignore=without)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone)
    run = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(clone)],
        capture_output=True,
        text=True,
        env={**without_compiler(), "PIP_FIND_LINKS": str(tmp_path / "zig")},
    )
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.glob("bestofk-*.whl")
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    assert "bestofk/learners/kernels/built/kernels-generic.bin" in inside
    assert not any(name.endswith((".c", ".h")) for name in inside)
    installed = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(installed),
         str(wheel)],
        check=True, capture_output=True,
    )  # fmt: skip
    for variant in library.variants():
        built = installed / "bestofk" / "learners" / "kernels" / "built"
        ours = fingerprints_of(str(built / f"kernels-{variant}.bin"), source=installed)
        assert ours == fingerprints_of("generic")
    run_tests_elsewhere(tmp_path / "elsewhere", installed)


def keep_c_for_this_system(whole: Path, into: Path) -> None:
    """Copy what C needs from the wheel of ziglang: pip takes 15 s to unpack all 20,000 files."""
    systems = ("mingw", "musl", "wasi", "darwin", "freebsd", "netbsd")
    other = ("std/", "libcxx", "libtsan/", "libunwind/", "docs/", "compiler/")
    other += tuple(f"libc/{system}/" for system in systems)
    headers = ("any-linux-", "generic-glibc", f"{platform.machine()}-linux-", "x86-linux-")
    begin = "ziglang/lib/"
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(into, "w") as target:
        for entry in source.infolist():
            inside = entry.filename.removeprefix(begin)
            system = inside.removeprefix("libc/include/")
            if inside != entry.filename and (
                inside.startswith(other) or (system != inside and not system.startswith(headers))
            ):
                continue
            target.writestr(entry, source.read(entry), zipfile.ZIP_STORED)


def run_tests_elsewhere(folder: Path, installed: Path) -> None:
    """Run some tests in a folder without the source tree, on an installed package."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    shutil.copytree(ROOT / "tests" / "learners" / "kernels", folder / "kernels")
    shutil.copytree(ROOT / "tests" / "learners" / "logistic", folder / "logistic")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder),
         "kernels/test_each_kernel.py", "kernels/test_signatures.py", "logistic"],
        cwd=folder, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
    where = subprocess.run(
        [sys.executable, "-c", "import bestofk; print(bestofk.__file__)"],
        cwd=folder, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(installed)


def test_a_missing_or_stale_library_is_named(tmp_path: Path, monkeypatch: object) -> None:
    with pytest.raises(BestOfKError, match="compiled kernels of bestofk are missing"):
        library._load(tmp_path / "kernels-generic.bin")
    code = (
        "from pathlib import Path; from bestofk.learners.kernels import library; "
        f"library.SOURCE = Path({str(tmp_path)!r}); library.library()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "were built from different sources" in run.stderr


def test_a_variant_that_is_not_there_is_refused() -> None:
    code = "from bestofk.learners.kernels import library; library.library()"
    environment = {**os.environ, library.VARIANT: "sparc"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert "BESTOFK_KERNELS is sparc, which this processor cannot run" in run.stderr
