"""False claims, coverage and width of intervals from a judge's scores and some human labels.

K equal models are scored by a judge on 1,000 items, and people label some of the items. The first
model gets more from the judge than it deserves. The models are equal by the labels, so every claim
is false.

Usage: python studies/judge_claims.py [--studies 1000] [--seed 0] [--write]
       python studies/judge_claims.py --ppi    (compare with the package ppi-python)
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import bestofk as bk
from bestofk.decide.evidence import Family
from bestofk.evals.evals import Evals
from bestofk.stats.pairwise.clustered import cluster_t
from bestofk.stats.pairwise.judge_correction import prediction_powered

ITEMS = 1000
OUTPUT = Path(__file__).parent / "results" / "judge.md"


@dataclass(frozen=True)
class Case:
    """A kind of score and of judge; `noise` is its share of wrong answers or its spread."""

    name: str
    graded: bool
    noise: float
    bias: float
    clusters: int = 0
    epochs: int = 1
    hard: bool = False


CASES = (
    Case("right or wrong, good judge", False, 0.05, 0.3),
    Case("right or wrong, fair judge", False, 0.15, 0.3),
    Case("right or wrong, useless judge", False, 0.5, 0.3),
    Case("1 to 5, good judge", True, 0.4, 0.5),
    Case("1 to 5, fair judge", True, 1.0, 0.5),
    Case("1 to 5, useless judge", True, 20.0, 0.5),
)
MORE = (
    Case("right or wrong, fair judge, 200 clusters of 5 items", False, 0.15, 0.3, clusters=200),
    Case("1 to 5, fair judge, 200 clusters of 5 items", True, 1.0, 0.5, clusters=200),
    Case("1 to 5, fair judge, 3 epochs", True, 1.0, 0.5, epochs=3),
    Case("1 to 5, fair judge, only the hardest items labelled", True, 1.0, 0.5, hard=True),
)


def scores(case: Case, K: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return labels and judge's scores (K, items, epochs), and the difficulty of the items."""
    item = rng.normal(0.0, 1.0, ITEMS)
    if case.clusters:
        item += np.repeat(rng.normal(0.0, 0.7, case.clusters), ITEMS // case.clusters)
    ability = rng.normal(0.0, 0.8, (K, ITEMS, 1))
    if case.clusters:
        shared = rng.normal(0.0, 0.5, (K, case.clusters))
        ability += np.repeat(shared, ITEMS // case.clusters, axis=1)[..., np.newaxis]
    latent = item[np.newaxis, :, np.newaxis] + ability
    latent = latent + rng.normal(0.0, 0.4, (K, ITEMS, case.epochs))
    if case.graded:
        human = np.clip(np.rint(3.4 + latent), 1, 5)
        judge = 3.4 + latent + rng.normal(0.0, case.noise, latent.shape)
        judge[0] += case.bias
        return human, np.clip(np.rint(judge), 1, 5), item
    human = (latent > -0.8).astype(float)
    judge = np.where(rng.random(latent.shape) < case.noise, 1 - human, human)
    favoured = (human[0] == 0) & (rng.random(human[0].shape) < case.bias)
    judge[0] = np.where(favoured, 1.0, judge[0])
    return human, judge, item


def as_evals(judge: np.ndarray, clusters: int) -> Evals:
    """Return the scores (K, items, epochs) as logs."""
    K, n = judge.shape[:2]
    model, item, epoch = (x.ravel().astype(np.int32) for x in np.indices(judge.shape))
    unknown = np.full(judge.size, np.nan)
    cluster = np.arange(n, dtype=np.int32) // (n // clusters if clusters else 1)
    return Evals(
        models=tuple(f"m{k}" for k in range(K)), tasks=("task",),
        items=tuple(map(str, range(n))), clusters=tuple(map(str, range(clusters))),
        item_task=np.zeros(n, dtype=np.int32), item_cluster=cluster.astype(np.int32),
        model=model, item=item, epoch=epoch + 1, score=judge.ravel(), cost=unknown,
        latency=unknown.copy(), tokens_in=unknown.copy(), tokens_out=unknown.copy(),
        status=np.zeros(judge.size, dtype=np.int8), metric="score", higher_is_better=True,
    )  # fmt: skip


def outcome(
    case: Case, K: int, labels: int, rng: np.random.Generator, *, whole: bool
) -> tuple[float, ...]:
    """Return: any claim by the judge alone, any claim with labels, missed, and relative widths.

    The test is called as `compare_evals` calls it. If `whole`, check that `compare_evals` gets the
    same p-values, and let it decide by the judge alone; otherwise the first number is NaN.
    """
    human, judge, item = scores(case, K, rng)
    known = np.zeros(ITEMS, dtype=bool)
    known[np.argsort(item)[:labels] if case.hard else rng.permutation(ITEMS)[:labels]] = True
    truth, f = -human.mean(axis=2), -judge.mean(axis=2)
    cluster = np.arange(ITEMS) // (ITEMS // case.clusters if case.clusters else 1)
    family = Family(learners=K, alpha=0.05, correction="holm")
    first, second = family.pairs()
    unit = 1.0
    if case.graded:
        unit = float(np.ptp(truth[:, known]))
    result = prediction_powered(
        f[first], f[second], truth=(truth[first][:, known], truth[second][:, known]),
        labelled=known, clusters=cluster, unit=unit,
    )  # fmt: skip
    only = cluster_t(
        truth[first][:, known], truth[second][:, known], clusters=cluster[known], unit=unit
    )
    ends, alone = (one.confidence_interval(family.interval_level()) for one in (result, only))
    missed = float(((np.asarray(ends.low) > 0) | (np.asarray(ends.high) < 0)).any())
    ratio = (np.asarray(ends.high) - ends.low) / (np.asarray(alone.high) - alone.low)
    adjusted = family.adjust(np.atleast_1d(result.pvalue))
    by_judge = np.nan
    if whole:
        logs = as_evals(judge, case.clusters)
        by_judge = float(bool(bk.compare_evals(logs).decision.claims))
        labelled = np.where(known, human.mean(axis=2), np.nan)
        decision = bk.compare_evals(replace(logs, truth=labelled, truth_name="human")).decision
        decided = decision.evidence.adjusted_pvalue
        if not np.allclose(np.sort(decided), np.sort(adjusted), rtol=1e-6):
            raise AssertionError("compare_evals decides otherwise.")
    claims = float((adjusted <= family.alpha).any())
    return by_judge, claims, missed, float(ratio.mean()), float(ratio.max())


def compare_with_ppi(seed: int) -> None:
    """Print the estimates and standard errors of bestofk and of ppi-python for the same data."""
    try:
        import ppi_py
    except ImportError:
        sys.exit("This comparison needs the package ppi-python.")
    for number, case in enumerate(CASES):
        human, judge, _ = scores(case, 2, np.random.default_rng([seed, number]))
        y, f = (x[0, :, 0] - x[1, :, 0] for x in (human, judge))
        known = np.random.default_rng(seed).permutation(ITEMS) < 200
        ours = prediction_powered(
            judge[0, :, 0], judge[1, :, 0], truth=human[:, known, 0], labelled=known
        )
        parts = y[known], f[known], f[~known]
        theirs = float(np.squeeze(ppi_py.ppi_mean_pointestimate(*parts)))
        low, high = (float(np.squeeze(end)) for end in ppi_py.ppi_mean_ci(*parts, alpha=0.05))
        interval = ours.confidence_interval(0.95)
        print(
            f"{case.name}: bestofk {ours.estimate:.4f} ({interval.low:.4f} to {interval.high:.4f})"
            f", ppi-python {theirs:.4f} ({low:.4f} to {high:.4f})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ppi", action="store_true")
    options = parser.parse_args()
    if options.ppi:
        compare_with_ppi(options.seed)
        return
    designs = [(case, K, labels) for case in CASES for K in (2, 5) for labels in (50, 100, 200)]
    designs += [(case, 2, 100) for case in MORE]
    lines = [
        "| scores and judge | models | labels | judge alone, any false claim (%) | with labels (%) "
        "| intervals that miss (%) | width relative to labels alone | largest |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for number, (case, K, labels) in enumerate(designs):
        rng = np.random.default_rng([options.seed, number])
        runs = np.array(
            [outcome(case, K, labels, rng, whole=i < 50) for i in range(options.studies)]
        )
        rates, width, largest = (
            100 * np.nanmean(runs[:, :3], axis=0),
            runs[:, 3].mean(),
            runs[:, 4].max(),
        )
        cells = [case.name, str(K), str(labels), *(f"{rate:.1f}" for rate in rates)]
        lines.append(f"| {' | '.join([*cells, f'{width:.2f}', f'{largest:.2f}'])} |")
        print(lines[-1], flush=True)
    lines += [
        "",
        f"{options.studies:,} studies in each row: {ITEMS:,} items, models that are equal by the "
        "labels, and a judge that favours the first one. Any claim is false, and 5 percent are "
        "allowed (the judge alone: 50 studies). The intervals hold for all pairs together. "
        f"Made by `python studies/judge_claims.py --studies {options.studies} "
        f"--seed {options.seed} --write`.",
    ]
    if options.write:
        OUTPUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
