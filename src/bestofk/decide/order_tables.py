"""Decide about many tables of losses at once, for simulations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints, RandomState, finite_array
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, joined
from bestofk._base.registry import resolve
from bestofk._base.results import Presented
from bestofk.decide.decision import NO_LEARNER
from bestofk.decide.order import decide
from bestofk.decide.preference import (
    Name,
    PreferenceLike,
    order_by,
    preference_ranks,
    without_noise,
)
from bestofk.decide.problem import (
    Problem,
    problem_from_array,
    problem_from_losses,
    refuse_wide_margin,
    values_of,
)
from bestofk.decide.problem_stack import Decided, ProblemStack, decide_groups, untested
from bestofk.decide.registry import PROCEDURES
from bestofk.decide.settings import Settings

if TYPE_CHECKING:
    from bestofk.splits.design import Design


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManyDecisions(Presented):
    """The decisions of a procedure on B tables of K learners, which are numbered from 0.

    Attributes
    ----------
    recommended : (B,) array of int
        The learner to use; -1 if the procedure finds none.
    means : (B, K) array
        Mean loss of every learner.
    smallest_mean : (B,) array of int
        The learner with the smallest mean loss, the most preferred of equal ones.
    ranking : (B, K) array of int
        Best first; -1 after the last that a procedure orders.
    by_preference : (B, K) array of int
        The learners by preference, or by their means where none was stated.
    claims : (B, K, K) array of bool
        ``claims[b, i, j]``: i is shown to be better than j.
    edges : (B, K, K) array of bool
        ``edges[b, i, j]``: i is preferred, and j is shown to be better.
    candidates : (B, K) array of bool or None
        The learners that may be the best, if the procedure says so.
    at_least, at_most : (B, K) arrays or None
        Bounds of how much worse than the best each learner is; NaN without a bound.
    pvalue, adjusted_pvalue : (B, K, K) arrays
        Of every pair, the same both ways round; in the family ``"preference"`` and for TestFirst
        only of H0: i, which is preferred, has at most the loss of j. NaN where nothing was tested.
    names : tuple
        The learners.
    procedure, correction : str
        What decided.
    tests : tuple of str
        The tests that were used.
    alpha : float
        Chance of any false claim in a table.
    """

    recommended: Ints
    means: Floats
    ranking: Ints
    by_preference: Ints
    claims: Bools
    edges: Bools
    pvalue: Floats
    adjusted_pvalue: Floats
    names: tuple[Name, ...]
    procedure: str
    correction: str
    tests: tuple[str, ...]
    alpha: float
    candidates: Bools | None = None
    at_least: Floats | None = None
    at_most: Floats | None = None

    def __len__(self) -> int:
        return len(self.recommended)

    def _columns(self) -> dict[str, Any]:
        """One row per table."""
        return {
            "recommended": [
                None if at == NO_LEARNER else self.names[at] for at in self.recommended
            ],
            "smallest_mean": [self.names[at] for at in self.smallest_mean],
            "claims": np.count_nonzero(self.claims, axis=(1, 2)),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the decisions for strict JSON, and how often each learner is recommended."""
        counts = np.bincount(self.recommended + 1, minlength=len(self.names) + 1).tolist()
        return {
            **Presented.to_dict(self),
            "tables": len(self),
            "learners": len(self.names),
            "none_recommended": counts[0],
            "times_recommended": counts[1:],
        }

    def explain(self) -> str:
        """Return how often each learner is recommended, in a sentence."""
        counts = [int(np.count_nonzero(self.recommended == at)) for at in range(len(self.names))]
        listed = [
            f"{name} on {count}" for name, count in zip(self.names, counts, strict=True) if count
        ]
        undecided = len(self) - sum(counts)
        listed += [f"no learner on {undecided}"] * (undecided > 0)
        return (
            f"On {counted(len(self), 'table')} of {counted(len(self.names), 'learner')} "
            f"{self.procedure} recommends {joined(listed)}."
        )

    @property
    def smallest_mean(self) -> Ints:
        """The learner with the smallest mean loss, the most preferred of equal ones."""
        means = without_noise(np.take_along_axis(self.means, self.by_preference, axis=1))
        smallest: Ints = self.by_preference[np.arange(len(self)), np.argmin(means, axis=1)]
        return smallest


