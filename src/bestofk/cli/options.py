"""Options and output that several verbs share, and keywords of the library as options."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bestofk._base.errors import Advice, BestOfKError, BestOfKWarning, Expression
from bestofk.cli.app import VERBS, complain
from bestofk.cli.say import encodes_all_characters, say, say_name

if TYPE_CHECKING:
    from bestofk.losses import Losses

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

ROLES = ("algorithm", "dataset", "run", "fold", "repetition", "instance", "loss")


def option_group(*decorators: Decorator) -> Decorator:
    """Return one decorator for several options, which appear in this order."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def names_in(text: str | None) -> list[str]:
    """Return the names in ``a,b,c``."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _where(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Return the columns and values in ``COL=VALUE``."""
    values = {}
    for text in texts:
        column, equals, value = text.partition("=")
        if not equals or not column.strip():
            raise click.UsageError(f"--where must be COL=VALUE; got {text!r}.")
        values[column.strip()] = value.strip()
    return values


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
quiet_option = click.option("--quiet", is_flag=True, help="Print only the ranking, best first.")
report_option = click.option(
    "--report", "report_path", metavar="F.html", help="Write a report: one self-contained file."
)
jobs_option = click.option(
    "--jobs", "--n-jobs", "n_jobs", type=click.IntRange(max=1024), default=-1,
    show_default=True, help="Number of workers; -1 for one per core.",
)  # fmt: skip
scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="Address of a Dask scheduler."
)
df_option = click.option(
    "--df", metavar="N|calibrated|FILE", help="Degrees of freedom of the test."
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of random draws."
)
missing_option = click.option(
    "--missing", type=click.Choice(["refuse", "drop", "allow"]), default="refuse",
    show_default=True, help="Cells that some learner lacks: refuse, or drop them for all.",
)  # fmt: skip
column_options = option_group(
    click.option(
        "--higher-is-better/--lower-is-better", default=None,
        help="The numbers are scores or losses. By default the metric's name decides.",
    ),
    *(
        click.option(
            f"--{role}-column", metavar="COL",
            help=f"Column of the {role}; by default found by its name.",
        )
        for role in ROLES
    ),
    click.option("--metric", metavar="NAME", help="Which metric, if the table has several."),
    click.option(
        "--layout", type=click.Choice(["long", "wide", "cv-results"]),
        help="One row per loss, one column per learner, or one column per split.",
    ),
    click.option(
        "--format", "format_", metavar="NAME",
        help="Source of the table: cv-results, cross-validate, weka, automl-benchmark, openml, "
        "mlflow, optuna; autorank and scmamp if the rows of a wide table are data sets; or the "
        "file type: csv, tsv, xlsx, parquet, jsonl, json, arff. By default the content decides.",
    ),
    click.option(
        "--where", metavar="COL=VALUE", multiple=True, callback=_where,
        help="Use only rows with VALUE in COL; repeatable.",
    ),
)  # fmt: skip
"""How to read a table of losses."""
table_options = option_group(
    click.argument("losses", metavar="LOSSES"),
    column_options,
    click.option(
        "--design", metavar="DESIGN",
        help="How the numbers were measured: cv, 10x10, resample, test-set, scores, ...",
    ),
    click.option(
        "--learners", metavar="COLS",
        help="Columns of the learners, if the table has other columns: a,b.",
    ),
    missing_option,
)  # fmt: skip
"""A table of losses, how to read it, and what to do with missing cells."""
level_options = option_group(
    click.option(
        "--alpha", type=float, default=0.05, show_default=True, help="Chance of any false claim."
    ),
    df_option,
    seed_option,
    json_option,
)
"""Options of any test."""
decision_options = option_group(
    click.option(
        "--prefer", metavar="NAMES",
        help="Your preference, most preferred first: a,b,c; or listed. compare and report also "
        "take fit_time, predict_time and size, and compare takes complexity. Default: no "
        "preference.",
    ),
    click.option("--procedure", default="multitest", show_default=True, help="See: procedures."),
    click.option("--test", default="auto", show_default=True, help="See: tests."),
    click.option(
        "--correction", metavar="NAME",
        help="For many pairs: holm (default), shaffer, bergmann-hommel, bonferroni, ...",
    ),
    click.option(
        "--family", type=click.Choice(["all", "preference", "control"]), default=None,
        help="Test all pairs (default), only against the preference, or one learner against the "
        "others.",
    ),
    click.option("--control", metavar="NAME", help="That learner, with --family control."),
    click.option("--margin", type=float, metavar="D", help="A difference that does not matter."),
    click.option(
        "--rope", type=float, metavar="D",
        help="Region of practical equivalence: adds posterior probabilities.",
    ),
    click.option(
        "--guard/--no-guard", default=None,
        help="Pass over noisy candidates with a worse mean (default); --no-guard: as published.",
    ),
    level_options,
)  # fmt: skip
"""Options of a decision: preference, procedure, test and family."""


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `bestofk.read_losses` from `options`, and return those that are set."""
    reading = {role: options.pop(f"{role}_column", None) for role in ROLES}
    for name in ("metric", "layout", "design", "where", "higher_is_better"):
        reading[name] = options.pop(name, None)
    reading["format"] = options.pop("format_", None)
    reading["learners"] = names_in(options.pop("learners", None)) or None
    return {name: value for name, value in reading.items() if value not in (None, {})}


def decision_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `bestofk.order` among the values of `decision_options`."""
    names = (
        "procedure", "test", "correction", "family", "control", "margin", "rope", "guard", "alpha",
    )  # fmt: skip
    arguments = {name: options[name] for name in names}
    return {**arguments, "df": df_value(options["df"]), "random_state": options["seed"]}


