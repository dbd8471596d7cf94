"""The kernels, compiled when the package is built: one library for each kind of processor.

`pip install .` runs this through hatchling. In a source tree ``python hatch_build.py`` builds into
``src``. The compiler is ``CC`` where that is set, else cc, gcc or clang, else the one in the
package ``ziglang``, which is asked for as a build requirement only where none of them is found.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
KERNELS = ROOT / "src" / "bestofk" / "learners" / "kernels"
FLAGS = [
    "-std=c11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fvisibility=hidden",
    "-Wno-psabi",
]
ZIG = [sys.executable, "-m", "ziglang", "cc"]
LEVELS = ("x86-64-v3", "x86-64-v4")
PLAIN = (
    "exact_sums", "multitest_filling", "multitest_tree", "processor", "split_marks", "tan",
    "voted_perceptron", "weka_learners",
)  # fmt: skip
"""Sources that gain nothing from vectors: one object serves all libraries."""
WIDE = (
    "c45_binary", "logistic", "multitest_logistic", "nearest_mean", "neighbour",
)  # fmt: skip
"""Sources that gain from x86-64-v4 (by how their names begin); others take the objects of v3."""
ADVICE = "install a C compiler (gcc or clang), or the package ziglang with pip"


def system_compiler() -> list[str] | None:
    """The command of the C compiler that the system has."""
    asked = os.environ.get("CC")
    if asked:
        return shlex.split(asked)
    return next(([found] for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)


def find_compiler() -> list[str]:
    """The system's compiler, else zig's."""
    found = system_compiler()
    if found is not None:
        return found
    if importlib.util.find_spec("ziglang") is None:
        raise SystemExit(f"bestofk cannot be built without a C compiler: {ADVICE}.")
    return ZIG


def variants() -> list[str]:
    """Kinds of processors to build for."""
    return ["generic", *(LEVELS if platform.machine().lower() in ("x86_64", "amd64") else ())]


def digest_of_sources() -> str:
    """By which a library and its sources are told to belong together."""
    digest = hashlib.sha256()
    for path in sorted((KERNELS / "source").glob("*.[ch]")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def flags_for(variant: str, compiler: list[str]) -> list[str]:
    """What chooses the kind of processor; zig would take the machine's own."""
    if "ziglang" in compiler or Path(compiler[0]).stem == "zig":
        name = variant.replace("-", "_") if variant in LEVELS else "baseline"
        return [f"-mcpu={name}"]
    return [f"-march={variant}"] if variant in LEVELS else []


def kind_of(source: str, variant: str) -> str:
    """The kind of processor for which a source is compiled that a variant takes."""
    if source in PLAIN:
        return "generic"
    if variant == "x86-64-v4" and not source.startswith(WIDE):
        return "x86-64-v3"
    return variant


def effort(source: str, kind: str) -> str:
    """How hard the compiler tries: less where nothing is gained, or where few will run it."""
    rarely_run = kind == "generic" and len(variants()) > 1
    return "-O2" if source in PLAIN or rarely_run else "-O3"


def build(
    into: Path,
    *,
    compiler: list[str] | None = None,
    more_flags: tuple[str, ...] = (),
    only: str | None = None,
) -> list[Path]:
    """Compile all variants, or only one, into a folder; return the libraries."""
    wanted = [variant for variant in variants() if only in (None, variant)]
    command = compiler or find_compiler()
    into.mkdir(parents=True, exist_ok=True)
    sources = sorted((KERNELS / "source").glob("*.c"), key=lambda path: -path.stat().st_size)
    mark = f'-DBESTOFK_SOURCES="{digest_of_sources()}"'
    base = [*command, *FLAGS, *([] if os.name == "nt" else ["-fPIC"]), mark]
    built = []
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(os.cpu_count() or 1) as pool,
    ):
        jobs = {}
        for variant in wanted:
            for source in sources:
                kind = kind_of(source.stem, variant)
                target = Path(folder) / f"{source.stem}-{kind}.o"
                flags = [effort(source.stem, kind), *flags_for(kind, command)]
                jobs[target] = [*base, *flags, *more_flags, "-c", str(source), "-o", str(target)]
        list(pool.map(_run, jobs.values()))
        for variant in wanted:
            library = into / f"kernels-{variant}.bin"
            objects = [
                str(Path(folder) / f"{s.stem}-{kind_of(s.stem, variant)}.o") for s in sources
            ]
            linked = Path(folder) / library.name
            _run([*linker(command, more_flags, objects), "-o", str(linked)])
            # a new file in one step: processes that run go on with the library they have
            beside = library.with_name(f".{library.name}-{os.getpid()}")
            shutil.copyfile(linked, beside)
            beside.replace(library)
            built.append(library)
    return built


def linker(command: list[str], more_flags: tuple[str, ...], objects: list[str]) -> list[str]:
    """What joins the objects to a library.

    On Linux zig's linker alone, with the libraries that Python has loaded: zig would first
    compile its own C library, for minutes.
    """
    if command == ZIG and sys.platform == "linux":
        return [*ZIG[:-1], "ld.lld", "-shared", *objects, *_loaded_libraries()]
    return [*command, *more_flags, "-shared", *objects, *([] if os.name == "nt" else ["-lm"])]


def _loaded_libraries() -> list[str]:
    """The C and mathematics libraries of this process."""
    import math  # noqa: F401  (loads it)

    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
    names = ("libm.so", "libm-", "libc.so", "libc-", "ld-musl", "libc.musl")
    return sorted(path for path in paths if Path(path).name.startswith(names))


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise SystemExit(
            f"bestofk cannot be built, since its C compiler {command[0]} failed: {ADVICE}.\n{said}"
        ) from error


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # run as a program
    pass
else:

    class KernelsHook(BuildHookInterface[Any]):
        """Compiles the kernels into the package before it is packed."""

        PLUGIN_NAME = "custom"

        def dependencies(self) -> list[str]:
            """What building needs besides: zig's compiler where the system has none."""
            return [] if system_compiler() else ["ziglang>=0.13"]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
            """Compile, and say for which platform the wheel is."""
            if self.target_name != "wheel":
                return
            from packaging.tags import sys_tags

            libraries = build(KERNELS / "built")
            build_data["artifacts"] += [str(path.relative_to(ROOT)) for path in libraries]
            build_data["pure_python"] = False
            plain = next(tag.platform for tag in sys_tags() if "linux_" not in tag.platform[1:])
            build_data["tag"] = f"py3-none-{plain}"


def main() -> None:
    """Build in the source tree."""
    parser = argparse.ArgumentParser(description="Compile the kernels of bestofk.")
    parser.add_argument("--into", type=Path, default=KERNELS / "built", help="the folder")
    parser.add_argument("--zig", action="store_true", help="with the package ziglang")
    parser.add_argument("--flag", action="append", default=[], help="one more for the compiler")
    parser.add_argument("--only", choices=variants(), help="one variant")
    given = parser.parse_args()
    build(
        given.into,
        compiler=ZIG if given.zig else None,
        more_flags=tuple(given.flag),
        only=given.only,
    )


if __name__ == "__main__":
    main()
