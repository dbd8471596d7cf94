"""Measure wrong claims about equal learners, and which results carry a caution.

    python studies/caution_rates.py            write studies/results/cautions.csv and cautions.md
    python studies/caution_rates.py --smoke    print the table from few studies

A study draws K learners with equal expected losses and decides by the test of its design. It errs
if a fixed learner differs from any other at level 0.05 / (K - 1). A design whose rate exceeds 8
percent should carry a caution, any other design should not. The limits of the signs were chosen on
the designs of `CELLS`; those of `FRESH` were drawn once, afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import bestofk as bk
from bestofk.decide.cautions import USUAL_RATE, caution_of
from bestofk.decide.choose_test import choose_test
from bestofk.decide.problem import Subject, as_problem
from bestofk.evals.choosing import clustered_choice
from bestofk.splits.plans import plan as make_plan
from bestofk.stats.pairwise import corrected_resampled_t, mcnemar, welch_t
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS
from case_table import write_csv
from null_tables import (
    correlated,
    fewer_runs,
    graded_rarely_right,
    graded_skewed,
    graded_symmetric,
    in_clusters,
    losses_of,
    of_shape,
    out_of,
    right_or_wrong,
    series,
)

STUDIES, LEARNERS = 400, (2, 5)
OUT = Path("studies/results/cautions.md")
Draw = Callable[[np.random.Generator, int, int], Any]
Rows = list[dict[str, Any]]


def lognormal(sigma):
    """Lognormal losses; every second learner has hardly any variance."""

    def of(rng, K, n):
        losses = rng.lognormal(0.0, sigma, (K, n)) - np.exp(sigma * sigma / 2.0)
        losses[1::2] *= -0.01
        return losses

    return of


def pareto(rng, K, n):
    """Losses with infinite skewness, skewed in opposite directions."""
    losses = rng.pareto(2.2, (K, n)) - 1.0 / 1.2
    losses[1::2] *= -1.0
    return losses


def one_skewed(rng, K, n):
    """Only the first learner has skewed losses."""
    losses = 0.3 * rng.standard_normal((K, n))
    losses[0] += rng.lognormal(0.0, 1.0, n) - np.exp(0.5)
    return losses


def blocks(length):
    """Losses whose difference changes its sign at random every so many steps."""

    def of(rng, K, n):
        start = rng.integers(0, length)
        signs = rng.choice([-1.0, 1.0], (K, n // length + 2))
        return signs[:, (np.arange(n) + start) // length] + rng.standard_normal((K, n))

    return of


def hidden_drift(rng, K, n):
    """A slow autoregression under noise."""
    return 0.25 * series(0.97)(rng, K, n) + rng.standard_normal((K, n))


def sizes_of(clusters):
    """Return cluster sizes from 1 to 16."""
    return np.maximum(1, np.round(np.geomspace(1, 16, clusters))).astype(int)


def unequal(by_size):
    """Right or wrong answers in clusters of unequal size; the models may differ by size."""

    def of(rng, K, clusters):
        sizes = sizes_of(clusters)
        # half of the items are in large clusters
        large = np.cumsum(sizes) > sizes.sum() / 2
        items = np.array([sizes[large].sum(), sizes[~large].sum()])
        effect = np.where(large, items[1], -items[0]) / items.max() * (0.2 if by_size else 0.0)
        sides = np.where(np.arange(K) % 2, 1.0, -1.0)[:, np.newaxis]
        chance = 0.5 + sides * effect + rng.normal(0.0, 0.1, (K, clusters))
        labels = np.repeat(np.arange(clusters), sizes)
        return (rng.random((K, len(labels))) < chance[:, labels]).astype(float)

    return of


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One kind of study."""

    units: str
    name: str
    n: int
    draw: Draw
    design: str = ""
    clusters: int = 0

    def problem(self, table: Any) -> tuple[Any, Any]:
        """Return the problem of a table, and its test."""
        if self.design:
            return as_problem(losses_of(self, table), missing="allow"), "auto"
        n = table.shape[1]
        labels = np.arange(n)
        if self.units == "clusters":
            labels = (
                np.repeat(np.arange(self.n), sizes_of(self.n))
                if "unequal" in self.name
                else np.repeat(np.arange(n // 5), 5)
            )
        binary = bool(np.isin(table, (0.0, 1.0)).all())
        name = "cluster-sign-flip" if binary else "cluster-t"
        test: Any = clustered_choice(name, clusters=labels, unit=1.0)
        if binary and self.units == "items":
            test = "mcnemar"
        names = [f"m{k}" for k in range(len(table))]
        losses = bk.Scores(1.0 - table, dims=("learner", "instance"), learners=names)
        many = len(np.unique(labels))
        subject = Subject(
            noun="model", n_clusters=None if test == "mcnemar" else many, clustered=many < n
        )
        return replace(as_problem(losses), subject=subject), test


def folds(rng, K, rows, *, normal):
    """Return a table of fold means of losses of single rows, and their design."""
    losses = rng.standard_normal((K, rows)) if normal else of_shape("lognormal", True)(rng, K, rows)
    splits = make_plan("3x5+nested", random_state=int(rng.integers(1 << 30))).materialise(rows)
    values = np.array([losses[:, test].mean(axis=1) for _, _, _, test in splits]).T
    return bk.Scores(
        values[:, :15].reshape(K, 3, 5), dims=("learner", "run", "fold"), design=splits.design,
        subset_values=values[:, 15:].reshape(K, 1, -1, 2, 1),
        learners=[f"m{k}" for k in range(K)],
    )  # fmt: skip


UNIT_SHAPES: dict[str, Draw] = {
    "normal": of_shape("normal"),
    "variances differ": of_shape("normal", sds=3.0),
    "heavy tails (t with 3 df)": of_shape("t with 3 df"),
    "exponential, opposite skews": of_shape("exponential", True),
    "contaminated, opposite skews": of_shape("contaminated", True),
    "lognormal, opposite skews": of_shape("lognormal", True),
    "one learner lognormal": one_skewed,
    "lognormal with sigma 2": lognormal(2.0),
    "coarse (20 items)": out_of(20),
}
CELLS = (
    *(Cell(units="data sets", name=name, n=n, draw=draw, design="scores")
      for name, draw in UNIT_SHAPES.items() for n in (5, 12, 30, 100)),
    *(Cell(units="training runs", name=name, n=n, draw=UNIT_SHAPES[name], design="seeds")
      for name in ("normal", "exponential, opposite skews", "lognormal, opposite skews",
                   "lognormal with sigma 2", "coarse (20 items)") for n in (5, 30)),
    *(Cell(units="training runs", name="every second has a third", n=n, draw=fewer_runs(1 / 3),
           design="seeds") for n in (9, 30)),
    *(Cell(units="items", name=name, n=n, draw=draw)
      for name, draw in (("graded, symmetric", graded_symmetric), ("graded, skewed", graded_skewed),
                         ("graded, rarely right", graded_rarely_right),
                         ("right or wrong", right_or_wrong)) for n in (8, 15, 30, 100)),
    *(Cell(units="clusters", name=f"{name}, clusters of 5", n=5 * n, draw=in_clusters(draw, 5))
      for name, draw in (("graded, skewed", graded_skewed), ("right or wrong", right_or_wrong))
      for n in (8, 30)),
    *(Cell(units="clusters", name=f"right or wrong, unequal sizes{words}", n=n,
           draw=unequal(bool(words)))
      for words in ("", ", the better model depends on the size") for n in (10, 30)),
    *(Cell(units="folds", name=name, n=n, draw=correlated(0.1), design=design)
      for name, design, n in (("10 folds, normal", "cv", 10), ("30 splits, normal", "resample", 30))
      ),
    *(Cell(units="series", name=name, n=n, draw=draw, design="time")
      for name, draw in (
          *((f"autocorrelation {rho:g}", series(rho)) for rho in (0.0, 0.5, 0.8, 0.95)),
          *((f"sign changes every {k}", blocks(k)) for k in (20, 40)),
          ("slow drift under noise", hidden_drift),
      ) for n in (50, 100, 200)),
)  # fmt: skip


FRESH = (
    *(Cell(units="data sets", name=name, n=n, draw=draw, design="scores")
      for name, draw in (*UNIT_SHAPES.items(), ("lognormal with sigma 1.7", lognormal(1.7)),
                         ("Pareto, opposite skews", pareto)) for n in (8, 20, 60)),
    *(Cell(units="training runs", name=name, n=n, draw=UNIT_SHAPES[name], design="seeds")
      for name in ("heavy tails (t with 3 df)", "contaminated, opposite skews",
                   "lognormal with sigma 2") for n in (10, 20)),
    *(Cell(units="items", name=name, n=n, draw=draw)
      for name, draw in (("graded, symmetric", graded_symmetric), ("graded, skewed", graded_skewed),
                         ("graded, rarely right", graded_rarely_right)) for n in (11, 18, 60)),
    *(Cell(units="series", name=name, n=n, draw=draw, design="time")
      for name, draw in (("autocorrelation 0.3", series(0.3)), ("autocorrelation 0.7", series(0.7)),
                         ("sign changes every 30", blocks(30)),
                         ("slow drift under noise", hidden_drift))
      for n in (70, 150, 300)),
)  # fmt: skip
"""Designs and sizes on which nothing was chosen."""


def problems(cell: Cell, K: int, studies: int) -> Iterator[tuple[Any, Any]]:
    rng = np.random.default_rng([K, cell.n, *f"{cell.units} {cell.name}".encode()])
    for _ in range(studies):
        yield cell.problem(cell.draw(rng, K, cell.n))


def row_problems(normal: bool, rows: int, K: int, studies: int) -> Iterator[tuple[Any, Any]]:
    rng = np.random.default_rng([K, rows, int(normal)])
    for _ in range(studies):
        yield as_problem(folds(rng, K, rows, normal=normal)), "auto"


def outcome(problem: Any, test: Any) -> tuple[bool, bool]:
    """Return whether the first learner differs from another, and whether there is a caution."""
    choice = choose_test(problem, test)
    values = problem.sample(choice.axes)
    first = problem.names.index("m0")
    others = np.delete(values, first, axis=0)
    if test == "mcnemar":
        p = mcnemar(np.broadcast_to(values[first], others.shape), others, exact=True).pvalue
    else:
        p = choice(np.broadcast_to(values[first], others.shape), others, "two-sided").pvalue
    wrong = bool(np.min(p) <= 0.05 / len(others))
    return wrong, bool(caution_of(problem, choice))


def measure(studies: int, cells: tuple[Cell, ...]) -> Rows:
    """Return one row per design and number of learners."""
    rows = []
    sources = [(cell.units, cell.name, cell.n, lambda K, s, c=cell: problems(c, K, s))
               for cell in cells]  # fmt: skip
    sources += [] if cells is FRESH else [
        ("folds", f"{words} losses of rows, 3x5+nested", n,
         lambda K, s, normal=normal, n=n: row_problems(normal, n, K, s))
        for words, normal in (("normal", True), ("lognormal", False)) for n in (30, 100)
    ]  # fmt: skip
    for units, name, n, draw in sources:
        for K in LEARNERS:
            results = np.array([outcome(*one) for one in draw(K, studies)])
            wrong, cautioned = results.T
            shares = wrong.mean(), cautioned.mean(), (wrong & ~cautioned).mean()
            percents = (round(100 * float(share), 1) for share in shares)
            rows.append({
                "units": units, "name": name, "n": n, "K": K,
                **dict(zip(("rate", "cautioned", "bare"), percents, strict=True)),
            })  # fmt: skip
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def named_tests(studies: int) -> Iterator[tuple[str, int, float]]:
    """Yield the rates of tests that ignore skewness or order: test, size and percent."""
    rng = np.random.default_rng(1)
    for n in rates_of("welch-t", "skewed"):
        # the mean of lognormal losses is exp(1/2); the other learner has the opposite skewness
        a, b = rng.lognormal(size=(2, studies, n)) - np.exp(0.5)
        yield "welch-t", n, 100 * np.mean(np.asarray(welch_t(a, -b).pvalue) <= 0.05)
    n, windows = 100, 10.0
    for size in rates_of("corrected-resampled-t", "autocorrelated"):
        d = series(size / 100)(rng, studies, n)
        result = corrected_resampled_t(
            d, 0 * d, n_train=windows * np.arange(1, n + 1), n_test=windows
        )
        yield "corrected-resampled-t", size, 100 * np.mean(np.asarray(result.pvalue) <= 0.05)


def rates_of(test: str, sign: str) -> Any:
    """Return the rates of a caution of a registered test."""
    return next(one.rates for one in PAIRWISE_TESTS[test].cautions if one.sign == sign)


def summary(rows: Rows) -> str:
    """Return how often a caution appears on designs with few and with many wrong claims."""
    high = [row["cautioned"] for row in rows if row["rate"] > USUAL_RATE]
    low = [row["cautioned"] for row in rows if row["rate"] <= USUAL_RATE]
    return (
        f"A caution appears in {np.mean(low):.1f} percent of the results of {len(low)} designs "
        f"with at most {USUAL_RATE:g} percent wrong claims, and in {np.mean(high):.0f} percent of "
        f"those of {len(high)} designs with more."
    )


def table(rows: Rows) -> list[str]:
    """Return one line per design."""
    lines = [
        "| units | equal learners | n | wrong K = 2 | K = 5 | with a caution K = 2 | K = 5 | "
        "wrong without a caution |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for two, five in zip(rows[::2], rows[1::2], strict=True):
        lines.append(
            f"| {two['units']} | {two['name']} | {two['n']} | {two['rate']:.1f} | "
            f"{five['rate']:.1f} | {two['cautioned']:.0f} | {five['cautioned']:.0f} | "
            f"{two['bare']:.1f} / {five['bare']:.1f} |"
        )
    return lines


def page(chosen: Rows, fresh: Rows, studies: int) -> str:
    """Return the page: designs on which the limits were chosen, and fresh ones."""
    lines = [
        f"**Designs on which the limits of the signs were chosen.** {summary(chosen)}", "",
        *table(chosen), "",
        f"**Fresh designs, drawn once.** {summary(fresh)}", "", *table(fresh),
    ]  # fmt: skip
    lines += ["", "| test | size | wrong |", "|---|---:|---:|"]
    lines += [f"| {test} | {size} | {rate:.1f} |" for test, size, rate in named_tests(10 * studies)]
    return "\n".join([
        *lines, "",
        f"Percent of {studies:,} studies each; a wrong rate of 5 percent has a standard error of "
        f"{100 * np.sqrt(0.0475 / studies):.1f}. *Wrong*: a fixed learner of K equal ones differs "
        "from another at level 0.05 / (K - 1); 5 are allowed. *n*: the number of units; of *folds* "
        "that of folds, splits or rows. The second table has tests that ignore skewness (lognormal "
        "training runs; the size is their number) or order (windows in time; 100 times the lag-1 "
        "autocorrelation). Made by `python studies/caution_rates.py`.", "",
    ])  # fmt: skip


def main() -> None:
    smoke = "--smoke" in sys.argv
    studies = 5 if smoke else STUDIES
    chosen, fresh = measure(studies, CELLS), measure(studies, FRESH)
    if smoke:
        print(page(chosen, fresh, studies))
    else:
        write(chosen, fresh, studies)


def write(chosen: Rows, fresh: Rows, studies: int) -> None:
    parts = (("chosen", chosen), ("fresh", fresh))
    write_csv(
        OUT.with_suffix(".csv"), [{"designs": part, **row} for part, rows in parts for row in rows]
    )
    OUT.write_text(page(chosen, fresh, studies), encoding="utf-8")


if __name__ == "__main__":
    main()
