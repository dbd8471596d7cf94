"""``bestofk evals``: choose a language model from evaluation logs."""

from __future__ import annotations

from typing import Any

import click

from bestofk._base.missing_files import check_source
from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import RepeatedArgument, config_option
from bestofk.cli.options import (
    by_option,
    decision_arguments,
    decision_options,
    echo_decision,
    echo_explanation,
    option_group,
    preference,
    verbosity_options,
    warnings_as_lines,
)
from bestofk.cli.outputs import file_options, planned_outputs
from bestofk.cli.say import say

log_reading_options = option_group(
    click.option(
        "--metric", multiple=True, metavar="NAME",
        help="The score to compare by. If repeated, the first decides, and the headline names "
        "those in which the recommended model is worse.",
    ),
    click.option(
        "--task", multiple=True, metavar="NAME", help="Use only this task; repeatable."
    ),
    click.option(
        "--cluster", metavar="KEY",
        help="Key of the document or of the metadata, or column, that groups related items.",
    ),
    click.option(
        "--formats", metavar="FILE",
        help="A TOML file with formats of other tools. By default the content of the logs decides "
        "which known format they have.",
    ),
    click.option(
        "--column", "columns", multiple=True, metavar="ROLE=NAME",
        help="For a table: the column of model, task, item, cluster, epoch, score, cost, latency "
        "or status. Dots lead into objects: score=scores.Factuality.",
    ),
    click.option(
        "--higher-is-better/--lower-is-better", default=None,
        help="Direction of the scores. By default as the log says.",
    ),
)  # fmt: skip
"""How to read evaluation logs; `log_arguments` returns their values."""
_log_options = option_group(
    log_reading_options,
    click.option(
        "--model", "models", multiple=True, metavar="NAME=FILE",
        help="The file or folder of one model; or NAME=MODEL to rename a model. Repeatable.",
    ),
    click.option(
        "--only", multiple=True, metavar="NAME",
        help="Use only this model or task; * stands for any characters. Repeatable.",
    ),
    click.option(
        "--exclude", multiple=True, metavar="NAME",
        help="Leave out this model or task, or column of a wide table. Repeatable.",
    ),
    click.option(
        "--prices", metavar="FILE",
        help="Table with the columns model, input, output (per million tokens), or model, cost "
        "(per sample).",
    ),
    click.option(
        "--truth", metavar="NAME",
        help="Human labels of some items, if the scores are a judge's: another metric or column, "
        "or a table.",
    ),
    click.option(
        "--count-errors-as-wrong", is_flag=True,
        help="Give failed samples the worst score. By default they are left out.",
    ),
    click.option(
        "--macro/--micro", default=False,
        help="Every task counts the same, or (default) every item does.",
    ),
    click.option(
        "--pass-at", type=click.IntRange(min=1), metavar="K",
        help="Compare by pass@k: one of K answers is right.",
    ),
    click.option(
        "--pass-all", type=click.IntRange(min=1), metavar="K",
        help="Compare by pass^k: all of K answers are right.",
    ),
    click.option(
        "--require", multiple=True, metavar="METRIC[:MARGIN]",
        help="Recommend only a model that is shown to be at most MARGIN worse than the best in "
        "METRIC, or without MARGIN may be the best in it. Repeatable.",
    ),
    click.option(
        "--noise", is_flag=True,
        help="State only how much the scores of each model vary between its runs (epochs).",
    ),
)  # fmt: skip


COMMON = (
    "metric", "require", "task", "models", "only", "exclude", "cluster", "prices", "truth", "noise",
    "count_errors_as_wrong", "prefer", "margin", "alpha", "pass_at", "report_path", "figures",
    "csv", "as_json", "explain", "pairs", "quiet",
)  # fmt: skip
"""Options that most people need."""


