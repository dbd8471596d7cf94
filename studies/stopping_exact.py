"""Search for endings of a plan that undo a decision made without risk.

    python studies/stopping_exact.py                  5,000 tables, about 100 endings each
    python studies/stopping_exact.py --tables 200 --seed 7

A table has 2 to 6 learners, 4 to 10 runs of 2 to 10 folds, any correction, family, target
and preference, and losses that are error rates, numbers between 0 and 1, or any numbers. Replay the
race without risk, then replace everything that it did not use by endings that could undo its
decision: all learners at 0 or 1, or values that make the statistic of a pair largest, or bring a
p-value nearest to alpha. The nearest endings are changed at random and tried again.
`bestofk.decide.order_tables` decides every ending in full; one that differs is a counterexample.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.decide import order_many
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import PlannedT, StopRule, replay
from bestofk.decide.stopping.bounds import PlannedUnits
from bestofk.decide.stopping.races import Raced

Floats = npt.NDArray[np.float64]
CORRECTIONS = ("holm", "bonferroni", "hochberg", "shaffer", "bergmann-hommel",
               "benjamini-yekutieli", "none")  # fmt: skip
FAMILIES = ("best", "all", "preference", "control")
KINDS = ("errors", "bounded", "any")
ROWS_OF_FOLD, DRAWN, ROUNDS, NEAREST = 20, 40, 3, 5
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table with the settings of its decision."""

    losses: Floats
    kind: str
    family: Family
    stated: bool
    target: str
    ranks: Floats | None = None
    """Ranks of a preference with ties."""

    @property
    def prefer(self) -> Any:
        """Preference of the full plan."""
        if self.ranks is not None:
            return dict(enumerate(self.ranks.tolist()))
        return "listed" if self.stated else None

    @property
    def test_name(self) -> str:
        """Name of the test of the full plan."""
        return "corrected-repeated-kfold-t"

    @property
    def test(self) -> PlannedT | PlannedUnits:
        _, runs, folds = self.losses.shape
        return PlannedT(
            runs=runs, folds=folds, df=runs * folds - 1, test_share=1 / (folds - 1),
            span=None if self.kind == "any" else 1.0,
            step=1 / ROWS_OF_FOLD if self.kind == "errors" else 0.0,
        )  # fmt: skip

    def raced(self) -> Raced:
        rule = StopRule(risk=0.0, target=self.target)  # type: ignore[arg-type]
        return replay(
            self.losses, self.test, self.family, rule, stated=self.stated, ranks=self.ranks
        )


def draw(rng: np.random.Generator) -> Case:
    """Draw a table of any kind."""
    K, runs, folds = int(rng.integers(2, 7)), int(rng.integers(4, 11)), int(rng.integers(2, 11))
    kind = str(rng.choice(KINDS))
    spread = rng.choice([0.0, 0.1, 0.3, 0.6])
    level = np.clip(0.2 + spread * rng.permutation(np.linspace(0, 1, K)), 0.0, 0.95)
    # hard folds are hard for all learners
    shared = rng.choice([0.0, 0.05, 0.1]) * rng.standard_normal((1, runs, folds))
    chance = np.clip(level[:, None, None] + shared, 0.0, 1.0)
    if kind == "errors":
        losses = rng.binomial(ROWS_OF_FOLD, chance) / ROWS_OF_FOLD
    else:
        losses = chance + rng.choice([0.01, 0.05, 0.2]) * rng.standard_normal(chance.shape)
        losses = np.clip(losses, 0.0, 1.0) if kind == "bounded" else losses
    name = str(rng.choice(FAMILIES, p=[0.4, 0.3, 0.15, 0.15]))
    corrections = CORRECTIONS if name == "all" else ("holm", "bonferroni", "hochberg")
    control = int(rng.integers(K)) if name == "control" else None
    stated = name == "preference" or bool(rng.integers(4))
    return Case(
        losses=losses,
        kind=kind,
        family=Family(
            name=name, learners=K, alpha=ALPHA, correction=str(rng.choice(corrections)),
            control=control,
        ),
        stated=stated,
        target=str(rng.choice(["best", "order"])),
        ranks=drawn_ranks(rng, K) if stated else None,
    )  # fmt: skip


def drawn_ranks(rng: np.random.Generator, learners: int) -> Floats | None:
    """Draw the ranks of a preference with ties, in a third of the cases."""
    ranks = np.sort(rng.integers(0, 3, learners)).astype(np.float64)
    return ranks if len(set(ranks.tolist())) < learners and rng.random() < 1 / 3 else None


