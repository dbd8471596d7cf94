"""``bestofk papers measure`` and ``calibrate``: error rates and power of tests by simulation."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.options import (
    json_option,
    option_group,
    preference,
    seed_option,
    store_option,
    warnings_as_lines,
)
from bestofk.cli.outputs import check_path, echo_explanation
from bestofk.cli.say import printed_on_stderr, say
from bestofk.cli.set_values import SETTINGS, SettingsCommand, taken

DEFAULT_PAIR = ("naive-bayes", "c4.5")
SIMULATE = "bestofk.papers.lab.simulation:simulate"
OF_TEST = {"df": "float | str | None", "alternative": "str"}
"""Further settings of a test, by name."""

simulation_options = option_group(
    click.option("--learner", "learners", metavar="SPEC", multiple=True,
                 help="As for compare; repeatable.  [default: naive-bayes and c4.5]"),
    click.option("--cv", default="10x10", show_default=True, help="See: bestofk list plans."),
    click.option("--sets", type=int, help="Number of data sets.  [default: 1000]"),
    seed_option,
    store_option,
    json_option,
    click.option("-q", "--quiet", is_flag=True, help="Show no progress."),
)  # fmt: skip
data_options = option_group(
    click.option("--data", metavar="FILE",
                 help="Your own rows: a file, or the name of an embedded data set."),
    click.option("--target", metavar="COL", help="Column of --data to predict."),
)  # fmt: skip
test_options = option_group(
    click.option("--test", help="See: bestofk list tests."),
    click.option("--alpha", type=float, multiple=True,
                 help="Level; repeatable.  [default: 0.01, 0.025, 0.05, 0.1]"),
)  # fmt: skip


def _measured(
    function: str, options: dict[str, Any], default: str, own: str = "shuffled", **settings: Any
) -> Any:
    """Measure on the problem of ``--problem`` and ``--data``, and print the result.

    `own` is the default problem with data.
    """
    from bestofk.papers import lab

    arguments = {**settings, **_arguments(options)}
    with warnings_as_lines(), printed_on_stderr():
        rows = _rows(options)
        if rows is None:
            problem = lab.problem(options["problem"] or default)
        else:
            problem = lab.problem(options["problem"] or own, data=rows)
        result = getattr(lab, function)(problem=problem, **arguments)
    echo_explanation(result, as_json=options["as_json"])
    return result


def _rows(options: dict[str, Any]) -> Any:
    """Return the data set of ``--data``; None without it."""
    from bestofk.data.reading import read_data

    if options.get("data") is not None:
        return read_data(options["data"], options["target"])
    if options.get("target") is not None:
        raise click.UsageError("--target applies to --data; name the file.")
    return None


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a simulation and of a test."""
    of_test = {name: options.pop(name, None) for name in ("test", "alpha", *OF_TEST)}
    return {
        "learners": list(options["learners"] or DEFAULT_PAIR),
        "cv": options["cv"],
        "progress": not options["quiet"],
        **taken(options, SIMULATE),
        **{name: value for name, value in of_test.items() if value not in (None, ())},
    }


@click.group("measure")
def measure_command() -> None:
    """Measure the Type I error, power and replicability of a test.

    Measure also how often a decision makes a false claim, and which learner it recommends.

    \b
    Examples:
      bestofk papers measure claims --problem 'many-data-sets(means=(.3, .2, .2))' --sets 200
      bestofk papers measure claims --learner nn --problem 'blocks(learners=5)' --sets 50
      bestofk papers measure type1 --test use-all-data --set df=10 --sets 100
      bestofk papers measure type1 --data iris --cv 5x2 --sets 50
      bestofk papers measure power --cv 5x2 --problem 'network(paper=3)' --sets 50
      bestofk papers measure replicability --test 5x2cv-t --cv 5x2 --sets 50
      bestofk papers measure replicability --data iris --learner nmc --learner nn
    """


@measure_command.command(cls=SettingsCommand, places=(SIMULATE,), more=OF_TEST)
@click.option("--problem", metavar="SPEC",
              help="binary, network(paper=2), ... with its settings.")  # fmt: skip
