"""Choose a language model from evaluation logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, RandomState, names_arguments, one_of, positive, whole
from bestofk._base.errors import ArgumentError, BestOfKError, UnknownNameError, use
from bestofk._base.formatting import counted
from bestofk.decide.choose_test import Choice
from bestofk.decide.compare_scores import decide
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import MissingLosses
from bestofk.decide.preference import MeasuredCosts, arrange
from bestofk.decide.problem import Subject
from bestofk.decide.registry import PROCEDURES
from bestofk.decide.settings import Settings
from bestofk.decide.slices import Slices, order_slices
from bestofk.evals.costs import cost_details
from bestofk.evals.evals import MEASURES, Evals, is_measure
from bestofk.evals.item_plan import (
    MoreItems,
    PowerCurve,
    chance_to_decide,
    cluster_curve,
    disagreement_curve,
    items_from_start,
)
from bestofk.evals.item_scores import ItemScores, missing_scores
from bestofk.evals.judge import LabelledTest, judge_check, labelled_losses
from bestofk.evals.model_choice import AgainstModel, ModelChoice
from bestofk.evals.rows import STATUSES
from bestofk.losses.losses import Scores
from bestofk.stats.intervals import wilson
from bestofk.stats.pairwise.clustered import Clusters, cluster_t, clusters_of
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, LABELLED_TESTS, PAIRWISE_TESTS
from bestofk.stats.pairwise.skew_corrected import unit_widening

MIN_GRADED_UNITS = 30
"""With fewer items or clusters, intervals of graded scores cover too rarely."""


def clustered_choice(
    name: str,
    *,
    clusters: Any,
    strata: Any = None,
    unit: float,
    chosen: str = "",
    detail: str = "",
) -> Choice:
    """Return one of `CLUSTERED_TESTS` with the clusters and tasks of the items."""
    entry = CLUSTERED_TESTS[name]
    arguments = {"clusters": clusters, "strata": strata, "unit": unit}
    if entry.widened:
        arguments["widened"] = unit_widening(len(np.unique(clusters)))
    return Choice(name=name, function=entry.load(), axes=1, arguments=arguments, chosen=chosen,
                  detail=detail, entry=entry)  # fmt: skip


@names_arguments(options=Settings)
def compare_evals(
    evals: Evals,
    *,
    prefer: Any = None,
    margin: float | None = None,
    against: str | None = None,
    more: int | None = None,
    difference: float | None = None,
    macro: bool = False,
    pass_at: int | None = None,
    pass_all: int | None = None,
    test: str | Callable[..., Any] = "auto",
    procedure: str = "best",
    alpha: float = 0.05,
    count_errors_as_wrong: bool = False,
    limits: str = "score",
    missing: str = "drop",
    random_state: RandomState = 0,
    **options: Any,
) -> ModelChoice:
    """Choose a language model from evaluation logs, and bound how much worse it can be.

    Parameters
    ----------
    evals : Evals
        The logs, as `read_evals` returns them. If they have clusters, the clusters are the units
        of the test.
    prefer : {"cost", "tokens", "latency"}, or as `prefer` of `compare_scores`, optional
        Prefer the cheaper model by this measure of the logs, or name models or prices as for
        `compare_scores`. ``"p95_latency"`` or another percentile: the latency that 95 percent of
        the samples do not exceed. None: no preference.
    margin : float, optional
        A difference that does not matter: a preferred model that is shown to be at most this much
        worse than the best is recommended as well.
    against : str, optional
        A model, such as the one in production: the result says for each other model whether it is
        shown to be within the margin of that model. Needs `margin`.
    more : int, optional
        A number of additional items: the result states the chance that they decide between the
        recommended model and its nearest rival.
    difference : float, optional
        A difference to plan for: the result states how many items would show it.
    macro : bool
        Give every task the same weight. By default every item has the same weight.
    pass_at, pass_all : int, optional
        Compare by pass@k (at least one of k answers is right) or pass^k (all are right).
    test : str or callable
        ``"auto"``: McNemar's exact test for right or wrong answers in one epoch without clusters,
        else the skewness-corrected t test over clusters or items (``"cluster-t"``). Also
        ``"cluster-sign-flip"``, and the tests of `compare_scores` if the items are independent.
    procedure, alpha, random_state, **options
        As for `compare_scores`.
    count_errors_as_wrong, limits
        As for `Evals.by_item`.
    missing : {"drop", "refuse"}
        If scores are missing: ``"drop"`` states what holds for the items that all models have, and
        also if all missing scores are wrong or all are right; ``"refuse"`` stops.

    Returns
    -------
    ModelChoice
        With `recommended`, `decision` and `explain()`.

    Examples
    --------
    >>> import bestofk as bk
    >>> evals = bk.evals.example_evals("inspect-sums")
    >>> choice = compare_evals(evals, prefer="tokens", margin=0.2)
    >>> choice.recommended, choice.decision.candidates
    ('mockllm/medium', ('mockllm/large', 'mockllm/medium'))
    """
    one_of(missing, "missing", ("drop", "refuse"))
    if len(evals.learners) < 2:
        raise ArgumentError(
            f"The logs contain only one model ({evals.learners[0]!r:.80}): add the logs of "
            f"another one to compare it with. {' '.join(evals.unused)}".rstrip()
        )
    if pass_at is not None and pass_all is not None:
        raise ArgumentError("pass_at and pass_all exclude each other; pass one of them.")
    if against is not None:
        if against not in evals.learners:
            raise UnknownNameError("model", against, evals.learners)
        if margin is None:
            raise ArgumentError(
                "A comparison against one model needs a difference that does not matter, such as ",
                use(margin=0.02),
                ".",
            )
    if more is not None:
        whole(more, "more", at_least=1)
    if difference is not None:
        positive(difference, "difference")
    counting: dict[str, Any] = {"count_errors_as_wrong": count_errors_as_wrong, "limits": limits}
    scores = evals.by_item(missing=missing, **counting)

    def passed(scores: ItemScores) -> ItemScores:
        if pass_at is not None:
            return scores.pass_at(pass_at)
        return scores if pass_all is None else scores.pass_all(pass_all)

    complete = len(scores.items) == len(evals.items) and not scores.left_out
    scores = passed(scores)
    judge = None
    if scores.truth is not None:
        _refuse_with_labels(test, procedure, pass_at or pass_all)
        judge = judge_check(scores, evals.truth_name)
        scores = replace(scores, metric=evals.truth_name)
        if judge.labelled == judge.items:
            # the labels alone decide
            evals, scores = replace(evals, truth=None), _labels_alone(evals, scores)
    options |= {
        "test": test, "macro": macro, "procedure": procedure, "alpha": alpha, "margin": margin,
        "prefer": _preference(prefer, evals), "random_state": random_state,
    }  # fmt: skip
    costs = {measure: evals.costs(measure) for measure in MEASURES}
    cost_of = prefer if is_measure(prefer) else "cost"
    costs.setdefault(cost_of, evals.costs(cost_of))
    lost: MissingLosses | None = None
    has_judge = judge is not None and scores.truth is None
    if missing != "refuse" and not complete and not has_judge:
        lost = _missing_losses(evals, options, counting, passed)
    details = cost_details(costs, cost_of, evals.currency)
    decided = _decide(scores, details=details, missing_losses=lost, **options)
    decision = decided.decision
    return ModelChoice(
        decision=decision,
        scores=scores,
        weights="macro" if macro else "micro",
        costs=costs,
        cost_of=cost_of,
        intervals=_intervals(decided),
        counts=_counts(evals),
        account=tuple(one for one in scores.account if one not in scores.left_out),
        left_out=scores.left_out,
        against=_against(decision, against),
        judge=judge,
        more=_more_items(decided, more, difference),
        cost_intervals={} if cost_of in MEASURES else evals.percentile_intervals(cost_of, alpha),
        currency=evals.currency,
    )


def _labels_alone(evals: Evals, scores: ItemScores) -> ItemScores:
    """Return the human labels as scores, of all items if every answer has one."""
    if evals.truth is not None and np.isfinite(evals.truth).all():
        scores = replace(evals.by_item(missing="allow"), metric=scores.metric)
    labels = np.ascontiguousarray(scores.truth)
    ones, unknown = np.ones_like(scores.count), np.full(labels.shape, np.nan)
    return replace(scores, mean=labels, count=ones, variance=unknown, truth=None)


def _refuse_with_labels(test: Any, procedure: str, passes: int | None) -> None:
    """Refuse options that do not work with human labels."""
    if passes is not None:
        raise ArgumentError("truth does not work with pass_at or pass_all; omit one.")
    if test not in ("auto", *LABELLED_TESTS) or not PROCEDURES[procedure].takes_test:
        option = use(procedure=procedure) if test == "auto" else use(test=test)
        raise ArgumentError("truth does not work with ", option, "; omit one.")


@dataclass(frozen=True, kw_only=True)
class _Decided:
    """A decision, and the weighted losses behind it."""

    decision: Decision
    scores: ItemScores
    table: Scores
    unit: float
    """The largest difference that one item can make."""
    labelled: LabelledTest | None = None
    """The test of items that a judge scored and people labelled in part."""

    @cached_property
    def losses(self) -> dict[str, Floats]:
        """Losses (n,) by model."""
        rows = dict(zip(self.table.learners, self.table.values, strict=True))
        return {name: rows[name].reshape(-1) for name in self.scores.learners}

    @cached_property
    def clusters(self) -> Clusters:
        return clusters_of(self.scores.cluster, len(self.scores.items), self.scores.task)

    @cached_property
    def binary(self) -> bool:
        """True if the items are independent, of one task, and right or wrong."""
        plain = self.labelled is None and not self.scores.clusters and len(self.scores.tasks) == 1
        return plain and bool(np.isin(self.table.values, (0.0, 1.0)).all())


def _decide(
    scores: ItemScores,
    *,
    test: Any,
    macro: bool,
    procedure: str,
    details: Any = None,
    missing_losses: MissingLosses | None = None,
    **options: Any,
) -> _Decided:
    labelled = None
    if scores.truth is None:
        order = None
        if not macro:
            # the order of the decision, which then needs no copy
            means = scores.mean.mean(axis=1) * (-1.0 if scores.higher_is_better else 1.0)
            order, _, _ = arrange(scores.learners, options.get("prefer"), means)
        table = _weighted(scores, macro=macro, order=order)
    else:
        weights = np.ones(len(scores.items))
        if macro and len(scores.tasks) > 1:
            weights = _task_weights(scores)[scores.task]
        table, labelled = labelled_losses(scores, weights)
        test = labelled.choice()
    low, high = float(scores.mean.min()), float(scores.mean.max())
    unit = 1.0 if low >= 0.0 and high <= 1.0 else high - low
    if macro:
        unit *= float(_task_weights(scores).max())
    if labelled is not None:
        unit = labelled.unit
    weighted = macro and len(scores.tasks) > 1
    if PROCEDURES[procedure].takes_test or test != "auto":
        chosen, reason, arguments = _test(scores, table, test, weighted=weighted, unit=unit)
    else:
        chosen, reason, arguments = "auto", "", {}
    if not PROCEDURES[procedure].takes_test and (scores.clusters or weighted):
        structure = "clusters" if scores.clusters else "weighted tasks"
        raise ArgumentError(
            f"procedure {procedure!r} assumes independent items of equal weight, and these are in "
            f"{structure}: use 'best' or 'multitest'."
        )
    if isinstance(chosen, Choice) and options.get("df") is not None:
        raise ArgumentError(f"df does not apply to test {chosen.name!r}; omit it.")
    clustered = isinstance(chosen, Choice) and bool(scores.clusters)
    n_clusters = len(np.unique(scores.cluster)) if clustered else None
    if labelled is not None:
        n_clusters = len(np.unique(scores.cluster[labelled.labelled]))
    settings = Settings(procedure=procedure, test=chosen, test_arguments=arguments, **options)
    subject = Subject(
        noun="model",
        design=counted(len(scores.items), "item")
        + (f", {labelled.labelled.sum():,} of them with human labels" if labelled else ""),
        details=dict(details or {}),
        test_reason=reason,
        n_clusters=n_clusters,
        clustered=bool(scores.clusters),
    )
    decision = decide(table, settings, subject=subject, left_out=missing_losses)
    return _Decided(decision=decision, scores=scores, table=table, unit=unit, labelled=labelled)


def _missing_losses(
    evals: Evals,
    options: dict[str, Any],
    counting: dict[str, Any],
    passed: Callable[[ItemScores], ItemScores],
) -> MissingLosses | None:
    """Return the missing scores, with the evidence if all are wrong, and if all are right.

    An item that a model never ran counts only if the model has at least half of the items of its
    task: otherwise it ran on a part of the task by design.
    """
    scores = evals.by_item(missing="allow", **counting)
    worst, best, missing = missing_scores(evals, **counting)
    wanted = (scores.share_by_task() >= 0.5)[:, scores.task]
    keep = np.asarray(wanted.all(axis=0))
    lacking = (missing > 0) & keep
    if not lacking.any() or (lacking == lacking[:1]).all() or keep.sum() < 2:
        return None
    # an item that a model never ran has as many answers as the others
    count = np.where(scores.count > 0, scores.count + missing, scores.count.max())
    everything, count = scores.only_items(keep), count[:, keep]

    def filled(mean: Floats) -> ItemScores:
        mean = np.ascontiguousarray(mean[:, keep])
        # of right or wrong answers, which pass@k needs; decisions do not use it
        variance = mean * (1.0 - mean) * count / np.maximum(count - 1, 1)
        return replace(everything, mean=mean, count=count, variance=variance)

    try:
        as_worst, as_best = (
            _decide(passed(filled(mean)), **options).decision.evidence for mean in (worst, best)
        )
    except BestOfKError:
        return None
    counts = lacking.sum(axis=1).tolist()
    return MissingLosses(
        counts={name: n for name, n in zip(evals.learners, counts, strict=True) if n},
        units=int(keep.sum()),
        unit="item",
        as_worst=as_worst,
        as_best=as_best,
    )


def _counts(evals: Evals) -> dict[str, dict[str, int]]:
    by_status = {status: evals.count(status) for status in STATUSES}
    return {
        name: {status: int(count[k]) for status, count in by_status.items()}
        for k, name in enumerate(evals.learners)
    }


def _preference(prefer: Any, evals: Evals) -> Any:
    if not is_measure(prefer):
        return prefer
    costs = evals.costs(prefer)
    unknown = [name for name, cost in costs.items() if not isfinite(cost)]
    if unknown:
        raise ArgumentError(
            use(prefer=prefer),
            f": the logs do not state it for {unknown[0]!r}; give ",
            use(prices=...),
            ", or name the models, the most preferred first.",
        )
    return MeasuredCosts(what="latency", costs=costs) if prefer.endswith("latency") else costs


def _task_weights(scores: ItemScores) -> Floats:
    """Return a weight for each task that makes all tasks count the same."""
    tasks = len(scores.tasks)
    weights: Floats = len(scores.items) / (tasks * np.bincount(scores.task, minlength=tasks))
    return weights


def _weighted(scores: ItemScores, *, macro: bool, order: Sequence[int] | None = None) -> Scores:
    """Return the losses, weighted so that their plain mean is the requested mean."""
    table = scores.losses(order=order)
    if not macro or len(scores.tasks) == 1:
        return table
    return Scores(
        table.values[:, :, 0, :, 0] * _task_weights(scores)[scores.task],
        dims=("learner", "dataset", "instance"),
        learners=table.learners,
        datasets=table.datasets,
        loss_name=table.loss_name,
        account=table.account[:-1],
    )


def _test(
    scores: ItemScores, table: Scores, test: Any, *, weighted: bool, unit: float
) -> tuple[Any, str, dict[str, Any]]:
    """Return the test, the reason for it, and its arguments."""
    binary = bool(np.isin(table.values, (0.0, 1.0)).all()) and scores.count.max() <= 1
    clustered = bool(scores.clusters)
    if callable(test):
        return test, "", {}
    if test == "auto" and binary and not clustered and not weighted:
        return "mcnemar", "chosen for right or wrong answers: it is exact", {"exact": True}
    if test != "auto" and test not in CLUSTERED_TESTS:
        entry = PAIRWISE_TESTS.get(test)  # `decide` refuses an unknown name
        if clustered or weighted:
            structure = counted(len(scores.clusters), "cluster") if clustered else "weighted tasks"
            raise ArgumentError(
                f"test {test!r} assumes independent items of equal weight, and these are in "
                f"{structure}: use one of {', '.join(CLUSTERED_TESTS)}."
            )
        return test, "", {"exact": True} if entry is not None and entry.zero_one else {}
    entry = next(entry for entry in CLUSTERED_TESTS.values() if entry.automatic)
    if clustered:
        unit_of_test = f"each of {len(scores.clusters)} clusters of items counts as one observation"
    elif weighted:
        unit_of_test = "tasks have the same weight, and each item is one observation"
    else:
        unit_of_test = "the mean score of an item over its epochs is one observation"
    automatic = test == "auto"
    choice = clustered_choice(
        entry.name if automatic else test,
        clusters=scores.cluster,
        strata=scores.task if len(scores.tasks) > 1 else None,
        unit=unit,
        chosen=f"chosen for these items: {entry.automatic['test-set']}; {unit_of_test}"
        if automatic
        else "",
        detail="" if automatic else unit_of_test,
    )
    return choice, "", {}


def _against(decision: Decision, against: str | None) -> tuple[AgainstModel, ...]:
    """Compare each model with one of them, by K - 1 intervals that hold together."""
    if against is None:
        return ()
    evidence, margin = decision.evidence, decision.margin
    assert margin is not None
    pairs = evidence.rows_of(against)
    ends = evidence.intervals_at(1.0 - decision.alpha / len(pairs), pairs)
    rows = []
    for row, low, high in zip(pairs.tolist(), *(end.tolist() for end in ends), strict=True):
        a, b = evidence.names[evidence.first[row]], evidence.names[evidence.second[row]]
        at_least, at_most = (-high, -low) if a == against else (low, high)
        name = str(b if a == against else a)
        difference = decision.mean_losses[name] - decision.mean_losses[against]
        rows.append(
            AgainstModel(
                name=name,
                against=against,
                difference=decision.metric.difference(difference),
                at_most=max(0.0, at_most) if isfinite(at_most) else None,
                verdict="within"
                if at_most <= margin
                else "beyond"
                if at_least > margin
                else "open",
            )
        )
    return tuple(rows)


def _more_items(decided: _Decided, more: int | None, difference: float | None) -> MoreItems | None:
    """Return the chance that more items decide, and the items that a difference needs."""
    if more is None and difference is None:
        return None
    if decided.labelled is not None:
        raise ArgumentError(
            use(difference=difference) if more is None else use(more=more),
            " does not work if human labels of some items correct a judge; omit it.",
        )
    decision, losses, clusters = decided.decision, decided.losses, decided.clusters
    best = decision.recommended
    if best is None:
        return None
    rival = next(name for name in decision.by_mean if name != best)
    evidence = decision.evidence
    row = evidence.row(best, rival)
    d = losses[str(best)] - losses[str(rival)]
    curve = _power_curve(decided, d, 1.0 - evidence.family.interval_level())
    error, df = clusters.standard_error(clusters.totals(d), unit=decided.unit)
    chances = 0.0, 0.0
    if more is not None:
        chances = chance_to_decide(float(d.mean()), float(error), float(df), len(d), more, curve)
    return MoreItems(
        pair=(str(best), str(rival)),
        items=len(d),
        more=more,
        chance=chances[0],
        chance_if_observed=chances[1],
        settled=row is not None and bool(evidence.rejected[row]),
        needed=None if difference is None else items_from_start(curve, difference),
        difference=difference,
    )


def _power_curve(decided: _Decided, d: Floats, level: float) -> PowerCurve:
    """Return the power of the decision's test for a difference, by the number of items."""
    choice = decided.decision.test_choice
    entry = None if choice is None else choice.entry
    if entry is not None and entry.power == "disagreements":
        return disagreement_curve(float((d != 0).mean()), level)
    return cluster_curve(d, decided.clusters, entry, level, unit=decided.unit)


