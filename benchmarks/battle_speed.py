"""Ten million battles between 200 models against a limit of 2 s of CPU time, reading excluded.

- ``plain``: independent battles;
- ``clusters``: the same in 100,000 clusters;
- ``many-clusters``: the same in 1,000,000 clusters, 10 battles each;
- ``peers``: a data frame of a million battles, next to evalica and arena-rank if they are
  installed. evalica computes points, arena-rank points and standard errors, bestofk also the tests
  of all pairs and the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestofk.decide.battles import MEAN_POINTS, POINTS, Battles, compare_battles
from timing import Row, best, one_thread

BATTLES, MODELS, LIMIT_SECONDS = 10_000_000, 200, 2.0
CLUSTERS = {"plain": None, "clusters": 100_000, "many-clusters": 1_000_000}
PARTS = (*CLUSTERS, "peers")
NAMES = np.array([f"model {k}" for k in range(MODELS)])


def drawn(battles: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the models of each battle, and the outcomes 0, 1 and 2."""
    rng = np.random.default_rng(0)
    strengths = rng.normal(0.0, 0.5, MODELS)
    first = rng.integers(0, MODELS, battles)
    second = (first + rng.integers(1, MODELS, battles)) % MODELS
    wins = rng.random(battles) < 1.0 / (1.0 + np.exp(strengths[second] - strengths[first]))
    return first, second, np.where(rng.random(battles) < 0.2, 1, np.where(wins, 2, 0))


def against_limit(part: str) -> Row:
    first, second, outcome = drawn(BATTLES)
    clusters = CLUSTERS[part]
    battles = Battles(
        models=tuple(NAMES.tolist()), first=first, second=second, outcome=outcome,
        clusters=clusters and np.random.default_rng(1).integers(0, clusters, BATTLES),
    )  # fmt: skip
    with one_thread():
        seconds = best(lambda: compare_battles(battles), times=1)
    return f"{part}-{BATTLES:.0e}", LIMIT_SECONDS / seconds, seconds, LIMIT_SECONDS


def peers() -> Iterator[Row]:
    import pandas as pd

    first, second, outcome = drawn(BATTLES // 10)
    words = np.array(["model_b", "tie", "model_a"])[outcome]
    frame = pd.DataFrame({"model_a": NAMES[first], "model_b": NAMES[second], "winner": words})
    decision = compare_battles(frame)
    points = dict(zip(decision.decision.ranking, decision.outcome.points, strict=True))
    ours = best(lambda: compare_battles(frame), times=3)
    try:
        import evalica

        winners = np.array([evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X])[outcome]
        pairs = frame["model_a"].tolist(), frame["model_b"].tolist(), winners.tolist()
        scores = np.log(evalica.bradley_terry(*pairs, tolerance=1e-9, limit=1000).scores)
        theirs = MEAN_POINTS + POINTS * (scores - scores.mean())
        gap = max(abs(theirs[name] - value) for name, value in points.items())
        print(f"evalica: largest difference of points {gap:.2g}")
        peer = best(lambda: evalica.bradley_terry(*pairs), times=3)
        yield "evalica-1e+06", peer / ours, ours, peer
    except ImportError:
        print("evalica is not installed")
    try:
        from arena_rank.models.bradley_terry import BradleyTerry
        from arena_rank.utils.data_utils import PairDataset

        def rated() -> dict[str, object]:
            data = PairDataset.from_pandas(frame, min_pair_count=0)
            model = BradleyTerry(n_competitors=len(data.competitors), hessian_reg=1e-7)
            return dict(model.compute_ratings_and_cis(data))

        result = rated()
        ratings = np.asarray(result["ratings"], dtype=float)
        rows = zip(result["competitors"], ratings - ratings.mean() + MEAN_POINTS, strict=True)
        gap = max(abs(rating - points[name]) for name, rating in rows)
        print(f"arena-rank: largest difference of points {gap:.2g}")
        peer = best(rated, times=3)
        yield "arena-rank-1e+06", peer / ours, ours, peer
    except ImportError:
        print("arena-rank is not installed")


def measure(parts: Sequence[str] = PARTS) -> Iterator[Row]:
    for part in parts:
        if part == "peers":
            yield from peers()
        else:
            yield against_limit(part)
