"""Compile the kernels: one library for each processor variant.

`pip install .` runs this through hatchling. In a source tree, ``python hatch_build.py`` builds into
``src``. The compiler is ``CC`` if that is set, else cc, gcc or clang, else the one in the package
``ziglang``, which is a build requirement only if no other compiler exists.
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
SCALAR_SOURCES = (
    "multitest_filling", "multitest_tree", "processor", "split_marks", "tan",
    "voted_perceptron", "weka_learners",
)  # fmt: skip
"""Sources that vector instructions do not speed up; all libraries share one object."""
WIDE_SOURCES = (
    "c45_binary", "logistic", "multitest_logistic", "neighbour",
)  # fmt: skip
"""Name prefixes of sources that x86-64-v4 speeds up; others use the objects of v3."""
ADVICE = "install a C compiler (gcc or clang), or the package ziglang with pip"


def system_compiler() -> list[str] | None:
    """Return the command of the system's C compiler, None if there is none."""
    command = os.environ.get("CC")
    if command:
        return shlex.split(command)
    return next(([path] for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


def find_compiler() -> list[str]:
    """Return the command of the system's compiler, else of zig's."""
    command = system_compiler()
    if command is not None:
        return command
    if importlib.util.find_spec("ziglang") is None:
        raise SystemExit(f"bestofk cannot be built without a C compiler: {ADVICE}.")
    return ZIG


def variants() -> list[str]:
    """Return the processor variants to build for."""
    return ["generic", *(LEVELS if platform.machine().lower() in ("x86_64", "amd64") else ())]


def digest_of_sources() -> str:
    """Return the digest of the sources, which identifies the libraries built from them."""
    digest = hashlib.sha256()
    for path in sorted((KERNELS / "source").glob("*.[ch]")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def flags_for(variant: str, compiler: list[str]) -> list[str]:
    """Return the flags that select the processor; zig would otherwise use this machine's."""
    if "ziglang" in compiler or Path(compiler[0]).stem == "zig":
        name = variant.replace("-", "_") if variant in LEVELS else "baseline"
        return [f"-mcpu={name}"]
    return [f"-march={variant}"] if variant in LEVELS else []


def object_variant(source: str, variant: str) -> str:
    """Return the variant for which a source is compiled when it is linked into a library."""
    if source in SCALAR_SOURCES:
        return "generic"
    if variant == "x86-64-v4" and not source.startswith(WIDE_SOURCES):
        return "x86-64-v3"
    return variant


def optimisation(source: str, variant: str) -> str:
    """Return the optimisation level: lower if it has no effect or the code rarely runs."""
    rarely_run = variant == "generic" and len(variants()) > 1
    return "-O2" if source in SCALAR_SOURCES or rarely_run else "-O3"


def build(
    into: Path,
    *,
    compiler: list[str] | None = None,
    more_flags: tuple[str, ...] = (),
    only: str | None = None,
) -> list[Path]:
    """Compile all variants, or only one, into a folder; return the libraries."""
    selected = [variant for variant in variants() if only in (None, variant)]
    command = compiler or find_compiler()
    into.mkdir(parents=True, exist_ok=True)
    sources = sorted((KERNELS / "source").glob("*.c"), key=lambda path: -path.stat().st_size)
    digest = f'-DBESTOFK_SOURCES="{digest_of_sources()}"'
    base = [*command, *FLAGS, *([] if os.name == "nt" else ["-fPIC"]), digest]
    libraries = []
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(os.cpu_count() or 1) as pool,
    ):
        jobs = {}
        for variant in selected:
            for source in sources:
                compiled_for = object_variant(source.stem, variant)
                target = Path(folder) / f"{source.stem}-{compiled_for}.o"
                level = optimisation(source.stem, compiled_for)
                flags = [level, *flags_for(compiled_for, command)]
                jobs[target] = [*base, *flags, *more_flags, "-c", str(source), "-o", str(target)]
        list(pool.map(_run, jobs.values()))
        for variant in selected:
            library = into / f"kernels-{variant}.bin"
            objects = [
                str(Path(folder) / f"{s.stem}-{object_variant(s.stem, variant)}.o") for s in sources
            ]
            linked = Path(folder) / library.name
            _run([*linker(command, more_flags, objects), "-o", str(linked)])
            # replace the file atomically: running processes keep the library they loaded
            temporary = library.with_name(f".{library.name}-{os.getpid()}")
            shutil.copyfile(linked, temporary)
            temporary.replace(library)
            libraries.append(library)
    return libraries


def platform_tag() -> str:
    """Return the platform in the name of the wheel; on macOS, set the oldest system it runs on."""
    if sys.platform == "darwin":
        oldest = os.environ.setdefault("MACOSX_DEPLOYMENT_TARGET", "11.0")
        return f"macosx_{oldest.replace('.', '_')}_{platform.machine()}"
    from packaging.tags import sys_tags

    platforms = (tag.platform for tag in sys_tags())
    return next(name for name in platforms if "linux_" not in name[1:])


def linker(command: list[str], more_flags: tuple[str, ...], objects: list[str]) -> list[str]:
    """Return the command that links the objects to a library.

    On Linux, call only zig's linker with the libraries that Python has loaded. Otherwise zig would
    first compile its own C library, which takes minutes.
    """
    native = not any(flag.startswith("--target") for flag in more_flags)
    if command == ZIG and sys.platform == "linux" and native:
        return [*ZIG[:-1], "ld.lld", "-shared", *objects, *_loaded_libraries()]
    return [
        *command,
        *more_flags,
        "-shared",
        *objects,
        "-static-libgcc" if os.name == "nt" else "-lm",
    ]


def _loaded_libraries() -> list[str]:
    """Return the paths of the C and mathematics libraries of this process."""
    import math  # noqa: F401  (loads the library)

    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
    names = ("libm.so", "libm-", "libc.so", "libc-", "ld-musl", "libc.musl")
    return sorted(path for path in paths if Path(path).name.startswith(names))


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        message = getattr(error, "stderr", None) or str(error)
        raise SystemExit(
            f"bestofk cannot be built because the C compiler {command[0]} failed: {ADVICE}.\n"
            f"{message}"
        ) from error


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # run as a program
    pass
else:

    class KernelsHook(BuildHookInterface[Any]):
        """Compile the kernels into the package before it is packed."""

        PLUGIN_NAME = "custom"

        def dependencies(self) -> list[str]:
            """Require zig's compiler if the system has none."""
            return [] if system_compiler() else ["ziglang>=0.13,<0.18"]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
            """Compile the kernels and set the platform of the wheel."""
            if self.target_name != "wheel":
                return
            build_data["tag"] = f"py3-none-{platform_tag()}"
            libraries = build(KERNELS / "built")
            build_data["artifacts"] += [str(path.relative_to(ROOT)) for path in libraries]
            build_data["pure_python"] = False


def main() -> None:
    """Build in the source tree."""
    parser = argparse.ArgumentParser(description="Compile the kernels of bestofk.")
    parser.add_argument("--into", type=Path, default=KERNELS / "built", help="target folder")
    parser.add_argument("--zig", action="store_true", help="use the package ziglang")
    parser.add_argument("--flag", action="append", default=[], help="another compiler flag")
    parser.add_argument("--only", choices=variants(), help="build one variant")
    arguments = parser.parse_args()
    build(
        arguments.into,
        compiler=ZIG if arguments.zig else None,
        more_flags=tuple(arguments.flag),
        only=arguments.only,
    )


if __name__ == "__main__":
    main()