def _mean_test(decided: _Decided, a: Floats, b: Floats) -> Any:
    """Return the test behind the interval of a mean, whatever the test of the decision."""
    if decided.labelled is not None:
        return decided.labelled(*(np.asarray(x)[..., np.newaxis, :] for x in (a, b)))
    scores = decided.scores
    return cluster_t(a, b, clusters=scores.cluster, strata=scores.task, unit=decided.unit)


def _intervals(decided: _Decided) -> dict[str, tuple[float, float]]:
    """Return the interval of each model's mean, in the user's metric; NaN: it covers too rarely."""
    metric, scores, alpha = decided.table.metric, decided.scores, decided.decision.alpha
    known, units = scores.mean, len(decided.clusters)
    if scores.truth is not None and decided.labelled is not None:
        known = scores.truth[np.isfinite(scores.truth)]
        units = len(np.unique(scores.cluster[decided.labelled.labelled]))
    within_unit = known.min() >= 0.0 and known.max() <= 1.0
    losses = decided.table.values.reshape(len(decided.losses), -1)
    ends: Any
    graded = not np.isin(known, (0.0, 1.0)).all()
    if graded and units < MIN_GRADED_UNITS:
        ends = np.full((len(losses), 2), np.nan)
    elif decided.binary:
        bounds = [wilson(int(loss.sum()), loss.size, level=1.0 - alpha) for loss in losses]
        ends = [(one.low, one.high) for one in bounds]
    else:
        # allow for skewed scores, as the test of the differences does
        least = losses.min() if decided.labelled is None else losses.mean(axis=1).min()
        test = _mean_test(decided, losses, np.full(losses.shape[1], least))
        interval = test.confidence_interval(1.0 - alpha)
        ends = least + np.transpose([np.atleast_1d(end) for end in interval])
    intervals = {}
    for name, pair in zip(decided.table.learners, ends, strict=True):
        low, high = sorted(metric.shown(float(end)) for end in pair)
        if within_unit and isfinite(low):
            low, high = (min(max(end, 0.0), 1.0) for end in (low, high))
        intervals[name] = (low, high)
    return intervals


