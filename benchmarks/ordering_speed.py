"""Measure decisions on many tables and on many learners.

- ``order_many``: `order_many` on 300 tables of five learners in 10x10 folds against
  `compare_scores` on each
  table, for every rule.
- ``paper``: the decisions of the MultiTest paper, 30 data sets of 1,000 runs of 5x2 folds, against
  `compare_scores` on each table (100 tables, scaled).
- ``claims``: `lab.false_claims` on 300 tables against `compare_scores` on each table.
- ``multitest``: MultiTest on 3,000 learners against a limit of 1 s. The peak memory must stay
  below 1 GiB; it is printed.
- ``ranks``: the ranks of 1,000 models on 10,000 items that each gets right or wrong, and on items
  with graded scores, each against a limit of 5 s of CPU time (one thread) and 1 GiB.
- ``text``: the text of a decision on 100 learners x 1,000 data sets and 1,000 x 100, against 0.2 s
  of CPU time; deciding is not included.
- ``instances``: deciding and text of 40 learners on 3,000 instances and of 10 on 100,000, with the
  default test and the permutation test, each against 2 s of CPU time.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any

import numpy as np

from bestofk import decide as ordering
from bestofk.decide import RULES, order_many
from bestofk.decide.compare_scores import compare_scores
from bestofk.losses import Scores
from bestofk.papers import lab
from bestofk.papers.multitest.tables import decide
from timing import Row, best, one_thread

TABLES = 300
PAPER_SETS, PAPER_RUNS, PUBLISHED = 30, 1000, 100
MEANS = np.array([0.30, 0.25, 0.22, 0.22, 0.24])
LEARNERS, LIMIT_SECONDS = 3_000, 1.0
RANKED, ITEMS, RANK_LIMIT_SECONDS = 1_000, 10_000, 5.0
TEXT_SHAPES, TEXT_LIMIT_SECONDS = ((100, 1_000), (1_000, 100)), 0.2
INSTANCE_SHAPES, INSTANCE_LIMIT_SECONDS = ((40, 3_000), (10, 100_000)), 2.0


def many_tables() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    losses = MEANS[:, None, None] + rng.normal(0, 0.02, (TABLES, 5, 10, 10))
    for name, entry in RULES.items():
        if entry.takes != "losses":
            continue
        options: dict[str, Any] = {"rule": name, "prefer": "listed"}
        ours = best(lambda options=options: order_many(losses, **options), times=3)
        peer = best(
            lambda options=options: [compare_scores(table, **options) for table in losses],
            times=1,
            warm_up=False,
        )
        yield f"order_many {name}", peer / ours, ours, peer


def paper_decisions() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    paper = np.round(
        MEANS[:, None, None] + rng.normal(0, 0.05, (PAPER_SETS, PAPER_RUNS, 5, 5, 2)), 2
    )
    ours = best(lambda: decide(paper), times=3)
    few = paper[0, :PUBLISHED]
    peer = (
        PAPER_SETS
        * PAPER_RUNS
        / len(few)
        * best(lambda: _as_published(few), times=1, warm_up=False)
    )
    yield "30,000 decisions of the paper", peer / ours, ours, peer


def _as_published(tables: Any) -> None:
    for table in tables:
        for rule in ("anova-choice", "newman-keuls-choice"):
            compare_scores(table, rule=rule, prefer="listed")
        compare_scores(table, rule="test-first", test="5x2cv-t", prefer="listed")
        compare_scores(table, test="5x2cv-t", family="preference", prefer="listed")


def false_claims() -> Iterator[Row]:
    simulation = lab.simulate(problem="many-data-sets(means=(0.3, 0.2, 0.2))", sets=TABLES)
    ours = best(lambda: lab.false_claims(simulation=simulation), times=3)
    tables = [simulation.table(number) for number in range(TABLES)]
    peer = best(lambda: [compare_scores(table) for table in tables], times=1, warm_up=False)
    yield "false_claims", peer / ours, ours, peer


def many_learners() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    losses = rng.uniform(0.1, 0.5, LEARNERS)[:, None, None]
    losses = losses + rng.normal(0, 0.02, (LEARNERS, 5, 2))
    ordering.multitest(losses[:50], test="5x2cv-t")
    ours = best(lambda: ordering.multitest(losses, test="5x2cv-t"), times=3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"multitest-{LEARNERS} peak memory of the process: {peak:.2f} GiB")
    yield f"multitest-{LEARNERS}", LIMIT_SECONDS / ours, ours, LIMIT_SECONDS


def ranks() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    share = np.linspace(0.2, 0.5, RANKED)[:, None]
    values = rng.random((RANKED, ITEMS))
    for name, scores in (("right-wrong", values < share), ("graded", values / 2 + share)):
        table = Scores(scores, dims=("learner", "instance"))
        with one_thread():
            start = process_time()
            remaining = len(compare_scores(table).candidates)
            ours = process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{name}: {remaining} may be the best; peak memory of the process: {peak:.2f} GiB")
        yield f"ranks-{name}-{RANKED}x{ITEMS}", RANK_LIMIT_SECONDS / ours, ours, RANK_LIMIT_SECONDS


def table_of(learners: int, units: int, axis: str) -> Scores:
    """Draw losses; the last learners are clearly worse."""
    rng = np.random.default_rng(1)
    means = rng.normal(0.3, 0.05, units) + np.linspace(0, 0.1, learners)[:, None]
    return Scores(means + rng.normal(0, 0.03, means.shape), dims=("learner", axis))


def text() -> Iterator[Row]:
    for learners, units in TEXT_SHAPES:
        decisions = [compare_scores(table_of(learners, units, "dataset")) for _ in range(3)]
        ours = best(lambda left=decisions: left.pop().explain(), times=2)
        yield f"text-{learners}x{units}", TEXT_LIMIT_SECONDS / ours, ours, TEXT_LIMIT_SECONDS


def instances() -> Iterator[Row]:
    for learners, units in INSTANCE_SHAPES:
        table = table_of(learners, units, "instance")
        for test in ("auto", "permutation"):
            ours = best(
                lambda table=table, test=test: compare_scores(table, test=test).explain(), times=2
            )
            name = f"instances-{learners}x{units}-{test}"
            yield name, INSTANCE_LIMIT_SECONDS / ours, ours, INSTANCE_LIMIT_SECONDS


PARTS = {
    "order_many": many_tables,
    "paper": paper_decisions,
    "claims": false_claims,
    "multitest": many_learners,
    "ranks": ranks,
    "text": text,
    "instances": instances,
}


def measure(parts: Sequence[str] = tuple(PARTS)) -> Iterator[Row]:
    for part in parts:
        yield from PARTS[part]()
