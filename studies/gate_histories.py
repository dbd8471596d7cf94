"""Simulate builds: false blocks, losses that the gate catches, slides, and other gates.

Usage: python studies/gate_histories.py [--histories 400] [--seed 1] [--write]

--write: replace studies/results/gate.md.

Each item has a chance of being solved, drawn from a beta distribution. Every run answers
independently, given these chances. The gate is that of `bestofk.release.method`; the study first
sends builds through `bestofk.gate` and a ledger, and stops if their answers differ. A threshold
blocks a build whose mean falls by more than five points, McNemar's test blocks at 5 %, each against
one run of the baseline.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import stats

from bestofk.release.gate import gate, start
from bestofk.release.method import RERUNS, answers, level_of, worse_test

LEVEL = level_of(0.01, metrics=1, runs=1)
LOSSES = (0.0, 0.03, 0.05, 0.08)
PAGE = Path(__file__).resolve().parent / "results" / "gate.md"
Draw = Callable[..., np.ndarray]


def binary(n: int, accuracy: float, rng: np.random.Generator, spread: float = 1.0) -> Draw:
    """Return a source of right and wrong answers, given the loss of accuracy."""
    chance = rng.beta(accuracy * spread, (1 - accuracy) * spread, size=n)
    return lambda loss, *shape: (rng.random((*shape, n)) < chance * (1 - loss / accuracy)).astype(
        float
    )


def stable(n: int, accuracy: float, rng: np.random.Generator) -> Draw:
    """Return a source of answers of which few change between runs."""
    return binary(n, accuracy, rng, spread=0.05)


def graded(n: int, accuracy: float, rng: np.random.Generator) -> Draw:
    """Return a source of scores from 0 to 1: the mean of three right or wrong parts."""
    parts = [binary(n, accuracy, rng) for _ in range(3)]
    return lambda loss, *shape: sum(part(loss, *shape) for part in parts) / 3


def clustered(n: int, accuracy: float, rng: np.random.Generator) -> Draw:
    """Return a source of answers to items in clusters of five that are solved together."""
    chance = np.repeat(rng.beta(accuracy, 1 - accuracy, size=n // 5), 5)

    def draw(loss: float, *shape: int) -> np.ndarray:
        common = np.repeat(rng.random((*shape, n // 5)), 5, axis=-1)
        own = rng.random((*shape, n))
        uniform = np.where(rng.random((*shape, n)) < 0.6, common, own)
        return (uniform < chance * (1 - loss / accuracy)).astype(float)

    return draw


SOURCES = {"binary": binary, "stable": stable, "graded": graded, "clustered": clustered}


def tested(
    kind: str, n: int, accuracy: float, runs: int, loss: float, *, histories: int, builds: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Return blocked builds, builds that ran again, and those blocked without reruns."""
    out = []
    clusters = np.arange(n) // (5 if kind == "clustered" else 1)
    for history in range(histories):
        draw = SOURCES[kind](n, accuracy, np.random.default_rng([seed, history]))
        base = draw(0.0, runs).mean(axis=0)
        first = draw(loss, builds)
        mean = (first + draw(loss, RERUNS, builds).sum(axis=0)) / (1 + RERUNS)
        p, q = (np.asarray(worse_test(-x, -base, clusters, unit=1.0).pvalue) for x in (first, mean))
        blocked, again = answers(p, q, LEVEL)
        out.append((blocked, again, p <= 2 * LEVEL))
    blocked, again, single = (np.array(part) for part in zip(*out, strict=True))
    return blocked, again, single


def others(n: int, loss: float, *, histories: int, builds: int, seed: int) -> tuple[float, float]:
    """Return the shares of builds that a threshold of five points and McNemar's test block."""
    fell = rejected = 0
    for history in range(histories):
        draw = binary(n, 0.7, np.random.default_rng([seed, history]))
        base, new = draw(0.0, 1), draw(loss, builds)
        fell += int((base.mean() - new.mean(axis=1) > 0.05).sum())
        wins, losses = (new > base).sum(axis=1), (new < base).sum(axis=1)
        rejected += int((stats.binom.cdf(wins, wins + losses, 0.5) <= 0.05).sum())
    return fell / histories / builds, rejected / histories / builds


