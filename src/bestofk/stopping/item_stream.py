"""Items that come one after the other, with a look at every one: a test that allows it.

For every pair a bet is placed on each item, and the capital it makes is an e-process: under the
hypothesis that the first learner is at most as bad as the second, the chance that it ever exceeds
1/alpha is at most alpha (Ville's inequality). Its running maximum gives a p-value that holds at
every moment, and those of all pairs go through Holm's correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.adjust import holm
from bestofk.checks import Bools, Floats, finite_array, probability
from bestofk.errors import ArgumentError
from bestofk.ordering.words.sentences import called, listing
from bestofk.presenting import Presented, decided_level, renamed
from bestofk.wording import capitalised, counted, pvalue_words

STAKES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Shares of the capital that are put on an item; their mean is as good a bet as any of them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamVerdict(Presented):
    """What all items so far show, whenever they are looked at.

    Attributes
    ----------
    items : int
        How many there were; clusters, where these are the units.
    pvalue, adjusted_pvalue : (K, K) arrays
        Of the hypothesis that i is at most as bad as j; 1 on the diagonal.
    better : (K, K) array of bool
        ``better[j, i]``: j is shown to be better than i.
    not_worse : (K, K) array of bool or None
        With a margin, whether i is shown to be worse than j by less than the margin.
    alpha : float
        Chance that any claim is ever false, over all looks.
    """

    items: int
    pvalue: Floats
    adjusted_pvalue: Floats
    better: Bools
    not_worse: Bools | None
    alpha: float

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """What is shown so far, in sentences."""
        decided_level(alpha, self.alpha)
        name = renamed(names, range(len(self.better)))
        claims = [
            f"{called(name[int(j)])} is better than {called(name[int(i)])} "
            f"({pvalue_words(float(self.adjusted_pvalue[i, j]), self.alpha)})"
            for j, i in np.argwhere(self.better)
        ]
        so_far = f"after {counted(self.items, 'item')}"
        if not claims:
            return f"Nothing is shown {so_far}: look again when there are more."
        shown = listing(claims)
        return (
            f"{capitalised(shown)}, {so_far}. However often one looks, the chance that a claim is "
            f"ever false is at most {self.alpha:g}."
        )

    def _columns(self) -> dict[str, Any]:
        """One row for every pair, in both directions."""
        pairs = np.argwhere(~np.eye(len(self.better), dtype=bool))
        better, worse = pairs.T
        return {
            "better": better,
            "worse": worse,
            "pvalue": self.pvalue[worse, better],
            "adjusted_pvalue": self.adjusted_pvalue[worse, better],
            "shown": self.better[better, worse],
        }

    def best(self, *, prior: Any = None) -> int | None:
        """The most preferred learner that no other is shown to beat; None while two may be.

        `prior` are places in order of preference; by default 0, 1, 2, ...
        """
        order = range(len(self.better)) if prior is None else prior
        for place in order:
            if not self.better[:, place].any():
                return int(place)
        return None


def item_stream(losses: Any, *, alpha: float = 0.05, margin: float | None = None) -> StreamVerdict:
    """Compare K learners on the items so far; look as often as you like.

    Parameters
    ----------
    losses : array_like, shape (K, n)
        A loss between 0 and 1 for every item (or the mean over a cluster of items), in the order
        in which they came, which must not depend on the losses.
    alpha : float
        Chance of any false claim, at any look.
    margin : float, optional
        A difference that does not matter: adds whether a learner is shown to be worse than
        another by less.

    Returns
    -------
    StreamVerdict

    Notes
    -----
    For the pair i, j with d_t = loss of i less loss of j on item t, the capital is the mean over
    the stakes s of the product of (1 + s d_t), and p = 1 over its largest value so far. Adjusting
    averages of e-values instead does not control the chance of a false claim over many looks.

    References
    ----------
    I. Waudby-Smith and A. Ramdas (2024). Estimating means of bounded random variables by betting.
    Journal of the Royal Statistical Society B 86, 1-27. doi:10.1093/jrsssb/qkad009

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> weak, strong = rng.random(300) < 0.5, rng.random(300) < 0.2
    >>> verdict = item_stream(np.array([weak, strong], dtype=float))
    >>> verdict.best(), bool(verdict.better[1, 0])
    (1, True)
    """
    values = finite_array(losses, "losses", min_ndim=2)
    probability(alpha, "alpha")
    if values.ndim != 2 or len(values) < 2:
        raise ArgumentError(
            f"losses must have the axes (learner, item), 2 learners at least; got {values.shape}."
        )
    if values.size and (values.min() < 0 or values.max() > 1):
        raise ArgumentError("losses must lie between 0 and 1 for a bet on them; rescale them.")
    K, n = values.shape
    rows, columns = np.nonzero(~np.eye(K, dtype=bool))
    pvalue, adjusted = np.ones((K, K)), np.ones((K, K))
    if n:
        pvalue[rows, columns] = _pvalues(values[rows] - values[columns])
    adjusted[rows, columns] = holm(pvalue[rows, columns])
    # i is shown to be worse than j
    claims = adjusted <= alpha
    not_worse = None
    if margin is not None:
        if not 0 < margin < 1:
            raise ArgumentError(f"margin must lie between 0 and 1; got {margin}.")
        near = np.ones((K, K))
        if n:
            near[rows, columns] = _pvalues(
                (margin - (values[rows] - values[columns])) / (1.0 + margin)
            )
        shown = np.ones((K, K))
        shown[rows, columns] = holm(near[rows, columns])
        not_worse = shown <= alpha
    return StreamVerdict(
        items=n,
        pvalue=pvalue,
        adjusted_pvalue=adjusted,
        better=claims.T,
        not_worse=not_worse,
        alpha=alpha,
    )


def _pvalues(gains: Floats) -> Floats:
    """1 over the largest capital so far of a bet on every row (P, n) of gains of at most 1."""
    most = np.zeros(len(gains))
    capital = np.zeros((len(gains), gains.shape[1]))
    for stake in STAKES:
        capital += np.exp(np.cumsum(np.log1p(stake * gains), axis=1))
    np.maximum(most, capital.max(axis=1) / len(STAKES), out=most)
    return np.asarray(1.0 / np.maximum(most, 1.0))
