"""A test with the clusters and tasks of the items at hand, for a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, RandomState, one_of, positive
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted
from bestofk.decide.choose_test import automatic_tests
from bestofk.decide.decision import Decision
from bestofk.decide.order import decide
from bestofk.decide.preference import MeasuredCosts, Name
from bestofk.decide.problem import Subject
from bestofk.decide.registry import PROCEDURES, decides_by
from bestofk.decide.settings import Settings
from bestofk.evals.evals import MEASURES, Evals
from bestofk.evals.item_plan import ItemPlan, item_plan, items_for_margin
from bestofk.evals.item_scores import ItemScores, score_ranges
from bestofk.evals.missing_bounds import MissingBounds, rival_bounds
from bestofk.evals.model_choice import ModelChoice, cost_details
from bestofk.evals.rows import STATUSES
from bestofk.losses.losses import Losses
from bestofk.stats.pairwise.clustered import Clusters, cluster_sign_flip, clusters_of, differing
from bestofk.stats.pairwise.entry import PairwiseTest
from bestofk.stats.pairwise.mcnemar_tests import mcnemar
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, PAIRWISE_TESTS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusteredTest:
    """One of `CLUSTERED_TESTS` on these items; `bestofk.order` takes it as its test."""

    name: str
    clusters: Any = field(repr=False)
    strata: Any = field(default=None, repr=False)
    unit: float | None = None
    chosen: str = ""
    """Why it was chosen; empty if the caller asked for it."""
    detail: str = ""

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def entry(self) -> PairwiseTest:
        """What is known of the test."""
        return CLUSTERED_TESTS[self.name]

    def __call__(self, a: Any, b: Any, *, alternative: str = "two-sided") -> Any:
        """The result for losses (..., 1, n)."""
        n = len(self.clusters)
        first, second = (np.asarray(x).reshape(*np.shape(x)[:-2], n) for x in (a, b))
        return self.entry.load()(
            first, second, clusters=self.clusters, strata=self.strata, unit=self.unit,
            alternative=alternative,
        )  # fmt: skip


# From logs of evaluations to a decision: the cheapest that is not significantly worse.


def choose_model(
    evals: Evals,
    *,
    prefer: Any = None,
    margin: float | None = None,
    macro: bool = False,
    pass_at: int | None = None,
    pass_all: int | None = None,
    test: str | Callable[..., Any] = "auto",
    procedure: str = "multitest",
    alpha: float = 0.05,
    count_errors_as_wrong: bool = False,
    limits: str = "score",
    missing: str = "drop",
    random_state: RandomState = 0,
    **options: Any,
) -> ModelChoice:
    """Say which model to use, how the others rank, and how much worse the choice may be.

    Parameters
    ----------
    evals : Evals
        What `read_evals` gives; its clusters are the units of the test where there are any.
    prefer : {"cost", "tokens", "latency"}, or as `prefer` of `order`, optional
        What you prefer before the scores speak: the cheaper by the logs, or names or prices. None:
        no preference.
    margin : float, optional
        A difference that does not matter: whether the choice is shown not to be worse than the
        best by more than that.
    macro : bool
        Every task counts the same, whatever the number of its items; by default every item does.
    pass_at, pass_all : int, optional
        Compare by pass@k (one of k answers is right) or pass^k (all of them are).
    test : str or callable
        ``"auto"``: McNemar's exact test for right or wrong in one epoch without clusters, else
        the exact sign-flip test over clusters. Also ``"cluster-sign-flip"``, ``"obuchowski"``,
        ``"durkalski"``, ``"yang"``, and what `order` takes where items are independent.
    procedure, alpha, random_state, **options
        As for `order`.
    count_errors_as_wrong, limits
        As for `Evals.by_item`.
    missing : {"drop", "refuse", "bounds"}
        Scores that are missing: compare the items that all models have, stop, or compare these and
        say what the verdict could be whatever the others are (for scores between 0 and 1).

    Returns
    -------
    ModelChoice
        With `recommended`, `order`, `bound`, `plan`, `margin_verdict` and `explain()`.

    Examples
    --------
    >>> import bestofk as bk
    >>> evals = bk.evals.example_evals("inspect-sums")
    >>> choice = choose_model(evals, prefer="tokens", margin=0.2)
    >>> choice.recommended, choice.margin_verdict
    ('mockllm/medium', 'shown')
    """
    one_of(missing, "missing", ("drop", "refuse", "bounds"))
    if len(evals.learners) < 2:
        raise ArgumentError(
            f"There is only one model in the logs ({evals.learners[0]!r:.80}): add the logs of "
            f"another one to compare it with. {' '.join(evals.unused)}".rstrip()
        )
    if pass_at is not None and pass_all is not None:
        raise ArgumentError("pass_at and pass_all are two scores: ask for one of them.")
    if missing == "bounds" and (pass_at is not None or pass_all is not None):
        raise ArgumentError("missing='bounds' goes by the scores themselves, not by pass@k.")
    if margin is not None:
        positive(margin, "margin")
    counting: dict[str, Any] = {"count_errors_as_wrong": count_errors_as_wrong, "limits": limits}
    scores = evals.by_item(missing="refuse" if missing == "refuse" else "drop", **counting)
    if pass_at is not None:
        scores = scores.pass_at(pass_at)
    if pass_all is not None:
        scores = scores.pass_all(pass_all)
    if decides_by(procedure) == "adequacy":
        options = {**options, "margin": margin}
    asked = {"test": test, "macro": macro, "procedure": procedure, "alpha": alpha,
             "prefer": _preference(prefer, evals), "random_state": random_state,
             **options}  # fmt: skip
    costs = {measure: evals.costs(measure) for measure in MEASURES}
    cost_of = prefer if isinstance(prefer, str) and prefer in MEASURES else "cost"
    decision, table, said, unit = _decided(scores, details=cost_details(costs, cost_of), **asked)
    bounds = None
    if missing == "bounds" and decision.recommended is not None:
        bounds = _missing_bounds(evals, decision, asked, counting)
    held = clusters_of(scores.cluster, len(scores.items), scores.task)
    losses = _by_learner(table, scores)
    bound, rival = _bound(decision, scores, losses, unit)
    plan = _plan(decision, scores, losses, held, unit)
    return ModelChoice(
        decision=decision,
        scores=scores,
        weights="macro" if macro else "micro",
        costs=costs,
        cost_of=cost_of,
        bound=bound,
        rival=rival,
        plan=plan,
        margin=margin,
        margin_verdict=_margin_verdict(decision, bound, margin),
        items_for_margin=_items_for_margin(decision, losses, held, bound, rival, margin),
        unattainable=_unattainable(decision, losses, held),
        intervals=_intervals(scores, losses, held, table, unit, alpha),
        counts=_counts(evals),
        account=(*evals.account, *said),
        left_out=scores.left_out,
        missing_bounds=bounds,
    )


def _decided(
    scores: ItemScores,
    *,
    test: Any,
    macro: bool,
    procedure: str,
    details: Mapping[Name, str] | None = None,
    **options: Any,
) -> tuple[Decision, Losses, list[str], float]:
    """Return the decision, its losses, sentences on them, and the largest possible difference."""
    table, account = _weighted(scores, macro=macro)
    unit = _unit(scores) * (_largest_weight(scores) if macro else 1.0)
    _refuse_other_procedures(scores, procedure, macro=macro)
    chosen, reason, arguments = _test(scores, table, test, macro=macro, unit=unit)
    if not PROCEDURES[procedure].takes_test and test == "auto":
        chosen, reason, arguments = "auto", "", {}
    if isinstance(chosen, ClusteredTest) and options.get("df") is not None:
        raise ArgumentError(f"df does not apply to test {chosen.name!r}; omit it.")
    clustered = isinstance(chosen, ClusteredTest) and bool(scores.clusters)
    settings = Settings(procedure=procedure, test=chosen, test_arguments=arguments, **options)
    subject = Subject(
        noun="model",
        design=counted(len(scores.items), "item"),
        details=dict(details or {}),
        test_reason=reason,
        n_clusters=len(np.unique(scores.cluster)) if clustered else None,
    )
    return decide(table, settings, subject=subject), table, account, unit


def _missing_bounds(
    evals: Evals, decision: Decision, asked: dict[str, Any], counting: dict[str, Any]
) -> MissingBounds:
    """The worst cases over all items."""
    low, high, lacking = score_ranges(evals, **counting)
    every = evals.by_item(missing="allow", **counting)
    who = evals.learners.index(str(decision.recommended))
    worst, best = (low, high) if evals.higher_is_better else (high, low)

    def with_scores(mean: Floats) -> ItemScores:
        return replace(every, mean=mean, count=np.maximum(every.count, 1))

    at_worst = best.copy()
    at_worst[who] = worst[who]
    other = _decided(with_scores(at_worst), **asked)[0].recommended
    names = [str(name) for name in decision.evidence.names]
    rows = [evals.learners.index(name) for name in names]
    good, bad = (
        _weighted(with_scores(np.ascontiguousarray(mean[rows])), macro=asked["macro"])[0]
        .values.reshape(len(rows), -1)
        for mean in (best, worst)
    )  # fmt: skip
    return MissingBounds(
        missing=dict(zip(evals.learners, lacking.tolist(), strict=True)),
        items=len(evals.items),
        recommended=str(decision.recommended),
        at_worst=None if other is None else str(other),
        rivals=rival_bounds(
            names.index(str(decision.recommended)), names, good, bad, decision.evidence.family,
            every.cluster, every.task,
        ),
    )  # fmt: skip


def _counts(evals: Evals) -> dict[str, dict[str, int]]:
    by_status = {status: evals.count(status) for status in STATUSES}
    return {
        name: {status: int(count[k]) for status, count in by_status.items()}
        for k, name in enumerate(evals.learners)
    }


def _preference(prefer: Any, evals: Evals) -> Any:
    if not isinstance(prefer, str) or prefer not in MEASURES:
        return prefer
    costs = evals.costs(prefer)
    unknown = [name for name, cost in costs.items() if not isfinite(cost)]
    if unknown:
        raise ArgumentError(
            f"prefer={prefer!r}: the logs do not say it for {unknown[0]!r}; read them with a file "
            "of prices, or name the models, the most preferred first."
        )
    return MeasuredCosts(what="latency", costs=costs) if prefer == "latency" else costs


def _weighted(scores: ItemScores, *, macro: bool) -> tuple[Losses, list[str]]:
    """The table of losses whose plain mean is the mean that is asked for, and a sentence on it."""
    table = scores.losses()
    tasks = len(scores.tasks)
    if not macro:
        said = f"Means are over items, whatever their task (micro), of {counted(tasks, 'task')}."
        return table, [said] if tasks > 1 else []
    if tasks == 1:
        return table, []
    n = len(scores.items)
    weights = n / (tasks * np.bincount(scores.task, minlength=tasks))[scores.task]
    account = table.account
    weighted = Losses(
        table.values[:, :, 0, :, 0] * weights,
        dims=("algorithm", "dataset", "instance"),
        algorithms=table.algorithms,
        datasets=table.datasets,
        loss_name=table.loss_name,
        account=account[:-1],
    )
    said = f"Every one of {counted(tasks, 'task')} counts the same (macro), whatever its items."
    return weighted, [said]


def _by_learner(table: Losses, scores: ItemScores) -> dict[str, Floats]:
    """Losses (n,) of every learner, weighted."""
    n = len(scores.items)
    return {
        str(name): row.reshape(n) for name, row in zip(table.algorithms, table.values, strict=True)
    }


def _unit(scores: ItemScores) -> float:
    """The largest difference that one item can make."""
    low, high = float(scores.mean.min()), float(scores.mean.max())
    return 1.0 if low >= 0.0 and high <= 1.0 else high - low


def _test(
    scores: ItemScores, table: Losses, test: Any, *, macro: bool, unit: float
) -> tuple[Any, str, dict[str, Any]]:
    """The test, why, and what it is called with."""
    weighted = macro and len(scores.tasks) > 1
    right_or_wrong = bool(np.isin(table.values, (0.0, 1.0)).all()) and scores.count.max() <= 1
    clustered = bool(scores.clusters)
    if callable(test):
        return test, "", {}
    if test == "auto" and right_or_wrong and not clustered and not weighted:
        why = "chosen for answers that are right or wrong: it is exact"
        entry = next(one for one, _ in automatic_tests("test-set") if one.zero_one)
        return entry.name, why, {"exact": True}
    if test != "auto" and test not in CLUSTERED_TESTS:
        # an unknown name is said with those that are known
        known = PAIRWISE_TESTS.get(test)
        if clustered or weighted:
            what = f"{counted(len(scores.clusters), 'cluster')}" if clustered else "weighted tasks"
            raise ArgumentError(
                f"test {test!r} takes items as independent and equal, and these are in {what}: "
                f"the tests for that are {', '.join(CLUSTERED_TESTS)}."
            )
        return test, "", {"exact": True} if known is not None and known.zero_one else {}
    name = next(iter(CLUSTERED_TESTS)) if test == "auto" else test
    if clustered:
        why = f"{len(scores.clusters)} clusters of items count, each as one"
    elif weighted:
        why = "tasks count the same, and items of a task count as one each"
    else:
        why = "the mean score of an item over its epochs counts as one"
    strata = scores.task if len(scores.tasks) > 1 else None
    reason = {"chosen": f"chosen for these items: {why}"} if test == "auto" else {"detail": why}
    clustered_test = ClusteredTest(
        name=name, clusters=scores.cluster, strata=strata, unit=unit, **reason
    )
    return clustered_test, "", {}


def _refuse_other_procedures(scores: ItemScores, procedure: str, *, macro: bool) -> None:
    """Procedures with a test of their own know neither clusters nor weights."""
    if PROCEDURES[procedure].takes_test:
        return
    if scores.clusters or (macro and len(scores.tasks) > 1):
        what = "clusters" if scores.clusters else "weighted tasks"
        raise ArgumentError(
            f"procedure {procedure!r} takes items as independent and equal, and these are in "
            f"{what}: 'multitest' and 'cheapest-adequate' allow for that."
        )


def _largest_weight(scores: ItemScores) -> float:
    counts = np.bincount(scores.task, minlength=len(scores.tasks))
    return float(len(scores.items) / (len(counts) * counts.min()))


def _bound(
    decision: Decision, scores: ItemScores, losses: dict[str, Floats], unit: float
) -> tuple[float | None, str | None]:
    """How much worse the recommended one may be than the best, and than whom; one-sided.

    For any learner that the data choose, the bound is too low only where its own interval against
    the truly best one fails; that are K - 1 intervals, each at alpha / (K - 1). Whatever the test,
    the bound is of the means.
    """
    who = decision.recommended
    others = [name for name in losses if name != who]
    if who is None or not others:
        return None, None
    mine, stacked = losses[str(who)], np.stack([losses[name] for name in others])
    plain = not scores.clusters and len(scores.tasks) == 1
    if plain and all(np.isin(one, (0.0, 1.0)).all() for one in losses.values()):
        found = mcnemar(mine, stacked, exact=True, alternative="less")
    else:
        found = cluster_sign_flip(
            mine, stacked, clusters=scores.cluster, strata=scores.task, unit=unit,
            alternative="less",
        )  # fmt: skip
    level = 1.0 - decision.alpha / len(others)
    high = np.atleast_1d(np.asarray(found.confidence_interval(level).high, dtype=float))
    at = int(np.argmax(high))
    return (float(max(high[at], 0.0)) if isfinite(high[at]) else None), others[at]


def _level(decision: Decision) -> float:
    """The level of one pair, after correction."""
    return 1.0 - decision.evidence.family.interval_level()


def _plan(
    decision: Decision, scores: ItemScores, losses: dict[str, Floats], held: Clusters, unit: float
) -> ItemPlan | None:
    """For the recommended one and the best mean, or the next best where they are the same."""
    who = decision.recommended
    if who is None or len(losses) < 2:
        return None
    others = sorted((name for name in losses if name != who), key=lambda k: decision.means[k])
    rival = others[0]
    rows = [scores.learners.index(str(name)) for name in (who, rival)]
    return item_plan(
        (str(who), rival), losses[str(who)] - losses[rival], scores.variance[rows],
        scores.count[rows], held, unit=unit, level=_level(decision),
    )  # fmt: skip


def _margin_verdict(decision: Decision, bound: float | None, margin: float | None) -> str | None:
    if margin is None or decision.recommended is None:
        return None
    if bound is not None and bound < margin:
        return "shown"
    worse = any(loser == decision.recommended for _, loser in decision.claims)
    return "worse" if worse else "not shown"


def _items_for_margin(
    decision: Decision,
    losses: dict[str, Floats],
    held: Clusters,
    bound: float | None,
    rival: str | None,
    margin: float | None,
) -> int | None:
    if margin is None or rival is None or (bound is not None and bound < margin):
        return None
    d = losses[str(decision.recommended)] - losses[rival]
    error = float(held.standard_error(held.totals(d), unit=0.0)[0])
    level = decision.alpha / (len(losses) - 1)
    return items_for_margin(margin - float(d.mean()), error**2 * d.size, level=level)


def _unattainable(
    decision: Decision, losses: dict[str, Floats], held: Clusters
) -> tuple[tuple[str, int, float], ...]:
    """Rivals that so few clusters tell from the recommended one that no p-value could be small."""
    who, choice = decision.recommended, decision.test_choice
    if who is None or choice is None or choice.entry is None or not choice.entry.discrete:
        return ()
    found = []
    mine = held.totals(losses[str(who)])
    told_apart = {name for claim in decision.claims if who in claim for name in claim}
    for name in decision.ranking if len(decision.ranking) > 1 else decision.by_preference:
        if name == who or name in told_apart:
            continue
        count = int(differing(mine, held.totals(losses[str(name)])))
        least = min(1.0, 2.0 ** (1 - count))
        if decision.evidence.family.smallest_adjusted(least) > decision.alpha:
            found.append((str(name), count, least))
    return tuple(found)


def _intervals(
    scores: ItemScores,
    losses: dict[str, Floats],
    held: Clusters,
    table: Losses,
    unit: float,
    alpha: float,
) -> dict[str, tuple[float, float]]:
    """Interval of each learner's own mean, in the user's metric."""
    from bestofk.stats.intervals import wilson
    from bestofk.stats.pairwise.clustered import clustered_t_interval

    metric = table.metric
    plain = not scores.clusters and len(scores.tasks) == 1
    binary = plain and bool(np.isin(table.values, (0.0, 1.0)).all())
    inside = bool(scores.mean.min() >= 0.0 and scores.mean.max() <= 1.0)
    found = {}
    for name, loss in losses.items():
        if binary:
            ends = wilson(int(loss.sum()), loss.size, level=1.0 - alpha)
            low, high = float(ends.low), float(ends.high)
        else:
            low, high = (
                float(end)
                for end in clustered_t_interval(
                    loss, np.zeros_like(loss), held, outside=alpha / 2, unit=unit
                )
            )
        shown = sorted((metric.shown(low), metric.shown(high)))
        if inside:
            shown = [min(max(end, 0.0), 1.0) for end in shown]
        found[name] = (shown[0], shown[1])
    return found
