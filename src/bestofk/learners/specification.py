"""Learners from text and from Python files.

A specification is ``name``, ``name(param=value)`` or ``package.module:Class(...)``, with an
optional ``label=``. A name is that of a built-in learner or of a class of scikit-learn. A
specification is parsed into names and literals, never evaluated as code. Only classes and functions
that can create a learner are called.
"""

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
from bestofk.learners.class_names import MODULE_OF, suggestion
from bestofk.learners.registry import LEARNERS, check_estimator_like, learner

MAX_SPECIFICATION_LENGTH = 10_000
MAX_NESTED_BRACKETS = 30
MAX_QUOTED_LENGTH = 200
"""Characters of a specification that messages quote."""
LEARNERS_VARIABLE = "learners"
"""The name of the mapping or list of learners in a Python file."""
_STRING = r"""[rRbBuUfF]{0,2}(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_MODULE = r"""[^\s,:=()\[\]{}'"]+"""
_TARGET = rf"(?<![\w.'\"]){_MODULE}:[A-Za-z_]\w*"
_STRINGS_AND_TARGETS = re.compile(rf"(?P<string>{_STRING})|(?P<target>{_TARGET})")


class Call(NamedTuple):
    """A name with its arguments; values are literals or nested calls."""

    target: str
    arguments: tuple[Any, ...] = ()
    settings: dict[str, Any] = {}  # noqa: RUF012


def parse_call(text: str, kind: str, *, names: Iterable[str] = ()) -> Call:
    """Parse the call that `text` describes; messages call it `kind`.

    Values are Python literals, or calls of a ``module:name`` or of one of `names`.

    Examples
    --------
    >>> parse_call("nmc(scale='std')", "learner")
    Call(target='nmc', arguments=(), settings={'scale': 'std'})
    >>> parse_call("a.b:c(d:e, [1])", "learner").arguments
    (Call(target='d:e', arguments=(), settings={}), [1])
    """
    if len(text) > MAX_SPECIFICATION_LENGTH:
        raise ArgumentError(
            f"A {kind} specification must have at most {MAX_SPECIFICATION_LENGTH} characters; "
            f"got {len(text)}."
        )
    target, bracket, rest = text.strip().partition("(")
    target = target.strip()
    if not target or (bracket and not rest.endswith(")")) or ")" in target:
        name = "a name or an import path" if kind == "learner" else "a name"
        raise ArgumentError(
            f"{kind.capitalize()} {_short(text)} must be {name}, followed by at most one pair of "
            "parentheses with parameters."
        )
    if not bracket:
        return Call(target)
    return _Arguments(rest[:-1], text, kind, names).call(target)


def without_modules(text: str) -> str:
    """Replace every ``module:name`` in the text by ``name``.

    Examples
    --------
    >>> without_modules("a.b:f(c:g('d:e'))")
    "f(g('d:e'))"
    """
    return _STRINGS_AND_TARGETS.sub(
        lambda match: match["string"] or match["target"].rpartition(":")[2], text
    )


class _Arguments:
    """Parse the arguments of a call as Python, with placeholders for learners and classes."""

    def __init__(self, arguments: str, text: str, kind: str, names: Iterable[str]) -> None:
        self.arguments, self.text, self.kind = arguments, text, kind
        self.targets: dict[str, str] = {}
        known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        # a name before "=" is a parameter name
        bare = rf"|(?P<name>(?<![\w.'\"-])(?:{known})(?![\w.'\":-])(?!\s*=))" if known else ""
        pattern = re.compile(_STRINGS_AND_TARGETS.pattern + bare)
        stem = "_target"
        while stem in arguments:
            stem += "_"

        def placeholder(match: re.Match[str]) -> str:
            if match["string"] is not None:
                return match["string"]
            name = f"{stem}{len(self.targets)}"
            self.targets[name] = match[0]
            return name

        self.python = pattern.sub(placeholder, arguments)

    def call(self, target: str) -> Call:
        tree = None
        if _depth(_STRINGS_AND_TARGETS.sub("", self.arguments)) <= MAX_NESTED_BRACKETS:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # odd escapes and calls are refused below
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
                pass  # an unhashable key
        return self._literal(node, what)

    def _literal(self, node: ast.expr, what: str) -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            try:
                written = ast.unparse(node)
            except RecursionError:
                written = self.arguments
            for name, target in self.targets.items():
                written = written.replace(name, target)
            raise ArgumentError(
                f"{what} of {self.kind} {_short(self.text)} must be a literal (a number, quoted "
                "text, True, False, None, or a list, tuple or dictionary of literals)"
                f"{' or package.module:Class(...)' if self.kind == 'learner' else ''}; got "
                f"{_short(written)}."
            ) from None


def _depth(text: str) -> int:
    """Return the nesting depth of the brackets in `text`."""
    deepest = depth = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    # a sequence of signs nests without brackets
    signs = max((len(run) for run in re.findall(r"[-+~]+", text.replace(" ", ""))), default=0)
    return max(deepest, signs)


def _short(text: str) -> str:
    limit = MAX_QUOTED_LENGTH
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


# Create learners from calls


_FACTORY_MARK = "__makes_a_learner__"
_FACTORIES = {
    ("sklearn.pipeline", "make_pipeline"),
    ("sklearn.pipeline", "make_union"),
    ("sklearn.compose._column_transformer", "make_column_transformer"),
    ("imblearn.pipeline", "make_pipeline"),
}
"""Functions of other packages that combine learners: (module, name)."""
_PART_METHODS = (("fit", "predict"), ("fit", "transform"), ("fit", "fit_resample"),
          ("get_params", "set_params"), ("split", "get_n_splits"))  # fmt: skip
"""Methods of the possible parts of a learner: learners, transformers, kernels, splitters."""

Function = TypeVar("Function", bound=Callable[..., Any])


def learner_factory(function: Function) -> Function:
    """Mark a function that creates a learner, so that specifications can call it.

    Examples
    --------
    >>> @learner_factory
    ... def small_forest(trees=10):
    ...     from sklearn.ensemble import RandomForestClassifier
    ...     return RandomForestClassifier(n_estimators=trees)

    If the file is ``models.py``, write ``--learner './models.py:small_forest(trees=20)'``.
    """
    if not isinstance(function, FunctionType):
        raise ArgumentError(f"learner_factory must be used on functions; got {function!r:.80}.")
    setattr(function, _FACTORY_MARK, True)
    return function


def make(call: Call, text: str, *, part: bool = False) -> Any:
    """Create what `call` describes.

    `part` is for parts of another specification, which need not predict.
    """
    if ":" not in call.target and call.target not in LEARNERS:
        if call.target not in MODULE_OF:
            raise _unknown(call.target)
        call = call._replace(target=f"{MODULE_OF[call.target]}:{call.target}")
    settings = {name: _with_made_parts(value, text) for name, value in call.settings.items()}
    arguments = [_with_made_parts(value, text) for value in call.arguments]
    if ":" not in call.target:
        if arguments:
            raise _unnamed(call, text)
        return _built_in(call.target, **settings)
    target = find(call.target, text)
    if isinstance(target, type):
        _check_class(target, call, text, part=part)
        if arguments:
            raise _unnamed(call, text)
        return _called(target, (), settings, text)
    if isinstance(target, FunctionType):
        if not _is_factory(target):
            raise ArgumentError(
                f"Learner {text!r} must name a class with fit and predict; {call.target!r} is a "
                "function, so bestofk does not call it (mark your own functions with "
                "@bestofk.learners.learner_factory)."
            )
        return _called(target, arguments, settings, text)
    if not _has_methods(type(target), part=part):
        raise ArgumentError(
            f"Learner {text!r} must name a class with fit and predict; {call.target!r} is not one."
        )
    if arguments or settings:
        raise ArgumentError(
            f"Learner {text!r} takes no parameters: {call.target!r} is already an estimator, not "
            "a class."
        )
    return target


def _unknown(name: str) -> ArgumentError | UnknownNameError:
    """Return the error about a name that is no learner, with the line that works."""
    if name.endswith(".py"):
        path = name if name.startswith((".", "/")) else f"./{name}"
        return ArgumentError(
            f"Learner {name!r:.200} is a Python file: name the class or estimator in it, as in "
            f"'{path}:NAME'."
        )
    module, dot, kind = name.rpartition(".")
    if dot and kind.isidentifier() and all(word.isidentifier() for word in module.split(".")):
        return ArgumentError(
            f"There is no learner {name!r:.200}; to import a class, write a colon before its "
            f"name: '{module}:{kind}'."
        )
    unknown = UnknownNameError("learner", name, LEARNERS)
    meant = suggestion(name)
    is_class_name = meant.startswith("did you mean") or name != name.lower()
    if meant and (is_class_name or not unknown.near):
        return ArgumentError(f"There is no learner {name!r:.120}: {meant.rstrip('?')}"
                             f"{'?' if meant.endswith('?') else '.'}")  # fmt: skip
    return unknown


def find(target: str, text: str) -> Any:
    """Import the object ``module:name`` or ``file.py:name`` without calling it."""
    module_name, _, name = (word.strip() for word in target.partition(":"))
    is_path = module_name.endswith(".py") or module_name.startswith(("./", "../"))
    if not name.isidentifier() or not (
        is_path or all(word.isidentifier() for word in module_name.split("."))
    ):
        raise ArgumentError(
            f"Learner {text!r} must name a module and a class, as in "
            "'sklearn.ensemble:RandomForestClassifier'."
        )
    if is_path:
        path = module_name if module_name.endswith(".py") else f"{module_name}.py"
        module: Any = run_file(path)
    else:
        module = _import_module(module_name, name, text)
    try:
        return getattr(module, name)
    except AttributeError:
        public = _public_names(module)
        raise UnknownNameError(f"name in the module {module_name}", name, public) from None
    except Exception as raised:
        # a module may compute its names
        raise ArgumentError(f"Learner {text!r}: {_describe(raised)}.") from None


def _import_module(module_name: str, name: str, text: str) -> Any:
    top = module_name.partition(".")[0]
    if any(word.startswith("__") for word in module_name.split(".")):
        raise ArgumentError(f"Learner {text!r}: bestofk does not import {module_name!r}.")
    if top in sys.stdlib_module_names or top == "test":
        raise ArgumentError(
            f"Learner {text!r}: {top!r} belongs to Python's standard library, which has no "
            "learners; nothing was imported."
        )
    _refuse_working_folder(top, module_name, name, text)
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        raise ArgumentError(
            f"Learner {text!r}: there is no module {error.name!r:.200}; is its package installed?"
        ) from None
    except (Exception, SystemExit) as raised:
        # any module may raise anything while it is imported
        raise ArgumentError(
            f"Learner {text!r}: the module {module_name!r} cannot be imported: {_describe(raised)}."
        ) from None


def _refuse_working_folder(top: str, module_name: str, name: str, text: str) -> None:
    """Raise an error if the module would be imported from the working folder by accident."""
    if top in sys.modules:
        return
    here = Path.cwd()
    file = f"{module_name.replace('.', '/')}.py"
    try:
        spec = find_spec(top)
    except (ImportError, ValueError, OSError):
        spec = None
    origin = spec.origin or "" if spec is not None else ""
    paths = [origin, *(spec.submodule_search_locations or ())] if spec is not None else []
    inside = any(Path(path).parent in (here, here / top) for path in paths if os.sep in path)
    only_here = spec is None and (_exists(here / f"{top}.py") or _exists(here / top))
    if only_here or (inside and not _on_python_path(here)):
        hint = (
            f"write './{file}:{name}' to run it"
            if _exists(here / file)
            else f"set PYTHONPATH={here} to allow it"
        )
        raise ArgumentError(
            f"Learner {text!r}: {top!r} is in the working folder, from which bestofk does not "
            f"import modules: {hint}."
        )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the name may be too long
        return False


def _on_python_path(folder: Path) -> bool:
    """Return whether the user put the folder on the path, by PYTHONPATH or an installation."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    # the first entry of sys.path is the folder of the script or the working folder
    return any(Path(path).resolve() == folder.resolve() for path in (*paths, *sys.path[1:]) if path)


def _check_class(kind: type, call: Call, text: str, *, part: bool) -> None:
    if _has_methods(kind, part=part):
        return
    absent = "fit" if not _has(kind, "fit") else "predict"
    subject = f"A part of learner {text!r}" if part else f"Learner {text!r}"
    raise ArgumentError(
        f"{subject} must be a class with fit and predict{' or transform' if part else ''}; "
        f"{call.target!r} has no {absent}, so bestofk does not call it."
    )


def _has_methods(kind: type, *, part: bool) -> bool:
    sets = _PART_METHODS if part else _PART_METHODS[:1]
    return any(all(_has(kind, name) for name in names) for names in sets)


def _has(kind: type, name: str) -> bool:
    """Return whether the class has the attribute, without running code of the class."""
    return any(name in vars(base) for base in type.mro(kind))


def _is_factory(function: FunctionType) -> bool:
    known = (function.__module__, function.__qualname__) in _FACTORIES
    return known or function.__dict__.get(_FACTORY_MARK) is True


def _with_made_parts(value: Any, text: str) -> Any:
    """Replace the calls in a value by what they describe."""
    if isinstance(value, Call):
        return make(value, text, part=True)
    if isinstance(value, list | tuple):
        return type(value)(_with_made_parts(part, text) for part in value)
    if isinstance(value, dict):
        return {key: _with_made_parts(part, text) for key, part in value.items()}
    return value


def _called(maker: Any, arguments: Any, settings: dict[str, Any], text: str) -> Any:
    try:
        return maker(*arguments, **settings)
    except (Exception, SystemExit) as raised:
        # any class may raise anything in its constructor
        why = str(raised) if isinstance(raised, TypeError) else _describe(raised)
        raise ArgumentError(f"Learner {text!r} cannot be created: {why}.") from None


def _unnamed(call: Call, text: str) -> ArgumentError:
    return ArgumentError(
        f"Every parameter of learner {text!r} must be written as name=value; got "
        f"{_quoted(call.arguments[0])}."
    )


def _quoted(value: Any) -> str:
    return repr(value.target if isinstance(value, Call) else repr(value))


def _describe(raised: BaseException) -> str:
    return f"{type(raised).__name__}: {_one_line(raised)[:300]}".rstrip(": .")


def _one_line(raised: BaseException) -> str:
    return " ".join(str(raised).split())


def _public_names(module: Any) -> list[str]:
    names: list[str] = list(getattr(module, "__all__", None) or dir(module))
    return sorted(name for name in names if not name.startswith("_"))


# Learners from the user's Python files


_modules_run: dict[tuple[str, int, int], ModuleType] = {}


def learners_of_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Run a Python file and return the learners of its mapping or list ``learners``, by name."""
    module = run_file(path)
    learners = getattr(module, LEARNERS_VARIABLE, None)
    if isinstance(learners, str) or not isinstance(learners, Mapping | Sequence) or not learners:
        raise ArgumentError(
            f"{os.fspath(path)}: must define a mapping or a list {LEARNERS_VARIABLE!r} with "
            f"learners; got {'none' if learners is None else repr(learners)[:60]}."
        )
    if isinstance(learners, Mapping):
        return {str(name): _from_class(value, str(name)) for name, value in learners.items()}
    return named_learners([_from_class(value, "a learner") for value in learners])


def check_specifications(specifications: Iterable[str]) -> None:
    """Raise if a specification has no valid form or an unknown name, without imports of learners.

    Examples
    --------
    >>> check_specifications(["logistic,c4.5", "RandomForestClassifier(n_estimators=9)"])
    >>> check_specifications(["lgistic"])
    Traceback (most recent call last):
    bestofk._base.errors.UnknownNameError: There is no learner 'lgistic': did you mean 'logistic'?
    """
    for text in specifications:
        for part in split_specifications(text):
            call = parse_call(_label(part)[1], "learner", names=(*LEARNERS, *MODULE_OF))
            if ":" not in call.target and call.target not in (*LEARNERS, *MODULE_OF):
                raise _unknown(call.target)


def chosen_learners(specifications: Sequence[str], files: Sequence[str]) -> Any:
    """Return the learners of ``--learner`` and ``--learners``; None if there are none."""
    if not files:
        return list(specifications) or None
    chosen: dict[str, Any] = named_learners(specifications) if specifications else {}
    for file in files:
        if not file.endswith(".py"):
            raise ArgumentError(
                f"--learners {file}: give a Python file, or names with '--learner {file}'."
            )
        for name, value in learners_of_file(file).items():
            if name in chosen:
                raise ArgumentError(f"{file}: two learners are called {name!r}; rename one.")
            chosen[name] = value
    return chosen


def run_file(path: str | os.PathLike[str]) -> ModuleType:
    """Run a file as a module; run an unchanged file only once."""
    file = Path(path).expanduser()
    if file.suffix != ".py" or not file.is_file():
        raise ArgumentError(f"There is no Python file {os.fspath(path)!r} to read learners from.")
    file = file.resolve()
    state = file.stat()
    key = (str(file), state.st_mtime_ns, state.st_size)
    if key in _modules_run:
        return _modules_run[key]
    name = _free_name(file)
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.append(folder)  # last, so that files next to it hide no installed package
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
        message = _one_line(raised)[:300].rstrip(".")
        line = _line_in(raised, str(file))
        raise ArgumentError(
            f"{os.fspath(path)} cannot be run: {type(raised).__name__}: {message}{line}."
        ) from None
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)  # workers need not find the file
    _modules_run[key] = module
    return module


