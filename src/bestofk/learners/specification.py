"""Learners from text and from Python files.

A specification is ``name``, ``name(param=value)`` or ``package.module:Class(...)``, with an
optional ``label=``. A name is that of a built-in learner or of a class of scikit-learn. A value is
a literal of Python, or a specification. Specifications are parsed, never evaluated as code. Only
classes and functions that can create a learner are called.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.learners.registry import LEARNERS, check_estimator_like, learner

MAX_SPECIFICATION_LENGTH = 10_000
MAX_QUOTED_LENGTH = 200
"""Characters of a specification that messages quote."""


# Parse


_TOKEN = re.compile(
    r"""(?P<string>[rRbBuUfF]{0,2}(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"))"""
    r"""|(?P<target>[^\s,:=()\[\]{}'"]+:[A-Za-z_]\w*)|(?P<word>[^\s,:=()\[\]{}'"]+)|(?P<sign>\S)"""
)


class Call(NamedTuple):
    """A name with its arguments; values are literals or nested calls."""

    target: str
    arguments: tuple[Any, ...] = ()
    settings: dict[str, Any] = {}  # noqa: RUF012


def parse_call(text: str, kind: str, *, is_name: Callable[[str], bool] | None = None) -> Call:
    """Parse the call that `text` describes; messages call it `kind`.

    Values are Python literals. With `is_name`, they can also be calls of a ``module:name`` or of a
    word for which it returns True.

    Examples
    --------
    >>> parse_call("nmc(scale='std')", "learner")
    Call(target='nmc', arguments=(), settings={'scale': 'std'})
    >>> parse_call("a.b:c(d:e, [1])", "learner", is_name=str.isupper).arguments
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
    return _Arguments(rest[:-1], f"{kind} {_short(text)}", is_name).call(target)


class _Arguments:
    """Arguments parsed as Python, with placeholders for the names of classes and learners."""

    def __init__(self, text: str, subject: str, is_name: Callable[[str], bool] | None) -> None:
        self.text, self.subject, self.allows_calls = text, subject, is_name is not None
        self.targets: dict[str, str] = {}
        stem = "_"
        while stem in text:
            stem += "_"

        def python(match: re.Match[str]) -> str:
            if is_name is None:
                return match[0]
            # a name before "=" is a parameter name
            word = match["word"] if text[match.end() :].lstrip()[:1] != "=" else None
            if not match["target"] and not (word and is_name(word)):
                return match[0]
            self.targets[f"{stem}{len(self.targets)}"] = match[0]
            return f"{stem}{len(self.targets) - 1}"

        self.python = _TOKEN.sub(python, text)

    def call(self, target: str) -> Call:
        """Return the call of `target` with these arguments."""
        tree: Any = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # odd escapes and calls are refused below
                tree = ast.parse(f"f({self.python})", mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            return self._call(target, tree)
        raise ArgumentError(
            f"The parameters of {self.subject} must be written as name=value, separated by "
            f"commas; got {_short(self.text)}."
        )

    def _call(self, target: str, tree: ast.Call) -> Call:
        settings: dict[str, Any] = {}
        for keyword in tree.keywords:
            name = keyword.arg or "**"
            if name in settings:
                raise ArgumentError(
                    f"Parameter {name!r} must be given once; {self.subject} has it twice."
                )
            settings[name] = self._value(keyword.value if keyword.arg else keyword)
        return Call(target, tuple(map(self._value, tree.args)), settings)

    def _value(self, node: Any) -> Any:
        match node:
            case ast.Name(id=name) if name in self.targets:
                return Call(self.targets[name])
            case ast.Call(func=ast.Name(id=name)) if name in self.targets:
                return self._call(self.targets[name], node)
            case ast.List():
                return list(map(self._value, node.elts))
            case ast.Tuple():
                return tuple(map(self._value, node.elts))
            case ast.Dict() if None not in node.keys:
                with suppress(TypeError):  # an unhashable key
                    return dict(
                        zip(map(self._value, node.keys), map(self._value, node.values), strict=True)
                    )
            case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
                with suppress(ValueError):
                    return ast.literal_eval(node)
        written = str(ast.get_source_segment(f"f({self.python})", node))
        for name, target in self.targets.items():
            written = written.replace(name, target)
        raise ArgumentError(
            f"A parameter of {self.subject} must be a literal (a number, quoted text, True, False, "
            "None, or a list, tuple or dictionary of literals)"
            f"{' or package.module:Class(...)' * self.allows_calls}; got {_short(written)}."
        )


def split_specifications(text: str) -> list[str]:
    """Split a text at the commas between specifications, not at those inside them.

    Examples
    --------
    >>> split_specifications("logistic, c4.5,svm=sklearn.svm:SVC(C=2, kernel='a,b')")
    ['logistic', 'c4.5', "svm=sklearn.svm:SVC(C=2, kernel='a,b')"]
    """
    parts, depth, start = [], 0, 0
    for match in _TOKEN.finditer(text):
        depth += (match[0] in "([{") - (match[0] in ")]}")
        if match[0] == "," and depth == 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part] or [text]


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


def _short(text: str) -> str:
    limit = MAX_QUOTED_LENGTH
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def _described(text: str) -> tuple[str | None, str, Call]:
    """Return the label, the rest of a specification, and its call, whose name is known."""
    label, rest = _label(text)
    call = parse_call(rest, "learner", is_name=_is_name)
    if ":" not in call.target and not _is_name(call.target):
        raise _unknown(call.target)
    return label, rest.strip(), call


def _is_name(word: str) -> bool:
    """Return whether a word names a learner, or a class whose module is known."""
    if word in LEARNERS:
        return True
    from bestofk.learners.class_names import MODULE_OF

    return word in MODULE_OF


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
            _described(part)


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
    >>> parse_learner("sklearn.linear_model:Ridge(alpha=2.0)")
    ('Ridge(alpha=2.0)', Ridge(alpha=2.0))
    """
    if not isinstance(text, str) or not text.strip():
        raise ArgumentError(
            f"A learner must be described by text such as 'c4.5' or "
            f"'sklearn.svm:SVC(C=2.0)'; got {text!r}."
        )
    label, text, call = _described(text)
    estimator = _make(call, _short(text))
    if call.target not in LEARNERS:
        check_estimator_like(estimator, f"Learner {_short(text)}")
    name = _TOKEN.sub(lambda m: m[0].rpartition(":")[2] if m["target"] else m[0], text)
    return label or name, estimator


def _unknown(name: str) -> ArgumentError | UnknownNameError:
    """Return the error about a name that is no learner, with the line that works."""
    from bestofk.learners.class_names import suggestion

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
        end = "" if meant.endswith("?") else "."
        return ArgumentError(f"There is no learner {name!r:.120}: {meant}{end}")
    return unknown


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


def _make(value: Any, text: str) -> Any:
    """Create what the calls in a value describe; other values stay as they are."""
    if isinstance(value, list | tuple) and not isinstance(value, Call):
        return type(value)(_make(one, text) for one in value)
    if isinstance(value, dict):
        return {key: _make(one, text) for key, one in value.items()}
    if not isinstance(value, Call):
        return value
    name = value.target
    arguments = [_make(one, text) for one in value.arguments]
    settings = _make(value.settings, text)
    if name in LEARNERS:
        maker: Any = partial(learner, name)
    else:
        from bestofk.learners.class_names import MODULE_OF

        maker = _maker(name if ":" in name else f"{MODULE_OF[name]}:{name}", text)
    if arguments and not isinstance(maker, FunctionType):
        raise ArgumentError(
            f"Every parameter of learner {text} must be written as name=value; got "
            f"{_short(repr(arguments[0]))}."
        )
    if not isinstance(maker, type | FunctionType | partial):
        if settings:
            raise ArgumentError(
                f"Learner {text} takes no parameters: {name!r} is already an estimator, not a "
                "class."
            )
        return maker
    try:
        return maker(*arguments, **settings)
    except ArgumentError:
        raise
    except (Exception, SystemExit) as raised:
        # any class may raise anything in its constructor
        why = str(raised) if isinstance(raised, TypeError) else _describe(raised)
        raise ArgumentError(f"Learner {text} cannot be created: {why}.") from None


def _maker(name: str, text: str) -> Any:
    """Return the class, marked function or estimator ``module:name``; refuse everything else."""
    target = find(name, text)
    if isinstance(target, FunctionType):
        known = (target.__module__, target.__qualname__) in _FACTORIES
        if known or target.__dict__.get(_FACTORY_MARK) is True:
            return target
        raise ArgumentError(
            f"Learner {text} must name a class with fit and predict; {name!r} is a function, so "
            "bestofk does not call it (mark your own functions with "
            "@bestofk.learners.learner_factory)."
        )
    kind = target if isinstance(target, type) else type(target)
    # without running code of the class
    there = {attribute for base in type.mro(kind) for attribute in vars(base)}
    if any(there.issuperset(names) for names in _PART_METHODS):
        return target
    absent = "predict" if "fit" in there else "fit"
    raise ArgumentError(
        f"Learner {text} must be made of classes with fit and predict or transform; {name!r} has "
        f"no {absent}, so bestofk does not call it."
    )


def find(target: str, text: str) -> Any:
    """Import the object ``module:name`` or ``file.py:name`` without calling it.

    Messages call the specification `text`.
    """
    module_name, _, name = (word.strip() for word in target.partition(":"))
    is_path = module_name.endswith(".py") or module_name.startswith(("./", "../"))
    if not name.isidentifier() or not (
        is_path or all(word.isidentifier() for word in module_name.split("."))
    ):
        raise ArgumentError(
            f"Learner {text} must name a module and a class, as in "
            "'sklearn.ensemble:RandomForestClassifier'."
        )
    if is_path:
        module: Any = run_file(f"{module_name.removesuffix('.py')}.py")
    else:
        module = _import_module(module_name, name, text)
    try:
        return getattr(module, name)
    except AttributeError:
        names = sorted(getattr(module, "__all__", None) or dir(module))
        public = [one for one in names if not one.startswith("_")]
        raise UnknownNameError(f"name in the module {module_name}", name, public) from None
    except Exception as raised:
        # a module may compute its names
        raise ArgumentError(f"Learner {text}: {_describe(raised)}.") from None


def _import_module(module_name: str, name: str, text: str) -> Any:
    top = module_name.partition(".")[0]
    if any(word.startswith("__") for word in module_name.split(".")):
        raise ArgumentError(f"Learner {text}: bestofk does not import {module_name!r}.")
    if top in sys.stdlib_module_names or top == "test":
        raise ArgumentError(
            f"Learner {text}: {top!r} belongs to Python's standard library, which has no "
            "learners; nothing was imported."
        )
    if top not in sys.modules and _is_in_working_folder(top):
        file = f"{module_name.replace('.', '/')}.py"
        hint = (
            f"write './{file}:{name}' to run it"
            if Path(file).exists()
            else f"set PYTHONPATH={Path.cwd()} to allow it"
        )
        raise ArgumentError(
            f"Learner {text}: {top!r} is in the working folder, from which bestofk does not "
            f"import modules: {hint}."
        )
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        raise ArgumentError(
            f"Learner {text}: there is no module {error.name!r:.200}; is its package installed?"
        ) from None
    except MemoryError:
        raise
    except (Exception, SystemExit) as raised:
        # any module may raise anything while it is imported
        raise ArgumentError(
            f"Learner {text}: the module {module_name!r} cannot be imported: {_describe(raised)}."
        ) from None


def _is_in_working_folder(top: str) -> bool:
    """Return whether a package would come from the working folder without the user's consent.

    The user consents by PYTHONPATH or an installation.
    """
    here = Path.cwd()
    try:
        spec = find_spec(top)
        only_here = spec is None and ((here / f"{top}.py").exists() or (here / top).exists())
    except (ImportError, ValueError, OSError):  # the name may be too long
        return False
    if spec is None:
        return only_here
    paths = [Path(path) for path in (spec.origin, *(spec.submodule_search_locations or ())) if path]
    # the first entry of sys.path is the folder of the script or the working folder
    allowed = (*os.environ.get("PYTHONPATH", "").split(os.pathsep), *sys.path[1:])
    return any(path.parent in (here, here / top) for path in paths) and not any(
        Path(path).resolve() == here.resolve() for path in allowed if path
    )


def _describe(raised: BaseException) -> str:
    return f"{type(raised).__name__}: {' '.join(str(raised).split())[:300]}".rstrip(": .")


# Learners from the user's Python files


_modules_run: dict[tuple[str, int, int], ModuleType] = {}


def learners_of_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Run a Python file and return the learners of its mapping or list ``learners``, by name."""
    learners = getattr(run_file(path), "learners", None)
    if isinstance(learners, str) or not isinstance(learners, Mapping | Sequence) or not learners:
        raise ArgumentError(
            f"{os.fspath(path)}: must define a mapping or a list 'learners'; "
            f"got {'none' if learners is None else repr(learners)[:60]}."
        )
    return named_learners(learners)


def chosen_learners(specifications: Sequence[str], files: Sequence[str]) -> Any:
    """Return the learners of ``--learner``, by name and in files; None if there are none."""
    if not files:
        return list(specifications) or None
    chosen: dict[str, Any] = named_learners(specifications) if specifications else {}
    for file in files:
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
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))  # last, so that files next to it hide no package
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as raised:
        # the file may raise anything
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        frames = traceback.extract_tb(raised.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(file)]
        at = f" (line {lines[-1]})" if lines else ""
        raise ArgumentError(f"{os.fspath(path)} cannot be run: {_describe(raised)}{at}.") from None
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


# Named learners


def named_learners(learners: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Return estimators by name.

    Parameters
    ----------
    learners : mapping, iterable or str
        Specifications and estimators; ``(name, learner)`` pairs; a mapping of name to either; or a
        text of specifications with commas between them. A class stands for an estimator with
        default parameters. An estimator is named after its class, and
        a pipeline after its last step. Parameters or steps that differ tell the same names apart.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> list(named_learners(["max", SVC(), "log=logistic", ("tree", "c4.5")]))
    ['max', 'SVC', 'log', 'tree']
    >>> list(named_learners([SVC(C=1), SVC(C=10)]))
    ['SVC(C=1)', 'SVC(C=10)']
    >>> list(named_learners([SVC(), make_pipeline(StandardScaler(), SVC())]))
    ['SVC', 'StandardScaler+SVC']
    """
    pairs = [_named(label, value) for label, value in _labelled(learners)]
    names = _told_apart([estimator for name, estimator in pairs if name is None],
                        {name for name, _ in pairs if name is not None})  # fmt: skip
    by_name: dict[str, Any] = {}
    for label, estimator in pairs:
        name = names.pop(0) if label is None else label
        try:
            estimator.get_params(deep=False)  # they identify a learner
        except Exception as raised:
            # any class may raise anything
            raise ArgumentError(
                f"Learner {name!r} cannot be used: its get_params raises {_describe(raised)}."
            ) from None
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
        if label is None and name.startswith(("make_pipeline(", "Pipeline(")):
            return None, estimator
        return name if label is None else label, estimator
    where = "learner" if label is None else f"learner {label!r}"
    if isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "predict"):
        try:
            value = value()
        except Exception as raised:
            # any class may raise anything in its constructor
            raise ArgumentError(
                f"{where}: {value.__name__} cannot be created with default parameters "
                f"({_describe(raised)}): pass an estimator instead of the class."
            ) from None
    check_estimator_like(value, where)
    return label, value


