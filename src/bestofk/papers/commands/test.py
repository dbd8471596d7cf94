"""``bestofk papers test``: one test on a table of losses."""

from __future__ import annotations

from typing import Any

import click

from bestofk._base.files import check_source
from bestofk.cli.options import alpha_option, json_option, seed_option, warnings_as_lines
from bestofk.cli.outputs import echo_explanation
from bestofk.cli.scores import table_options
from bestofk.cli.set_values import READ_SCORES, SettingsCommand, taken

RUN_TEST = "bestofk.papers.one_test:run_test"


@click.command(
    "test", cls=SettingsCommand, places=(READ_SCORES, RUN_TEST), more={"interval": "str"}
)
@table_options
@click.option("--test", required=True, metavar="NAME", help="See: bestofk list tests.")
@click.option("--pair", nargs=2, metavar="A B", help="Only these two learners (pairwise tests).")
@alpha_option
@seed_option
@json_option
def test_command(
    table: str, test: str, pair: tuple[str, str] | None, as_json: bool, **options: Any
) -> None:
    """Run one test on TABLE: a pairwise test on all pairs, or a test of all learners at once.

    A table with the columns low and high holds intervals of losses, and --set interval=central
    makes them from repetitions. The tests paired-t, kfold-t, wilcoxon, sign, permutation and
    bootstrap-b then give intervals of p-values.

    \b
    Examples:
      bestofk papers test breast-cancer-10x10 --test corrected-repeated-kfold-t
      bestofk papers test breast-cancer-10x10 --test use-all-data --set df=10 --pair 1-nn dummy
      bestofk papers test digits-5x2 --test newman-keuls
    """
    from bestofk.losses import read_scores
    from bestofk.losses.reading import kind_of, open_source
    from bestofk.papers.decide.interval_table import interval_table, run_interval_test
    from bestofk.papers.one_test import run_test
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS

    check_source(table, "file or embedded table", "bestofk.losses.reading:EXAMPLES")
    interval, missing = options.pop("interval", None), options.pop("missing", "refuse")
    settings = {"pair": pair, **taken(options, RUN_TEST)}
    reading = taken(options, READ_SCORES)
    with warnings_as_lines():
        losses: Any = table
        source = open_source(table, reading.get("format"))
        has_intervals = kind_of(source, reading) == "intervals"
        if not has_intervals:
            losses = read_scores(source, missing="allow", **reading)
            # a missing loss is an interval: the whole range
            gaps = missing == "allow" and not losses.complete
            takes_gaps = test in MULTIPLE_TESTS and MULTIPLE_TESTS[test].takes("missing")
            has_intervals = interval is not None or (gaps and takes_gaps)
        if has_intervals:
            settings.pop("random_state", None)
            direction = reading.get("higher_is_better")
            intervals = interval_table(
                losses, interval, higher_is_better=direction, missing=missing
            )
            echo_explanation(run_interval_test(intervals, test, **settings),
                             as_json=as_json)  # fmt: skip
            return
        result = run_test(losses, test, missing=missing, **settings)
    echo_explanation(result, as_json=as_json, more={"account": list(losses.account)})
