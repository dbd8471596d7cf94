"""Pass@k and pass^k: from right or wrong in n epochs to one score per item."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.checks import Floats, whole
from bestofk.errors import ArgumentError
from bestofk.wording import counted

if TYPE_CHECKING:
    from bestofk.evals.item_scores import ItemScores


def pass_at(n: Any, c: Any, k: int) -> Floats:
    """The chance that at least one of k answers is right: 1 - C(n - c, k) / C(n, k).

    Parameters
    ----------
    n, c : array_like of int
        Answers and right ones among them; n is at least k.
    k : int
        How many are drawn, without putting any back.

    References
    ----------
    M. Chen et al. (2021). Evaluating large language models trained on code. arXiv:2107.03374

    Examples
    --------
    >>> float(pass_at(5, 2, 3)), float(pass_at(5, 2, 1))
    (0.9, 0.4)
    """
    n, c = np.asarray(n), np.asarray(c)
    return np.asarray(1.0 - _all_of(n - c, n, k))


def pass_all(n: Any, c: Any, k: int) -> Floats:
    """The chance that all of k answers are right: C(c, k) / C(n, k).

    Parameters
    ----------
    n, c, k
        As for `pass_at`.

    References
    ----------
    S. Yao et al. (2024). tau-bench: a benchmark for tool-agent-user interaction in real-world
    domains. arXiv:2406.12045

    Examples
    --------
    >>> round(float(pass_all(5, 4, 2)), 3), float(pass_all(5, 1, 2))
    (0.6, 0.0)
    """
    return _all_of(np.asarray(c), np.asarray(n), k)


def _all_of(c: Any, n: Any, k: int) -> Floats:
    """C(c, k) / C(n, k), factor by factor."""
    k = whole(k, "k", at_least=1)
    if np.any(n < k):
        raise ArgumentError(f"k must be at most the number of answers, {int(np.min(n))}; got {k}.")
    share = np.ones(np.broadcast_shapes(np.shape(c), np.shape(n)))
    for drawn in range(k):
        share = share * np.maximum(c - drawn, 0) / (n - drawn)
    return np.asarray(share)


def passed_items(scores: ItemScores, k: int, *, every: bool) -> ItemScores:
    """The value of `ItemScores.pass_at` and `ItemScores.pass_all`."""
    k = whole(k, "k", at_least=1)
    name = f"pass^{k}" if every else f"pass@{k}"
    _refuse_other_scores(scores, name)
    enough = np.all(scores.count >= k, axis=0)
    if not enough.any():
        least = int(np.where(scores.count.min(axis=0) > 0, scores.count.min(axis=0), 0).max())
        raise ArgumentError(
            f"{name} needs {counted(k, 'epoch')} of every model on an item; these logs have "
            f"{least}: the largest k that they allow is {least}."
        )
    said = [f"{name} of every item, from {scores.metric} in {_epochs(scores, enough)}."]
    if not enough.all():
        lost = int((~enough).sum())
        said.append(
            f"{counted(lost, 'item')} with fewer than {k} epochs of some model "
            f"{'was' if lost == 1 else 'were'} left out."
        )
    at = np.flatnonzero(enough)
    count = scores.count[:, at]
    right = np.rint(scores.mean[:, at] * count).astype(np.int64)
    mean = (pass_all if every else pass_at)(count, right, k)
    from bestofk.evals.item_scores import dense_names

    tasks, task = dense_names(scores.task[at], scores.tasks)
    clusters, cluster = scores.clusters, np.arange(len(at), dtype=np.int32)
    if clusters:
        clusters, cluster = dense_names(scores.cluster[at], scores.clusters)
    return replace(
        scores,
        tasks=tasks,
        task=task,
        clusters=clusters,
        cluster=cluster,
        items=tuple(scores.items[i] for i in at),
        mean=mean,
        # one number per item, whatever the epochs that it was found from
        count=np.ones_like(count),
        variance=np.full(mean.shape, np.nan),
        metric=name,
        account=(*scores.account, *said),
    )


def _epochs(scores: ItemScores, enough: Any) -> str:
    counts = scores.count[:, enough]
    least, most = int(counts.min()), int(counts.max())
    return counted(most, "epoch") if least == most else f"{least} to {most} epochs"


def _refuse_other_scores(scores: ItemScores, name: str) -> None:
    """Only right and wrong can be counted."""
    has = scores.count > 0
    n = np.maximum(scores.count, 1)
    right = np.where(has, scores.mean, 0.0) * n
    whole_numbers = np.abs(right - np.rint(right)) <= 1e-9 * n
    inside = (right >= -1e-9) & (right <= n + 1e-9)
    # answers that are right or wrong vary by c (n - c) / n (n - 1), and no others do
    expected = right * (n - right) / (n * np.maximum(n - 1, 1))
    several = scores.count > 1
    as_binary = ~several | (np.abs(np.where(several, scores.variance, 0.0) - expected) <= 1e-9)
    if not scores.higher_is_better or not np.all(~has | (whole_numbers & inside & as_binary)):
        raise ArgumentError(
            f"{name} needs answers that are right (1) or wrong (0); {scores.metric!r} has others."
        )
