"""Early stopping on items: whether the items so far settle the decision of all planned items."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints, significance_level, whole
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import joined
from bestofk._base.results import Presented
from bestofk.decide.evidence import Family
from bestofk.decide.preference import arrange, preference_ranks
from bestofk.decide.stopping.bounds import PlannedT
from bestofk.decide.stopping.races import Look, interval_verdict, race
from bestofk.decide.stopping.rule import StopRule

PLANNED_LOOKS = 40
"""Default number of looks at a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledItems(Presented):
    """The decision of the full plan, as far as the items so far settle it.

    Attributes
    ----------
    settled : bool
        Whether all planned items would reach the same decision, up to the risk.
    exact : bool
        Whether the remaining items cannot change the decision.
    recommended : str or None
        The recommended learner; None while it is open.
    order : tuple of str
        The settled ranks, best first.
    claims : tuple of pairs of str
        (better, worse): claims that all planned items are certain to support.
    items : dict of str to int
        Number of items needed, by learner.
    go_on : tuple of str
        Learners that need more items; empty if the decision is settled.
    open_pairs : tuple of pairs of str
        Pairs on which the decision depends.
    planned : int
        Number of planned items.
    risk : float
        Largest probability, given the items, that all of them would reach another decision.
    """

    settled: bool
    exact: bool
    recommended: str | None
    order: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]
    items: dict[str, int]
    go_on: tuple[str, ...]
    open_pairs: tuple[tuple[str, str], ...]
    planned: int
    risk: float

    @property
    def saved(self) -> float:
        """Share of the items of all learners that were not needed."""
        return 1.0 - sum(self.items.values()) / (self.planned * len(self.items))

    def explain(self) -> str:
        """State the recommendation and its cost, or the open pairs."""
        most = max(self.items.values())
        if not self.settled:
            pairs = [f"{a} against {b}" for a, b in self.open_pairs]
            return (
                f"Not settled after {most:,} of {self.planned:,} items; open: {joined(pairs)}. "
                f"More items are needed for {joined(list(self.go_on))}."
            )
        assert self.recommended is not None
        certainty = (
            "the remaining items cannot change the decision"
            if self.exact
            else "all items would reach the same decision with a probability of at least "
            f"{100 * (1 - self.risk):.4g} %"
        )
        return (
            f"Use {self.recommended}. Settled after {most:,} of {self.planned:,} items "
            f"({100 * self.saved:.0f} % of the work is saved): {certainty}."
        )


class _NoMoreItemsError(Exception):
    """All items so far are used."""


