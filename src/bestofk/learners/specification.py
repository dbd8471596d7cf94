"""Learners as text: ``name``, ``name(param=value)``, ``package.module:Class(...)``, ``label=...``.

The text is parsed, never evaluated: values are Python literals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.learners.registry import LEARNERS, learner

_LABELLED = re.compile(r"\s*([^=(:]+?)\s*=\s*(.+)", re.DOTALL)
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_CALL = re.compile(r"\s*([^()]+?)\s*(?:\((.*)\))?\s*", re.DOTALL)


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
    label = None
    labelled = _LABELLED.fullmatch(text)
    if labelled:
        label, text = labelled[1], labelled[2]
    called, params = call_of(text, "learner")
    place, colon, attribute = called.partition(":")
    if colon:
        estimator = _imported(place.strip(), attribute.strip(), params, text)
        default = text.partition(":")[2].strip()
    elif called not in LEARNERS and "." in called and called.rpartition(".")[2].isidentifier():
        module, _, name = called.rpartition(".")
        raise ArgumentError(
            f"There is no learner {called!r}; for a class to import write a colon before its "
            f"name: '{module}:{name}'."
        )
    else:
        estimator = learner(called, **params)
        default = text.strip()
    return label or default, estimator


def named_learners(learners: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Estimators by name, from names, descriptions and estimators, or from a mapping to such.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> list(named_learners(["max", SVC(), "log=logistic"]))
    ['max', 'SVC', 'log']
    """
    from bestofk.learners.for_data import check_estimator_like

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
    parts = _CALL.fullmatch(text)
    if parts is None:
        where = "a name or an import path" if kind == "learner" else "a name"
        raise ArgumentError(
            f"{kind.capitalize()} {text!r} must be {where}, then at most one pair of "
            "parentheses with parameters."
        )
    return parts[1], _parameters(parts[2] or "", text, kind)


def _parameters(arguments: str, text: str, kind: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ArgumentError(
            f"The parameters of {kind} {text!r} must be written as name=value, separated by "
            f"commas; got {arguments!r}."
        )
    if call.args:
        raise ArgumentError(
            f"Every parameter of {kind} {text!r} must have its name: name=value; got "
            f"{ast.unparse(call.args[0])!r}."
        )
    params: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise ArgumentError(
                f"The parameters of {kind} {text!r} must be written as name=value; got '**'."
            )
        if keyword.arg in params:
            raise ArgumentError(
                f"Parameter {keyword.arg!r} must be given once; {kind} {text!r} has it twice."
            )
        try:
            params[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise ArgumentError(
                f"Parameter {keyword.arg!r} of {kind} {text!r} must be a literal (a number, "
                f"quoted text, True, False, None, a list, a tuple or a dictionary of such); got "
                f"{ast.unparse(keyword.value)!r}."
            ) from None
    return params


def _imported(module: str, attribute: str, params: dict[str, Any], text: str) -> Any:
    from importlib import import_module

    from bestofk.learners.for_data import check_estimator_like

    if not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise ArgumentError(
            f"Learner {text!r} must name a module and a class, as in "
            "'sklearn.ensemble:RandomForestClassifier'."
        )
    try:
        home = import_module(module)
    except ModuleNotFoundError as error:
        raise ArgumentError(
            f"Learner {text!r}: there is no module {error.name!r}; is its package installed?"
        ) from None
    if not hasattr(home, attribute):
        raise UnknownNameError(f"name in the module {module}", attribute, _public(home))
    kind = getattr(home, attribute)
    if not callable(kind):
        raise ArgumentError(f"Learner {text!r} must name a class; {attribute!r} is none.")
    try:
        estimator = kind(**params)
    except TypeError as error:
        raise ArgumentError(f"Learner {text!r} cannot be made: {error}.") from None
    check_estimator_like(estimator, f"Learner {text!r}")
    return estimator


def _public(home: Any) -> list[str]:
    listed: list[str] = list(getattr(home, "__all__", None) or dir(home))
    return sorted(name for name in listed if not name.startswith("_"))