def _free_name(file: Path) -> str:
    """Return a module name: that of the file, unless another module has it."""
    from hashlib import sha256

    loaded = sys.modules.get(file.stem)
    free = loaded is None or str(getattr(loaded, "__file__", "")) == str(file)
    if file.stem.isidentifier() and free and file.stem not in sys.stdlib_module_names:
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


def _from_class(value: Any, where: str) -> Any:
    """Create an estimator with default parameters from a class; return other values unchanged."""
    if not isinstance(value, type):
        return value
    try:
        return value()
    except Exception as raised:
        # any class may raise anything in its constructor
        raise ArgumentError(
            f"{where}: {value.__name__} cannot be created with default parameters "
            f"({type(raised).__name__}: {_one_line(raised)[:200]})."
        ) from None


# Named learners


def parse_learner(text: str) -> tuple[str, Any]:
    """Return the name and the estimator that `text` describes.

    Parameters
    ----------
    text : str
        The name of a built-in learner, of a class of scikit-learn, XGBoost, LightGBM or CatBoost,
        or an import path ``package.module:Class``, with optional parameters in parentheses and an
        optional ``label=`` before it.

    Returns
    -------
    name : str
        The label; without a label, the text without module names.
    estimator
        Not fitted.

    Examples
    --------
    >>> parse_learner("nmc(scale='range')")
    ("nmc(scale='range')", NearestMean(scale='range'))
    >>> parse_learner("forest=sklearn.ensemble:RandomForestClassifier(n_estimators=200)")
    ('forest', RandomForestClassifier(n_estimators=200))
    >>> parse_learner("Ridge(alpha=2.0)")
    ('Ridge(alpha=2.0)', Ridge(alpha=2.0))
    """
    if not isinstance(text, str) or not text.strip():
        raise ArgumentError(
            f"A learner must be described by text such as 'c4.5' or "
            f"'sklearn.svm:SVC(C=2.0)'; got {text!r}."
        )
    label, text = _label(text)
    call = parse_call(text, "learner", names=(*LEARNERS, *MODULE_OF))
    quoted = text.strip()
    if len(text) > MAX_QUOTED_LENGTH:
        quoted = f"{quoted[:MAX_QUOTED_LENGTH]}..."
    estimator = make(call, quoted)
    if call.target not in LEARNERS:
        check_estimator_like(estimator, f"Learner {quoted!r}")
    return label or without_modules(text.strip()), estimator


