"""Run the code cells of a page in this process, and keep what they print, return and draw.

A page has one namespace and one empty folder. ``$ bestofk ...`` runs as on a terminal of 72
columns; ``result.plot(...)`` is kept as a picture, so that a page can draw it light and dark.
"""

from __future__ import annotations

import ast
import io
import linecache
import os
import re
import shlex
import shutil
import sys
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from unittest import mock

Layout = Callable[[Any], Any]
"""A function of the paper that returns a picture."""

COLUMNS = 72
CELL = re.compile(
    r"^```\{code-cell\} (python|console)\n((?:^:[^\n]*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL
)
"""Language, options and content of every cell of a page."""
PROMPT = "$ "


class Terminal(io.StringIO):
    """Text that takes itself for a terminal."""

    def isatty(self) -> bool:
        """Yes: programs print as they do for a reader."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a cell gave: printed text, what the last line returned, and pictures."""

    text: str = ""
    value: Any = None
    pictures: tuple[tuple[Any, Layout | None], ...] = ()
    """Pictures of bestofk, with the layout for other widths, or figures of matplotlib."""
    code: int = 0
    """The exit code of a command."""


@dataclass(slots=True, weakref_slot=True)
class CellPage:
    """The namespace and the folder that the cells of one page share."""

    name: str
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    folder: str = field(default_factory=tempfile.mkdtemp)
    cells: int = 0

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def run(self, language: str, source: str, *, stderr: bool = True) -> Output:
        """Run one cell; an error in Python is raised, one of a command is in `code`."""
        self.cells += 1
        if source.startswith("!bestofk "):
            language, source = as_typed(source)
        with _inside(self.folder):
            if language == "console":
                return run_command(typed(source))
            return self._run_python(source, stderr)

    def _run_python(self, source: str, stderr: bool) -> Output:
        import matplotlib as mpl
        from matplotlib import pyplot

        mpl.use("Agg")
        place = f"<{self.name}, cell {self.cells}>"
        linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
        body = ast.parse(source, place)
        last = body.body[-1] if body.body else None
        shown = isinstance(last, ast.Expr) and not source.rstrip().endswith(";")
        out, value = io.StringIO(), None
        with (
            redirect_stdout(out),
            redirect_stderr(out if stderr else io.StringIO()),
            warnings.catch_warnings(),
            _kept_pictures() as pictures,
        ):
            warnings.simplefilter("default")
            if shown and isinstance(last, ast.Expr):
                exec(compile(ast.Module(body.body[:-1], []), place, "exec"), self.namespace)
                code = compile(ast.Expression(last.value), place, "eval")
                value = eval(code, self.namespace)
            else:
                exec(compile(body, place, "exec"), self.namespace)
        drawn = list(pictures)
        if not drawn:
            drawn = [(pyplot.figure(number), None) for number in pyplot.get_fignums()]
        pyplot.close("all")
        if drawn:
            value = None  # axes say nothing
        return Output(text=out.getvalue(), value=value, pictures=tuple(drawn))


def as_typed(source: str) -> tuple[str, str]:
    """A cell in the way of notebooks, ``!bestofk ...``, as one of a console."""
    return "console", PROMPT + source.removeprefix("!").removesuffix(" 2>/dev/null")


def typed(source: str) -> list[str]:
    """The words of a command as a page shows it, with its prompt and its continued lines."""
    return shlex.split(source.strip().removeprefix(PROMPT).replace("\\\n", " "))


def run_command(words: list[str]) -> Output:
    """Run ``bestofk ...`` as it would on a terminal; keep stderr only if the command fails."""
    from bestofk.cli import main

    if words[0] != "bestofk":
        raise ValueError(f"a console cell runs bestofk; got {words[0]!r}")
    out, err = Terminal(), io.StringIO()
    setting = {"COLUMNS": str(COLUMNS), "LINES": "50", "TERM": "xterm-256color"}
    with mock.patch.dict(os.environ, setting), redirect_stdout(out), redirect_stderr(err):
        os.environ.pop("NO_COLOR", None)
        code = main(words[1:])
    return Output(text=out.getvalue() + (err.getvalue() if code else ""), code=code)


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    before, path = os.getcwd(), list(sys.path)  # noqa: PTH109
    os.chdir(folder)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path


@contextmanager
def _kept_pictures() -> Iterator[list[tuple[Any, Layout | None]]]:
    """Collect the pictures that are drawn in figures of their own while this is open."""
    output = import_module("bestofk.report.figures.output")
    own_axes: Callable[[Any], Any] = output._own_axes
    draw: Callable[..., Any] = output.draw
    layouts: list[tuple[Any, Layout | None]] = []
    pictures: list[tuple[Any, Layout | None]] = []

    def recorded(value: Any, kind: Any = None, *, width: Any = None, **options: Any) -> Any:
        def layout(paper: Any) -> Any:
            inches = None if paper.width is None else paper.width / 72
            return draw(value, kind, width=inches, **options)

        picture = draw(value, kind, width=width, **options)
        layouts.append((picture, layout if width is None else None))
        return picture

    def kept_axes(picture: Any) -> Any:
        pictures.append(next(one for one in layouts if one[0] is picture))
        return own_axes(picture)

    with (
        mock.patch.object(output, "_own_axes", kept_axes),
        mock.patch.object(output, "draw", recorded),
    ):
        yield pictures
