"""Measure what stopping early over data sets saves, and search for counterexamples.

    python studies/stopping_datasets.py                      60 tables of each setting
    python studies/stopping_datasets.py --tables 50 --seed 7
    python studies/stopping_datasets.py --search 5000        search for a counterexample

Six learners on 12 and on 20 data sets, shuffled preference. The loss on a data
set is the sum of its difficulty, the effect of the learner, and a normal error with standard
deviation 0.03, rounded to an error rate of 200 rows, so that there are ties. *Typical*: two nearly
equal learners and four that are 0.05 to 0.08 worse; *graded*: steps of 0.02; *null*: six equal
learners.

The search draws tables of 2 to 5 learners on 6 to 14 data sets, with or without ties, under any
family, correction, target and preference, until the given number has stopped early. It then
replaces the unused data sets by endings that could undo the decision: differences tied with
existing ones or with each other, differences of 0, of one sign or both. The endings nearest to the
level are changed and tried again. See `stopping_exact.py`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bestofk.decide import order_many
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import StopRule, replay
from bestofk.decide.stopping.bounds import PlannedUnits
from bestofk.stats.adjust import CORRECTIONS
from stopping_exact import ALPHA, DRAWN, FAMILIES, Case, drawn_ranks, print_search  # type: ignore[import-not-found]

Floats = npt.NDArray[np.float64]
SETTINGS = {
    "typical": [0.0, 0.002, 0.05, 0.06, 0.07, 0.08],
    "graded": [0.0, 0.02, 0.04, 0.06, 0.08, 0.1],
    "null": [0.0] * 6,
}
KINDS = {"wilcoxon": "ranks", "sign": "signs"}
ROWS = 200


def table(rng: np.random.Generator, setting: str, datasets: int) -> Floats:
    """Draw losses (learners, data sets), most preferred learner first."""
    own = rng.permutation(SETTINGS[setting])[:, np.newaxis]
    rates = 0.2 + 0.1 * rng.random(datasets) + own + rng.normal(0, 0.03, (6, datasets))
    return np.asarray(np.round(np.clip(rates, 0.0, 1.0) * ROWS) / ROWS)


@dataclass(frozen=True, kw_only=True)
class DataSets(Case):  # type: ignore[misc]
    """A table of data sets; `levels` is the number of values that a loss can have."""

    levels: int

    @property
    def test_name(self) -> str:
        return {kind: test for test, kind in KINDS.items()}[self.kind]

    @property
    def test(self) -> PlannedUnits:
        return PlannedUnits(kind=self.kind, runs=self.losses.shape[1], span=1.0)

    def rounded(self, losses: Floats, used: Floats) -> Floats:
        """Keep used losses and round the others to the levels."""
        rest = np.round(np.clip(losses, 0.0, 1.0) * self.levels) / self.levels
        return np.asarray(np.where(np.isnan(used), rest, used))


def draw(rng: np.random.Generator) -> DataSets:
    """Draw a table of any kind."""
    K, datasets = int(rng.integers(2, 6)), int(rng.integers(6, 15))
    levels = int(rng.choice([4, 20, 200, 10**6]))
    own = rng.choice([0.0, 0.02, 0.1, 0.3]) * rng.permutation(np.linspace(0, 1, K))
    rates = 0.3 + 0.2 * rng.random(datasets) + own[:, np.newaxis]
    rates += rng.choice([0.01, 0.05, 0.2]) * rng.standard_normal((K, datasets))
    name = str(rng.choice(FAMILIES, p=[0.4, 0.3, 0.15, 0.15]))
    corrections = [
        one for one, entry in CORRECTIONS.items() if name == "all" or not entry.needs_all_pairs
    ]
    stated = name == "preference" or bool(rng.integers(4))
    case = DataSets(
        losses=np.full((K, datasets, 1), np.nan),
        kind=str(rng.choice(list(KINDS.values()))),
        family=Family(
            name=name, learners=K, alpha=ALPHA, correction=str(rng.choice(corrections)),
            control=int(rng.integers(K)) if name == "control" else None,
        ),
        stated=stated,
        ranks=drawn_ranks(rng, K) if stated else None,
        target=str(rng.choice(["best", "order"])),
        levels=levels,
    )  # fmt: skip
    return replace(case, losses=case.rounded(rates[..., np.newaxis], case.losses))


def sizes_of(
    rng: np.random.Generator, case: DataSets, used: Floats, shape: tuple[int, ...]
) -> Floats:
    """Draw differences that are tied with existing ones, 0, small or large."""
    existing = np.abs(used[:, np.newaxis, :, 0] - used[np.newaxis, :, :, 0]).ravel()
    existing = existing[~np.isnan(existing)]
    return rng.choice(np.concatenate([existing, [0.0, 1 / case.levels, 0.5, 1.0]]), shape)


def first_endings(rng: np.random.Generator, case: DataSets, used: Floats) -> Floats:
    """Make endings (B, K, data sets, 1): all learners against one, on one side or both."""
    K, datasets, _ = used.shape
    shape = (2 * DRAWN, K, datasets)
    sizes = sizes_of(rng, case, used, shape)
    alike = rng.random((2 * DRAWN, K, 1)) < 0.5
    sizes = np.where(alike, sizes[:, :, :1], sizes)
    signs = rng.choice([-1.0, 1.0], shape)
    signs = np.where(rng.random((2 * DRAWN, K, 1)) < 0.6, signs[:, :, :1], signs)
    one = rng.integers(K, size=2 * DRAWN)
    level = np.where(np.isnan(used[one, :, 0]), rng.choice([0.0, 0.5, 1.0]), used[one, :, 0])
    endings = level[:, np.newaxis] + signs * sizes
    endings[np.arange(2 * DRAWN), one] = level
    # some extremes
    endings[::8] = rng.integers(0, 2, (len(endings[::8]), K, 1))
    return case.rounded(endings[..., np.newaxis], used)


def changed(rng: np.random.Generator, case: DataSets, used: Floats, endings: Floats) -> Floats:
    """Change endings: move some losses by an existing difference."""
    many = np.repeat(endings, DRAWN // len(endings), axis=0)
    moved = sizes_of(rng, case, used, many.shape) * rng.choice([-1.0, 1.0], many.shape)
    # from the loss itself, or from that of another learner
    other = np.take(many, rng.integers(many.shape[1], size=many.shape[1]), axis=1)
    moved = np.where(rng.random(many.shape) < 0.5, many, other) + moved
    return case.rounded(np.where(rng.random(many.shape) < 0.3, moved, many), used)


def main() -> None:
    """Print a line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--search", type=int, help="number of tables to search for counterexamples")
    options = parser.parse_args()
    if options.search:
        print_search(options.search, options.seed, draw, first_endings, changed)
        return
    family = Family(name="best", learners=6, alpha=0.05, correction="bonferroni")
    for test, kind in KINDS.items():
        for datasets in (12, 20):
            for setting in SETTINGS:
                rng = np.random.default_rng(options.seed)
                losses = np.stack([table(rng, setting, datasets) for _ in range(options.tables)])
                full = order_many(losses, prefer="listed", test=test).recommended
                planned = PlannedUnits(kind=kind, runs=datasets, span=1.0)  # type: ignore[arg-type]
                used, differs = 0, 0
                for one, best in zip(losses, full, strict=True):
                    raced = replay(
                        one[:, :, np.newaxis], planned, family, StopRule(risk=0.0)
                    )  # fmt: skip
                    used += int(raced.runs.sum())
                    candidates = np.flatnonzero(raced.look.verdict.candidates())
                    differs += int(raced.settled and candidates.tolist() != [int(best)])
                saved = 1.0 - used / (options.tables * 6 * datasets)
                print(
                    f"{test:8} {datasets} data sets, {setting:7}: {100 * saved:.0f} % of the fits "
                    f"saved, another one recommended in {differs} of {options.tables}"
                )


if __name__ == "__main__":
    main()