def check_against_the_gate(seed: int) -> None:
    """Stop if `bestofk.gate` with a ledger gives other answers than `answers`."""
    draw = binary(300, 0.7, np.random.default_rng(seed))
    runs = draw(0.0, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gate.json"
        start(*runs, ledger=path)
        seen = []
        for build in range(40):
            first, *more = draw(0.05, 1 + RERUNS)
            name = f"b{build}"
            result = gate(first, ledger=path, build=name)
            if result.answer == "suspect":
                result = gate(list(more), ledger=path, build=name)
            both = [first, np.mean([first, *more], axis=0)]
            p, q = (float(worse_test(-x, -runs.mean(axis=0), None, unit=1.0).pvalue) for x in both)
            expected, _ = answers(np.array([p]), np.array([q]), LEVEL)
            seen.append(result.answer)
            if expected[0] != (result.answer == "blocked"):
                raise SystemExit(f"{name}: {result.answer}, but simulated: {expected}")
    print(f"The gate and the simulation agree on 40 builds, {seen.count('blocked')} blocked.")


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def tables(histories: int, seed: int) -> Iterator[str]:
    """Yield the lines of the page of results."""
    run = {"histories": histories, "builds": 10, "seed": seed}
    yield f"{10 * histories:,} builds per row; item chances Beta(.7, .3):"
    yield ""
    yield "| items | runs of baseline | false blocks | 3 / 5 / 8 points caught | without reruns |"
    yield "|---|---:|---:|---:|---:|"
    for n, runs in ((100, 1), (300, 1), (300, 3), (300, 5), (1000, 1), (1000, 5)):
        rows = [tested("binary", n, 0.7, runs, loss, **run) for loss in LOSSES]
        caught = " / ".join(f"{100 * row[0].mean():.0f}" for row in rows[1:])
        single = " / ".join(f"{100 * row[2].mean():.0f}" for row in rows[1:])
        yield f"| {n:,} | {runs} | {percent(rows[0][0].mean())} | {caught} % | {single} % |"
    yield ""
    yield "Next to it, per build, against one run of the baseline:"
    yield ""
    yield "| items | gate | false blocks | 3 / 5 / 8 points caught |"
    yield "|---|---|---:|---:|"
    for n in (100, 300, 1000):
        rows = [others(n, loss, **run) for loss in LOSSES]
        for at, name in enumerate(("threshold of 5 points", "McNemar at 5 %")):
            caught = " / ".join(f"{100 * row[at]:.0f}" for row in rows[1:])
            yield f"| {n:,} | {name} | {percent(rows[0][at])} | {caught} % |"
    yield ""
    yield "Other items, three runs of the baseline, good builds:"
    yield ""
    yield "| items | score | false blocks | run again |"
    yield "|---|---:|---:|---:|"
    for kind, n, accuracy in (
        ("binary", 500, 0.97), ("binary", 500, 0.1), ("stable", 500, 0.7), ("graded", 500, 0.7),
        ("graded", 100, 0.1), ("clustered", 500, 0.7), ("clustered", 200, 0.9),
    ):  # fmt: skip
        blocked, again, _ = tested(kind, n, accuracy, 3, 0.0, **run)
        yield f"| {n} {kind} | {accuracy} | {percent(blocked.mean())} | {percent(again.mean())} |"
    yield ""
    yield "Histories of 200 good builds on 300 items, and of a slide of 0.2 points per build:"
    yield ""
    yield "| runs of the baseline | more than five blocks | slide blocked | mean true loss then |"
    yield "|---:|---:|---:|---:|"
    few = max(histories // 2, 10)
    for runs in (1, 3, 5):
        long, _, _ = tested("binary", 300, 0.7, runs, 0.0, histories=few, builds=200, seed=seed)
        many = (long.sum(axis=1) > 5).mean()
        slid = slides(runs, histories=few, seed=seed)
        loss = 0.2 * slid[slid > 0]
        stopped = (slid > 0).mean()
        yield f"| {runs} | {percent(many)} | {percent(stopped)} | {loss.mean():.1f} points |"


def slides(runs: int, *, histories: int, seed: int) -> np.ndarray:
    """Return the first blocked build of slides of 0.2 points per build; 0 if none of 200."""
    first = np.zeros(histories, dtype=int)
    for history in range(histories):
        draw = binary(300, 0.7, np.random.default_rng([seed, history, 1]))
        base = draw(0.0, runs).mean(axis=0)
        for build in range(1, 201):
            one = draw(0.002 * build, 1 + RERUNS)
            p, q = (
                np.asarray(worse_test(-x, -base, None, unit=1.0).pvalue)
                for x in (one[0], one.mean(axis=0))
            )
            if answers(np.atleast_1d(p), np.atleast_1d(q), LEVEL)[0][0]:
                first[history] = build
                break
    return first


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    check_against_the_gate(options.seed)
    lines = []
    for line in tables(options.histories, options.seed):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