def _check_params(estimator: Any, name: str) -> None:
    """Raise an error if the parameters, which identify a learner, cannot be read."""
    try:
        estimator.get_params(deep=False)
    except Exception as raised:
        # any class may raise anything
        message = _one_line(raised)[:200].rstrip(".")
        raise ArgumentError(
            f"Learner {name!r} cannot be used: its get_params raises {type(raised).__name__}: "
            f"{message}."
        ) from None


def _label(text: str) -> tuple[str | None, str]:
    """Separate the label before the first equals sign, if there is one."""
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
        raise ArgumentError(f"Learner {name!r} cannot be created: {raised}.") from None


def split_specifications(text: str) -> list[str]:
    """Split a text at the commas between specifications, not at those inside them.

    Examples
    --------
    >>> split_specifications("logistic, c4.5,svm=sklearn.svm:SVC(C=2, kernel='a,b')")
    ['logistic', 'c4.5', "svm=sklearn.svm:SVC(C=2, kernel='a,b')"]
    """
    # hide quoted text and brackets, so that only the other commas remain
    plain = re.sub(_STRING, lambda match: " " * len(match[0]), text)
    depth, starts = 0, [0]
    for position, character in enumerate(plain):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            starts.append(position + 1)
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    parts = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return [part for part in parts if part] or [text]


