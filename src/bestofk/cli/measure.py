"""``bestofk measure``: what a test is worth."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import click

from bestofk.cli.lab_options import (
    echo_result,
    lab_options,
    own_rows,
    problem_of,
    running,
    simulation_options,
)
from bestofk.cli.options import Command, df_value, warnings_as_lines

_HELP = {"help_option_names": ["-h", "--help"]}
PAIR = ("naive-bayes", "c4.5")


@click.group(context_settings=_HELP)
def measure() -> None:
    """Measure what a test is worth: its Type I error, its power, its replicability.

    And what a decision is worth: how often it makes a false claim, and whom it recommends.

    \b
    Examples:
      bestofk measure claims --problem 'many-data-sets(means=(.3, .2, .2))' --sets 200
      bestofk measure claims --learner nn --problem 'blocks(learners=5)' --sets 50
      bestofk measure type1 --test use-all-data --df 10 --sets 100
      bestofk measure type1 --data iris --cv 5x2 --sets 50
      bestofk measure power --cv 5x2 --problem 'network(paper=3)' --sets 50
      bestofk measure replicability --test 5x2cv-t --cv 5x2 --sets 50
    """


def _test_options(command: Command) -> Command:
    options = (
        click.option("--test", default="auto", show_default=True, help="See: bestofk tests."),
        click.option("--procedure", metavar="NAME",
                     help="Measure a procedure that uses the test. See: bestofk procedures."),
        click.option("--correction", metavar="NAME", help="Of the procedure: holm, ..."),
        click.option("--df", metavar="N|calibrated|FILE", help="Degrees of freedom of the test."),
        click.option("--alpha", "alphas", type=float, multiple=True,
                     help="Level; repeat it.  [default: 0.01, 0.025, 0.05, 0.1]"),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@measure.command(context_settings=_HELP)
@click.option("--problem", metavar="SPEC",
              help="binary, network(paper=2), gaussian, ... with its settings.")  # fmt: skip
@_test_options
@lab_options
def type1(**given: Any) -> None:
    """How often the test says that equal learners differ.

    With --data the labels of your own rows are shuffled, so that nothing can be learnt from them.
    """
    from bestofk.lab.error_rates import type1_error

    with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
        rows = own_rows(given["data"], given["target"])
        problem = problem_of(given["problem"], rows, "binary")
        found = type1_error(problem=problem, **_asked(given), **running(given))
    echo_result(found, as_json=given["as_json"])


@measure.command(context_settings=_HELP)
@click.option("--problem", "problems", metavar="SPEC", multiple=True,
              help="Where learners differ: network(paper=2), gaussian, ... Repeat it.")  # fmt: skip
@click.option("--by", metavar="SIZES",
              help="With --data: how much worse one learner is made: 0.02,0.05.")  # fmt: skip
@_test_options
@lab_options
def power(**given: Any) -> None:
    """How often the test notices a difference that is there.

    With --data and --by, one learner meets itself made worse by so much on your own rows.
    """
    from bestofk.lab.power_rates import power as measure_power
    from bestofk.lab.problems.registry import problem

    asked = _asked(given)
    with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
        rows = own_rows(given["data"], given["target"])
        if (rows is None) != (given["by"] is None):
            raise click.UsageError("--data and --by go together: whose rows, and how much worse.")
        if rows is not None:
            problems: list[Any] = [
                problem("degraded", data=rows, by=size) for size in _sizes(given["by"])
            ]
            asked["learners"] = given["learners"] or ("naive-bayes",)
        else:
            texts = given["problems"] or [f"network(paper={paper})" for paper in (2, 3, 4)]
            problems = [problem(text) for text in texts]
        found = measure_power(problem=problems, **asked, **running(given))
    echo_result(found, as_json=given["as_json"])


@measure.command(context_settings=_HELP)
@click.option("--problem", metavar="SPEC", help="binary, network(paper=2), gaussian, ...")
@click.option("--repeats", type=int, default=10, show_default=True,
              help="Choices of random splits of every data set.")  # fmt: skip
@_test_options
@lab_options
def replicability(**given: Any) -> None:
    """Whether other random splits of the same data would give the same verdict."""
    from bestofk.lab.replications import replicability as measure_replicability

    with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
        rows = own_rows(given["data"], given["target"])
        problem = problem_of(given["problem"], rows, "binary")
        found = measure_replicability(
            problem=problem, repeats=given["repeats"], **_asked(given), **running(given)
        )
    echo_result(found, as_json=given["as_json"])


def _decision_options(command: Command) -> Command:
    options = (
        click.option("--prefer", metavar="NAMES",
                     help="Learners, most preferred first: a,b,c; or: listed."),
        click.option("--procedure", metavar="NAME", help="See: bestofk procedures."),
        click.option("--test", metavar="NAME", help="See: bestofk tests."),
        click.option("--family", metavar="NAME",
                     help="Pairs that are tested: all, preference, ..."),
        click.option("--correction", metavar="NAME", help="holm, bonferroni, ..."),
        click.option("--margin", type=float, help="A difference that does not matter."),
        click.option("--guard/--no-guard", default=None,
                     help="Of MultiTest: pass over what is worse than a learner struck out."),
        click.option("--df", metavar="N|calibrated|FILE", help="Degrees of freedom of the test."),
        click.option("--alpha", type=float, help="Error allowed."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@measure.command(context_settings=_HELP)
@click.option("--problem", metavar="SPEC",
              help="blocks, many-data-sets, right-or-wrong, ... with its settings.")  # fmt: skip
@_decision_options
@simulation_options
def claims(**given: Any) -> None:
    """How often a decision claims anything that is not true.

    A claim is that one learner is significantly better than another, anywhere in the result of
    `bestofk order`. It is false where the two are equal, or the other is better.

    \b
    Examples:
      bestofk measure claims --problem 'many-data-sets(means=(.3, .2, .2))' --sets 200
      bestofk measure claims --learner nn --problem 'blocks(learners=5)' --sets 50
    """
    from bestofk.lab.claims import false_claims

    _measure_decisions(false_claims, given, "many-data-sets")


@measure.command(context_settings=_HELP)
@click.option("--problem", metavar="SPEC",
              help="many-data-sets, right-or-wrong, ... with its settings.")  # fmt: skip
@click.option("--by", type=float, default=0.0, show_default=True,
              help="Too bad: worse than the truly best by more than this.")  # fmt: skip
@click.option("--within", type=float, default=0.0, show_default=True,
              help="Good enough: worse than the truly best by at most this.")  # fmt: skip
@_decision_options
@simulation_options
def chosen(**given: Any) -> None:
    """Whom a decision recommends: the truly worst, one that is too bad, the cheap good one.

    \b
    Examples:
      bestofk measure chosen --sets 200 --by 0.1
    """
    from bestofk.lab.claims import BLIND_SPOT, worst_chosen

    _measure_decisions(worst_chosen, given, BLIND_SPOT, by=given["by"], within=given["within"])


def _measure_decisions(function: Any, given: dict[str, Any], default: str, **more: Any) -> None:
    prefer = given["prefer"]
    options = {
        "prefer": prefer if prefer in (None, "listed") else [n.strip() for n in prefer.split(",")],
        "df": df_value(given["df"]),
        **{name: given[name] for name in
           ("procedure", "test", "family", "correction", "margin", "guard", "alpha")},
    }  # fmt: skip
    options = {name: value for name, value in options.items() if value is not None}
    with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
        rows = own_rows(given["data"], given["target"])
        problem = problem_of(given["problem"], rows, default)
        found = function(
            list(given["learners"]) or list(PAIR), problem, given["cv"],
            **options, **more, **running(given),
        )  # fmt: skip
    echo_result(found, as_json=given["as_json"])


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "test": given["test"],
        "learners": list(given["learners"]) or list(PAIR),
        "cv": given["cv"],
        "alternative": given["alternative"],
        "df": df_value(given["df"]),
        "procedure": given["procedure"],
        "correction": given["correction"],
    }
    if given["alphas"]:
        asked["alpha"] = list(given["alphas"])
    return asked


def _sizes(text: str) -> list[float]:
    try:
        return [float(size) for size in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--by must be numbers such as 0.02,0.05; got {text!r}.") from None