MAX_NAMED_PARAMETERS = 3
MAX_VALUE_LENGTH = 40


def _told_apart(estimators: Sequence[Any], taken: Collection[str]) -> list[str]:
    """Name each estimator after its class or last step, and tell the same names apart."""
    chains = [_chain(estimator) for estimator in estimators]
    kinds = [type(chain[-1]).__name__ for chain in chains]
    names = list(kinds)
    for kind in dict.fromkeys(kinds):
        same = [number for number, one in enumerate(kinds) if one == kind]
        if len(same) == 1 and not any(name.partition("(")[0] == kind for name in taken):
            continue
        steps = ["+".join(type(step).__name__ for step in chains[number]) for number in same]
        words = _differing_parameters([chains[number][-1] for number in same])
        by_parameters = [f"{kind}({word})" if word else kind for word in words]
        if len(set(steps)) == len(steps):
            told_apart = steps
        elif len(set(words)) == len(words):
            told_apart = by_parameters
        else:
            told_apart = [f"{kind} {number}" for number in range(1, len(same) + 1)]
        for number, name in zip(same, told_apart, strict=True):
            names[number] = name
    return names


def _chain(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline that do something; other learners alone."""
    steps = getattr(estimator, "steps", None)
    real = [step for _, step in steps if hasattr(step, "fit")] if isinstance(steps, list) else []
    return real or [estimator]


def _differing_parameters(estimators: Sequence[Any]) -> list[str]:
    """Return the parameters in which estimators of one class differ, as text for each."""
    words: list[str] = []
    for deep in (False, True):
        texts = [_parameter_texts(estimator, deep=deep) for estimator in estimators]
        names = dict.fromkeys(name for by_name in texts for name in by_name)
        differ = [name for name in names if len({by_name.get(name) for by_name in texts}) > 1]
        for shown in (differ[:MAX_NAMED_PARAMETERS], differ):
            words = [
                ", ".join(f"{name}={by_name[name]}" for name in shown if name in by_name)
                for by_name in texts
            ]
            if len(set(words)) == len(words):
                return words
    return words


def _parameter_texts(estimator: Any, *, deep: bool) -> dict[str, str]:
    try:
        parameters = estimator.get_params(deep=deep)
    except Exception:
        # any class may raise anything
        return {}
    texts = {}
    for name, value in parameters.items():
        text = " ".join(repr(value).split())
        if hasattr(value, "get_params"):
            text = type(value).__name__
        elif len(text) > MAX_VALUE_LENGTH:
            text = f"{text[: MAX_VALUE_LENGTH - 3]}..."
        texts[name] = text
    return texts
