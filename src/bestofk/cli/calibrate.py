"""``bestofk calibrate``: the df with which a test keeps its level, on your own problem."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import click

from bestofk.cli.lab_options import echo_result, lab_options, own_rows, problem_of, running
from bestofk.cli.options import warnings_as_lines
from bestofk.cli.say import say


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--test", default="use-all-data", show_default=True, help="See: bestofk tests.")
@click.option("--problem", metavar="SPEC", help="Where learners are equal: binary, ...")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level to keep.")
@click.option("--out", metavar="FILE", help="Write the calibration, for: order --df FILE.")
@lab_options
def calibrate(**given: Any) -> None:
    """Find the degrees of freedom with which a test keeps its level.

    With --data, the labels of your own rows are shuffled many times: nothing can then be learnt,
    the learners are equal, and whatever the test finds is an error.

    \b
    Examples:
      bestofk calibrate --sets 100
      bestofk calibrate --data iris --learner nmc --learner nn --sets 50 --out iris.json
      bestofk calibrate --test 5x2cv-t --cv 5x2 --sets 100 --json
    """
    from bestofk.lab.calibration import calibrate as find

    with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
        rows = own_rows(given["data"], given["target"])
        found = find(
            given["test"],
            list(given["learners"]) or ["naive-bayes", "c4.5"],
            problem_of(given["problem"], rows, "binary"),
            given["cv"],
            alpha=given["alpha"],
            alternative=given["alternative"],
            **running(given),
        )
    echo_result(found, as_json=given["as_json"])
    if given["out"] is not None:
        out = given["out"] if given["out"].endswith(".json") else f"{given['out']}.json"
        found.save(out)
        if not given["as_json"]:
            say(f"Written to {out}: bestofk order LOSSES --test {found.test} --df {out}.")
