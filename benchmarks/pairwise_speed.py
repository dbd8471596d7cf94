"""All one-sided 5x2cv p-values of K learners against a loop of scipy calls over the pairs.

Run as ``python benchmarks/pairwise_speed.py``, or call `measure`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

K, K_LOOP, K_LARGE = 1_000, 100, 3_000


def _loop(losses: np.ndarray) -> list[float]:
    """The plain way: numpy for the statistic, scipy.stats for the p-value, pair by pair."""
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


def _losses(learners: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(0.2, 0.02, (learners, 5, 2)) + rng.normal(0, 0.05, (learners, 1, 1))


def measure() -> list[tuple[str, float, float, float]]:
    """Name, ratio, our seconds, the peer's seconds (the loop's scaled by the number of pairs)."""
    from bestofk.stats.pairwise import all_pairs

    losses = _losses(K)
    small = _losses(K_LOOP)
    loop_pvalues = _loop(small[:5])  # imports and first calls are not timed
    ours = all_pairs("5x2cv-t", small[:5], alternative="greater").pvalue
    np.testing.assert_allclose(ours, loop_pvalues, rtol=1e-11)
    start = time.perf_counter()
    _loop(small)
    peer = (time.perf_counter() - start) * (K * (K - 1)) / (K_LOOP * (K_LOOP - 1))
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        all_pairs("5x2cv-t", losses, alternative="greater")
        seconds.append(time.perf_counter() - start)
    best = min(seconds)
    return [("pairwise-5x2cv", peer / best, best, peer)]


def peak_mebibytes(learners: int = K_LARGE) -> float:
    """Peak memory of a fresh process that tests all pairs of `learners` learners."""
    code = f"import sys; sys.argv = ['', 'memory', '{learners}']; exec(open({__file__!r}).read())"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(out.stdout)


def main() -> None:
    if sys.argv[1:2] == ["memory"]:
        from bestofk.stats.pairwise import all_pairs

        all_pairs("5x2cv-t", _losses(int(sys.argv[2])), alternative="greater")
        unit = 1024**2 if sys.platform == "darwin" else 1024
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
        return
    for name, ratio, ours, peer in measure():
        print(f"{name} ratio={ratio:.1f} ours={ours:.4g}s peer={peer:.4g}s")
    print(f"pairwise-5x2cv-memory K={K_LARGE} peak={peak_mebibytes():.0f}MiB")


if __name__ == "__main__":
    main()
