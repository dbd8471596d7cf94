"""Learners from a Python file of the user, which is run because its path was given."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from bestofk.errors import ArgumentError

VARIABLE = "learners"
"""What the mapping or list of learners is called in the file."""

_ran: dict[tuple[str, int, int], ModuleType] = {}


def learners_of_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The learners of a file: a mapping or a list called ``learners`` in it, by name.

    The file is run, as `python` would run it.
    """
    from bestofk.learners.specification import named_learners

    module = run_file(path)
    found = getattr(module, VARIABLE, None)
    if isinstance(found, str) or not isinstance(found, Mapping | Sequence) or not found:
        raise ArgumentError(
            f"{os.fspath(path)}: there must be a mapping or a list called {VARIABLE!r} that holds "
            f"learners; got {'none' if found is None else repr(found)[:60]}."
        )
    if isinstance(found, Mapping):
        return {str(name): _from_class(given, str(name)) for name, given in found.items()}
    return named_learners([_from_class(given, "a learner") for given in found])


def chosen_learners(specifications: Sequence[str], files: Sequence[str]) -> Any:
    """What ``--learner`` and ``--learners`` name together; None where nothing is."""
    if not files:
        return list(specifications) or None
    from bestofk.learners.specification import named_learners

    chosen: dict[str, Any] = named_learners(specifications) if specifications else {}
    for file in files:
        for name, given in learners_of_file(file).items():
            if name in chosen:
                raise ArgumentError(f"{file}: two learners are called {name!r}; rename one.")
            chosen[name] = given
    return chosen


def run_file(path: str | os.PathLike[str]) -> ModuleType:
    """The module that a file makes; a file that did not change is run once."""
    file = Path(path).expanduser()
    if file.suffix != ".py" or not file.is_file():
        raise ArgumentError(f"There is no Python file {os.fspath(path)!r} to take learners from.")
    file = file.resolve()
    state = file.stat()
    key = (str(file), state.st_mtime_ns, state.st_size)
    if key in _ran:
        return _ran[key]
    name = _free_name(file)
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.append(folder)  # last: what stands next to the file hides nothing installed
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as raised:
        # the file may raise anything
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        said = " ".join(str(raised).split())[:300]
        line = _line_in(raised, str(file))
        raise ArgumentError(
            f"{os.fspath(path)} cannot be run: {type(raised).__name__}: {said.rstrip('.')}{line}."
        ) from None
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)  # workers need not find the file
    _ran[key] = module
    return module


def _free_name(file: Path) -> str:
    """The name of the module: that of the file, unless another module has it."""
    from hashlib import sha256

    taken = sys.modules.get(file.stem)
    ours = taken is None or str(getattr(taken, "__file__", "")) == str(file)
    if file.stem.isidentifier() and ours and file.stem not in sys.stdlib_module_names:
        return file.stem
    return f"learners_{sha256(str(file).encode()).hexdigest()[:12]}"


def _line_in(raised: BaseException, file: str) -> str:
    if isinstance(raised, SyntaxError):
        return ""
    trace, line = raised.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f" (line {line})"


def _from_class(given: Any, where: str) -> Any:
    """An estimator with default settings for a class; anything else as it is."""
    if not isinstance(given, type):
        return given
    try:
        return given()
    except Exception as raised:
        # any class may raise anything while it is made
        said = " ".join(str(raised).split())[:200]
        raise ArgumentError(
            f"{where}: {given.__name__} cannot be made with default settings "
            f"({type(raised).__name__}: {said})."
        ) from None
