"""``bestofk estimate``: the error rate of one learner, by several methods."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.app import SectionedCommand
from bestofk.cli.options import echo_json, json_option, names_in, seed_option, warnings_as_lines
from bestofk.cli.say import say


@click.command(cls=SectionedCommand)
@click.argument("data", metavar="DATA")
@click.option("--learner", required=True, metavar="SPEC", help="As for compare.")
@click.option("--target", metavar="COL", help="Column to predict.")
@click.option("--methods", metavar="NAMES", help="Only these, such as cross-validation,.632+.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level.")
@click.option("--folds", type=click.IntRange(min=2), default=10, show_default=True,
              help="Folds of the cross-validation.")  # fmt: skip
@click.option("--test-share", type=click.FloatRange(0.01, 0.99), default=1 / 3,
              help="Share of the rows that the hold-out tests; a third by default.")  # fmt: skip
@click.option("--samples", type=click.IntRange(min=2), default=50, show_default=True,
              help="Bootstrap samples.")  # fmt: skip
@click.option("--population", type=click.IntRange(min=1), metavar="N",
              help="Rows of a finite population, for the correction.")  # fmt: skip
@seed_option
@json_option
def estimate(data: str, as_json: bool, methods: str | None, **options: Any) -> None:
    """Estimate the error rate of one learner on DATA.

    Methods: resubstitution, holdout, cross-validation, leave-one-out, bootstrap, .632 and .632+;
    only when named, repeated-cross-validation, the mean of all folds of ten cross-validations, and
    full-bootstrap, which tests all rows and is optimistic.
    The hold-out has the intervals of Wilson, Clopper-Pearson and Langford, and the normal one if
    its rules of thumb hold. Intervals of the other methods would cover too rarely.

    \b
    Examples:
      bestofk estimate iris --learner nn
      bestofk estimate breast-cancer --learner c4.5 --methods cross-validation,.632+
      bestofk estimate iris --learner nn --methods repeated-cross-validation
    """
    from bestofk.cli.terminal import print_sentences
    from bestofk.papers.error_estimates import estimate as run_estimate

    if methods is not None:
        options["methods"] = names_in(methods)
    with warnings_as_lines():
        result = run_estimate(options.pop("learner"), data, options.pop("target"), **options)
    if as_json:
        echo_json(result.to_dict())
    else:
        say(result.to_text())
        print_sentences(result.explain())
