"""``bestofk tests``, ``procedures``, ``plans``, ``learners``, ``losses`` and ``problems``."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.options import echo_json, json_option
from bestofk.cli.say import say_entry


@click.command()
@json_option
def tests(as_json: bool) -> None:
    """List the tests: what each does, which designs it covers, and its paper.

    \b
    Examples:
      bestofk tests
      bestofk tests --json
    """
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS
    from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, PAIRWISE_TESTS

    groups: dict[str, Any] = {
        "Two learners": PAIRWISE_TESTS,
        "Two models on clusters of items (bestofk evals --test)": CLUSTERED_TESTS,
        "All learners at once": MULTIPLE_TESTS,
    }
    if as_json:
        echo_json(
            {
                "tests": [
                    {
                        "name": entry.name,
                        "learners": "all" if registry is MULTIPLE_TESTS else "two",
                        "summary": entry.summary,
                        "covers": list(entry.covers),
                        "sides": list(getattr(entry, "sides", ("two-sided",))),
                        "paper": entry.paper,
                        "doi": entry.doi,
                    }
                    for registry in groups.values()
                    for entry in registry.values()
                ]
            }
        )
        return
    for title, registry in groups.items():
        click.echo(f"{title}:")
        for entry in registry.values():
            _show(
                entry,
                f"covers {', '.join(entry.covers)}",
                "" if len(getattr(entry, "sides", ("two-sided",))) > 1 else "two-sided only",
            )
    click.echo("Without --test, the design decides; the output says which test and why.")


@click.command()
@json_option
def procedures(as_json: bool) -> None:
    """List the procedures, which turn evidence into an order or a choice.

    \b
    Examples:
      bestofk procedures
      bestofk procedures --json
    """
    from bestofk.decide.registry import PROCEDURES

    if as_json:
        echo_json({"procedures": [_row(entry) for entry in PROCEDURES.values()]})
        return
    for entry in PROCEDURES.values():
        basis = "decides from losses"
        if entry.takes_test:
            basis += " by a pairwise test"
        if not entry.takes_losses:
            basis = "decides from scores of every instance (Python only)"
        _show(entry, basis)


@click.command()
@json_option
def plans(as_json: bool) -> None:
    """List the resampling plans: which rows train, and which test.

    \b
    Examples:
      bestofk plans
      bestofk plans --json
    """
    from bestofk.splits.registry import PLANS

    if as_json:
        echo_json({"plans": [_row(entry) for entry in PLANS.values()]})
        return
    for entry in PLANS.values():
        _show(entry, f"e.g. {entry.example}")


@click.command()
@json_option
def learners(as_json: bool) -> None:
    """List the built-in learners. Any scikit-learn estimator works too.

    \b
    Examples:
      bestofk learners
      bestofk learners --json
    """
    from bestofk.learners.registry import LEARNERS

    if as_json:
        echo_json({"learners": [_row(entry) for entry in LEARNERS.values()]})
        return
    for entry in LEARNERS.values():
        _show(entry, f"parameters counted as complexity: {entry.complexity}")
    click.echo("Others: --learner 'sklearn.ensemble:RandomForestClassifier(n_estimators=200)'.")


@click.command()
@json_option
def losses(as_json: bool) -> None:
    """List the losses and metrics for compare --scoring.

    \b
    Examples:
      bestofk losses
      bestofk losses --json
    """
    from sklearn.metrics import get_scorer_names

    from bestofk.run.metrics import LOSSES, listed_metric

    scorers = [name for name in get_scorer_names() if name not in LOSSES]
    rows = [
        {"name": entry.name, "summary": entry.summary, "task": entry.task or "any"}
        for entry in LOSSES.values()
    ]
    if as_json:
        listed = [{"name": name, **listed_metric(name)} for name in scorers]
        echo_json({"losses": rows, "scorers": listed})
        return
    for row in rows:
        say_entry(row["name"], f"{row['summary']} ({row['task']})")
    say_entry("pinball:Q", "pinball (quantile) loss for quantile Q (regression)")
    click.echo("Scorers of scikit-learn, shown in their own direction:")
    for name in scorers:
        metric = listed_metric(name)
        better = "larger" if metric["higher_is_better"] else "smaller"
        say_entry(name, f"{metric['shown']}, {better} is better")
    click.echo(
        "The first of several decides: --scoring accuracy,log-loss. A class: --scoring f1:yes."
    )
    click.echo("A cost matrix: --cost costs.csv, rows are the truth.")


@click.command()
@json_option
def problems(as_json: bool) -> None:
    """List the simulated problems on which tests are measured.

    \b
    Examples:
      bestofk problems
      bestofk problems --json
    """
    from bestofk.lab.problems.registry import PROBLEMS

    if as_json:
        echo_json({"problems": [_row(entry) for entry in PROBLEMS.values()]})
        return
    for entry in PROBLEMS.values():
        _show(entry, f"draws {entry.draws}")
    click.echo("With settings: --problem 'binary(rows=100, class_probability=0.3)'.")


def _row(entry: Any) -> dict[str, Any]:
    row = {"name": entry.name, "summary": entry.summary, "paper": entry.paper}
    if hasattr(entry, "example"):
        row["example"] = entry.example
    return row


def _show(entry: Any, *facts: str) -> None:
    say_entry(entry.name, entry.summary, details=(*facts, entry.paper))
