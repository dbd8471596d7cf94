"""``module:name`` as a class, a factory or an estimator; only what may make a learner is called.

A specification is text that people copy from somewhere. What it names is looked up and judged
before anything is called: a class is called only where it has the methods of a learner (or of a
part of one), a function only where it says that it makes learners. Modules of the standard library
hold no learners and are not even imported; a module of the working folder is run only where its
file is named (``./models.py:forest``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.learners.call_text import Call

_MARK = "__makes_a_learner__"
_FACTORIES = {
    ("sklearn.pipeline", "make_pipeline"),
    ("sklearn.pipeline", "make_union"),
    ("sklearn.compose._column_transformer", "make_column_transformer"),
    ("imblearn.pipeline", "make_pipeline"),
}
"""Functions of other packages that make learners of learners: (module, name)."""
_PARTS = (("fit", "predict"), ("fit", "transform"), ("fit", "fit_resample"),
          ("get_params", "set_params"), ("split", "get_n_splits"))  # fmt: skip
"""Methods of what a learner may hold: learners, transformers, kernels, splitters."""

Function = TypeVar("Function", bound=Callable[..., Any])


def learner_factory(function: Function) -> Function:
    """Mark a function as one that makes a learner, so that a specification may call it.

    Examples
    --------
    >>> @learner_factory
    ... def small_forest(trees=10):
    ...     from sklearn.ensemble import RandomForestClassifier
    ...     return RandomForestClassifier(n_estimators=trees)

    In a file ``models.py`` that is ``--learner './models.py:small_forest(trees=20)'``.
    """
    if not isinstance(function, FunctionType):
        raise ArgumentError(f"learner_factory marks functions; got {function!r:.80}.")
    setattr(function, _MARK, True)
    return function


def make(call: Call, text: str, built_in: Callable[..., Any], *, part: bool = False) -> Any:
    """What `call` describes; `built_in` makes the learners that have no colon in their names.

    `part` for what stands inside another specification, which need not predict.
    """
    settings = {name: _made_inside(value, text, built_in) for name, value in call.settings.items()}
    arguments = [_made_inside(value, text, built_in) for value in call.arguments]
    if ":" not in call.target:
        if arguments:
            raise _unnamed(call, text)
        return built_in(call.target, **settings)
    found = find(call.target, text)
    if isinstance(found, type):
        _check_class(found, call, text, part=part)
        if arguments:
            raise _unnamed(call, text)
        return _called(found, (), settings, text)
    if isinstance(found, FunctionType):
        if not _is_factory(found):
            raise ArgumentError(
                f"Learner {text!r} must name a class with fit and predict; {call.target!r} is a "
                "function, and is not called (one of your own may be marked with "
                "@bestofk.learners.learner_factory)."
            )
        return _called(found, arguments, settings, text)
    if not _has_methods(type(found), part=part):
        raise ArgumentError(
            f"Learner {text!r} must name a class with fit and predict; {call.target!r} is none."
        )
    if arguments or settings:
        raise ArgumentError(
            f"Learner {text!r} takes no parameters: {call.target!r} is an estimator already, not "
            "a class."
        )
    return found


def find(target: str, text: str) -> Any:
    """What stands under ``module:name`` or ``file.py:name``; nothing is called."""
    place, _, name = (word.strip() for word in target.partition(":"))
    path = place if place.endswith(".py") or place.startswith(("./", "../")) else ""
    if not name.isidentifier() or not (
        path or all(word.isidentifier() for word in place.split("."))
    ):
        raise ArgumentError(
            f"Learner {text!r} must name a module and a class, as in "
            "'sklearn.ensemble:RandomForestClassifier'."
        )
    if path:
        from bestofk.learners.learners_file import run_file

        home: Any = run_file(path if path.endswith(".py") else f"{path}.py")
    else:
        home = _module(place, name, text)
    try:
        return getattr(home, name)
    except AttributeError:
        raise UnknownNameError(f"name in the module {place}", name, _public(home)) from None
    except Exception as raised:
        # a module may compute its names
        raise ArgumentError(f"Learner {text!r}: {_why(raised)}.") from None


def _module(place: str, name: str, text: str) -> Any:
    top = place.partition(".")[0]
    if any(word.startswith("__") for word in place.split(".")):
        raise ArgumentError(f"Learner {text!r}: a module {place!r} is not imported.")
    if top in sys.stdlib_module_names or top == "test":
        raise ArgumentError(
            f"Learner {text!r}: {top!r} belongs to Python's standard library, which holds no "
            "learners; nothing was imported."
        )
    _refuse_working_folder(top, place, name, text)
    try:
        return import_module(place)
    except ModuleNotFoundError as error:
        raise ArgumentError(
            f"Learner {text!r}: there is no module {error.name!r:.200}; is its package installed?"
        ) from None
    except (Exception, SystemExit) as raised:
        # any module may raise anything while it is imported
        raise ArgumentError(
            f"Learner {text!r}: the module {place!r} cannot be imported: {_why(raised)}."
        ) from None


def _refuse_working_folder(top: str, place: str, name: str, text: str) -> None:
    """Raise where the module would come from the working folder, which nobody asked for."""
    if top in sys.modules:
        return
    here = Path.cwd()
    file = f"{place.replace('.', '/')}.py"
    try:
        spec = find_spec(top)
    except (ImportError, ValueError, OSError):
        spec = None
    origin = spec.origin or "" if spec is not None else ""
    places = [origin, *(spec.submodule_search_locations or ())] if spec is not None else []
    inside = any(Path(each).parent in (here, here / top) for each in places if os.sep in each)
    missing = spec is None and (_is_there(here / f"{top}.py") or _is_there(here / top))
    if missing or (inside and not _asked_for(here)):
        hint = (
            f"write './{file}:{name}' to run it"
            if _is_there(here / file)
            else f"PYTHONPATH={here} makes it one"
        )
        raise ArgumentError(
            f"Learner {text!r}: {top!r} is in the working folder, which is no place that modules "
            f"are taken from: {hint}."
        )


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name may be too long to be looked for
        return False


def _asked_for(folder: Path) -> bool:
    """Whether modules of the folder are wanted: it is in PYTHONPATH, or installed from there."""
    stated = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    # Python itself puts the folder of a script, or the working one, in the first place
    return any(
        Path(each).resolve() == folder.resolve() for each in (*stated, *sys.path[1:]) if each
    )


def _check_class(kind: type, call: Call, text: str, *, part: bool) -> None:
    if _has_methods(kind, part=part):
        return
    lacking = "fit" if not _has(kind, "fit") else "predict"
    whose = f"a part of learner {text!r}" if part else f"Learner {text!r}"
    raise ArgumentError(
        f"{whose[0].upper()}{whose[1:]} must be a class with fit and predict"
        f"{' or transform' if part else ''}; {call.target!r} has no {lacking}, and is not called."
    )


def _has_methods(kind: type, *, part: bool) -> bool:
    sets = _PARTS if part else _PARTS[:1]
    return any(all(_has(kind, name) for name in names) for names in sets)


def _has(kind: type, name: str) -> bool:
    """Whether the class has the attribute, without asking the class, which might act."""
    return any(name in vars(base) for base in type.mro(kind))


def _is_factory(function: FunctionType) -> bool:
    known = (function.__module__, function.__qualname__) in _FACTORIES
    return known or function.__dict__.get(_MARK) is True


def _made_inside(value: Any, text: str, built_in: Callable[..., Any]) -> Any:
    if isinstance(value, Call):
        return make(value, text, built_in, part=True)
    if isinstance(value, list):
        return [_made_inside(each, text, built_in) for each in value]
    if isinstance(value, tuple):
        return tuple(_made_inside(each, text, built_in) for each in value)
    if isinstance(value, dict):
        return {key: _made_inside(each, text, built_in) for key, each in value.items()}
    return value


def _called(maker: Any, arguments: Any, settings: dict[str, Any], text: str) -> Any:
    try:
        return maker(*arguments, **settings)
    except (Exception, SystemExit) as raised:
        # any class may raise anything while it is made
        why = str(raised) if isinstance(raised, TypeError) else _why(raised)
        raise ArgumentError(f"Learner {text!r} cannot be made: {why}.") from None


def _unnamed(call: Call, text: str) -> ArgumentError:
    return ArgumentError(
        f"Every parameter of learner {text!r} must have its name: name=value; got "
        f"{_written(call.arguments[0])}."
    )


def _written(value: Any) -> str:
    return repr(value.target if isinstance(value, Call) else repr(value))


def _why(raised: BaseException) -> str:
    said = " ".join(str(raised).split())
    return f"{type(raised).__name__}: {said[:300]}".rstrip(": .")


def _public(home: Any) -> list[str]:
    listed: list[str] = list(getattr(home, "__all__", None) or dir(home))
    return sorted(name for name in listed if not name.startswith("_"))
