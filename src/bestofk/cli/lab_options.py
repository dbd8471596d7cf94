"""Options that the verbs of the lab share."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.options import Command, jobs_option


def lab_options(command: Command) -> Command:
    """What is simulated, and how; and the side of the test."""
    sided = click.option(
        "--alternative",
        default="two-sided",
        show_default=True,
        help="two-sided, greater or less.",
    )
    return simulation_options(sided(command))


def simulation_options(command: Command) -> Command:
    """What is simulated, and how."""
    options = (
        click.option("--learner", "learners", metavar="SPEC", multiple=True,
                     help="As for compare. Repeat it.  [default: naive-bayes and c4.5]"),
        click.option("--data", metavar="FILE",
                     help="Your own rows: a file, or the name of an embedded data set."),
        click.option("--target", metavar="COL", help="Column of --data to predict."),
        click.option("--cv", default="10x10", show_default=True,
                     help="See: bestofk plans."),
        click.option("--sets", type=int, default=1000, show_default=True, help="Data sets."),
        click.option("--scoring", help="zero-one by default."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
                     help="Fixes data sets and splits."),
        jobs_option,
        click.option("--engine", default="auto", show_default=True,
                     help="auto, serial, processes or dask."),
        click.option("--scheduler", metavar="ADDRESS", help="Address of a Dask scheduler."),
        click.option("--store", metavar="URL",
                     help="Keep finished data sets in a file or database; resume from it."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--quiet", is_flag=True, help="No progress."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def own_rows(data: str | None, target: str | None) -> Any:
    """The data set of ``--data``; None without."""
    if data is None:
        if target is not None:
            raise click.UsageError("--target applies to --data; name the file.")
        return None
    from bestofk.run.inputs import dataset_of

    return dataset_of(data, target=target)


def problem_of(text: str | None, rows: Any, default: str, **settings: Any) -> Any:
    """The problem of ``--problem`` and ``--data``."""
    from bestofk.lab.problems.registry import problem

    if rows is None:
        return problem(text or default)
    return problem(text or "shuffled", data=rows, **settings)


def running(given: dict[str, Any]) -> dict[str, Any]:
    """What `simulate` takes of the options."""
    return {
        "sets": given["sets"],
        "scoring": given["scoring"],
        "random_state": given["seed"],
        "n_jobs": given["n_jobs"],
        "engine": given["engine"],
        "scheduler": given["scheduler"],
        "store": given["store"],
        "progress": not given["quiet"],
    }


def echo_result(result: Any, *, as_json: bool) -> None:
    """The sentences of a result, or its JSON."""
    from bestofk.cli.options import echo_json

    if as_json:
        echo_json(result.to_dict())
    else:
        from bestofk.cli.terminal import print_sentences

        print_sentences(result.explain())
