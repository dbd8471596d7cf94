"""What every result offers, and how it is shown without importing the room that shows it.

Every result has the four parts of `Result`: `pvalue` where there is one, `explain`, `to_frame` and
`to_dict`, with the same parameters everywhere.

Results lie below `bestofk.report` and may not import it. They ask here by name, and the room is
imported when something is shown; no result needs a template or a figure to exist.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bestofk._base.checks import probability
from bestofk._base.errors import ArgumentError
from bestofk._base.registry import resolve

PRESENTERS = {
    "report": "bestofk.report.write_report:write_report",
    "figure": "bestofk.report.figures.registry:figure",
    "frame": "bestofk.data.tables.table:data_frame",
    "own frame": "bestofk.report.tables:frame_of",
    "markdown": "bestofk.report.tables:markdown_of",
    "latex": "bestofk.report.tables:latex_of",
    "html": "bestofk.report.tables:html_of",
}
"""Form: the function that gives it, as ``package.module:name``."""

DEFAULT_ALPHA = 0.05
"""The level of sentences about results that leave it open."""


def present(form: str, value: Any, *arguments: Any, **options: Any) -> Any:
    """`value` in one of the forms of `PRESENTERS`."""
    return resolve(PRESENTERS[form])(value, *arguments, **options)


@runtime_checkable
class Result(Protocol):
    """What every result of this package offers, next to `pvalue` where it has one."""

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The result in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of those that the result holds: by number where the
            learners are numbers, else in the order in which the result lists them. Results that
            speak of no learner have no use for them.
        alpha : float, optional
            Level of significance. None: the level at which the result was decided, or 0.05 where
            the result leaves it open. A result that was decided at one level refuses another.
        """
        ...

    def to_frame(self) -> Any:
        """The result as a data frame of pandas: one row per pair, learner, test or level."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """The result for strict JSON: no NaN, no infinity, in the user's metric."""
        ...


def open_level(alpha: float | None) -> float:
    """The level of a sentence about a result that leaves it open."""
    return DEFAULT_ALPHA if alpha is None else probability(alpha, "alpha")


def decided_level(alpha: float | None, decided: float) -> float:
    """The level at which a result was decided; another one is refused.

    Examples
    --------
    >>> decided_level(None, 0.1), decided_level(0.1, 0.1)
    (0.1, 0.1)
    """
    if alpha is not None and abs(probability(alpha, "alpha") - decided) > 1e-12:
        raise ArgumentError(
            f"alpha must be None or {decided:g}, the level at which this was decided; got "
            f"{alpha:g}: ask for the result itself at that level."
        )
    return decided


def without_effect(names: Sequence[str] | None, alpha: float | None) -> None:
    """Check the arguments of an `explain` that they do not change: no learner, no level in it."""
    open_level(alpha)
    if isinstance(names, str):
        raise ArgumentError(f"names must be a sequence of names; got {names!r:.80}.")


def renamed(names: Sequence[str] | None, learners: Iterable[Any]) -> dict[Any, Any]:
    """Learner: what it is called now, for `explain`.

    Examples
    --------
    >>> renamed(["x", "y"], (1, 0)), renamed(["x", "y"], ("b", "a")), renamed(None, (1, 0))
    ({1: 'y', 0: 'x'}, {'b': 'x', 'a': 'y'}, {1: 1, 0: 0})
    """
    known = tuple(learners)
    if names is None:
        return {name: name for name in known}
    if isinstance(names, str) or len(names) != len(known):
        raise ArgumentError(
            f"names must hold one name for each of the {len(known)} learners; got {names!r:.80}."
        )
    if set(known) == set(range(len(known))):
        return {number: str(names[number]) for number in known}
    return {old: str(new) for old, new in zip(known, names, strict=True)}


def renamed_text(text: str, called: Mapping[Any, Any]) -> str:
    """A sentence that was written before, with the learners called otherwise."""
    words = {
        (f"learner {old}" if isinstance(old, int) else str(old)): str(new)
        for old, new in called.items()
        if old != new
    }
    if not words:
        return text
    longest_first = sorted(words, key=len, reverse=True)
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"
    lowered = re.sub(r"\bLearner (?=\d)", "learner ", text)
    return re.sub(pattern, lambda found: words[found.group()], lowered)


def json_ready(value: Any) -> Any:
    """A value for strict JSON: arrays are lists, what is not finite is null.

    Examples
    --------
    >>> json_ready({"a": np.array([1.0, np.inf]), 2: (np.int64(3), None)})
    {'a': [1.0, None], '2': [3, None]}
    """
    if isinstance(value, np.ndarray):
        return json_ready(value.tolist())
    if isinstance(value, np.generic):
        return json_ready(value.item())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_ready(one) for key, one in value.items()}
    if isinstance(value, Presented):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: json_ready(getattr(value, one.name)) for one in fields(value) if one.repr}
    named: tuple[str, ...] | None = getattr(value, "_fields", None)
    if named is not None:
        return {name: json_ready(one) for name, one in zip(named, value, strict=True)}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_ready(one) for one in value]
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


class Presented:
    """A result: sentences, a data frame, strict JSON, and a table for notebooks and papers.

    A class states its sentences in `explain` and the columns of its table in `_columns`; its fields
    are its JSON object, unless it says otherwise.
    """

    __slots__ = ()

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The result in sentences, ready to print; see `Result`."""
        raise NotImplementedError(f"{type(self).__name__} has no sentences.")

    def _columns(self) -> dict[str, Any]:
        """Columns of the table by name, all of one length; here one row of the plain fields."""
        return {
            one.name: [getattr(self, one.name)]
            for one in fields(self)  # type: ignore[arg-type]
            if one.repr and isinstance(getattr(self, one.name), str | int | float | None)
        }

    def to_frame(self) -> Any:
        """The result as a data frame of pandas, with all digits."""
        return present("frame", self._columns())

    def to_dict(self) -> dict[str, Any]:
        """The result for strict JSON: no NaN, no infinity (those are null)."""
        held = {one.name: getattr(self, one.name) for one in fields(self) if one.repr}  # type: ignore[arg-type]
        ready: dict[str, Any] = json_ready(held)
        statistic = held.get("statistic")
        if statistic is not None and not np.isfinite(statistic).all():
            ready["degenerate"] = True
        return ready

    def to_markdown(self) -> str:
        """The table in Markdown, rounded for reading."""
        return str(present("markdown", self))

    def to_latex(self) -> str:
        """The table in LaTeX (package booktabs), rounded for reading."""
        return str(present("latex", self))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(present("html", self))


class Reported(Presented):
    """A result that a report can be written of."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """One row per learner, in the user's metric, as a data frame of pandas."""
        return present("own frame", self)

    def plot(self, kind: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw a figure of it with matplotlib, and return the Axes.

        Parameters
        ----------
        kind : str, optional
            Which figure, such as ``"graph"``, ``"losses"`` or ``"matrix"``; see `bestofk.figure`.
        ax : Axes, optional
            Where to draw; a figure of the right size is made when None.
        **options
            For that figure.
        """
        return present("figure", self, kind, ax=ax, **options)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        command: Sequence[str] = (),
    ) -> Path:
        """Write one self-contained HTML file, and return its path.

        Parameters
        ----------
        path : path
            The file; one of that name is replaced by the whole report or not at all.
        title : str, optional
            The heading; by default what was compared.
        command : sequence of str
            The words of the command line that gave the result, if there was one; passwords in
            it are hidden.
        """
        written: Path = present("report", self, path, title=title, command=command)
        return written
