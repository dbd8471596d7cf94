"""Options and output that several verbs share, and keywords of the library as options."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from json import dumps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bestofk._base.errors import Advice, BestOfKError, BestOfKWarning, TableError
from bestofk._base.missing_files import check_source
from bestofk.cli.app import complain
from bestofk.cli.config import expanded_words
from bestofk.cli.outputs import Outputs
from bestofk.cli.registry import COMMANDS
from bestofk.cli.say import encodes_all_characters, say, say_name

if TYPE_CHECKING:
    from bestofk.decide.slices import Slices
    from bestofk.losses import Scores

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


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


def pairs_in(_: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Return the names and values in ``NAME=VALUE``."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"{option.opts[0]} must be {option.metavar}; got {text!r}.")
        values[name.strip()] = value.strip()
    return values


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print only the ranking, best first."
)
by_option = click.option(
    "--by", metavar="COL",
    help="Also decide in every slice: rows with the same value of COL.",
)  # fmt: skip
"""Verdicts by slice."""
verbosity_options = option_group(
    click.option("--explain", is_flag=True, help="Print the whole explanation."),
    click.option(
        "--pairs", is_flag=True, help="Also print every pair: difference, p-values, the better one."
    ),
    click.option("--ranks", is_flag=True, help="Also print the ranks that the pairs allow."),
    quiet_option,
    click.option(
        "-v", "--verbose", is_flag=True, help="Also print on stderr what is read and what is done."
    ),
)  # fmt: skip
"""How much to print."""
jobs_option = click.option(
    "--n-jobs", type=click.IntRange(max=1024), default=-1, metavar="N",
    show_default=True, help="Number of workers; -1 for one per core.",
)  # fmt: skip
scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="Address of a Dask scheduler."
)
df_option = click.option(
    "--df", metavar="N|calibrated|FILE", help="Degrees of freedom of the test."
)
seed_option = click.option(
    "--random-state",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of random draws.",
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
    click.option(
        "--column", "columns", metavar="ROLE=COL", multiple=True, callback=pairs_in,
        help="Column of the learner, dataset, run, fold, repetition, instance, score, metric or "
        "time, if its name does not say so: learner=who; repeatable.",
    ),
    click.option("--metric", metavar="NAME", help="Which metric, if the table has several."),
    click.option(
        "--layout", type=click.Choice(["long", "wide", "learners-in-rows"]),
        help="One row per loss, one column per learner, or one row per learner and one column per "
        "data set or fold.",
    ),
    click.option(
        "--format", "format_", metavar="NAME",
        help="Source of the table: cv-results, cross-validate, skore, autogluon, tabarena, "
        "automl-benchmark, weka, openml, mlflow, optuna; autorank if the rows of a wide table are "
        "data sets; or the file type: csv, tsv, xlsx, parquet, jsonl, json, arff. By default the "
        "content decides.",
    ),
    click.option(
        "--where", metavar="COL=VALUE", multiple=True, callback=pairs_in,
        help="Use only rows with VALUE in COL; repeatable.",
    ),
)  # fmt: skip
"""How to read a table of losses."""
table_options = option_group(
    click.argument("losses", metavar="LOSSES"),
    column_options,
    click.option(
        "--design", metavar="DESIGN",
        help="How the numbers were measured: kfold:10, 10x10, resample:30:0.2, time, seeds, "
        "test-set, scores, ...",
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
        "--alpha",
        type=float,
        default=0.05,
        show_default=True,
        help="Accepted chance of any false claim.",
    ),
    df_option,
    seed_option,
    json_option,
)
"""Options of any test."""
_settings_options = option_group(
    click.option(
        "--procedure", metavar="NAME", default="best", show_default=True,
        help="See: bestofk list procedures.",
    ),
    click.option(
        "--test", metavar="NAME", default="auto", show_default=True,
        help="See: bestofk list tests.",
    ),
    click.option(
        "--correction", metavar="NAME",
        help="For --pairs: bonferroni (default), holm, shaffer, bergmann-hommel, ...",
    ),
    click.option(
        "--family", type=click.Choice(["all", "preference", "control"]), default=None,
        help="MultiTest with all pairs, only against the preference, or one learner against the "
        "others.",
    ),
    click.option("--control", metavar="NAME", help="That learner, with --family control."),
    click.option(
        "--margin", type=float, metavar="D",
        help="A difference that does not matter: recommend a preferred learner that is at most "
        "this much worse than the best.",
    ),
    click.option(
        "--rope", type=float, metavar="D",
        help="Region of practical equivalence: adds posterior probabilities.",
    ),
    level_options,
)  # fmt: skip
"""Options of a decision without the preference: procedure, test and family."""


def decision_options(prefer: str) -> Decorator:
    """Return the options of a decision; `prefer` is the help of the preference."""
    return option_group(click.option("--prefer", metavar="NAMES", help=prefer), _settings_options)


PREFER_NAMES = "Names, most preferred first: a,b,c; or listed."
PREFER_COSTS = "Names, most preferred first: a,b,c; or listed, fit_time, predict_time, size."


interval_option = click.option(
    "--interval", metavar="RULE",
    help="Turn repetitions into intervals of losses: central, interquartile, shortest:0.1, "
    "median-radius:0.1, 0.2:0.8 (quantiles); mean, median, mode, censored-mean (typical numbers).",
)  # fmt: skip
"""How repetitions become intervals of losses."""


as_published_option = click.option(
    "--as-published", is_flag=True,
    help="MultiTest as its paper has it: one-sided 5x2cv t tests, Bonferroni, simpler learners "
    "first.",
)  # fmt: skip
"""One switch for the settings of Yildiz and Alpaydin 2006."""


def published_settings(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with the settings of the MultiTest paper; refuse others."""
    from bestofk.decide.multitest_order import AS_PUBLISHED

    for name in AS_PUBLISHED:
        if is_typed(name):
            raise click.UsageError(f"--as-published sets --{name}; leave one of the two out.")
    return {**arguments, **AS_PUBLISHED}


