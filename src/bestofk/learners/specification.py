"""Learners as text: ``name``, ``name(param=value)``, ``package.module:Class(...)``, ``label=...``.

The text is parsed, never evaluated: values are Python literals or specifications again. What may be
called is settled in `bestofk.learners.import_target`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bestofk.errors import ArgumentError
from bestofk.learners.call_text import parse_call, without_modules
from bestofk.learners.registry import LEARNERS, learner

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
        from bestofk.learners.for_data import check_estimator_like
        from bestofk.learners.import_target import make

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
        from bestofk.learners.import_target import make

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
    from bestofk.learners.call_text import Call

    if isinstance(value, Call):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return isinstance(value, list | tuple | dict) and any(map(_holds_call, inside))
