"""How a result is shown, without importing the room that shows it.

Results lie below `bestofk.report` and may not import it. They ask here by name, and the room is
imported when something is shown; no result needs a template or a figure to exist.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bestofk.registry import resolve

PRESENTERS = {
    "report": "bestofk.report.write_report:write_report",
    "figure": "bestofk.report.figures.registry:figure",
    "frame": "bestofk.report.presented:frame_of",
    "markdown": "bestofk.report.presented:markdown_of",
    "latex": "bestofk.report.presented:latex_of",
    "html": "bestofk.report.presented:html_of",
}
"""Form: the function that gives it, as ``package.module:name``."""


def present(form: str, value: Any, *arguments: Any, **options: Any) -> Any:
    """`value` in one of the forms of `PRESENTERS`."""
    return resolve(PRESENTERS[form])(value, *arguments, **options)


class Presented:
    """A result that is a table: for notebooks, papers and data frames."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """The table as a data frame of pandas, with all digits."""
        return present("frame", self)

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
