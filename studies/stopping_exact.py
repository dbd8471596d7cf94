"""Whether what is settled without risk is ever undone by the rest of the plan: a search.

    python studies/stopping_exact.py                  5,000 tables, about 100 endings each
    python studies/stopping_exact.py --tables 200 --seed 7

A table has 2 to 6 learners, 4 to 10 runs of 2 to 10 folds, any correction, family, guard, target
and preference, and losses that are error rates, any numbers between 0 and 1 or any numbers at
all. The race is replayed without risk; then all that it did not use is replaced by endings made
to undo its verdict: everybody at 0 or 1, or where the statistic of a pair is largest, or at what
brings a p-value nearest to alpha; the nearest ones are changed at random and tried again. Every
ending is decided in full by `bestofk.ordering.order_many`. One that differs is a counterexample.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.ordering import order_many
from bestofk.ordering.evidence.family import Family
from bestofk.stopping import PlannedT, StoppingRule, replay
from bestofk.stopping.planned_units import PlannedUnits
from bestofk.stopping.race import Raced

Floats = npt.NDArray[np.float64]
CORRECTIONS = ("holm", "bonferroni", "hochberg", "shaffer", "bergmann-hommel",
               "benjamini-yekutieli", "none")  # fmt: skip
KINDS = ("errors", "bounded", "any")
ROWS_OF_FOLD, DRAWN, ROUNDS, KEPT = 20, 40, 3, 5
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table, and how it is decided."""

    losses: Floats
    kind: str
    family: Family
    guard: bool
    stated: bool
    target: str
    ranks: Floats | None = None
    """Of a preference that leaves some learners alike."""

    @property
    def prior(self) -> Any:
        """The preference of the full plan."""
        if self.ranks is not None:
            return dict(enumerate(self.ranks.tolist()))
        return "listed" if self.stated else None

    @property
    def called(self) -> str:
        """The test of the full plan."""
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
        rule = StoppingRule(risk=0.0, target=self.target)  # type: ignore[arg-type]
        return replay(
            self.losses, self.test, self.family, rule, guard=self.guard, stated=self.stated,
            ranks=self.ranks,
        )  # fmt: skip


def draw(rng: np.random.Generator) -> Case:
    """A table of any kind."""
    K, runs, folds = int(rng.integers(2, 7)), int(rng.integers(4, 11)), int(rng.integers(2, 11))
    kind = str(rng.choice(KINDS))
    spread = rng.choice([0.0, 0.1, 0.3, 0.6])
    level = np.clip(0.2 + spread * rng.permutation(np.linspace(0, 1, K)), 0.0, 0.95)
    # folds that are hard are hard for everybody
    shared = rng.choice([0.0, 0.05, 0.1]) * rng.standard_normal((1, runs, folds))
    chance = np.clip(level[:, None, None] + shared, 0.0, 1.0)
    if kind == "errors":
        losses = rng.binomial(ROWS_OF_FOLD, chance) / ROWS_OF_FOLD
    else:
        losses = chance + rng.choice([0.01, 0.05, 0.2]) * rng.standard_normal(chance.shape)
        losses = np.clip(losses, 0.0, 1.0) if kind == "bounded" else losses
    name = str(rng.choice(["all", "prior", "control"], p=[0.6, 0.2, 0.2]))
    corrections = CORRECTIONS if name == "all" else ("holm", "bonferroni", "hochberg")
    control = int(rng.integers(K)) if name == "control" else None
    stated = name == "prior" or bool(rng.integers(4))
    return Case(
        losses=losses,
        kind=kind,
        family=Family(
            name=name, learners=K, alpha=ALPHA, correction=str(rng.choice(corrections)),
            control=control,
        ),
        guard=bool(rng.integers(2)),
        stated=stated,
        target=str(rng.choice(["best", "order"])),
        ranks=drawn_ranks(rng, K) if stated else None,
    )  # fmt: skip