def is_typed(name: str) -> bool:
    """Return whether an option of the current command was set."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not ParameterSource.DEFAULT


def refuse_options(subject: str, names: Collection[str]) -> None:
    """Raise an error if one of these options, which do not apply to the subject, was set."""
    for parameter in click.get_current_context().command.params:
        if parameter.name in names and is_typed(parameter.name):
            raise click.UsageError(f"{parameter.opts[0]} does not apply to {subject}.")


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `bestofk.read_scores` from `options`, and return those that are set."""
    names = ("columns", "metric", "layout", "design", "where", "higher_is_better")
    reading = {name: options.pop(name, None) for name in names}
    reading["format"] = options.pop("format_", None)
    reading["learners"] = names_in(options.pop("learners", None)) or None
    return {name: value for name, value in reading.items() if value not in (None, {})}


def decision_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `bestofk.compare_scores` among the values of `decision_options`."""
    names = ("procedure", "test", "correction", "family", "control", "margin", "rope", "alpha")
    arguments = {name: options[name] for name in names}
    return {**arguments, "df": df_value(options["df"]), "random_state": options["random_state"]}


def changed_options(options: dict[str, Any], prefer: str | None) -> dict[str, Any]:
    """Return the arguments of `compare_scores` that were typed, to change a stored decision."""
    arguments = decision_arguments(options)
    arguments["prefer"] = None if prefer == "none" else preference(prefer)
    return {name: value for name, value in arguments.items() if is_typed(name)}


def check_store(store: str) -> None:
    """Raise an error if there is no such file; servers are not asked."""
    from bestofk._base.missing_files import no_such_file
    from bestofk.run.store.url import parse_address

    path = parse_address(store).path
    if path is not None and not path.exists():
        raise TableError(no_such_file(path, "store"))


def progress_of(*, quiet: bool, verbose: bool) -> bool | str:
    """Return the progress display of -q and -v."""
    return "log" if verbose else not quiet


def command_line() -> tuple[str, ...]:
    """Return the typed words, with options from a configuration file as if they were typed."""
    context = click.get_current_context()
    words = list(context.find_root().obj or ())
    if added := expanded_words(context):
        at = next((k for k, word in enumerate(words) if word.startswith("--config")), len(words))
        end = at + (1 if words[at].startswith("--config=") else 2)
        words[at:end] = added
    return tuple(words)


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


def read_table(path: str, reading: dict[str, Any]) -> Scores:
    """Return the table of losses that the options describe; it may have gaps."""
    check_source(path, "file or embedded table", "bestofk.losses.reading:EXAMPLES")
    from bestofk.losses import read_scores

    return read_scores(path, missing="allow", **reading)


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
    show: Callable[..., None],
    *,
    ranking: Sequence[object],
    outputs: Outputs,
    as_json: bool,
    explain: bool,
    quiet: bool,
    pairs: bool = False,
    ranks: bool = False,
    more: dict[str, Any] | None = None,
    slices: Slices | None = None,
) -> None:
    """Write the files of a decision, and print it as JSON, as a ranking or by `show`.

    If a file cannot be written, the decision is printed before the error. `more` holds further
    entries of the JSON object, and `slices` the verdicts by slice.
    """
    failure: Exception | None = None
    written: dict[str, Any] = {}
    try:
        written = outputs.write(value, command_line(), slices)
    except (BestOfKError, OSError) as error:
        failure = error
    if as_json:
        by_slice = {} if slices is None else {"slices": slices.to_dict()}
        # intervals and battles have no pairs to list
        listed = {"pairs": True} if pairs or ranks else {}
        echo_json({**value.to_dict(**listed), **(more or {}), **by_slice, **written})
    elif quiet:
        for name in ranking:
            say_name(name)
    else:
        show(value, explain=explain, pairs=pairs, ranks=ranks)
        if slices is not None:
            from bestofk.cli.terminal import print_sentences

            print_sentences(slices.explain())
        for line in _written_lines(written):
            say(line)
    if failure is not None:
        raise failure


def _written_lines(written: dict[str, Any]) -> list[str]:
    """Return a sentence about each file."""
    lines = [f"The report is in {written['report']}."] if "report" in written else []
    lines += [f"The figure is in {path}." for path in written.get("figures", ())]
    return [*lines, f"The table is in {written['csv']}."] if "csv" in written else lines


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
    "resamples": "samples", "columns": "column", "stratified": "stratify", "number": "study",
    "models": "learners",
}  # fmt: skip
"""Keywords whose option has another name."""


def with_options(message: BestOfKError | BestOfKWarning, words: Sequence[str]) -> str:
    """Return a message with its advice as options of the verb among the typed words."""
    verb = verb_of(words)
    return message.text(lambda advice: typed(advice, verb))


def verb_of(words: Sequence[str]) -> str:
    """Return the verb among the typed words; empty if there is none."""
    return next((word for word in words[1:] if word in COMMANDS), "")


def typed(advice: Advice, verb: str) -> str:
    """Return advice as an option of a verb; in Python's form if the verb has no such option.

    Examples
    --------
    >>> from bestofk._base.errors import use
    >>> typed(use(metric="roc auc"), "scores"), typed(use(higher_is_better=False), "scores")
    ("--metric 'roc auc'", '--lower-is-better')
    >>> typed(use(where={"constraint": "1h"}), "scores"), typed(use(metric="auc"), "compare")
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
    names = [_NAMES.get(keyword, keyword), keyword, keyword.removesuffix("s")]
    options = {
        text: parameter
        for one in (command, *getattr(command, "commands", {}).values())
        for parameter in getattr(one, "params", ())
        if isinstance(parameter, click.Option)
        for text in parameter.opts
    }
    texts = [f"--{name.replace('_', '-')}" for name in names]
    return next((options[text] for text in texts if text in options), None)