def order_many(
    losses: Any,
    *,
    design: Design | None = None,
    algorithms: Sequence[str] | None = None,
    subset_values: Any = None,
    prefer: PreferenceLike = None,
    procedure: str = "best",
    test: str | Callable[..., Any] = "auto",
    df: Any = None,
    alpha: float = 0.05,
    correction: str | None = None,
    family: str | None = None,
    control: Any = None,
    margin: float | None = None,
    rope: float | None = None,
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> ManyDecisions:
    """Decide on many tables of losses at once, each as `order` does.

    Parameters
    ----------
    losses : array_like, shape (B, K, ...)
        B tables of complete losses of K learners. Trailing axes: (folds,), (runs, folds) or
        (data sets, runs, folds, repetitions). Or what `stack_tables` made of them, whose design,
        algorithms and preference then hold.
    design : Design, optional
        The design of every table. None: each table is a bare array.
    algorithms : sequence of str, optional
        The learners, if the preference or the control names them; by default the integers from 0.
    subset_values : array_like, optional
        Losses on parts of the rows (B, K, data sets, runs, folds, repetitions), of designs that
        have them.
    prefer, procedure, test, df, alpha, correction, family, control, margin, rope, random_state, \
**test_arguments
        As for `order`. A function given as `test` takes losses with any leading axes.

    Returns
    -------
    ManyDecisions
        Arrays over the tables.

    Notes
    -----
    A test is called once for all tables that it treats alike, which is what makes this fast; one
    that draws is called table by table.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((100, 3, 5, 2))
    >>> decisions = order_many(losses, prefer="listed")
    >>> np.bincount(decisions.recommended).tolist(), float(decisions.claims[:, 1, 0].mean())
    ([0, 100], 1.0)
    """
    settings = Settings(
        prefer=prefer, procedure=procedure, test=test, df=df, alpha=alpha, correction=correction,
        family=family, control=control, margin=margin, rope=rope, random_state=random_state,
        test_arguments=test_arguments,
    )  # fmt: skip
    stack = losses
    if not isinstance(stack, ProblemStack):
        stack = stack_tables(
            losses, design=design, algorithms=algorithms, subset_values=subset_values, prefer=prefer
        )
    refuse_wide_margin(stack.one(0), settings.margin)
    entry = PROCEDURES[settings.procedure]
    if entry.rule:
        decided = decide_groups(stack, settings, resolve(entry.rule))
    elif entry.many:
        decided = resolve(entry.many)(stack, settings)
    else:
        decided = _one_by_one(stack, settings)
    return _by_learner(stack, decided, settings)


def stack_tables(
    losses: Any,
    *,
    design: Design | None = None,
    algorithms: Sequence[str] | None = None,
    subset_values: Any = None,
    prefer: PreferenceLike = None,
) -> ProblemStack:
    """Prepare many tables with their design and preference once for several procedures.

    Parameters
    ----------
    losses, design, algorithms, subset_values, prefer
        As for `order_many`, which takes the result in place of the losses.

    Returns
    -------
    ProblemStack
    """
    array = finite_array(losses, "losses", min_ndim=3)
    if array.ndim not in (3, 4, 6) or not len(array):
        raise ArgumentError(
            "losses must hold at least one table, with the axes (table, learner, fold), (table, "
            "learner, run, fold) or (table, learner, data set, run, fold, repetition); got shape "
            f"{array.shape}."
        )
    B, K = array.shape[:2]
    parts = None if subset_values is None else finite_array(subset_values, "subset_values")
    names: tuple[Name, ...] = tuple(range(K)) if algorithms is None else tuple(algorithms)
    if len(names) != K:
        raise ArgumentError(f"algorithms must name {K} learners; got {len(names)}.")
    like = _first_problem(array, design, names, parts)
    flat = array.reshape(B * K, *array.shape[2:])
    values = values_of(flat) if array.ndim == 6 else flat
    values = values.reshape(B, K, *like.values.shape[1:])
    ranks, preference, notes = preference_ranks(names, prefer)
    means = values.reshape(B, K, -1).mean(axis=2)
    places = order_by(ranks, means)
    listed = (places == np.arange(K)).all()
    if parts is not None and like.subset_values is not None:
        parts = parts[:, :, 0].mean(axis=4)
        parts = parts[np.arange(B)[:, np.newaxis], places]
    else:
        parts = None
    folds = None
    if like.fold_values is not None:
        folds = array.mean(axis=5)[np.arange(B)[:, np.newaxis], places]
    return ProblemStack(
        values=values if listed else values[np.arange(B)[:, np.newaxis], places],
        means=np.take_along_axis(means, places, axis=1),
        places=places,
        names=names,
        like=replace(like, preference=preference, notes=notes),
        subset_values=parts,
        fold_values=folds,
    )


def _first_problem(array: Floats, design: Any, names: Sequence[Any], parts: Any) -> Problem:
    """Return the problem of the first table, learners as listed."""
    if design is None:
        return problem_from_array(array[0], prefer="listed")
    from bestofk.losses.losses import Losses

    dims = {
        3: ("algorithm", "fold"),
        4: ("algorithm", "run", "fold"),
        6: ("algorithm", "dataset", "run", "fold", "repetition"),
    }[array.ndim]
    table = Losses(
        array[0],
        dims=dims,
        algorithms=[str(name) for name in names],
        design=design,
        subset_values=None if parts is None else parts[0],
    )
    return problem_from_losses(table, prefer="listed")


def _one_by_one(stack: ProblemStack, settings: Settings) -> Decided:
    """Decide table by table, for a procedure without a batched function."""
    decided = untested(len(stack), stack.learners)
    tests: dict[str, None] = {}
    for table in range(len(stack)):
        decision = decide(stack.one(table), settings)
        position = {name: at for at, name in enumerate(decision.by_preference)}
        if decision.recommended is not None:
            decided.recommended[table] = position[decision.recommended]
        decided.order[table, : len(decision.ranking)] = [
            position[name] for name in decision.ranking
        ]
        decided.write(np.array([table]), decision.evidence)
        tests[decision.test] = None
    return decided._replace(tests=tuple(tests))


def _by_learner(stack: ProblemStack, decided: Decided, settings: Settings) -> ManyDecisions:
    """Convert positions in the order of preference to numbers of learners."""
    B = len(stack)
    every, places = np.arange(B), stack.places
    rank = np.argsort(places, axis=1)
    square: Any = every[:, np.newaxis, np.newaxis], rank[:, :, np.newaxis], rank[:, np.newaxis, :]
    if (rank == np.arange(stack.learners)).all():
        square = ...
    best: dict[str, Any] = {}
    beaten = decided.claims.swapaxes(1, 2)
    if decided.best is not None:
        columns = decided.best._asdict()
        names = ("candidates", "at_least", "at_most")
        beaten = decided.best.beaten
        best = {name: np.take_along_axis(columns[name], rank, axis=1) for name in names}
    return ManyDecisions(
        recommended=_numbered(places, decided.recommended[:, np.newaxis])[:, 0],
        means=np.take_along_axis(stack.means, rank, axis=1),
        ranking=_numbered(places, decided.order),
        by_preference=places,
        claims=decided.claims[square],
        edges=np.triu(beaten)[square],
        pvalue=decided.pvalue[square],
        adjusted_pvalue=decided.adjusted_pvalue[square],
        names=stack.names,
        procedure=settings.procedure,
        correction=settings.used_correction,
        tests=decided.tests,
        alpha=settings.alpha,
        **best,
    )


def _numbered(order: Ints, at: Ints) -> Ints:
    """Return the learners at positions (B, m); -1 stays."""
    if (order == np.arange(order.shape[1])).all():
        return at
    learners = np.take_along_axis(order, np.maximum(at, 0), axis=1)
    return np.where(at == NO_LEARNER, NO_LEARNER, learners)
