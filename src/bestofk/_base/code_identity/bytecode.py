"""Identify code objects by what they execute, and modules by the package they belong to."""

from __future__ import annotations

import dis
import hashlib
import os
import sys
import sysconfig
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_HAS_DOCSTRING = 0x4000000
"""A flag of Python 3.13 and later; before, the first constant of a function is its docstring."""
_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_BY_NAME = frozenset(
    dis.opmap[name]
    for name in ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_CLASSDEREF")
    if name in dis.opmap and name != "LOAD_CLASSDEREF"
)


@lru_cache(maxsize=4096)
def bare_code(code: CodeType) -> tuple[Any, ...]:
    """Return what a code object executes, without lines, files and docstrings.

    The repr of the result is the same in every process.

    Examples
    --------
    >>> def first(x):
    ...     'Return a list.'
    ...     return [y for y in x]
    >>> def second(x):
    ...     return [y for y in x]  # a comment
    >>> bare_code(first.__code__)[1:] == bare_code(second.__code__)[1:]
    True
    """
    return (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & ~_HAS_DOCSTRING,
        code.co_code,
        tuple(_bare(constant) for constant in _constants(code)),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_exceptiontable,
    )


def _constants(code: CodeType) -> tuple[Any, ...]:
    constants = code.co_consts
    if not constants or not isinstance(constants[0], str) or code.co_name.startswith("<"):
        return constants
    # the first constant of a class is its qualified name, not a docstring
    if not code.co_flags & 0x2:
        return constants
    return (None, *constants[1:])


def _bare(constant: Any) -> Any:
    if isinstance(constant, CodeType):
        return bare_code(constant)
    if isinstance(constant, tuple):
        return ("tuple", *map(_bare, constant))
    if isinstance(constant, frozenset):
        return ("set", *sorted(repr(_bare(item)) for item in constant))
    return (type(constant).__name__, repr(constant))


@lru_cache(maxsize=4096)
def global_names(code: CodeType) -> frozenset[str]:
    """Return the names that the code, or code inside it, looks up in its module.

    Examples
    --------
    >>> sorted(global_names((lambda x: [len(y) for y in x.rows]).__code__))
    ['len']
    """
    names: set[str] = set()
    extended = 0
    for offset in range(0, len(code.co_code), 2):
        operation, argument = code.co_code[offset], code.co_code[offset + 1] | extended
        if operation == dis.EXTENDED_ARG:
            extended = argument << 8
            continue
        extended = 0
        if operation == _LOAD_GLOBAL:
            names.add(code.co_names[argument >> 1])
        elif operation in _BY_NAME:
            names.add(code.co_names[argument])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= global_names(constant)
    return frozenset(names)


# Installed packages, which are identified by name and version

OWN = "bestofk"
"""Identified by its source, so that a release invalidates only the fits that it changed."""
PYTHON = f"python {sys.version_info.major}.{sys.version_info.minor}"


def package_of(module: str, names: dict[str, Any] | None = None) -> str | None:
    """Return the name and version of the package of a module; None if its source counts.

    - `module`: Its dotted name.
    - `names`: The namespace of the module, if it is not ``sys.modules[module]``.

    Examples
    --------
    >>> package_of("json").startswith("python 3."), package_of("numpy.linalg").startswith("numpy ")
    (True, True)
    >>> package_of("bestofk.learners") is None
    True
    """
    top = module.partition(".")[0]
    if top in ("", OWN, "__main__", "__mp_main__"):
        return None
    namespace = names if names is not None else vars(sys.modules.get(module, ModuleType("")))
    file = namespace.get("__file__")
    if file is None:
        if module in sys.builtin_module_names or _is_frozen(namespace):
            return PYTHON
        return _by_folders(module, namespace.get("__path__"))
    return _of_file(module, file)


def package_of_import(module: str) -> str | None:
    """Return the same for a module that may not be imported yet; None also if there is none."""
    if module in sys.modules:
        return package_of(module)
    from importlib.machinery import PathFinder

    top = module.partition(".")[0]
    if top in sys.builtin_module_names:
        return PYTHON
    if top == OWN:
        return None
    try:
        spec = PathFinder.find_spec(top)
    except (ImportError, AttributeError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    return _of_file(top, spec.origin)


def _is_frozen(namespace: dict[str, Any]) -> bool:
    return getattr(namespace.get("__spec__"), "origin", None) in ("frozen", "built-in")


def _by_folders(module: str, folders: Any) -> str | None:
    """Return the packages of a namespace package, from its folders."""
    packages = {_of_file(module, str(Path(folder) / "__init__.py")) for folder in folders or ()}
    return None if None in packages or not packages else " and ".join(sorted(map(str, packages)))


@cache
def _of_file(module: str, file: str) -> str | None:
    # links are not resolved, because an installer may link to its own copies
    file = str(Path(file).absolute())
    for folder in _standard_library():
        inside = file.startswith(folder + os.sep)
        if inside and not {"site-packages", "dist-packages"} & set(Path(file).parts):
            return PYTHON
    root = Path(file)
    up = module.count(".") + (2 if root.name.startswith("__init__.") else 1)
    if len(root.parents) < up:
        return None
    folder = str(root.parents[up - 1])
    inside_folder = root.relative_to(folder).as_posix()
    return _distribution(folder, module.partition(".")[0], inside_folder)


@cache
def _standard_library() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({str(Path(paths[name]).absolute()) for name in ("stdlib", "platstdlib")})


@cache
def _distributions(folder: str) -> tuple[str, ...]:
    try:
        names = [path.name for path in Path(folder).iterdir()]
    except OSError:
        return ()
    return tuple(sorted(name for name in names if name.endswith((".dist-info", ".egg-info"))))


@cache
def _distribution(folder: str, top: str, file: str) -> str | None:
    """Return the distribution that installed `file` in `folder`; try likely names first."""
    plain = _plain(top)
    likely = sorted(_distributions(folder), key=lambda name: plain not in _plain(name))
    for name in likely:
        distribution = _if_contains(Path(folder) / name, top, file)
        if distribution is not None:
            return distribution
    return None


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def _if_contains(about: Path, top: str, file: str) -> str | None:
    record = _read(about / "RECORD")
    if record is None:
        # packages of the operating system have no list of files
        tops = (_read(about / "top_level.txt") or b"").decode("utf-8", "replace").split()
        installed = about.parent.name in ("site-packages", "dist-packages")
        return _versioned(about, b"") if installed and top in tops else None
    if not (b"\n" + record).count(f"\n{file},".encode()):
        return None
    return _versioned(about, record)


def _versioned(about: Path, record: bytes) -> str:
    name, _, version = about.name.rpartition(".")[0].partition("-")
    version = version.partition("-")[0] or _stated_version(about)
    if _read(about / "direct_url.json") is None:
        return f"{_plain(name)} {version}"
    # installed from a folder or repository, where the code may change without the version
    code = [
        line
        for line in record.split(b"\n")
        if line.partition(b",")[0].endswith((b".py", b".so", b".pyd"))
    ]
    return f"{_plain(name)} {version} {hashlib.sha256(b''.join(sorted(code))).hexdigest()[:16]}"


def _stated_version(about: Path) -> str:
    for name in ("METADATA", "PKG-INFO"):
        for line in (_read(about / name) or b"").decode("utf-8", "replace").splitlines():
            if line.startswith("Version:"):
                return line.partition(":")[2].strip()
    return ""


@lru_cache(maxsize=8)
def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