def named_learners(learners: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Return estimators by name.

    Parameters
    ----------
    learners : mapping, iterable or str
        Specifications and estimators; ``(name, learner)`` pairs; a mapping of name to either; or a
        text of specifications with commas between them. Estimators of the same class get names
        with the parameters in which they differ.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> list(named_learners(["max", SVC(), "log=logistic", ("tree", "c4.5")]))
    ['max', 'SVC', 'log', 'tree']
    >>> list(named_learners([SVC(C=1), SVC(C=10)]))
    ['SVC(C=1)', 'SVC(C=10)']
    """
    by_name: dict[str, Any] = {}
    pairs = [_named(label, value) for label, value in _labelled(learners)]
    for name, estimator in _told_apart(pairs):
        _check_params(estimator, name)
        if name in by_name:
            raise ArgumentError(
                f"Two learners are called {name!r}; give them different names, with labels such "
                f"as 'other={name}' or a dictionary."
            )
        by_name[name] = estimator
    if not by_name:
        raise ArgumentError("learners must contain at least one learner; got none.")
    return by_name


def _labelled(learners: Any) -> list[tuple[str | None, Any]]:
    """Return the label, or None, and the learner of each entry."""
    if isinstance(learners, str):
        learners = [learners]
    if isinstance(learners, Mapping):
        return [(str(name), value) for name, value in learners.items()]
    entries: list[tuple[str | None, Any]] = []
    for value in learners:
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
            entries.append((value[0], value[1]))
        elif isinstance(value, str):
            entries += [(None, text) for text in split_specifications(value)]
        else:
            entries.append((None, value))
    return entries


def _named(label: str | None, value: Any) -> tuple[str | None, Any]:
    """Return the name and the estimator; the name is None if only its class could provide it."""
    if isinstance(value, str):
        name, estimator = parse_learner(value)
        return name if label is None else label, estimator
    check_estimator_like(value, "learner" if label is None else f"learner {label!r}")
    return label, value


def _told_apart(pairs: Sequence[tuple[str | None, Any]]) -> list[tuple[str, Any]]:
    """Name each unnamed estimator after its class, with the parameters that tell it apart."""
    taken = {name for name, _ in pairs if name is not None}
    by_class: dict[str, list[Any]] = {}
    for name, estimator in pairs:
        if name is None:
            by_class.setdefault(type(estimator).__name__, []).append(estimator)
    names = {}
    for kind, estimators in by_class.items():
        if len(estimators) == 1 and kind not in taken:
            names[id(estimators[0])] = kind
            continue
        for estimator, words in zip(estimators, differing_parameters(estimators), strict=True):
            names[id(estimator)] = f"{kind}({words})" if words else kind
    return [
        (names[id(estimator)] if name is None else name, estimator) for name, estimator in pairs
    ]


MAX_NAMED_PARAMETERS = 3
MAX_VALUE_LENGTH = 40


def differing_parameters(estimators: Sequence[Any]) -> list[str]:
    """Return the parameters in which estimators of one class differ, as text for each.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> differing_parameters([SVC(), SVC(C=2.0), SVC(kernel="linear")])
    ["C=1.0, kernel='rbf'", "C=2.0, kernel='rbf'", "C=1.0, kernel='linear'"]
    """
    for deep in (False, True):
        texts = [_parameter_texts(estimator, deep=deep) for estimator in estimators]
        names = dict.fromkeys(name for by_name in texts for name in by_name)
        differ = [name for name in names if len({by_name.get(name) for by_name in texts}) > 1]
        words = [
            ", ".join(f"{name}={by_name[name]}" for name in differ if name in by_name)
            for by_name in texts
        ]
        if len(set(words)) == len(words):
            few = [
                ", ".join(
                    f"{name}={by_name[name]}"
                    for name in differ[:MAX_NAMED_PARAMETERS]
                    if name in by_name
                )
                for by_name in texts
            ]
            return few if len(set(few)) == len(few) else words
    return words


def _parameter_texts(estimator: Any, *, deep: bool) -> dict[str, str]:
    try:
        parameters = estimator.get_params(deep=deep)
    except Exception:
        # any class may raise anything
        return {}
    return {name: _value_text(value) for name, value in parameters.items()}


def _value_text(value: Any) -> str:
    """Return a short text; the class names of estimators and of the steps of a pipeline."""
    if hasattr(value, "get_params"):
        return type(value).__name__
    if isinstance(value, list | tuple) and value:
        parts = [one[1] if isinstance(one, tuple) and len(one) > 1 else one for one in value]
        if all(hasattr(part, "get_params") for part in parts):
            return "+".join(type(part).__name__ for part in parts)
    text = " ".join(repr(value).split())
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 3]}..."


def problem_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of the problem ``name(param=value)``.

    Examples
    --------
    >>> problem_call("gaussian(bayes_error=0.1)")
    ('gaussian', {'bayes_error': 0.1})
    """
    call = parse_call(text, "problem")
    if call.arguments:
        raise ArgumentError(
            f"Every parameter of problem {text!r:.200} must be written as name=value; got "
            f"{call.arguments[0]!r:.80}."
        )
    if any(map(_contains_call, call.settings.values())):
        raise ArgumentError(f"The parameters of problem {text!r:.200} must be literals.")
    return call.target, call.settings


def _contains_call(value: Any) -> bool:
    if isinstance(value, Call):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return isinstance(value, list | tuple | dict) and any(map(_contains_call, parts))
