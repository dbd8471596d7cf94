"""Options that several verbs share, and keywords of the library in their words."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bestofk._base.errors import Advice, BestOfKError, BestOfKWarning
from bestofk.cli.app import VERBS, complain
from bestofk.cli.say import holds_everything, say

if TYPE_CHECKING:
    from bestofk.losses import Losses

Command = Callable[..., Any]

ROLES = ("algorithm", "dataset", "run", "fold", "repetition", "instance", "loss")


def table_options(command: Command) -> Command:
    """A table of losses, how to read it, and what to do with its gaps."""
    for option in reversed(
        (
            click.option(
                "--design", metavar="DESIGN",
                help="How the numbers were produced: cv, 10x10, resample, test-set, scores, ...",
            ),
            click.option(
                "--learners", metavar="COLS",
                help="The columns that are learners, where others are none: a,b.",
            ),
            missing_option,
        )
    ):  # fmt: skip
        command = option(command)
    return click.argument("losses", metavar="LOSSES")(column_options(command))


missing_option = click.option(
    "--missing", type=click.Choice(["refuse", "drop", "allow"]), default="refuse",
    show_default=True,
    help="Cells that some learner lacks: refuse, or drop them for all.",
)  # fmt: skip


def column_options(command: Command) -> Command:
    """How to read a table of losses."""
    for option in reversed(
        (
            click.option("--metric", metavar="NAME", help="Which, where the table holds several."),
            click.option(
                "--layout", type=click.Choice(["long", "wide", "cv-results"]),
                help="One row per loss, one column per learner, or one column per split.",
            ),
            click.option(
                "--format", "format_", metavar="NAME",
                help="What wrote the table: cv-results, cross-validate, weka, automl-benchmark, "
                "openml, mlflow, optuna; autorank and scmamp say that the rows of a wide table "
                "are data sets; or the kind of file: csv, tsv, xlsx, parquet, jsonl, json, arff. "
                "Found by the content by default.",
            ),
            click.option(
                "--where", metavar="COL=VALUE", multiple=True, callback=_pairs,
                help="Only the rows that hold VALUE in COL. Repeat it.",
            ),
        )
    ):  # fmt: skip
        command = option(command)
    for role in reversed(ROLES):
        command = click.option(
            f"--{role}-column",
            metavar="COL",
            help=f"Column that holds the {role}; guessed from the names by default.",
        )(command)
    return click.option(
        "--higher-is-better/--lower-is-better",
        default=None,
        help="The numbers are scores, or losses. Taken from the metric's name where that tells.",
    )(command)


def _pairs(*called: Any) -> dict[str, str]:
    """``COL=VALUE`` as a pair."""
    found = {}
    for text in called[-1]:
        column, equals, value = text.partition("=")
        if not equals or not column.strip():
            raise click.UsageError(f"--where must be COL=VALUE; got {text!r}.")
        found[column.strip()] = value.strip()
    return found


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """What `bestofk.read_losses` takes among the values of the options, taken out."""
    found = {role: options.pop(f"{role}_column", None) for role in ROLES}
    for name in ("metric", "layout", "design", "where", "higher_is_better"):
        found[name] = options.pop(name, None)
    found["format"] = options.pop("format_", None)
    learners = options.pop("learners", None)
    if isinstance(learners, str):
        found["learners"] = [name.strip() for name in learners.split(",") if name.strip()]
    return {name: value for name, value in found.items() if value not in (None, {})}


def decision_options(command: Command) -> Command:
    """What a decision needs: the preference, the procedure, the test and the family."""
    command = level_options(command)
    for option in reversed(
        (
            click.option(
                "--prefer",
                metavar="NAMES",
                help="What you prefer, the most preferred first: a,b,c; or listed. compare and "
                "report also take fit_time, predict_time and size, compare takes complexity. "
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
                type=click.Choice(["all", "preference", "control"]),
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
        found["prefer"] = None if prefer == "none" else preference(prefer)
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
    from bestofk.decide.preference import LISTED, MEASURED

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


def read_table(path: str, reading: dict[str, Any], *, missing: str = "refuse") -> Losses:
    """The table of losses that the options describe."""
    from bestofk.losses import read_losses
    from bestofk.losses.reading import UnknownDirectionError

    try:
        return read_losses(path, missing="refuse" if missing == "refuse" else "allow", **reading)
    except UnknownDirectionError:
        typed = shlex.join(command_line())
        raise click.UsageError(
            f"{path}: nothing tells whether higher or lower numbers are better: "
            f"'{typed} --higher-is-better' takes them as scores, '{typed} --lower-is-better' as "
            "losses."
        ) from None


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings of bestofk as plain lines on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BestOfKWarning)
        yield
    for warning in caught:
        if isinstance(warning.message, BestOfKWarning):
            complain(f"note: {in_options(warning.message, command_line())}")
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


_NAMES = {
    "random_state": "seed", "n_jobs": "jobs", "resamples": "samples", "columns": "column",
    "stratified": "stratify",
}  # fmt: skip
"""Keywords whose option has another name."""


def in_options(message: BestOfKError | BestOfKWarning, words: Sequence[str]) -> str:
    """Return a message with its advice as options of the verb among the typed words."""
    verb = next((word for word in words[1:] if word in VERBS), "")
    return message.text(lambda advice: typed(advice, verb))


def typed(advice: Advice, verb: str) -> str:
    """Return advice as an option of a verb; in Python's form if the verb has no such option.

    Examples
    --------
    >>> from bestofk._base.errors import use
    >>> typed(use(metric="roc auc"), "order"), typed(use(higher_is_better=False), "order")
    ("--metric 'roc auc'", '--lower-is-better')
    >>> typed(use(where={"constraint": "1h"}), "order"), typed(use(metric="auc"), "compare")
    ('--where constraint=1h', "metric='auc'")
    """
    option = _option(verb, advice.keyword)
    value = advice.value
    if option is None or value is None or option.is_flag != isinstance(value, bool):
        return str(advice)
    if option.is_flag:
        return (option.opts if value else option.secondary_opts or [str(advice)])[0]
    name = option.opts[0]
    if value is Ellipsis:
        return f"{name} ..."
    if isinstance(value, dict):
        return " ".join(f"{name} {shlex.quote(f'{key}={one}')}" for key, one in value.items())
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{name} {shlex.quote(text)}"


def _option(verb: str, keyword: str) -> click.Option | None:
    """Return the option of a verb for a keyword of the library."""
    from bestofk.cli.app import bestofk

    command = bestofk.get_command(click.Context(bestofk), verb)
    name = _NAMES.get(keyword, keyword).replace("_", "-")
    options = {
        text: parameter
        for one in (command, *getattr(command, "commands", {}).values())
        for parameter in getattr(one, "params", ())
        if isinstance(parameter, click.Option)
        for text in parameter.opts
    }
    return options.get(f"--{name}") or options.get(f"--{name}-column")