@click.command(cls=SectionedCommand, common=COMMON)
@click.argument("paths", cls=RepeatedArgument, metavar="[PATH...]", nargs=-1)
@_log_options
@by_option
@file_options
@decision_options("cost, tokens, latency or p95_latency; or models, most preferred first: a,b,c.")
@verbosity_options
@config_option
def evals(
    paths: tuple[str, ...],
    metric: tuple[str, ...],
    task: tuple[str, ...],
    cluster: str | None,
    prices: str | None,
    truth: str | None,
    formats: str | None,
    columns: tuple[str, ...],
    higher_is_better: bool | None,
    models: tuple[str, ...],
    only: tuple[str, ...],
    exclude: tuple[str, ...],
    count_errors_as_wrong: bool,
    macro: bool,
    pass_at: int | None,
    pass_all: int | None,
    require: tuple[str, ...],
    noise: bool,
    prefer: str | None,
    as_json: bool,
    by: str | None,
    pairs: bool,
    explain: bool,
    ranks: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Say which model of the logs to use, and how much worse than the best it can be.

    PATH is a log of Inspect, lm-evaluation-harness, promptfoo, HELM or one of 30 other tools, a
    folder of logs, or a table with one row per model, item and epoch; or the name of embedded logs
    (inspect-sums). Without a column of models a file is one model, or has one column per model.

    With --prefer cost, bestofk recommends the cheapest model that may be the best. The costs come
    from the logs or from --prices; tokens and latency work alike. With a margin of 0.01 it also
    recommends a cheaper model that is shown to be at most 0.01 worse than the best. With --cluster,
    each cluster of items counts once, and cluster-t and cluster-sign-flip are tests to choose
    from.

    \b
    Examples:
      bestofk evals inspect-sums --metric match
      bestofk evals inspect-sums --metric match --prefer tokens
      bestofk evals inspect-sums --metric match --prefer tokens --margin 0.1
      bestofk evals inspect-sums --metric match --pass-at 2
      bestofk evals inspect-sums --metric match --cluster passage --json
    """
    outputs = planned_outputs(options)
    stated = _pairs(models, "--model", "NAME=FILE", "new=new.csv")
    if not paths and not stated:
        raise click.UsageError(
            "Name the logs: bestofk evals PATH, or bestofk evals --model NAME=FILE for each model."
        )
    for path in paths:
        check_source(path, "file or folder", "bestofk.evals.reading:EXAMPLE_EVALS")
    from bestofk.evals import read_evals
    from bestofk.evals.choosing import choose_by_slice, compare_evals
    from bestofk.evals.evals import is_measure

    with warnings_as_lines():
        reading = {
            "prices": prices, "models": stated, "only": only or None, "exclude": exclude or None,
            **log_arguments(
                metric=metric, task=task, cluster=cluster, formats=formats,
                columns=columns, higher_is_better=higher_is_better,
            ),
        }  # fmt: skip
        logs = known_paths(paths)
        if noise:
            echo_explanation(read_evals(logs, **reading).noise(), as_json=as_json)
            return
        arguments: dict[str, Any] = {
            "prefer": prefer if is_measure(prefer) else preference(prefer, measured=False),
            "count_errors_as_wrong": count_errors_as_wrong, "macro": macro, "pass_at": pass_at,
            "pass_all": pass_all, **decision_arguments(options),
        }  # fmt: skip
        choice = compare_evals(
            logs, require=_requirements(require), truth=truth, **reading, **arguments
        )
        if verbose:
            say(" ".join(choice.evals.account), err=True)
        slices = None
        if by is not None:
            by_key = reading if by == "task" else reading | {"cluster": by}
            slices = choose_by_slice(choice, read_evals(logs, **by_key), by, arguments)
    from bestofk.cli.terminal import print_result

    echo_decision(
        choice,
        print_result,
        ranking=choice.decision.ranking,
        outputs=outputs,
        as_json=as_json,
        pairs=pairs,
        explain=explain,
        ranks=ranks,
        quiet=quiet,
        more={"evals": choice.evals.to_dict(), "account": [*choice.account, *choice.left_out]}
        if as_json
        else None,
        slices=slices,
    )


def known_paths(paths: tuple[str, ...]) -> list[Any]:
    """Return the paths, with those of embedded logs for their names."""
    from pathlib import Path

    from bestofk.evals.reading import EXAMPLE_EVALS, example_path

    return [
        example_path(path) if path in EXAMPLE_EVALS and not Path(path).exists() else path
        for path in paths
    ]


def log_arguments(
    *, metric: tuple[str, ...], task: tuple[str, ...], cluster: str | None,
    formats: str | None, columns: tuple[str, ...],
    higher_is_better: bool | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the arguments of `bestofk.read_evals` that were typed."""
    arguments = {
        "metric": metric, "task": task, "cluster": cluster, "formats": formats,
        "columns": _pairs(columns, "--column", "ROLE=NAME", "item=id"),
        "higher_is_better": higher_is_better,
    }  # fmt: skip
    return {name: value for name, value in arguments.items() if value not in (None, (), {})}


def _pairs(texts: tuple[str, ...], option: str, form: str, example: str) -> dict[str, str]:
    """Return the values of a repeated option by name."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name.strip() or not value:
            raise click.UsageError(f"{option} must be {form}, such as {example}; got {text!r}.")
        if pairs.setdefault(name.strip(), value) != value:
            raise click.UsageError(f"{option} states {name.strip()!r} twice.")
    return pairs


def _requirements(texts: tuple[str, ...]) -> dict[str, float | None]:
    """Return the required metrics with their margins."""
    required: dict[str, float | None] = {}
    for text in texts:
        name, colon, margin = text.rpartition(":")
        try:
            required[name if colon else text] = float(margin) if colon else None
        except ValueError:
            # a metric may contain a colon
            required[text] = None
    return required
