"""``bestofk papers estimate``: the error rate of one learner, by several methods."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.options import json_option, seed_option, warnings_as_lines
from bestofk.cli.outputs import echo_explanation
from bestofk.cli.set_values import SettingsCommand, names_in

ESTIMATE = "bestofk.papers.error_estimates:estimate"


@click.command("estimate", cls=SettingsCommand, places=(ESTIMATE,))
@click.argument("data", metavar="DATA")
@click.option("--learner", required=True, metavar="SPEC", help="As for compare.")
@click.option("--target", metavar="COL", help="Column to predict.")
@click.option("--methods", metavar="NAMES", help="Only these, such as cross-validation,.632+.")
@seed_option
@json_option
def estimate_command(data: str, as_json: bool, methods: str | None, **options: Any) -> None:
    """Estimate the error rate of one learner on DATA.

    Methods: resubstitution, holdout, cross-validation, leave-one-out, bootstrap, .632 and .632+;
    only when named, repeated-cross-validation, the mean of all folds of ten cross-validations, and
    full-bootstrap, which tests all rows and is optimistic.
    The hold-out has the intervals of Wilson, Clopper-Pearson and Langford, and the normal one if
    its rules of thumb hold. Intervals of the other methods would cover too rarely.

    \b
    Examples:
      bestofk papers estimate iris --learner nn
      bestofk papers estimate breast-cancer --learner c4.5 --methods cross-validation,.632+
      bestofk papers estimate iris --learner nn --methods repeated-cross-validation
    """
    from bestofk.papers.error_estimates import estimate

    options = {name: value for name, value in options.items() if value is not None}
    if methods is not None:
        options["methods"] = names_in(methods)
    with warnings_as_lines():
        result = estimate(options.pop("learner"), data, options.pop("target", None), **options)
    echo_explanation(result, as_json=as_json)