def drawn_ranks(rng: np.random.Generator, learners: int) -> Floats | None:
    """What a preference says that leaves some alike, in a third of the cases."""
    ranks = np.sort(rng.integers(0, 3, learners)).astype(np.float64)
    return ranks if len(set(ranks.tolist())) < learners and rng.random() < 1 / 3 else None


def first_endings(rng: np.random.Generator, case: Case, used: Floats) -> Floats:
    """(B, K, runs, folds): the rest of the table made up, each learner at a level of its own."""
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
    """The rest where nothing was used, as losses of the kind."""
    if case.kind != "any":
        rest = np.clip(rest, 0.0, 1.0)
    if case.kind == "errors":
        rest = np.round(rest * ROWS_OF_FOLD) / ROWS_OF_FOLD
    return np.where(np.isnan(used), rest, used)


def changed(rng: np.random.Generator, case: Case, used: Floats, endings: Floats) -> Floats:
    """Endings near to those given."""
    many = np.repeat(endings, DRAWN // len(endings), axis=0)
    moved = rng.choice([0.05, 0.2, 1.0], size=(len(many), 1, 1, 1)) * rng.standard_normal(
        many.shape
    )
    # everything of a learner, or single cells
    whole = rng.random((len(many), 1, 1, 1)) < 0.5
    moved = np.where(whole, moved[:, :, :1, :1], moved)
    who = rng.random((*many.shape[:2], 1, 1)) < 0.5
    return filled(case, used, many + who * moved)


def undone(case: Case, raced: Raced, endings: Floats) -> tuple[int, Floats]:
    """How many endings are decided otherwise, and how near each comes to that."""
    family = case.family
    decided = order_many(
        endings[..., 0] if isinstance(case.test, PlannedUnits) else endings,
        prior=case.prior,
        test=case.called,
        correction=family.correction,
        family=family.name,
        control=family.control,
        guard=case.guard if case.stated else None,
    )
    verdict = raced.looks[-1].verdict
    got = verdict.order()[0] if case.target == "order" else np.flatnonzero(verdict.candidates())
    differs = (decided.order[:, : len(got)] != got).any(axis=1)
    # what is sure is claimed by every ending, and nothing that is impossible
    claims = decided.claims.swapaxes(1, 2)
    if family.name != "prior":
        differs |= (verdict.sure & ~claims).any(axis=(1, 2))
        differs |= (claims & ~verdict.possible).any(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.abs(np.log(decided.adjusted_pvalue / ALPHA))
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
    """Counterexamples, and what was tried."""
    rng = np.random.default_rng(seed)
    found = dict.fromkeys(("tables", "stopped", "endings", "counterexamples", "saved"), 0.0)
    while found["stopped"] < tables:
        case = draw(rng)
        raced = case.raced()
        found["tables"] += 1
        used = raced.losses
        if not raced.settled or not np.isnan(used).any():
            # the whole plan was needed, and nothing is left to undo anything
            continue
        found["stopped"] += 1
        found["saved"] += np.isnan(used).mean() / tables
        endings = first_endings(rng, case, used)
        for _ in range(ROUNDS):
            wrong, near = undone(case, raced, endings)
            found["endings"] += len(endings)
            found["counterexamples"] += wrong
            if wrong:
                print(f"COUNTEREXAMPLE: {case.family}, {case.kind}, guard {case.guard}, "
                      f"stated {case.stated}, {case.target}, {used.shape}", flush=True)  # fmt: skip
                break
            endings = changed(rng, case, used, endings[np.argsort(near)[:KEPT]])
    return found


def tell(tables: int, seed: int, *how: Any) -> None:
    """Search, and print what was found."""
    begin = time.perf_counter()
    found = search(tables, seed, *how)
    print(
        f"{found['stopped']:.0f} tables stopped early (of {found['tables']:.0f} drawn; "
        f"{100 * found['saved']:.0f} % saved), {found['endings']:.0f} endings: "
        f"{found['counterexamples']:.0f} counterexamples; {time.perf_counter() - begin:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    tell(asked.tables, asked.seed)


if __name__ == "__main__":
    main()