def changed_options(options: dict[str, Any], prefer: str | None) -> dict[str, Any]:
    """Return the arguments of `bestofk.order` that were typed, to change a stored decision."""
    arguments = decision_arguments(options)
    arguments["prefer"] = None if prefer == "none" else preference(prefer)
    source = click.get_current_context().get_parameter_source
    option_names = {"random_state": "seed"}
    return {
        name: value
        for name, value in arguments.items()
        if source(option_names.get(name, name)) is not ParameterSource.DEFAULT
    }


def check_report_path(path: str | None, option: str = "--report") -> None:
    """Raise an error before the run if the report could not be written after it."""
    if path is None:
        return
    target = Path(path)
    if target.is_dir() or not target.name:
        raise click.UsageError(f"{option} must name a file such as report.html; got {path!r}.")
    if not target.parent.is_dir():
        raise click.UsageError(f"{option}: the folder {str(target.parent)!r} does not exist.")


def command_line() -> tuple[str, ...]:
    """Return the typed words."""
    return tuple(click.get_current_context().find_root().obj or ())


def preference(text: str | None, *, measured: bool = True) -> Any:
    """Return ``--prefer`` as a list of names, ``"listed"`` or a measured cost."""
    from bestofk.decide.preference import LISTED, MEASURED

    if text is None or text == LISTED or (measured and text in MEASURED):
        return text
    return names_in(text)


def df_value(df: str | None) -> float | str | None:
    """Return ``--df`` as a number, ``"calibrated"`` or a file of ``bestofk calibrate``."""
    if df is None or df == "calibrated" or df.endswith(".json"):
        return df
    try:
        return float(df)
    except ValueError:
        raise click.UsageError(
            f"--df must be a number, 'calibrated' or a file such as calibration.json; got {df!r}."
        ) from None


def read_table(path: str, reading: dict[str, Any], *, missing: str = "refuse") -> Losses:
    """Return the table of losses that the options describe."""
    from bestofk.losses import read_losses
    from bestofk.losses.reading import UnknownDirectionError

    try:
        return read_losses(path, missing="refuse" if missing == "refuse" else "allow", **reading)
    except UnknownDirectionError:
        typed = shlex.join(command_line())
        raise click.UsageError(
            f"{path}: cannot tell whether higher or lower is better: "
            f"'{typed} --higher-is-better' reads the numbers as scores, '{typed} "
            "--lower-is-better' as losses."
        ) from None


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings of bestofk as plain lines on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BestOfKWarning)
        yield
    for warning in caught:
        if isinstance(warning.message, BestOfKWarning):
            complain(f"note: {with_options(warning.message, command_line())}")
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def echo_decision(
    value: Any,
    show: Callable[[Any], None],
    *,
    ranking: Sequence[object],
    report_path: str | None,
    as_json: bool,
    quiet: bool,
    more: dict[str, Any] | None = None,
) -> None:
    """Write the report of a decision, and print it as JSON, as a ranking or by `show`.

    `more` holds further entries of the JSON object.
    """
    if report_path is not None:
        value.report(report_path, command=command_line())
    if as_json:
        report = {} if report_path is None else {"report": report_path}
        echo_json({**value.to_dict(), **(more or {}), **report})
    elif quiet:
        for name in ranking:
            say_name(name)
    else:
        show(value)
        if report_path is not None:
            say(f"The report is in {report_path}.")


def echo_explanation(result: Any, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """Print a result as JSON with the entries of `more`, or its explanation."""
    from bestofk.cli.terminal import print_sentences

    if as_json:
        echo_json({**result.to_dict(), **(more or {})})
    else:
        print_sentences(result.explain())


def echo_json(value: dict[str, Any]) -> None:
    """Print one strict JSON object on stdout."""
    ascii_only = not encodes_all_characters(sys.stdout)
    text = dumps(value, allow_nan=False, ensure_ascii=ascii_only, indent=2)
    say("\n".join(map(_escaped, text.split("\n"))))


def _escaped(line: str) -> str:
    """Return a line of JSON with escapes for unprintable characters."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else dumps(c)[1:-1] for c in line)


_NAMES = {
    "random_state": "seed", "n_jobs": "jobs", "resamples": "samples", "columns": "column",
    "stratified": "stratify", "number": "study",
}  # fmt: skip
"""Keywords whose option has another name."""


def with_options(message: BestOfKError | BestOfKWarning, words: Sequence[str]) -> str:
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
    if isinstance(value, Expression):
        return str(advice)
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
