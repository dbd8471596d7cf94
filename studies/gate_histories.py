"""Simulate histories of builds: false blocks, slides and drops, next to gates without a ledger.

Usage: python studies/gate_histories.py [--histories 1000] [--builds 200] [--seed 1] [--write]

--write: replace docs/measured/gate.md.

Each item has a chance of being solved, drawn from a beta distribution. Every build answers
independently, given these chances. "ledger" is the gate of bestofk. "last build" tests each build
against the last accepted one and "fixed baseline" against the first one, each with McNemar's exact
test at 5 %. The study first runs a few histories through `bestofk.gate` and a ledger, and stops if
its own vectorised gate gives other answers.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import stats

from bestofk.release.gate import gate
from bestofk.release.method import (
    MAX_ANCHOR_BUILDS,
    MIN_NEXT_BUILDS,
    compare,
    level_of_look,
)

ALPHA = 0.05
PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured" / "gate.md"
CHUNK = 50
"""Histories that advance together."""
MIN_STATISTIC = 3.3
"""No level of a look rejects a smaller t statistic."""
Draw = Callable[[float], np.ndarray]
Loss = Callable[[int], float]


def binary(
    shape: tuple[int, int], accuracy: float, rng: np.random.Generator, spread: float = 1.0
) -> Draw:
    """Return a source of right and wrong answers, given the loss of accuracy."""
    chance = rng.beta(accuracy * spread, (1 - accuracy) * spread, size=shape)
    return lambda loss: (rng.random(shape) < chance * (1 - loss / accuracy)).astype(float)


def stable(shape: tuple[int, int], accuracy: float, rng: np.random.Generator) -> Draw:
    """Return a source of answers of which few change between builds."""
    return binary(shape, accuracy, rng, spread=0.05)


def graded(shape: tuple[int, int], accuracy: float, rng: np.random.Generator) -> Draw:
    """Return a source of scores from 0 to 1: the mean of three right or wrong parts."""
    parts = [binary(shape, accuracy, rng) for _ in range(3)]
    return lambda loss: sum(part(loss) for part in parts) / 3


def clustered(shape: tuple[int, int], accuracy: float, rng: np.random.Generator) -> Draw:
    """Return a source of answers to items in clusters of five that are solved together."""
    outer = shape[0], shape[1] // 5
    chance = np.repeat(rng.beta(accuracy, 1 - accuracy, size=outer), 5, axis=1)

    def draw(loss: float) -> np.ndarray:
        common = np.repeat(rng.random(outer), 5, axis=1)
        uniform = np.where(rng.random(shape) < 0.6, common, rng.random(shape))
        return (uniform < chance * (1 - loss / accuracy)).astype(float)

    return draw


SOURCES = {"binary": binary, "stable": stable, "graded": graded, "clustered": clustered}


def clusters_of_items(kind: str, n: int) -> np.ndarray:
    return np.arange(n) // (5 if kind == "clustered" else 1)


def with_ledger(
    draw: Draw, clusters: np.ndarray, loss: Loss, histories: int, builds: int
) -> np.ndarray:
    """Return the build that the gate of bestofk blocks first in each history; 0 if none."""
    first = np.zeros(histories, dtype=int)
    anchors = [[scores] for scores in draw(0.0)]
    waiting: list[list[np.ndarray] | None] = [None] * histories
    """Builds after a better one."""
    means = np.array([anchor[0] for anchor in anchors])
    size = int((clusters == clusters[0]).sum())
    for look in range(1, builds + 1):
        scores = draw(loss(look))
        level = level_of_look(look, ALPHA)
        excess = (means - scores).reshape(histories, -1, size).sum(axis=2)
        error = excess.std(axis=1, ddof=1) + 1e-300
        statistic = excess.mean(axis=1) / error * np.sqrt(excess.shape[1])
        for h in np.flatnonzero(first == 0):
            rejected = gained = False
            if len(anchors[h]) == 1 or abs(statistic[h]) > MIN_STATISTIC:
                losses = [1 - build for build in anchors[h]]
                test = compare(1 - scores[h], losses, clusters)
                rejected, gained = test.p_worse <= level, test.p_better <= level
            queue = waiting[h]
            if rejected:
                first[h] = look
            elif queue is not None:
                queue.append(scores[h])
                if len(queue) >= MIN_NEXT_BUILDS:
                    anchors[h], waiting[h] = queue, None
                    means[h] = np.mean(queue, axis=0)
            elif gained:
                waiting[h] = []
            elif len(anchors[h]) < MAX_ANCHOR_BUILDS:
                anchors[h].append(scores[h])
                means[h] = np.mean(anchors[h], axis=0)
    return first


def without_ledger(
    draw: Draw, loss: Loss, histories: int, builds: int, *, fixed: bool
) -> np.ndarray:
    """Return the build that a gate without a ledger blocks first in each history; 0 if none."""
    first = np.zeros(histories, dtype=int)
    reference = draw(0.0)
    for look in range(1, builds + 1):
        scores = draw(loss(look))
        wins, losses = (scores > reference).sum(axis=1), (scores < reference).sum(axis=1)
        first[(first == 0) & (stats.binom.cdf(wins, wins + losses, 0.5) <= ALPHA)] = look
        if not fixed:
            reference = scores
    return first


def histories(
    kind: str, n: int, accuracy: float, loss: Loss, name: str, *, count: int, builds: int,
    seed: int,
) -> np.ndarray:  # fmt: skip
    """Return the first blocked build of each history; 0 if none."""
    parts = []
    for chunk in range(0, count, CHUNK):
        size = min(CHUNK, count - chunk)
        rng = np.random.default_rng([seed, chunk])
        draw = SOURCES[kind]((size, n), accuracy, rng)
        if name == "ledger":
            parts.append(with_ledger(draw, clusters_of_items(kind, n), loss, size, builds))
        else:
            parts.append(without_ledger(draw, loss, size, builds, fixed=name == "fixed baseline"))
    return np.concatenate(parts)


def check_against_the_gate(kind: str, n: int, loss: Loss, *, builds: int, seed: int) -> None:
    """Stop if `bestofk.gate` with a ledger blocks another build than `with_ledger`."""
    expected = histories(kind, n, 0.7, loss, "ledger", count=2, builds=builds, seed=seed)
    draw = SOURCES[kind]((2, n), 0.7, np.random.default_rng([seed, 0]))
    items = [f"{cluster}-{item}" for item, cluster in enumerate(clusters_of_items(kind, n))]
    baseline = draw(0.0)
    first = [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for look in range(1, builds + 1):
            scores = draw(loss(look))
            for history in (0, 1):
                if first[history]:
                    continue
                result = gate(
                    dict(zip(items, scores[history], strict=True)),
                    dict(zip(items, baseline[history], strict=True)) if look == 1 else None,
                    ledger=Path(folder) / f"{history}.json",
                )  # fmt: skip
                first[history] = look if result.answer == "worse" else 0
    if first != list(expected):
        raise SystemExit(f"{kind}: the gate blocks {first}, the simulation {list(expected)}")
    print(f"  {kind}: both block builds {first}")


def share(hits: int, total: int) -> str:
    """Return a share with its exact 95 % interval."""
    interval = stats.binomtest(int(hits), total).proportion_ci()
    return f"{100 * hits / total:.1f} % ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def none(_: int) -> float:
    """Return the loss of builds that are all equally good."""
    return 0.0


def slide(look: int) -> float:
    """Return the loss in a slide of 0.06 points per build."""
    return 0.0006 * look


def fast_slide(look: int) -> float:
    """Return the loss in a slide of one point per build."""
    return 0.01 * look


def drop(look: int) -> float:
    """Return the loss if all builds from number 50 on lose 5 points."""
    return 0.05 if look >= 50 else 0.0


def gain(look: int) -> float:
    """Return the loss if all builds from number 50 on gain 4 points."""
    return -0.04 if look >= 50 else 0.0


NULLS = (
    ("binary", 500, 0.7), ("binary", 2000, 0.7), ("binary", 100, 0.7), ("binary", 500, 0.97),
    ("binary", 500, 0.1), ("stable", 500, 0.7), ("graded", 500, 0.7), ("graded", 500, 0.97),
    ("graded", 100, 0.1), ("clustered", 500, 0.7), ("clustered", 200, 0.9),
)  # fmt: skip


def tables(run: dict[str, int]) -> Iterator[str]:
    """Yield the lines of the page of results."""
    yield f"Share of {run['count']:,} histories of {run['builds']} equally good builds in which a"
    yield "build was blocked, with the 95 % interval of the simulation:"
    yield ""
    yield "| items | score | gate | blocked a good build |"
    yield "|---|---:|---|---:|"
    cases = [("ledger", *case) for case in NULLS]
    cases += [(name, kind, 500, 0.7) for name in ("last build", "fixed baseline")
              for kind in ("binary", "graded", "clustered")]  # fmt: skip
    for name, kind, n, accuracy in cases:
        blocked = histories(kind, n, accuracy, none, name, **run)
        hits = share((blocked > 0).sum(), blocked.size)
        yield f"| {n:,} {kind} | {accuracy} | {name} | {hits} |"
    for n in (500, 2000):
        blocked = histories("binary", n, 0.7, gain, "ledger", **run)
        hits = share((blocked > 0).sum(), blocked.size)
        yield f"| {n:,} binary | 0.7, then 0.74 | ledger | {hits} |"
    yield ""
    yield "A slide of 0.06 points per build from 0.7, and a drop of 5 points at build 50:"
    yield ""
    yield "| items | slide blocked | mean true loss then | 90 % below | drop blocked within ten |"
    yield "|---|---:|---:|---:|---:|"
    for n in (500, 1000, 2000):
        slid = histories("binary", n, 0.7, slide, "ledger", **run)
        losses = 100 * slide(1) * slid[slid > 0]
        fell = histories("binary", n, 0.7, drop, "ledger", **{**run, "builds": 59})
        yield (
            f"| {n:,} binary | {share(losses.size, slid.size)} | {losses.mean():.1f} points | "
            f"{np.quantile(losses, 0.9):.1f} | {share((fell >= 50).sum(), fell.size)} |"
        )


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--builds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print("The vectorised gate and bestofk.gate, first blocked builds of two histories:")
    for kind, loss in (("binary", fast_slide), ("graded", drop), ("stable", gain)):
        check_against_the_gate(kind, 300, loss, builds=70, seed=options.seed)
    lines = []
    run = {"count": options.histories, "builds": options.builds, "seed": options.seed}
    for line in tables(run):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
