"""``bestofk evals``: choose a language model from evaluation logs."""

from __future__ import annotations

from typing import Any

import click

from bestofk._base.files import check_source
from bestofk.cli.options import (
    by_option,
    decision_options,
    direction_option,
    option_group,
    output_options,
    pairs_option,
    preference,
    print_options,
    warnings_as_lines,
)
from bestofk.cli.outputs import echo_explanation, planned_outputs
from bestofk.cli.say import say
from bestofk.cli.set_values import SETTINGS, SettingsCommand, taken

READ_EVALS = "bestofk:read_evals"
COMPARE_EVALS = "bestofk:compare_evals"

log_options = option_group(
    click.option(
        "--metric", multiple=True, metavar="NAME",
        help="The score to compare by; of several, the first decides. The headline names every "
        "metric of the logs, named or not, in which the recommended model is worse.",
    ),
    click.option(
        "--task", multiple=True, metavar="NAME", help="Use only this task. Repeatable."
    ),
    click.option(
        "--cluster", metavar="KEY",
        help="Key of the document or of the metadata, or column, that groups related items.",
    ),
    pairs_option(
        "--column", metavar="ROLE=NAME",
        help="For a table: the column of model, task, item, cluster, epoch, score, cost, latency "
        "or status. Dots lead into objects: score=scores.Factuality.",
    ),
    click.option(
        "--formats", metavar="FILE",
        help="A TOML file with formats of other tools. By default the content of the logs decides "
        "which known format they have.",
    ),
    direction_option,
)  # fmt: skip
"""How to read evaluation logs."""


@click.command(cls=SettingsCommand, places=(READ_EVALS, COMPARE_EVALS, SETTINGS))
@click.argument("paths", metavar="[LOGS...]", nargs=-1)
@log_options
@click.option(
    "--require", multiple=True, metavar="METRIC[:MARGIN]",
    help="Recommend only a model that is shown to be at most MARGIN worse than the best in METRIC, "
    "or without MARGIN may be the best in it. Repeatable.",
)  # fmt: skip
@pairs_option(
    "--model", metavar="NAME=FILE",
    help="The file or folder of one model; or NAME=MODEL to rename a model. Repeatable.",
)  # fmt: skip
@click.option(
    "--prices", metavar="FILE",
    help="Table with the columns model, input, output (per million tokens), or model, cost (per "
    "sample).",
)  # fmt: skip
@click.option(
    "--noise", is_flag=True, help="State only how much the scores of a model vary between its runs."
)
@by_option
@decision_options("cost, tokens, latency or p95_latency; or models, most preferred first: a,b,c.")
@output_options
@print_options
def evals(
    paths: tuple[str, ...],
    by: str | None,
    require: tuple[str, ...],
    noise: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Say which model of the logs to use, and how much worse than the best it can be.

    LOGS are logs of Inspect, lm-evaluation-harness, promptfoo, HELM or one of 30 other tools,
    folders of logs, or tables with one row per model, item and epoch; or the name of embedded logs
    (inspect-sums). Without a column of models a file is one model, or has one column per model.

    With --prefer cost, bestofk recommends the cheapest model that may be the best; tokens and
    latency work alike. With --margin 0.01 it also recommends a cheaper model that is shown to be
    at most 0.01 worse than the best. With --cluster, each cluster of items counts once.

    \b
    Examples:
      bestofk evals inspect-sums --metric match
      bestofk evals inspect-sums --metric match --prefer tokens
      bestofk evals inspect-sums --metric match --prefer tokens --margin 0.1
      bestofk evals inspect-sums --metric match --set pass_at=2
      bestofk evals inspect-sums --metric match --cluster passage --json
    """
    outputs = planned_outputs(options)
    if not paths and not options["models"]:
        raise click.UsageError(
            "Name the logs: bestofk evals LOGS, or bestofk evals --model NAME=FILE for each model."
        )
    for path in paths:
        check_source(path, "file or folder", "bestofk.evals.reading:EXAMPLE_EVALS")
    from bestofk.evals import read_evals
    from bestofk.evals.choosing import choose_by_slice, compare_evals
    from bestofk.evals.evals import is_measure

    with warnings_as_lines():
        logs, truth = known_paths(paths), options.pop("truth", None)
        reading = taken(options, READ_EVALS)
        if noise:
            echo_explanation(read_evals(logs, **reading).noise(), as_json=outputs.as_json)
            return
        prefer = options["prefer"]
        options["prefer"] = prefer if is_measure(prefer) else preference(prefer, measured=False)
        arguments = taken(options, COMPARE_EVALS, SETTINGS)
        choice = compare_evals(
            logs, require=_requirements(require), truth=truth, **reading, **arguments
        )
        if verbose:
            say(" ".join(choice.outcome.evals.notes), err=True)
        if by is not None:
            by_key = reading if by == "task" else reading | {"cluster": by}
            choice = choose_by_slice(choice, read_evals(logs, **by_key), by, arguments)
    outputs.show(choice)


def known_paths(paths: tuple[str, ...]) -> list[Any]:
    """Return the paths, with those of embedded logs for their names."""
    from pathlib import Path

    from bestofk.evals.reading import EXAMPLE_EVALS, example_path

    return [
        example_path(path) if path in EXAMPLE_EVALS and not Path(path).exists() else path
        for path in paths
    ]


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
