"""The user's preference among the learners, and the order that follows from it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, refuse
from bestofk._base.errors import ArgumentError, argument

Name = int | str
Ints = npt.NDArray[np.int64]
PreferenceLike = Sequence[str] | Mapping[str, float] | str | None

LISTED = "listed"
FACTOR = 2.0
"""Two measured costs differ if one is at least this many times the other."""
MEASURED = {
    "fit_time": "the quickest to fit",
    "predict_time": "the quickest to predict with",
    "size": "the smallest in memory",
    "complexity": "the simplest",
}
"""The measured costs, and the words for the learner with the lowest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """The source of the order of preference.

    Attributes
    ----------
    kind : {"none", "stated", "measured"}
        ``"none"``: no preference, and the means alone decide.
    words : str
        The measured cost, or the form of a stated preference.
    """

    kind: str = "none"
    words: str = ""
    not_first: frozenset[Name] = frozenset()
    """Learners that a cheaper one has the same rank as, since measured costs differ by noise."""
    factor: float = FACTOR
    """Measured costs within this factor count as the same."""

    @property
    def stated(self) -> bool:
        """True if the user has a preference."""
        return self.kind != "none"

    def __str__(self) -> str:
        return f"{self.kind}: {self.words}" if self.kind == "measured" else self.kind

    def first(self, name: Name) -> str:
        """Return the words for the most preferred of several learners."""
        if self.kind == "measured":
            fastest = {"latency": "the fastest"}
            first = (MEASURED | fastest).get(self.words, f"the cheapest by {self.words}")
            return f"one of {first}" if name in self.not_first else first
        words = {
            "prices": "the cheapest",
            LISTED: "the first listed",
            "part of a list": "the first by your preference",
        }
        return words.get(self.words, "the first in your list")


NO_PREFERENCE = Preference()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCosts:
    """Costs by learner that were measured.

    Costs within the factor are noise; with a factor of 1 every difference counts.
    """

    what: str
    costs: Mapping[str, float]
    factor: float = FACTOR


def arrange(
    names: Sequence[Name], prefer: Any, means: Floats
) -> tuple[list[int], Preference, tuple[str, ...]]:
    """Return the learners in the order of preference, the preference, and notes on it.

    Without a preference the learner with the smaller mean goes first. A preference may name some
    learners only: the others follow by their means. Equal prices, and measured costs within a
    factor of two of the cheapest of them, leave it to the means too.
    """
    ranks, preference, notes = preference_ranks(names, prefer)
    return preferred_order(ranks, means).tolist(), preference, notes


def preferred_order(ranks: Floats, means: Floats) -> Ints:
    """Return (..., K): learners by preference rank, equal ranks by their means (..., K)."""
    if np.unique(ranks).size == len(ranks):
        return np.broadcast_to(np.argsort(ranks), means.shape)
    by_mean = np.argsort(without_rounding(means), axis=-1, kind="stable")
    again = np.argsort(np.asarray(ranks)[by_mean], axis=-1, kind="stable")
    return np.take_along_axis(by_mean, again, axis=-1)


def preference_ranks(
    names: Sequence[Name], prefer: Any
) -> tuple[Floats, Preference, tuple[str, ...]]:
    """Return what the preference says of every learner (K,), the smallest preferred; its words."""
    prefer = checked_preference(prefer)
    if prefer is None:
        return np.zeros(len(names)), NO_PREFERENCE, ()
    if isinstance(prefer, str):
        if prefer == LISTED:
            return np.arange(float(len(names))), Preference(kind="stated", words=LISTED), ()
        raise ArgumentError(
            argument("prefer"),
            " must be a list of learners, most preferred first, prices by name, or 'listed'; "
            f"got the text {prefer!r}; costs are measured by compare alone.",
        )
    if isinstance(prefer, MeasuredCosts):
        _all_priced(names, prefer.costs, prefer.what)
        costs = [float(prefer.costs[str(name)]) for name in names]
        groups = _cost_groups(costs, prefer.factor)
        cheapest = {group: min(c for c, g in zip(costs, groups, strict=True) if g == group)
                    for group in groups}  # fmt: skip
        cost_and_group = zip(names, costs, groups, strict=True)
        not_first = frozenset(name for name, c, group in cost_and_group if c > cheapest[group])
        preference = Preference(
            kind="measured", words=prefer.what, not_first=not_first, factor=prefer.factor
        )
        return np.array(groups, dtype=float), preference, ()
    _all_known(names, list(prefer))
    if isinstance(prefer, Mapping):
        _all_priced(names, prefer, "a price")
        ranks = np.array([prefer[name] for name in names])
        return ranks, Preference(kind="stated", words="prices"), ()
    position = {name: k for k, name in enumerate(prefer)}
    ranks = np.array([position.get(name, len(prefer)) for name in names], dtype=float)
    left = len(names) - len(prefer)
    if not left:
        return ranks, Preference(kind="stated", words="list"), ()
    follow = "the other follows by its mean" if left == 1 else "the others follow by their means"
    note = f"Your preference names {len(prefer)} of {len(names)}; {follow}."
    return ranks, Preference(kind="stated", words="part of a list"), (note,)


