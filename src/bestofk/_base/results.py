"""Base classes of results: sentences, data frames, JSON; tables, figures and reports.

Every result has `explain`, `to_frame` and `to_dict`, and `pvalue` if there is one.

Results may not import `bestofk.report`, which is a higher layer. `present` imports the functions of
`PRESENTERS` by name when something is shown. These are the only upward references.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from math import isfinite
from typing import Any

import numpy as np

from bestofk._base.checks import probability
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import without_controls
from bestofk._base.registry import resolve

PRESENTERS = {
    "report": "bestofk.report.write_report:write_report",
    "figure": "bestofk.report.figures.output:plot",
    "screen": "bestofk.report.screen:screen",
    "refit": "bestofk.run.deploy:refit",
    "frame": "bestofk.data.tables.table:data_frame",
}
"""The function of each form, as ``package.module:name``."""

DEFAULT_ALPHA = 0.05
"""The significance level of sentences about results that were not decided at a level."""


def present(form: str, value: Any, *arguments: Any, **options: Any) -> Any:
    """Return `value` in one of the forms of `PRESENTERS`."""
    return resolve(PRESENTERS[form])(value, *arguments, **options)


def open_level(alpha: float | None) -> float:
    """Return the level of a sentence about a result that was not decided at a level."""
    return DEFAULT_ALPHA if alpha is None else probability(alpha, "alpha")


def decided_level(alpha: float | None, decided: float) -> float:
    """Return the level at which a result was decided, and refuse another one.

    Examples
    --------
    >>> decided_level(None, 0.1), decided_level(0.1, 0.1)
    (0.1, 0.1)
    """
    if alpha is not None and abs(probability(alpha, "alpha") - decided) > 1e-12:
        raise ArgumentError(
            f"alpha must be None or {decided:g}, the level at which this was decided; got "
            f"{alpha:g}: compute the result at that level."
        )
    return decided


def renamed(names: Sequence[str] | None, learners: Iterable[Any]) -> dict[Any, Any]:
    """Return the names of the learners in `explain`.

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


def listed(value: Any, names: str) -> list[str]:
    """Return what `dir` shows of a value: these names, and those that start with an underscore."""
    return [name for name in object.__dir__(value) if name[0] == "_" or name in names.split()]


def json_ready(value: Any) -> Any:
    """Return a value for strict JSON, with lists for arrays and null for non-finite numbers.

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
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, Presented):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: json_ready(getattr(value, each.name)) for each in fields(value) if each.repr
        }
    names: tuple[str, ...] | None = getattr(value, "_fields", None)
    if names is not None:
        return {name: json_ready(item) for name, item in zip(names, value, strict=True)}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_ready(item) for item in value]
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


def row_dicts(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one object for strict JSON per row of the columns.

    Examples
    --------
    >>> row_dicts({"a": [1, 2], "b": np.array([0.5, np.nan])})
    [{'a': 1, 'b': 0.5}, {'a': 2, 'b': None}]
    """
    ready = {name: json_ready(list(values)) for name, values in columns.items()}
    return [dict(zip(ready, row, strict=True)) for row in zip(*ready.values(), strict=True)]


def ready_to_print(explain: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return the method `explain` without control characters, which names may contain."""

    @wraps(explain)
    def explain_plainly(self: Any, *arguments: Any, **options: Any) -> str:
        return without_controls(explain(self, *arguments, **options))

    return explain_plainly


class Presented:
    """A result with sentences, a data frame and strict JSON.

    A subclass defines its sentences in `explain` and the columns of its table in `_columns`. By
    default its fields are its JSON object.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # dataclasses with slots are created twice
        explain = cls.__dict__.get("explain")
        if explain is not None and not hasattr(explain, "__wrapped__"):
            cls.explain = ready_to_print(explain)  # type: ignore[assignment]

    def explain(self) -> str:
        """Return the result in sentences, ready to print."""
        raise NotImplementedError(f"{type(self).__name__} has no sentences.")

    def _columns(self) -> dict[str, Any]:
        """Return the columns of the table by name; by default one row of the plain fields."""
        return {
            each.name: [getattr(self, each.name)]
            for each in fields(self)  # type: ignore[arg-type]
            if each.repr and isinstance(getattr(self, each.name), str | int | float | None)
        }

    def _screen(self) -> tuple[str, Mapping[str, Any], str]:
        """Return what a terminal shows: sentences, columns of tables by title, sentences."""
        return self.explain(), {}, ""

    def to_frame(self) -> Any:
        """Return the result as a pandas data frame, with all digits."""
        return present("frame", self._columns())

    def to_dict(self) -> dict[str, Any]:
        """Return the result for strict JSON, with null for NaN and infinity."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}  # type: ignore[arg-type]
        ready: dict[str, Any] = json_ready(values)
        statistic = values.get("statistic")
        if statistic is not None and not np.isfinite(statistic).all():
            ready["degenerate"] = True
        return ready


class Drawn(Presented):
    """A result that can be drawn."""

    __slots__ = ()

    def plot(
        self,
        kind: str | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        width: float | None = None,
        note: bool = True,
        ax: Any = None,
    ) -> Any:
        """Draw a figure.

        Parameters
        ----------
        kind : str, optional
            The kind of figure, such as ``"forest"``, ``"losses"`` or ``"matrix"``; by default the
            first that fits. The gallery of figures shows all kinds.
        path : path, optional
            A file that ends in ``.svg``, ``.png`` or ``.pdf``. SVG does not need matplotlib.
        width : float, optional
            In inches, such as 3.3 for a column of a paper and 7 for its page. The layout adapts to
            the width, so the font size stays the same. By default, the natural width.
        note : bool
            Whether to write below the figure how to read it.
        ax : Axes, optional
            The Axes to draw on; by default a new figure of the right size.

        Returns
        -------
        Axes or Path
            The path if there is one.
        """
        return present("figure", self, kind, path, width=width, note=note, ax=ax)
