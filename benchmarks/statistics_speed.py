"""Measure single tests against scipy, autorank, baycomp and numpy.

- ``pairwise``: all one-sided 5x2cv p-values of 1,000 learners against a loop of scipy calls over
  the pairs. The loop runs on 100 learners and is scaled by the number of pairs.
- ``friedman``: Friedman's test, Nemenyi's test and their text against autorank with its report.
- ``signed-rank``: the Bayesian signed rank test against baycomp, 50,000 draws each.
- ``hierarchical``: the hierarchical Bayesian test of 100 data sets with 10 x 10 folds, against the
  limit of one second of CPU time (baycomp needs a compiler).
- ``bootstrap``: Bootstrap-A of 5 learners on 64 data sets, exact and resampled, against numpy's
  `Generator.permuted`, 1,000,000 resamples (measured on 50,000 and scaled).

``python benchmarks/run.py statistics_speed:friedman`` measures one of them.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from timing import Row, best

LEARNERS, LOOP_LEARNERS = 1_000, 100
FRIEDMAN_SIZES = ((5, 64), (50, 200))
RESAMPLES, MEASURED_RESAMPLES, CHUNK = 1_000_000, 50_000, 5_000


def pairwise() -> Iterator[Row]:
    from bestofk.stats.pairwise import all_pairs

    losses = _losses(LEARNERS)
    few = _losses(LOOP_LEARNERS)
    ours = all_pairs("5x2cv-t", few[:5], alternative="greater").pvalue
    np.testing.assert_allclose(ours, _scipy_loop(few[:5]), rtol=1e-11)
    pairs = LEARNERS * (LEARNERS - 1) / (LOOP_LEARNERS * (LOOP_LEARNERS - 1))
    peer = pairs * best(lambda: _scipy_loop(few), times=1, clock=time.perf_counter)
    own = best(
        lambda: all_pairs("5x2cv-t", losses, alternative="greater"),
        times=5,
        clock=time.perf_counter,
    )
    yield "pairwise-5x2cv", peer / own, own, peer


def _losses(learners: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(0.2, 0.02, (learners, 5, 2)) + rng.normal(0, 0.05, (learners, 1, 1))


def _scipy_loop(losses: np.ndarray) -> list[float]:
    from scipy import stats

    pvalues = []
    for i in range(len(losses)):
        for j in range(i + 1, len(losses)):
            d = losses[i] - losses[j]
            m = d.mean(axis=1, keepdims=True)
            s_squared = ((d - m) ** 2).sum(axis=1)
            t = d[0, 0] / np.sqrt(s_squared.sum() / 5)
            pvalues.append(stats.t.sf(t, 5))
    return pvalues


def friedman() -> Iterator[Row]:
    for learners, blocks in FRIEDMAN_SIZES:
        rng = np.random.default_rng(learners)
        lift = rng.permutation(learners)[:, None] / learners
        losses = rng.random((learners, blocks)) + lift
        frame = pd.DataFrame(losses.T, columns=[f"learner {i}" for i in range(learners)])
        ours = best(lambda table=losses: _friedman_text(table), times=20, clock=time.perf_counter)
        peer = best(lambda table=frame: _autorank_text(table), times=3, clock=time.perf_counter)
        yield f"friedman-{learners}x{blocks}", peer / ours, ours, peer


def _friedman_text(losses: np.ndarray) -> str:
    from bestofk.stats.multiple import friedman, nemenyi

    return friedman(losses).explain() + " " + nemenyi(losses).explain()


def _autorank_text(frame: pd.DataFrame) -> str:
    from autorank import autorank, create_report

    text = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(text):
        warnings.simplefilter("ignore")
        result = autorank(
            frame,
            alpha=0.05,
            order="ascending",
            approach="frequentist",
            force_mode="nonparametric",
        )
        create_report(result)
    return text.getvalue()


def signed_rank() -> Iterator[Row]:
    from baycomp import SignedRankTest

    from bestofk.stats.pairwise import signed_rank_bayes

    rng = np.random.default_rng(0)
    clock = time.perf_counter
    for n, rope in ((30, 0.01), (30, 0.0), (100, 0.01)):
        a = rng.normal(0.21, 0.03, n)
        b = rng.normal(0.20, 0.03, n)

        def peer_call(a: np.ndarray = a, b: np.ndarray = b, rope: float = rope) -> None:
            # baycomp takes scores, so the sides are exchanged
            SignedRankTest.probs(b, a, rope, random_state=0)

        def own_call(a: np.ndarray = a, b: np.ndarray = b, rope: float = rope) -> None:
            signed_rank_bayes(a, b, rope=rope, random_state=0)

        peer = best(peer_call, times=2, clock=clock, warm_up=False)
        ours = best(own_call, times=5, clock=clock)
        yield f"signed-rank-bayes-{n}-rope-{rope:g}", peer / ours, ours, peer


def hierarchical() -> Iterator[Row]:
    from bestofk.stats.pairwise import hierarchical_bayes

    rng = np.random.default_rng(0)
    d = rng.normal(0.01, 0.02, (100, 1, 1)) + rng.normal(0.0, 0.03, (100, 10, 10))
    ours = best(lambda: hierarchical_bayes(d, 0 * d, rope=0.01), times=3, clock=time.process_time)
    yield "hierarchical-bayes-100", 1.0 / ours, ours, 1.0


def bootstrap() -> Iterator[Row]:
    from bestofk.papers.stats.bootstrap import bootstrap_a

    losses = np.random.default_rng(0).random((5, 64)) + 0.02 * np.arange(5)[:, None]
    clock = time.process_time
    peer = best(lambda: _permuted(losses), times=3, clock=clock)
    peer *= RESAMPLES / MEASURED_RESAMPLES
    exact = best(lambda: bootstrap_a(losses), times=20, clock=clock)
    resample = best(
        lambda: bootstrap_a(losses, method="resample", resamples=RESAMPLES, random_state=0),
        times=5,
        clock=clock,
    )
    yield "bootstrap-a-exact", peer / exact, exact, peer
    yield "bootstrap-a-resample", peer / resample, resample, peer


def _permuted(losses: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(1)
    observed = losses.mean(axis=1)
    tails = np.zeros((2, losses.shape[0]))
    for _ in range(0, MEASURED_RESAMPLES, CHUNK):
        tables = np.broadcast_to(losses, (CHUNK, *losses.shape))
        means = rng.permuted(tables, axis=1).mean(axis=2)
        tails[0] += (means <= observed).sum(axis=0)
        tails[1] += (means >= observed).sum(axis=0)
    return np.minimum(2 * (tails.min(axis=0) + 1) / (MEASURED_RESAMPLES + 1), 1.0)


PARTS = {
    "pairwise": pairwise,
    "friedman": friedman,
    "signed-rank": signed_rank,
    "hierarchical": hierarchical,
    "bootstrap": bootstrap,
}


def measure(parts: Sequence[str] = tuple(PARTS)) -> Iterator[Row]:
    for part in parts:
        yield from PARTS[part]()
