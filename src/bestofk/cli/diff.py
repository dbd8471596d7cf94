"""``bestofk diff``: what changed between two results."""

from __future__ import annotations

import click

from bestofk.cli.options import echo_explanation, json_option, warnings_as_lines


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@json_option
def diff(before: str, after: str, as_json: bool) -> None:
    """Show what changed from A to B: recommendation, verdicts, means, settings and data.

    A and B are stores with one study each, studies of a store (study.db:1, study.db:2), or files
    that compare, scores or evals wrote with --json.

    \b
    Examples:
      bestofk diff study.db:1 study.db:2
      bestofk diff yesterday.json today.json --json
    """
    from bestofk.report.diff import diff as compare_results

    with warnings_as_lines():
        result = compare_results(before, after)
    echo_explanation(result, as_json=as_json)
