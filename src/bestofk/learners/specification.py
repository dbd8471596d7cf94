"""``name(setting=value, ...)`` as text: parsed into names and literals, never evaluated."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.learners.registry import LEARNERS, learner

LONGEST = 10_000
"""Characters of a specification."""
DEEPEST = 30
"""Brackets inside brackets of a specification."""
_STRING = r"""[rRbBuUfF]{0,2}(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_PLACE = r"""[^\s,:=()\[\]{}'"]+"""
_TARGET = rf"(?<![\w.'\"]){_PLACE}:[A-Za-z_]\w*"
_STRINGS_AND_TARGETS = re.compile(rf"(?P<string>{_STRING})|(?P<target>{_TARGET})")


class Call(NamedTuple):
    """A name with its settings; values are literals, or calls again."""

    target: str
    arguments: tuple[Any, ...] = ()
    settings: dict[str, Any] = {}  # noqa: RUF012


def parse_call(text: str, kind: str, *, names: Iterable[str] = ()) -> Call:
    """The call that `text` describes; `kind` is what messages call it.

    Values are Python literals, calls of a ``module:name`` or of one of `names`.

    Examples
    --------
    >>> parse_call("nmc(scale='std')", "learner")
    Call(target='nmc', arguments=(), settings={'scale': 'std'})
    >>> parse_call("a.b:c(d:e, [1])", "learner").arguments
    (Call(target='d:e', arguments=(), settings={}), [1])
    """
    if len(text) > LONGEST:
        raise ArgumentError(
            f"A {kind} must be described in at most {LONGEST} characters; got {len(text)}."
        )
    target, bracket, rest = text.strip().partition("(")
    target = target.strip()
    if not target or (bracket and not rest.endswith(")")) or ")" in target:
        where = "a name or an import path" if kind == "learner" else "a name"
        raise ArgumentError(
            f"{kind.capitalize()} {_short(text)} must be {where}, then at most one pair of "
            "parentheses with parameters."
        )
    if not bracket:
        return Call(target)
    return _Arguments(rest[:-1], text, kind, names).call(target)


def without_modules(text: str) -> str:
    """The text with ``name`` for every ``module:name``.

    Examples
    --------
    >>> without_modules("a.b:f(c:g('d:e'))")
    "f(g('d:e'))"
    """
    return _STRINGS_AND_TARGETS.sub(
        lambda found: found["string"] or found["target"].rpartition(":")[2], text
    )


class _Arguments:
    """The arguments of one call as a tree of Python, with stand-ins for what it may refer to."""

    def __init__(self, arguments: str, text: str, kind: str, names: Iterable[str]) -> None:
        self.arguments, self.text, self.kind = arguments, text, kind
        self.targets: dict[str, str] = {}
        known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        # a name before "=" is that of a setting
        bare = rf"|(?P<name>(?<![\w.'\"-])(?:{known})(?![\w.'\":-])(?!\s*=))" if known else ""
        pattern = re.compile(_STRINGS_AND_TARGETS.pattern + bare)
        stem = "_target"
        while stem in arguments:
            stem += "_"

        def stand_in(found: re.Match[str]) -> str:
            if found["string"] is not None:
                return found["string"]
            word = f"{stem}{len(self.targets)}"
            self.targets[word] = found[0]
            return word

        self.python = pattern.sub(stand_in, arguments)

    def call(self, target: str) -> Call:
        tree = None
        if _depth(_STRINGS_AND_TARGETS.sub("", self.arguments)) <= DEEPEST:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a strange escape or call is refused below
                    tree = ast.parse(f"f({self.python})", mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                tree = None
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
            raise ArgumentError(
                f"The parameters of {self.kind} {_short(self.text)} must be written as "
                f"name=value, separated by commas; got {_short(self.arguments)}."
            )
        return self._call(target, tree)

    def _call(self, target: str, tree: ast.Call) -> Call:
        arguments = []
        for node in tree.args:
            if isinstance(node, ast.Starred):
                raise self._refused("must be written as name=value; got '*'.")
            arguments.append(self._value(node, "A parameter"))
        settings: dict[str, Any] = {}
        for keyword in tree.keywords:
            if keyword.arg is None:
                raise self._refused("must be written as name=value; got '**'.")
            if keyword.arg in settings:
                raise ArgumentError(
                    f"Parameter {keyword.arg!r} must be given once; {self.kind} "
                    f"{_short(self.text)} has it twice."
                )
            settings[keyword.arg] = self._value(keyword.value, f"Parameter {keyword.arg!r}")
        return Call(target, tuple(arguments), settings)

    def _refused(self, why: str) -> ArgumentError:
        return ArgumentError(f"The parameters of {self.kind} {_short(self.text)} {why}")

    def _value(self, node: ast.expr, what: str) -> Any:
        value: Callable[[ast.expr], Any] = lambda inner: self._value(inner, what)  # noqa: E731
        if isinstance(node, ast.Name) and node.id in self.targets:
            return Call(self.targets[node.id])
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in self.targets
        ):
            return self._call(self.targets[node.func.id], node)
        if isinstance(node, ast.List):
            return [value(inner) for inner in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple(value(inner) for inner in node.elts)
        if isinstance(node, ast.Dict) and all(node.keys):
            keys = [self._literal(key, what) for key in node.keys if key is not None]
            try:
                return dict(zip(keys, map(value, node.values), strict=True))
            except TypeError:
                pass  # a key that cannot be one
        return self._literal(node, what)

    def _literal(self, node: ast.expr, what: str) -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            try:
                written = ast.unparse(node)
            except RecursionError:
                written = self.arguments
            for word, target in self.targets.items():
                written = written.replace(word, target)
            raise ArgumentError(
                f"{what} of {self.kind} {_short(self.text)} must be a literal (a number, quoted "
                "text, True, False, None, a list, a tuple or a dictionary of such)"
                f"{' or package.module:Class(...)' if self.kind == 'learner' else ''}; got "
                f"{_short(written)}."
            ) from None


def _depth(text: str) -> int:
    """How deep the brackets of `text` stand in each other."""
    deepest = depth = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    # a long row of signs nests without brackets
    signs = max((len(run) for run in re.findall(r"[-+~]+", text.replace(" ", ""))), default=0)
    return max(deepest, signs)


def _short(text: str) -> str:
    return repr(text if len(text) <= 200 else text[:197] + "...")


# ``module:name`` as a class, a factory or an estimator; only what may make a learner is called.


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


# Learners from a Python file of the user, which is run because its path was given.


VARIABLE = "learners"
"""What the mapping or list of learners is called in the file."""

_ran: dict[tuple[str, int, int], ModuleType] = {}


def learners_of_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The learners of a file: a mapping or a list called ``learners`` in it, by name.

    The file is run, as `python` would run it.
    """
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


# Learners as text: ``name``, ``name(param=value)``, ``package.module:Class(...)``, ``label=...``.


LONGEST_SAID = 200
"""Characters of a specification that messages repeat."""


def parse_learner(text: str) -> tuple[str, Any]:
    """The name and the estimator that `text` describes.

    Parameters
    ----------
    text : str
        The name of a built-in learner, with parameters in parentheses where wanted; or where a
        class can be imported from, as ``package.module:Class`` with parameters in parentheses
        where wanted; either with ``label=`` before it.

    Returns
    -------
    name : str
        The label, or the text after any colon.
    estimator
        Not fitted.

    Examples
    --------
    >>> parse_learner("nmc(scale='std')")
    ("nmc(scale='std')", NearestMean(scale='std'))
    >>> parse_learner("forest=sklearn.ensemble:RandomForestClassifier(n_estimators=200)")
    ('forest', RandomForestClassifier(n_estimators=200))
    """
    if not isinstance(text, str) or not text.strip():
        raise ArgumentError(
            f"A learner must be described by text such as 'c4.5' or "
            f"'sklearn.svm:SVC(C=2.0)'; got {text!r}."
        )
    label, text = _label(text)
    call = parse_call(text, "learner", names=LEARNERS)
    said = text.strip() if len(text) <= LONGEST_SAID else f"{text.strip()[:LONGEST_SAID]}..."
    if ":" in call.target:
        from bestofk.learners.registry import check_estimator_like

        estimator = make(call, said, _built_in)
        check_estimator_like(estimator, f"Learner {said!r}")
    elif (
        call.target not in LEARNERS
        and call.target.rpartition(".")[2].isidentifier()
        and ("." in call.target)
    ):
        module, _, name = call.target.rpartition(".")
        raise ArgumentError(
            f"There is no learner {call.target!r:.200}; for a class to import write a colon before "
            f"its name: '{module}:{name}'."
        )
    else:
        estimator = make(call, said, _built_in)
    return label or without_modules(text.strip()), estimator


def _check_settings(estimator: Any, name: str) -> None:
    """Raise where the settings, which tell a learner from others, cannot be asked for."""
    try:
        estimator.get_params(deep=False)
    except Exception as raised:
        # any class may raise anything
        said = " ".join(str(raised).split())[:200]
        raise ArgumentError(
            f"Learner {name!r} cannot be used: its get_params raises {type(raised).__name__}: "
            f"{said.rstrip('.')}."
        ) from None


def _label(text: str) -> tuple[str | None, str]:
    """The label before the first equals sign, if it is one, and what follows."""
    before, equals, after = text.partition("=")
    if not equals or "(" in before or ":" in before:
        return None, text
    if not before.strip() or not after.strip():
        raise ArgumentError(
            f"A learner with a label must be written as label=specification; got {text!r:.200}."
        )
    return before.strip(), after


def _built_in(name: str, **params: Any) -> Any:
    try:
        return learner(name, **params)
    except (TypeError, ValueError) as raised:
        if isinstance(raised, ArgumentError):
            raise
        raise ArgumentError(f"Learner {name!r} cannot be made: {raised}.") from None


def named_learners(learners: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Estimators by name, from names, descriptions and estimators, or from a mapping to such.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> list(named_learners(["max", SVC(), "log=logistic"]))
    ['max', 'SVC', 'log']
    """
    from bestofk.learners.registry import check_estimator_like

    if isinstance(learners, str):
        raise ArgumentError(f"learners must be a list of learners; got {learners!r} alone.")
    pairs = (
        list(learners.items())
        if isinstance(learners, Mapping)
        else [(None, given) for given in learners]
    )
    found: dict[str, Any] = {}
    for label, given in pairs:
        if isinstance(given, str):
            name, estimator = parse_learner(given)
        else:
            check_estimator_like(given, "learner" if label is None else f"learner {label!r}")
            name, estimator = type(given).__name__, given
        name = name if label is None else str(label)
        _check_settings(estimator, name)
        if name in found:
            raise ArgumentError(
                f"Two learners are called {name!r}; give them names of their own, such as "
                f"'other={name}' or a dictionary."
            )
        found[name] = estimator
    if not found:
        raise ArgumentError("learners must hold at least one learner; got none.")
    return found


def call_of(text: str, kind: str) -> tuple[str, dict[str, Any]]:
    """The name and the settings of ``name(param=value)``; `kind` is what messages call it.

    Examples
    --------
    >>> call_of("nmc(scale='std')", "learner")
    ('nmc', {'scale': 'std'})
    """
    call = parse_call(text, kind)
    if call.arguments:
        raise ArgumentError(
            f"Every parameter of {kind} {text!r:.200} must have its name: name=value; got "
            f"{call.arguments[0]!r:.80}."
        )
    if any(_holds_call(value) for value in call.settings.values()):
        raise ArgumentError(f"The parameters of {kind} {text!r:.200} must be literals.")
    return call.target, call.settings


def _holds_call(value: Any) -> bool:
    if isinstance(value, Call):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return isinstance(value, list | tuple | dict) and any(map(_holds_call, inside))