def settle_items(
    losses: Any,
    *,
    planned: int,
    names: Sequence[str] | None = None,
    every: int | None = None,
    prefer: Any = None,
    alpha: float = 0.05,
    target: str = "best",
    risk: float = 0.05,
) -> SettledItems:
    """Check whether the items so far settle the decision of all planned items.

    Parameters
    ----------
    losses : array_like, shape (K, n)
        A loss between 0 and 1 for every item so far, in one random order common to all learners;
        NaN for items that a learner has not seen. If items come in clusters, give the mean of
        each cluster; the clusters are then the units.
    planned : int
        Number of planned items, N.
    names : sequence of str, optional
        The learners; by default "0", "1", ...
    every : int, optional
        Number of items between two looks, a divisor of `planned`; about a fortieth of it by
        default.
    prefer : list of names, dict of prices, "listed" or None
        The preference, as for `bestofk.compare_scores`; None: the smallest mean is recommended.
    alpha : float
        As for `bestofk.compare_scores`.
    target : {"best", "order"}
        What must be settled.
    risk : float
        Largest probability, given the items, that all N would reach another decision; 0: stop
        only if the remaining items cannot change the decision.

    Returns
    -------
    SettledItems

    Notes
    -----
    The planned test is the paired t test on N items, of each learner against the K - 1 others. It
    is curtailed, so the probability of a false claim is at most that of the test on all N items
    plus the risk.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> error = np.array([[0.4], [0.2], [0.35]])
    >>> losses = (rng.random((3, 600)) < error).astype(float)
    >>> result = settle_items(losses, planned=2000, names=["a", "b", "c"], prefer="listed")
    >>> print(result.explain())
    Use b. Settled after 300 of 2,000 items (88 % of the work is saved): all items would reach the \
same decision with a probability of at least 95 %.
    """
    values = np.asarray(losses, dtype=np.float64)
    if values.ndim != 2 or len(values) < 2:
        raise ArgumentError(
            f"losses must have the axes (learner, item), 2 learners at least; got {values.shape}."
        )
    if (values < 0).any() or (values > 1).any():
        raise ArgumentError("losses must lie between 0 and 1; rescale them.")
    N = whole(planned, "planned", at_least=4)
    step = _between_looks(N, every)
    if values.shape[1] > N:
        raise ArgumentError(f"planned must be at least the {values.shape[1]} items given; got {N}.")
    significance_level(alpha, "alpha")
    rule = StopRule(target=target, risk=risk)  # type: ignore[arg-type]
    labels = [str(name) for name in (range(len(values)) if names is None else names)]
    if len(labels) != len(values) or len(set(labels)) < len(labels):
        raise ArgumentError(
            f"names must be {len(values)} different names, one per row of losses; got {labels}."
        )
    blocks = values[:, : values.shape[1] // step * step].reshape(len(values), -1, step)
    missing = np.logical_or.reduce(np.isnan(blocks), axis=2)
    complete = np.where(missing.any(axis=1), missing.argmax(axis=1), blocks.shape[1])
    if not complete.all():
        raise ArgumentError(f"losses must hold the first {step} items of every learner.")
    order, preference, _ = arrange(labels, prefer, blocks[:, 0].mean(axis=1))
    ranks = preference_ranks(labels, prefer)[0][order]
    by_preference = [labels[index] for index in order]
    blocks, complete = blocks[order], complete[order]
    test = PlannedT(runs=N // step, folds=step, df=N - 1, span=1.0)
    family = Family(name="best", learners=len(values), alpha=alpha, correction="bonferroni")
    looks: list[tuple[Look, Ints]] = []

    def fill(runs: Ints) -> Floats:
        if (runs > complete).any():
            raise _NoMoreItemsError
        losses = np.full((len(values), test.runs, step), np.nan)
        for row, run in enumerate(runs.tolist()):
            losses[row, :run] = blocks[row, :run]
        return losses

    stated = preference.stated
    with suppress(_NoMoreItemsError):
        # the floor is one item in one block, as one row in one fold
        race(fill, test, family, rule, stated=stated, ranks=ranks, floor=1.0,
             watch=lambda look, runs, _: looks.append((look, runs)))  # fmt: skip
    look, runs = looks[-1]
    verdict = look.verdict
    exact = interval_verdict(look.exact_bounds, test, family, stated=stated, ranks=ranks)
    best = verdict.only_candidate()
    ranking = verdict.order()[0].tolist() or ([] if best is None else [best])
    return SettledItems(
        settled=look.settled,
        exact=look.settled and exact.still_open(family, rule.target)[2],
        recommended=None if best is None else by_preference[best],
        order=tuple(by_preference[index] for index in ranking),
        claims=tuple(
            (by_preference[j], by_preference[i]) for i, j in np.argwhere(verdict.sure).tolist()
        ),
        items=dict(zip(by_preference, (runs * step).tolist(), strict=True)),
        go_on=tuple(by_preference[index] for index in np.flatnonzero(look.go_on)),
        open_pairs=tuple((by_preference[i], by_preference[j]) for i, j in look.open_pairs),
        planned=N,
        risk=rule.risk,
    )


def _between_looks(planned: int, every: int | None) -> int:
    if every is not None:
        step = whole(every, "every", at_least=2)
        if planned % step or planned // step < 2:
            raise ArgumentError(
                f"every must divide planned, at least twice; got {step} and {planned}: ",
                use(planned=max(2, -(-planned // step)) * step),
                " works.",
            )
        return step
    sizes = [size for size in range(2, planned // 2 + 1) if planned % size == 0]
    if not sizes:
        raise ArgumentError(
            f"planned must not be a prime number, so that looks can divide it; got {planned}: ",
            use(planned=planned + 1),
            " works.",
        )
    return min(sizes, key=lambda size: abs(size - planned / PLANNED_LOOKS))
