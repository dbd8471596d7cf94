"""``bestofk test``: one test on a table of losses."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import config_option
from bestofk.cli.options import (
    df_value,
    echo_explanation,
    interval_option,
    level_options,
    read_table,
    reading_options,
    table_options,
    warnings_as_lines,
)


@click.command("test", cls=SectionedCommand)
@table_options
@click.option("--test", required=True, metavar="NAME", help="See: bestofk list tests.")
@click.option("--pair", nargs=2, metavar="A B", help="Only these two learners (pairwise tests).")
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "greater", "less"]),
    default="two-sided",
    show_default=True,
    help="greater: the alternative is that A has the larger loss.",
)
@click.option(
    "--correction",
    default="holm",
    show_default=True,
    help="For all pairs: holm, bonferroni, hochberg, benjamini-hochberg or none.",
)
@click.option("--rule", type=click.Choice(["vertex", "paper"]),
              help="Of bootstrap-b: from losses to p-values.  [default: vertex]")  # fmt: skip
@interval_option
@level_options
@config_option
def one_test(
    losses: str,
    test: str,
    pair: tuple[str, str] | None,
    alternative: str,
    correction: str,
    rule: str | None,
    interval: str | None,
    alpha: float,
    df: str | None,
    random_state: int,
    as_json: bool,
    missing: str,
    **reading: Any,
) -> None:
    """Run one test on LOSSES: a pairwise test on all pairs, or a test of all learners at once.

    A table with the columns low and high holds intervals of losses, and --interval makes them from
    repetitions; the tests paired-t, kfold-t, wilcoxon, sign, permutation and bootstrap-b then give
    intervals of p-values. With --interval fuzzy they give one for each of several nested intervals.

    \b
    Examples:
      bestofk test breast-cancer-10x10 --test corrected-repeated-kfold-t
      bestofk test breast-cancer-10x10 --test use-all-data --df 10 --pair 1-nn dummy
      bestofk test digits-5x2 --test newman-keuls
    """
    from bestofk.losses.columns import IntervalColumnsError
    from bestofk.papers.decide.interval_table import (
        FUZZY,
        interval_table,
        run_fuzzy_test,
        run_interval_test,
    )
    from bestofk.papers.one_test import run_test
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS

    with warnings_as_lines():
        read = reading_options(reading)
        table: Any = losses
        try:
            table = read_table(losses, read)
            # a missing loss is an interval: the whole range
            gaps = missing == "allow" and not table.complete
            takes_gaps = test in MULTIPLE_TESTS and MULTIPLE_TESTS[test].takes("missing")
            has_intervals = interval is not None or (gaps and takes_gaps)
        except IntervalColumnsError:
            has_intervals = True
        if has_intervals:
            settings: dict[str, Any] = {
                "pair": pair, "alternative": alternative, "correction": correction, "alpha": alpha,
                "rule": rule,
            }  # fmt: skip
            outcome: Any = (
                run_fuzzy_test(table, test, missing=missing, **settings)
                if interval == FUZZY
                else run_interval_test(
                    interval_table(
                        table,
                        interval,
                        higher_is_better=read.get("higher_is_better"),
                        missing=missing,
                    ),
                    test,
                    **settings,
                )
            )
            echo_explanation(outcome, as_json=as_json)
            return
        result = run_test(
            table,
            test,
            pair=pair,
            alternative=alternative,
            correction=correction,
            alpha=alpha,
            df=df_value(df),
            missing=missing,
            rule=rule,
            random_state=random_state,
        )
    echo_explanation(result, as_json=as_json, more={"account": list(table.account)})
