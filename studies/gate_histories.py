"""Simulate histories of builds: false blocks, slides and drops, next to gates without a ledger.

Usage: python studies/gate_histories.py [--histories 1000] [--builds 200] [--seed 1]

An item has a chance of being solved that is drawn from a beta distribution, and every build answers
independently given these chances. "ledger" is the gate of bestofk. "last" tests each build against
the last accepted one and "fixed" against the first one, each with McNemar's exact test at 5 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from bestofk.release.ledger import Anchor
from bestofk.release.method import item_test, level_of_look
from bestofk.stats.pairwise.clustered import Clusters, clusters_of

Draw = Callable[[float], np.ndarray]


def binary(n: int, accuracy: float, rng: np.random.Generator, spread: float = 1.0) -> Draw:
    """Return a source of right and wrong answers, given the loss of accuracy."""
    chance = rng.beta(accuracy * spread, (1 - accuracy) * spread, size=n)

    def draw(loss: float) -> np.ndarray:
        return (rng.random(n) < chance * (1 - loss / accuracy)).astype(float)

    return draw


def graded(n: int, accuracy: float, rng: np.random.Generator) -> Draw:
    """Return a source of scores from 0 to 1: the mean of three right or wrong parts."""
    parts = [binary(n, accuracy, rng) for _ in range(3)]
    return lambda loss: np.mean([part(loss) for part in parts], axis=0)


def clustered(n: int, accuracy: float, rng: np.random.Generator) -> Draw:
    """Return a source of answers to items in clusters of five that are solved together."""
    chance = np.repeat(rng.beta(accuracy, 1 - accuracy, size=n // 5), 5)

    def draw(loss: float) -> np.ndarray:
        level = np.repeat(rng.random(n // 5), 5)
        own = rng.random(n)
        uniform = np.where(rng.random(n) < 0.6, level, own)
        return (uniform < chance * (1 - loss / accuracy)).astype(float)

    return draw


SOURCES: dict[str, Callable[[int, float, np.random.Generator], Draw]] = {
    "binary": binary, "graded": graded, "clustered": clustered,
}  # fmt: skip


def with_ledger(
    draw: Draw, clusters: Clusters, loss: Callable[[int], float], builds: int, alpha: float
) -> int | None:
    """Return the build that the gate of bestofk blocks first."""
    anchor = Anchor(names=("0",), scores=(draw(0.0),))
    for look in range(1, builds + 1):
        scores = draw(loss(look))
        level = level_of_look(look, alpha)
        test = item_test(scores, anchor.scores, clusters)
        if test.p_worse <= level:
            return look
        joins = anchor.joining(passed=True, better=test.p_better <= level)
        if joins == "better":
            anchor = Anchor(names=anchor.names, scores=anchor.scores, next_names=())
        else:
            anchor = anchor.after(str(look), scores, joins)
    return None


def without_ledger(
    draw: Draw, loss: Callable[[int], float], builds: int, alpha: float, *, fixed: bool
) -> int | None:
    """Return the build that a gate without a ledger blocks first."""
    reference = draw(0.0)
    for look in range(1, builds + 1):
        scores = draw(loss(look))
        wins, losses = (scores > reference).sum(), (scores < reference).sum()
        if stats.binom.cdf(wins, wins + losses, 0.5) <= alpha:
            return look
        if not fixed:
            reference = scores
    return None


def histories(
    kind: str, n: int, accuracy: float, loss: Callable[[int], float], gate: str, *,
    count: int, builds: int, seed: int,
) -> Iterator[int | None]:  # fmt: skip
    """Yield the first blocked build of each history."""
    size = 5 if kind == "clustered" else 1
    clusters = clusters_of(np.arange(n) // size, n)
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        draw = SOURCES[kind](n, accuracy, rng)
        if gate == "ledger":
            yield with_ledger(draw, clusters, loss, builds, 0.05)
        else:
            yield without_ledger(draw, loss, builds, 0.05, fixed=gate == "fixed")


def share(hits: int, total: int) -> str:
    """Return a share with its exact 95 % interval."""
    interval = stats.binomtest(hits, total).proportion_ci()
    return f"{100 * hits / total:5.1f} % ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--builds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    run = {"count": options.histories, "builds": options.builds, "seed": options.seed}
    print(f"Any false block in {options.builds} equally good builds, {options.histories} histories")
    for kind, n, accuracy in (
        ("binary", 500, 0.7), ("binary", 100, 0.7), ("binary", 500, 0.97), ("binary", 500, 0.1),
        ("graded", 500, 0.7), ("graded", 100, 0.1), ("clustered", 500, 0.7),
        ("clustered", 200, 0.9),
    ):  # fmt: skip
        blocked = list(histories(kind, n, accuracy, lambda _: 0.0, "ledger", **run))
        hits = sum(one is not None for one in blocked)
        print(f"  ledger  {kind:9} {n:5} items, score {accuracy}: {share(hits, len(blocked))}")
    for gate in ("last", "fixed"):
        blocked = list(histories("binary", 500, 0.7, lambda _: 0.0, gate, **run))
        hits = sum(one is not None for one in blocked)
        print(f"  {gate:7} binary      500 items, score 0.7: {share(hits, len(blocked))}")
    print("A build that is better by 4 points at build 50, and as good afterwards: any block")

    def improvement(look: int) -> float:
        return -0.04 if look >= 50 else 0.0

    for n in (500, 2000):
        blocked = list(histories("binary", n, 0.7, improvement, "ledger", **run))
        hits = sum(one is not None for one in blocked)
        print(f"  ledger  {n:5} items: {share(hits, len(blocked))}")
    print("A slide of 0.06 points per build: true loss of the blocked build, in points")
    for n in (500, 1000, 2000):
        blocked = list(histories("binary", n, 0.7, lambda look: 0.0006 * look, "ledger", **run))
        losses = [0.06 * one for one in blocked if one is not None]
        print(
            f"  ledger  {n:5} items: blocked in {share(len(losses), len(blocked))}; mean "
            f"{np.mean(losses):.2f}, 90 % below {np.quantile(losses, 0.9):.2f}"
        )
    print("A drop of 5 points at build 50: blocked within ten builds")
    for n in (500, 1000, 2000):
        blocked = list(
            histories("binary", n, 0.7, lambda look: 0.05 if look >= 50 else 0.0, "ledger",
                      **{**run, "builds": 59})
        )  # fmt: skip
        early = sum(one is not None and one < 50 for one in blocked)
        hits = sum(one is not None and one >= 50 for one in blocked)
        print(f"  ledger  {n:5} items: {share(hits, len(blocked))}; before it {early}")


if __name__ == "__main__":
    main()
