"""Options that several verbs share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bestofk.cli.app import complain
from bestofk.cli.say import holds_everything, say
from bestofk.errors import BestOfKWarning

if TYPE_CHECKING:
    from bestofk.losses import Losses

Command = Callable[..., Any]

ROLES = ("algorithm", "dataset", "run", "fold", "repetition", "instance", "loss")


def table_options(command: Command) -> Command:
    """A table of losses, and how to read it."""
    return click.argument("losses", metavar="LOSSES")(column_options(command))


def column_options(command: Command) -> Command:
    """How to read a table of losses."""
    for role in reversed(ROLES):
        command = click.option(
            f"--{role}-column",
            metavar="COL",
            help=f"Column that holds the {role}; guessed from the names by default.",
        )(command)
    return click.option(
        "--higher-is-better/--lower-is-better",
        default=None,
        help="The numbers are scores, not losses. Taken from the column's name by default.",
    )(command)


def decision_options(command: Command) -> Command:
    """What a decision needs: the preference, the procedure, the test and the family."""
    command = level_options(command)
    for option in reversed(
        (
            click.option(
                "--prefer",
                "--prior",
                "prefer",
                metavar="NAMES",
                help="What you prefer, the most preferred first: a,b,c; or listed. "
                "compare and report also take fit_time, predict_time, size; compare takes "
                "complexity. "
                "Default: no preference.",
            ),
            click.option(
                "--procedure", default="multitest", show_default=True, help="See: procedures."
            ),
            click.option("--test", default="auto", show_default=True, help="See: tests."),
            click.option(
                "--correction",
                metavar="NAME",
                help="For many pairs: holm (default), shaffer, bergmann-hommel, bonferroni, ...",
            ),
            click.option(
                "--family",
                type=click.Choice(["all", "prior", "control"]),
                default=None,
                help="Test all pairs (default), against the preference only, or one learner "
                "against the others.",
            ),
            click.option("--control", metavar="NAME", help="That learner, with --family control."),
            click.option(
                "--margin", type=float, metavar="D", help="A difference that does not matter."
            ),
            click.option(
                "--rope", type=float, metavar="D",
                help="Region of practical equivalence: adds posterior probabilities.",
            ),
            click.option(
                "--guard/--no-guard",
                default=None,
                help="Pass over noisy candidates with a worse mean (default); --no-guard: as "
                "published.",
            ),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def level_options(command: Command) -> Command:
    """What any test needs."""
    for option in reversed(
        (
            click.option(
                "--alpha", type=float, default=0.05, show_default=True,
                help="Chance of any false claim.",
            ),
            click.option(
                "--df", metavar="N|calibrated|FILE", help="Degrees of freedom of the test."
            ),
            click.option(
                "--seed", type=click.IntRange(min=0), default=0, show_default=True,
                help="For random draws.",
            ),
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def decision_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `bestofk.order` among the values of `decision_options`, taken out."""
    found = {
        name: options.pop(name)
        for name in (
            "procedure", "test", "correction", "family", "control", "margin", "rope", "guard",
            "alpha",
        )
    }  # fmt: skip
    return {**found, "df": df_value(options.pop("df")), "random_state": options.pop("seed")}


def changed_options(options: dict[str, Any], prefer: str | None) -> dict[str, Any]:
    """Those arguments of `bestofk.order` that were typed, to change a stored decision by."""
    context = click.get_current_context()
    typed = {
        name
        for name in ("prefer", *options)
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    names = {"seed": "random_state"}
    typed = {names.get(name, name) for name in typed}
    found = {name: value for name, value in decision_arguments(options).items() if name in typed}
    if "prefer" in typed:
        found["prior"] = None if prefer == "none" else preference(prefer)
    return found


jobs_option = click.option(
    "--jobs", "--n-jobs", "n_jobs", type=click.IntRange(max=1024), default=-1,
    show_default=True,
    help="Workers; -1: one per core.",
)  # fmt: skip


report_option = click.option(
    "--report", "report_path", metavar="F.html", help="Write a report: one self-contained file."
)


def check_report_path(path: str | None, option: str = "--report") -> None:
    """Refuse, before anything is run, a file that could not be written afterwards."""
    from pathlib import Path

    if path is None:
        return
    target = Path(path)
    if target.is_dir() or not target.name:
        raise click.UsageError(f"{option} must name a file such as report.html; got {path!r}.")
    if not target.parent.is_dir():
        raise click.UsageError(f"{option}: there is no folder {str(target.parent)!r}.")


def command_line() -> tuple[str, ...]:
    """The words that were typed."""
    words = click.get_current_context().find_root().obj
    return tuple(words) if words else ()


def preference(text: str | None, *, measured: bool = True) -> Any:
    """``--prefer`` as a list of names, as listed, or as what was measured."""
    from bestofk.ordering.preference import LISTED, MEASURED

    if text is None or text == LISTED or (measured and text in MEASURED):
        return text
    return [name.strip() for name in text.split(",") if name.strip()]


def df_value(df: str | None) -> float | str | None:
    """``--df`` as a number, the word *calibrated*, or a file of ``bestofk calibrate``."""
    if df is None or df == "calibrated" or df.endswith(".json"):
        return df
    try:
        return float(df)
    except ValueError:
        raise click.UsageError(
            f"--df must be a number, 'calibrated' or a file such as calibration.json; got {df!r}."
        ) from None


def read_table(path: str, columns: dict[str, str | None], higher_is_better: bool | None) -> Losses:
    """The table of losses that the options describe."""
    from bestofk.losses import read_losses

    given = {role: columns[f"{role}_column"] for role in ROLES}
    roles: dict[str, Any] = {role: column for role, column in given.items() if column}
    return read_losses(path, higher_is_better=higher_is_better, **roles)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings of bestofk as plain lines on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BestOfKWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, BestOfKWarning):
            complain(f"note: {warning.message}")
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def echo_json(value: dict[str, Any]) -> None:
    """One strict JSON object on stdout."""
    import sys

    everything = holds_everything(sys.stdout)
    text = dumps(value, allow_nan=False, ensure_ascii=not everything, indent=2)
    say("\n".join(map(_escaped, text.split("\n"))))


def _escaped(line: str) -> str:
    """A line of JSON in which characters that print nothing are written as escapes."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else dumps(c)[1:-1] for c in line)