def checked_preference(prefer: Any) -> Any:
    """Return None, a known word, measured costs, prices as numbers, or a tuple of names."""
    if prefer is None or isinstance(prefer, MeasuredCosts):
        return prefer
    if isinstance(prefer, str):
        if prefer not in (words := (LISTED, *MEASURED)):
            raise ArgumentError(
                argument("prefer"),
                f" must be one of {', '.join(map(repr, words))}, a list of learners, most "
                f"preferred first, or prices by name; got the text {prefer!r}.",
            )
        return prefer
    if isinstance(prefer, Mapping):
        return {name: _price(name, price) for name, price in prefer.items()}
    names = tuple(prefer) if isinstance(prefer, Iterable) else None
    if names is None or not all(isinstance(name, Hashable) for name in names):
        must = "a list of learners, most preferred first, or prices by name"
        raise refuse("prefer", must, prefer)
    return names


def settled(prefer: Any, names: Sequence[Name], costs: Mapping[str, Any]) -> Any:
    """Return the preference among the learners `names`, with the measured costs.

    `costs` gives an object by learner, with `fit_time`, `predict_time` and `size`.
    """
    if prefer is None or prefer == LISTED:
        return prefer
    if isinstance(prefer, MeasuredCosts):
        return replace(prefer, costs={str(name): prefer.costs[str(name)] for name in names})
    if isinstance(prefer, str):
        measured: dict[str, Any] = {
            str(name): getattr(costs[str(name)], prefer, None) for name in names
        }
        for name, cost in measured.items():
            if cost is None:
                raise ArgumentError(
                    f"prefer {prefer!r} was not measured for {name!r}; name the learners instead."
                )
        return MeasuredCosts(what=prefer, costs=measured)
    if isinstance(prefer, Mapping):
        return {name: prefer[name] for name in names}
    return tuple(name for name in prefer if name in names)


def preference_words(prefer: Any) -> str:
    """Return a preference as it was given, in words."""
    if prefer is None:
        return "no preference"
    if prefer == LISTED:
        return "preference as listed"
    if isinstance(prefer, str | MeasuredCosts):
        return f"preference by {getattr(prefer, 'what', prefer)}"
    if isinstance(prefer, Mapping):
        prices = ", ".join(f"{name} {price:g}" for name, price in prefer.items())
        return f"preference by price ({prices})"
    return f"preference {' before '.join(map(str, prefer))}"


def preference_to_json(prefer: Any) -> Any:
    """Return a preference as it was given, JSON-ready; `preference_from_json` reads it back."""
    if prefer is None or isinstance(prefer, str):
        return prefer
    if isinstance(prefer, MeasuredCosts):
        return {"measured": prefer.what, "costs": dict(prefer.costs), "factor": prefer.factor}
    if isinstance(prefer, Mapping):
        # as pairs: learners of bare arrays are numbers, which cannot be keys of a JSON object
        return {"prices": [[_bare(name), price] for name, price in prefer.items()]}
    return [_bare(name) for name in prefer]


def _bare(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) else name


def preference_from_json(stored: Any) -> Any:
    """Return the preference that `preference_to_json` wrote."""
    if not isinstance(stored, Mapping):
        return stored if stored is None or isinstance(stored, str) else tuple(stored)
    if "measured" in stored:
        factor = stored.get("factor", FACTOR)
        return MeasuredCosts(what=stored["measured"], costs=dict(stored["costs"]), factor=factor)
    return dict(stored["prices"])


def without_rounding(means: Floats) -> Floats:
    """Return the means (..., K) without differences that rounding alone can make."""
    if not means.shape[-1]:
        return means
    unit = np.abs(means).max(axis=-1, keepdims=True)
    fits = (unit > 0) & np.isfinite(unit)
    # no warning for what stays as it is
    scaled: Floats = np.where(fits, np.round(means / np.where(fits, unit, 1.0), 12), means)
    return scaled


def _cost_groups(costs: Sequence[float], factor: float) -> list[int]:
    """Return the group of every cost: one begins at `factor` times the first of the last."""
    groups = [0] * len(costs)
    start, group = -np.inf, -1
    for k in sorted(range(len(costs)), key=costs.__getitem__):
        if group < 0 or (costs[k] >= factor * start and costs[k] > start):
            start, group = costs[k], group + 1
        groups[k] = group
    return groups


def _all_known(names: Sequence[Name], listed: Sequence[Any]) -> None:
    known = set(names)
    for index, name in enumerate(listed):
        if name not in known:
            some = ", ".join(map(str, names[:12])) + (", ..." if len(names) > 12 else "")
            from bestofk._base.synonyms import meant

            near = meant(str(name), list(MEASURED), most=1, cutoff=0.7)
            end = f"; did you mean {near[0]}?" if near else "."
            raise ArgumentError(
                argument("prefer"),
                f" names {name!r}, which is not one of the learners: {some}{end}",
            )
        if name in listed[:index]:
            raise ArgumentError(argument("prefer"), f" names {name!r} twice.")


def _all_priced(names: Sequence[Name], prices: Mapping[str, float], what: str) -> None:
    absent = [name for name in names if name not in prices]
    if absent:
        raise ArgumentError(
            argument("prefer"), f" must give {what} for each of them; got none for {absent[0]!r}."
        )


def _price(name: Any, price: Any) -> float:
    try:
        number = float(price)
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise ArgumentError(argument("prefer"), f" must give a number for {name!r}; got {price!r}.")
    return number