@test_options
@data_options
@simulation_options
def type1(**options: Any) -> None:
    """Measure how often the test says that equal learners differ.

    With --data, the labels of your own rows are shuffled, so that all learners are equal.
    """
    _measured("type1_error", options, "binary")


@measure_command.command(cls=SettingsCommand, places=(SIMULATE,), more=OF_TEST)
@click.option("--problem", "problems", metavar="SPEC", multiple=True,
              help="Where learners differ: network(paper=2), ... Repeatable.")  # fmt: skip
@test_options
@simulation_options
def power(**options: Any) -> None:
    """Measure how often the test detects a true difference."""
    from bestofk.papers.lab import power as measure_power, problem

    arguments = _arguments(options)
    with warnings_as_lines(), printed_on_stderr():
        texts = options["problems"] or [f"network(paper={paper})" for paper in (2, 3, 4)]
        result = measure_power(problem=[problem(text) for text in texts], **arguments)
    echo_explanation(result, as_json=options["as_json"])


@measure_command.command(cls=SettingsCommand, places=(SIMULATE,), more=OF_TEST)
@click.option("--problem", metavar="SPEC", help="binary, network(paper=2), ...")
@click.option("--repeats", type=int, default=10, show_default=True,
              help="Number of random splits of every data set.")  # fmt: skip
@test_options
@data_options
@simulation_options
def replicability(**options: Any) -> None:
    """Measure whether other random splits of the same data give the same verdict.

    With --data, the data set is your own, with its own labels.
    """
    _measured("replicability", options, "binary", own="given")


@measure_command.command(cls=SettingsCommand, places=(SIMULATE, SETTINGS))
@click.option("--problem", metavar="SPEC",
              help="blocks, many-data-sets, right-or-wrong, ... with its settings.")  # fmt: skip
@click.option("--prefer", metavar="NAMES", help="Learners, most preferred first: a,b,c; or listed.")
@click.option("--alpha", type=float, help="Accepted chance of any false claim.")
@simulation_options
def claims(**options: Any) -> None:
    """Measure how often a decision makes a false claim.

    A claim says that one learner is significantly better than another, anywhere in the result of
    `bestofk scores`. It is false if the two are equal, or the other is better.

    \b
    Examples:
      bestofk papers measure claims --problem 'many-data-sets(means=(.3, .2, .2))' --sets 200
      bestofk papers measure claims --learner nn --problem 'blocks(learners=5)' --sets 50
    """
    options["prefer"] = preference(options["prefer"], measured=False)
    seed = options.pop("random_state")
    settings = taken(options, SETTINGS)
    options["random_state"] = seed
    _measured("false_claims", options, "many-data-sets", **settings)


@click.command("calibrate", cls=SettingsCommand, places=(SIMULATE,), more={"alternative": "str"})
@click.option("--test", help="See: bestofk list tests.  [default: use-all-data]")
@click.option("--problem", metavar="SPEC", help="Problem where learners are equal: binary, ...")
@click.option("--alpha", type=float, help="Level to keep.  [default: 0.05]")
@click.option("--out", metavar="F.json", help="Write the calibration, for --set df=F.json.")
@data_options
@simulation_options
def calibrate_command(**options: Any) -> None:
    """Find the degrees of freedom with which a test keeps its level.

    With --data, the labels of your own rows are shuffled many times. The learners are then equal,
    so every significant difference is an error.

    \b
    Examples:
      bestofk papers calibrate --sets 100
      bestofk papers calibrate --data iris --learner nmc --learner nn --sets 50 --out iris.json
      bestofk papers calibrate --test 5x2cv-t --cv 5x2 --sets 100 --json
    """
    out = options["out"]
    check_path(out, "--out", (".json",))
    calibration = _measured("calibrate", options, "binary")
    if out is not None:
        calibration.save(out)
        if not options["as_json"]:
            say(
                f"Written to {out}: bestofk scores TABLE --set test={calibration.test} "
                f"--set df={out}."
            )