def choose_by_slice(
    whole: ModelChoice, evals: Evals, groups: Evals, by: str, arguments: Mapping[str, Any]
) -> Slices:
    """Choose in every slice of the items, with statements that hold together.

    - `whole`: The choice from all items.
    - `evals`: The logs.
    - `groups`: The same logs, read with the key of the slices as cluster; or `evals` for its tasks.
    - `by`: The key, or ``"task"``.
    - `arguments`: The arguments of `compare_evals`.
    """
    codes, names = evals.item_task, evals.tasks
    if by != "task":
        # the key may also name the tasks, and then the items come in another order
        group = dict(zip(groups.items, groups.item_cluster.tolist(), strict=True))
        if len(group) < len(groups.items) or group.keys() != set(evals.items):
            raise ArgumentError(f"by: the items need names that differ, to group them by {by!r}.")
        codes, names = np.array([group[item] for item in evals.items]), groups.clusters

    def decide(name: str, alpha: float) -> Decision:
        part = evals.only_items(codes == names.index(name))
        return compare_evals(part, **{**arguments, "alpha": alpha}).decision

    return order_slices(whole.decision, names, decide, by=by)


def choose_by_metric(
    whole: ModelChoice, logs: Mapping[str, Evals], arguments: Mapping[str, Any]
) -> Slices:
    """Choose by each of several metrics, with statements that hold together.

    - `whole`: The choice by the first metric.
    - `logs`: The same logs, read by each metric.
    - `arguments`: The arguments of `compare_evals`.
    """

    def decide(name: str, alpha: float) -> Decision:
        return compare_evals(logs[name], **{**arguments, "alpha": alpha}).decision

    return order_slices(whole.decision, tuple(logs), decide, by="metric")