def first_endings(rng: np.random.Generator, case: Case, used: Floats) -> Floats:
    """Make endings (B, K, runs, folds), each learner at its own level."""
    K = len(used)
    means = np.nanmean(used, axis=(1, 2))
    levels = [np.zeros(K), np.ones(K), means, np.full(K, means.min()), np.full(K, means.max())]
    if case.kind == "any":
        levels += [means + size * sign for size in (3.0, 1e3) for sign in (-1, 1)]
    choices = np.array(levels)
    picked = choices[rng.integers(len(choices), size=(DRAWN, K)), np.arange(K)]
    first, second = np.triu_indices(K, 1)
    best = []
    for i, j in zip(first, second, strict=True):
        # equal differences of Q / S make the ratio largest
        d = used[i] - used[j]
        total, squares = np.nansum(d), np.nansum(np.square(d))
        size = min(squares / abs(total), 1.0) if total else 1.0
        for sign in (-1.0, 1.0):
            level = rng.choice(choices, axis=0).copy()
            level[i], level[j] = (size, 0.0) if sign > 0 else (0.0, size)
            best.append(level)
    picked = np.concatenate([picked, best])
    return filled(
        case, used, np.broadcast_to(picked[..., None, None], (*picked.shape, *used.shape[1:]))
    )


def filled(case: Case, used: Floats, rest: Floats) -> Floats:
    """Fill unused cells with losses of the right kind."""
    if case.kind != "any":
        rest = np.clip(rest, 0.0, 1.0)
    if case.kind == "errors":
        rest = np.round(rest * ROWS_OF_FOLD) / ROWS_OF_FOLD
    return np.where(np.isnan(used), rest, used)


def changed(rng: np.random.Generator, case: Case, used: Floats, endings: Floats) -> Floats:
    """Change endings at random."""
    many = np.repeat(endings, DRAWN // len(endings), axis=0)
    moved = rng.choice([0.05, 0.2, 1.0], size=(len(many), 1, 1, 1)) * rng.standard_normal(
        many.shape
    )
    # all losses of a learner, or single losses
    whole = rng.random((len(many), 1, 1, 1)) < 0.5
    moved = np.where(whole, moved[:, :, :1, :1], moved)
    who = rng.random((*many.shape[:2], 1, 1)) < 0.5
    return filled(case, used, many + who * moved)


def undone(case: Case, raced: Raced, endings: Floats) -> tuple[int, Floats]:
    """Return the number of endings with another decision, and how near each comes to one."""
    family = case.family
    is_best = family.name == "best"
    decided = order_many(
        endings[..., 0] if isinstance(case.test, PlannedUnits) else endings,
        prefer=case.prefer,
        test=case.test_name,
        correction=family.correction,
        family=None if is_best else family.name,
        control=family.control,
    )
    verdict = raced.look.verdict
    settled = verdict.order()[0] if case.target == "order" else np.flatnonzero(verdict.candidates())
    differs = (decided.ranking[:, : len(settled)] != settled).any(axis=1)
    # every ending must claim what is certain, and nothing impossible
    claims = decided.claims.swapaxes(1, 2)
    adjusted = decided.adjusted_pvalue
    if is_best:
        adjusted = family.adjust(decided.pvalue)
        differs |= (verdict.sure.any(axis=1) & decided.candidates).any(axis=1)
        differs |= (~verdict.possible.any(axis=1) & ~decided.candidates).any(axis=1)
    elif family.name != "preference":
        differs |= (verdict.sure & ~claims).any(axis=(1, 2))
        differs |= (claims & ~verdict.possible).any(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.abs(np.log(adjusted / ALPHA))
    return int(differs.sum()), np.nanmin(near.reshape(len(near), -1), axis=1)


Draw = Callable[[np.random.Generator], Case]
Begin = Callable[[np.random.Generator, Case, Floats], Floats]
Change = Callable[[np.random.Generator, Case, Floats, Floats], Floats]


def search(
    tables: int,
    seed: int,
    draw: Draw = draw,
    first_endings: Begin = first_endings,
    changed: Change = changed,
) -> dict[str, float]:
    """Return counts of counterexamples, tables and endings."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(("tables", "stopped", "endings", "counterexamples", "saved"), 0.0)
    while counts["stopped"] < tables:
        case = draw(rng)
        raced = case.raced()
        counts["tables"] += 1
        used = raced.losses
        if not raced.settled or not np.isnan(used).any():
            # the whole plan was used
            continue
        counts["stopped"] += 1
        counts["saved"] += np.isnan(used).mean() / tables
        endings = first_endings(rng, case, used)
        for _ in range(ROUNDS):
            wrong, near = undone(case, raced, endings)
            counts["endings"] += len(endings)
            counts["counterexamples"] += wrong
            if wrong:
                print(f"COUNTEREXAMPLE: {case.family}, {case.kind}, "
                      f"stated {case.stated}, {case.target}, {used.shape}", flush=True)  # fmt: skip
                break
            endings = changed(rng, case, used, endings[np.argsort(near)[:NEAREST]])
    return counts


def print_search(tables: int, seed: int, *functions: Any) -> None:
    """Search and print the counts."""
    begin = time.perf_counter()
    counts = search(tables, seed, *functions)
    print(
        f"{counts['stopped']:.0f} tables stopped early (of {counts['tables']:.0f} drawn; "
        f"{100 * counts['saved']:.0f} % saved), {counts['endings']:.0f} endings: "
        f"{counts['counterexamples']:.0f} counterexamples; {time.perf_counter() - begin:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print_search(options.tables, options.seed)


if __name__ == "__main__":
    main()
