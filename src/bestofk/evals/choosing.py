"""Choose a language model from evaluation logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import signature
from math import inf, isfinite
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats, RandomState, names_arguments, positive, refuse
from bestofk._base.errors import ArgumentError, BestOfKError, TableError, argument, use
from bestofk._base.formatting import counted, interval_words, joined, shortened
from bestofk._base.registry import resolve
from bestofk.decide.choose_test import Choice
from bestofk.decide.compare_scores import decide
from bestofk.decide.decision import RULED_OUT, Decision
from bestofk.decide.evidence import Evidence, MissingLosses
from bestofk.decide.pairs import decision_from, family_of, tested
from bestofk.decide.preference import MeasuredCosts, arrange
from bestofk.decide.problem import Subject, as_problem
from bestofk.decide.registry import RULES
from bestofk.decide.result import Result, decision_of
from bestofk.decide.settings import Settings
from bestofk.decide.slices import Slice, order_slices
from bestofk.decide.statements.wording import at_most_text
from bestofk.evals.costs import cost_details
from bestofk.evals.evals import MEASURES, Evals, is_measure, never_run
from bestofk.evals.item_scores import ItemScores, missing_scores
from bestofk.evals.judge import judge_check, labelled_losses
from bestofk.evals.model_choice import ModelChoice, unmet
from bestofk.evals.noise import Noise, noise_of
from bestofk.evals.query import Names, as_names, likely_first
from bestofk.evals.reading import Logs, read_evals
from bestofk.losses.columns import direction_of
from bestofk.losses.losses import Scores
from bestofk.stats.pairwise.registry import CLUSTERED_TESTS, LABELLED_TESTS, PAIRWISE_TESTS
from bestofk.stats.pairwise.skew_corrected import unit_widening

MAX_NAMED = 5
"""Metrics that the headline names."""
MAX_UNNAMED = 20
"""Metrics that are looked at although the user does not name them."""
READING = tuple(set(signature(read_evals).parameters) - {"paths", "metric"})
"""Arguments about reading the logs."""


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


@names_arguments(options=(Settings, read_evals))
def compare_evals(
    logs: Any,
    *,
    metric: Names = None,
    require: Names | Mapping[str, float | None] = None,
    prefer: Any = None,
    margin: float | None = None,
    macro: bool = False,
    pass_at: int | None = None,
    pass_all: int | None = None,
    count_errors_as_wrong: bool = False,
    test: str | Callable[..., Any] = "auto",
    rule: str = "best",
    alpha: float = 0.05,
    random_state: RandomState = 0,
    **options: Any,
) -> Result:
    """Choose a language model from evaluation logs, and bound how much worse it can be.

    Parameters
    ----------
    logs : path, sequence of paths, data frame or Evals
        The logs, as for `read_evals`, or its result. If they have clusters, the clusters are the
        units of the test.
    metric : str or sequence of str, optional
        The score to compare by. If you name several, the first decides. The headline names every
        metric of the logs in which the recommended model is worse, whether you name it or not. If
        each task has only one of those that you name, they are one score.
    require : str, sequence of str or mapping of str to float, optional
        Metrics in which the recommended model must be good enough: shown to be at most this much
        worse than the best model in that metric. Without a number it must not be ruled out there.
    prefer : {"cost", "tokens", "latency"}, or as `prefer` of `compare_scores`, optional
        Prefer the cheaper model by this measure of the logs, or name models or prices as for
        `compare_scores`. ``"p95_latency"`` or another percentile: the latency that 95 percent of
        the samples do not exceed. None: no preference.
    margin : float, optional
        A difference that does not matter: a preferred model that is shown to be at most this much
        worse than the best is recommended as well.
    macro : bool
        Give every task the same weight. By default every item has the same weight.
    pass_at, pass_all : int, optional
        Compare by k answers to each item: pass@k (one is right), or pass^k (all are right).
    count_errors_as_wrong : bool
        Give the worst score to samples that failed, or hit a limit and were not scored.
    test : str or callable
        ``"auto"``: McNemar's exact test for right or wrong answers in one epoch without clusters,
        else the skewness-corrected t test over clusters or items (``"cluster-t"``). Also
        ``"cluster-sign-flip"``, and the tests of `compare_scores` if the items are independent.
    rule, alpha, random_state, **options
        As for `compare_scores`; or as for `read_evals`.

    Returns
    -------
    Result
        With `recommended`, `decision` and `explain()`.

    Notes
    -----
    The level alpha is divided by the number of metrics that you name, so that all statements hold
    at once. The other metrics of the logs share a further alpha. They never change the decision.

    If a model was not run on all items, each pair is compared on the items that both have. There is
    then no bound of how much worse than the best a model can be. Samples that failed do not count,
    and a model is ruled out only if that also holds if they count as wrong, and as right unless
    they failed.

    Examples
    --------
    >>> import bestofk as bk
    >>> evals = bk.evals.example_evals("inspect-sums")
    >>> choice = compare_evals(evals, prefer="tokens", margin=0.2)
    >>> choice.recommended, choice.decision.candidates
    ('mockllm/medium', ('mockllm/large', 'mockllm/medium'))
    """
    reading = {name: options.pop(name) for name in READING if name in options}
    required = _required(require)
    readings, unnamed = _read(logs, as_names(metric, "metric"), tuple(required), reading)
    if pass_at is not None and pass_all is not None:
        raise ArgumentError("pass_at and pass_all exclude each other; pass one of them.")

    def passed(scores: ItemScores) -> ItemScores:
        if pass_at is not None:
            return scores.pass_at(pass_at)
        return scores if pass_all is None else scores.pass_all(pass_all)

    (_, evals), *others = readings.items()
    if len(evals.models) < 2:
        varied = "; bestofk evals --noise states how much its runs vary"
        raise ArgumentError(
            f"The logs contain only one model ({evals.models[0]!r:.80}): add the logs of another "
            f"one to compare it with{varied * bool(evals.epoch.max(initial=1) > 1)}. "
            f"{' '.join(evals.assumptions)}".rstrip()
        )
    options |= {
        "test": test, "macro": macro, "rule": rule, "alpha": alpha / len(readings),
        "random_state": random_state,
    }  # fmt: skip
    by_metric = {}
    for name, log in (dict(others) | unnamed).items():
        how = options | ({"alpha": alpha / len(unnamed)} if name in unnamed else {})
        try:
            by_metric[name] = _decide(*_scored(log, passed, how, count_errors_as_wrong), **how)
        except BestOfKError:
            if name not in unnamed:
                raise
    if evals.truth is not None:
        _refuse_with_labels(test, rule, pass_at or pass_all)
    cost_of = prefer if is_measure(prefer) else "cost"
    costs = {measure: evals.costs(measure) for measure in dict.fromkeys((*MEASURES, cost_of))}
    options |= {"margin": margin, "prefer": _preference(prefer, costs)}
    scores, missing, lacking = _scored(evals, passed, options, count_errors_as_wrong)
    judge = None
    if scores.truth is not None:
        judge = judge_check(scores, evals.truth_name)
        scores = replace(scores, metric=evals.truth_name)
        if judge.labelled == judge.items:
            # the labels alone decide
            scores, missing = _labels_alone(evals, scores), None
    details = cost_details(costs, cost_of, evals.currency)
    decision = _decide(scores, missing, lacking, details=details, **options)
    if by_metric:
        assumed = [name for name, log in unnamed.items() if log.is_assumed]
        decision = _with_metrics(decision, by_metric, required, assumed)
    choice = ModelChoice(
        decision=decision,
        scores=scores,
        evals=evals,
        weights="macro" if macro else "micro",
        costs=costs,
        cost_of=cost_of,
        judge=judge,
        noise=_noise(evals, scores, decision),
        by_metric=by_metric,
        unnamed=tuple(name for name in by_metric if name in unnamed),
        require=required,
    )
    return Result(choice)


def _noise(evals: Evals, scores: ItemScores, decision: Decision) -> Noise | None:
    """Return the noise between the runs of each model; None without several runs of each."""
    if evals.epoch.max(initial=1) < 2 or decision.recommended is None:
        return None
    if scores.count.max() < 2:
        # pass@k, or labels
        scores = evals.by_item(missing="allow")
    if not (scores.count.max(axis=1) > 1).all():
        return None
    rival = next(name for name in decision.by_mean if name != decision.recommended)
    return noise_of(scores, [str(decision.recommended), str(rival)])


def _required(require: Any) -> dict[str, float | None]:
    """Return the required metrics, each with the difference that does not matter."""
    if not isinstance(require, Mapping):
        return dict.fromkeys(as_names(require, "require"))
    for name, most in require.items():
        if not isinstance(name, str):
            raise refuse("require", "a mapping of metrics to numbers", require)
        if most is not None:
            positive(most, f"require[{name!r}]")
    return dict(require)


def _read(
    logs: Any, metrics: tuple[str, ...], required: tuple[str, ...], reading: dict[str, Any]
) -> tuple[dict[str, Evals], dict[str, Evals]]:
    """Return the logs by metric, the deciding one first, and by metrics that were not named."""
    if isinstance(logs, Evals):
        if metrics or required or reading:
            first = "metric" if metrics else "require" if required else next(iter(reading))
            raise ArgumentError(
                f"The logs are read already: give {first!r} together with their paths."
            )
        return {logs.metric: logs}, {}
    if required and not metrics:
        raise ArgumentError(
            f"{required[0]!r} is required, and no other metric decides: name it with ",
            use(metric=...),
            ".",
        )
    how = {name: reading.pop(name, None) for name in ("prices", "truth", "higher_is_better")}
    parsed = Logs(logs, **reading)
    names = list(dict.fromkeys((*metrics, *required)))
    evals = parsed.read(names[:1] or None, **how)
    readings = {evals.metric: evals}
    for name in names[1:]:
        known = direction_of(name.split("/")[-1]) in ("loss", "score")
        # the direction that was stated is that of the metric that decides
        stated = None if known else how["higher_is_better"]
        readings[name] = parsed.read(name, higher_is_better=stated)
    tasks = [{log.tasks[code] for code in log.item_task} for log in readings.values()]
    if len(names) > 1 and not required and sum(map(len, tasks)) == len(set().union(*tasks)):
        # each task has a metric of its own
        evals = parsed.read(metrics, **how)
        readings = {evals.metric: evals}
    known_names = {how["truth"], *names, *(log.metric for log in readings.values())}
    unnamed: dict[str, Evals] = {}
    for name in likely_first([name for name in evals.other_metrics if name not in known_names]):
        if len(unnamed) < MAX_UNNAMED:
            with suppress(BestOfKError):
                log = parsed.read(name, as_before=evals)
                if np.nanmax(log.score) > np.nanmin(log.score):
                    unnamed[name] = log
    return readings, unnamed


def _with_metrics(
    decision: Decision,
    by_metric: Mapping[str, Decision],
    required: Mapping[str, float | None],
    assumed: Sequence[str],
) -> Decision:
    """Return the decision among the models that are good enough in other metrics.

    If none of the models that may be the best is good enough, the best mean of the others counts.
    `assumed` are metrics of which only the scale says which direction is better.
    """
    best = decision.recommended
    if required:
        if decision.best is None:
            raise ArgumentError("require works with the rule 'best' alone; omit the other.")
        by_preference, by_mean = decision.by_preference, decision.by_mean
        order = by_preference if decision.preference.stated else by_mean
        good = decision.best.candidates | decision.best.within
        first = [name for name in order if good[by_preference.index(name)]]
        met = (name for name in (*first, *by_mean) if not unmet(name, by_metric, required))
        best = next(met, None)
    if best is None:
        return replace(decision, recommended=None, ranking=())
    phrases = []
    for metric, other in by_metric.items():
        row = Slice(name=metric, decision=other).standing(best)
        if row is None:
            continue
        if metric not in required and row.verdict in (RULED_OUT, "worse"):
            by = interval_words(row.at_least, row.at_most or inf) if row.at_least else ""
            word = "worse"
            if metric in assumed:
                word = "lower" if other.metric.higher_is_better else "higher"
            phrases.append(f"{word} in {metric}{f' (by {by})' * bool(by)}")
        elif metric in required and other.candidates == (best,):
            phrases.append(f"the best in {metric}")
        elif required.get(metric) is not None:
            worse = at_most_text(other, row.at_most)
            phrases.append(f"at most {worse} worse than the best in {metric}")
    if not phrases and required:
        phrases.append(f"not ruled out in {joined(list(required))}")
    but = f"it is {shortened(phrases, MAX_NAMED)}" if phrases else ""
    subject = Subject() if decision.problem is None else decision.problem.subject
    problem = decision.problem and replace(decision.problem, subject=replace(subject, but=but))
    ranking = (best, *(name for name in decision.ranking if name != best))
    return replace(decision, recommended=best, ranking=ranking, problem=problem)


def _scored(
    evals: Evals,
    passed: Callable[[ItemScores], ItemScores],
    options: Mapping[str, Any],
    count_errors_as_wrong: bool,
) -> tuple[ItemScores, MissingLosses | None, str]:
    """Return the scores to compare, the evidence if missing scores count, and who lacks items.

    Only items that every model has are compared if the other scores are missing because samples
    failed, or if no pair would have more items.
    """
    counting: dict[str, Any] = {"count_errors_as_wrong": count_errors_as_wrong}
    scores = evals.by_item(missing="allow", **counting)
    has = np.isfinite(scores.mean)
    if has.all():
        return passed(scores), None, ""
    several: Bools = np.asarray((has.sum(axis=0) > 1) & ~has.all(axis=0))
    by_pairs = scores.truth is None and RULES[options["rule"]].ruling
    absent = never_run(evals)
    if by_pairs and absent[:, several].any():
        compared = scores.only_items(np.asarray(has.sum(axis=0) > 1))
    else:
        compared = evals.by_item(**counting)
    missing = _missing_losses(evals, scores, options, passed, **counting)
    stated = () if missing is None else missing.counts
    few = [
        f"{name} has {n:,}"
        for name, n in zip(scores.models, (~absent).sum(axis=1).tolist(), strict=True)
        if n < len(scores.items) and name not in stated
    ]
    lacking = f"{shortened(few, 4)} of {len(scores.items):,} items." if few else ""
    return passed(compared), missing, lacking


def _missing_losses(
    evals: Evals,
    scores: ItemScores,
    options: Mapping[str, Any],
    passed: Callable[[ItemScores], ItemScores],
    **counting: bool,
) -> MissingLosses | None:
    """Return the missing scores, with the evidence if all are wrong, and if all are right.

    An item that a model never ran counts only if the model has at least half of the items of its
    task: otherwise it ran on a part of the task by design.
    """
    worst, best, missing = missing_scores(evals, **counting)
    by_design = never_run(evals) & (scores.share_by_task() < 0.5)[:, scores.task]
    lacking = (missing > 0) & ~by_design
    if not lacking.any() or (lacking == lacking[:1]).all():
        return None
    # an item that a model never ran has as many answers as the others
    count = np.where(scores.count > 0, scores.count + missing, scores.count.max())
    keep = np.asarray((~by_design).sum(axis=0) > (1 if scores.truth is None else len(missing) - 1))

    def evidence(mean: Floats) -> Evidence:
        mean = np.where(by_design, np.nan, mean)
        # the variance of right or wrong answers, which pass@k needs; decisions do not use it
        variance = mean * (1.0 - mean) * count / np.maximum(count - 1, 1)
        filled = replace(scores, mean=mean, count=count, variance=variance)
        return _decide(passed(filled.only_items(keep)), **options).evidence

    try:
        as_worst, as_best = evidence(worst), evidence(best)
    except BestOfKError:
        return None
    counts = lacking.sum(axis=1).tolist()
    return MissingLosses(
        counts={name: n for name, n in zip(evals.models, counts, strict=True) if n},
        units=int(keep.sum()),
        unit="item",
        as_worst=as_worst,
        as_best=as_best,
    )


def _decide(
    scores: ItemScores,
    missing: MissingLosses | None = None,
    lacking: str = "",
    **options: Any,
) -> Decision:
    """Decide about scores; each pair is compared on the items that both models have."""
    has = np.isfinite(scores.mean)
    if scores.truth is None and not has.all():
        return _decide_by_pairs(scores, has, missing, lacking, **options)
    table, settings, subject = _prepared(scores, lacking=lacking, **options)
    return decide(table, settings, subject=subject, left_out=missing)


def _prepared(
    scores: ItemScores, *, test: Any, macro: bool, rule: str, details: Any = None,
    lacking: str = "", **options: Any,
) -> tuple[Scores, Settings, Subject]:  # fmt: skip
    """Return the weighted losses, and how to decide about them."""
    weighted = macro and len(scores.tasks) > 1
    weights = _task_weights(scores) if weighted else np.ones(len(scores.tasks))
    clusters, labels = scores.cluster, ""
    if scores.truth is None:
        order = None
        if not weighted:
            # the order of the decision, which then needs no copy
            means = scores.mean.mean(axis=1) * (-1.0 if scores.higher_is_better else 1.0)
            order, _, _ = arrange(scores.models, options.get("prefer"), means)
        table = _weighted(scores, weights if weighted else None, order=order)
        known = scores.mean[scores.count > 0] if scores.count.min() < 1 else scores.mean
        low, high = float(known.min()), float(known.max())
        unit = (1.0 if low >= 0.0 and high <= 1.0 else high - low) * float(weights.max())
    else:
        table, labelled = labelled_losses(scores, weights[scores.task])
        test, unit, clusters = labelled.choice(), labelled.unit, clusters[labelled.labelled]
        labels = f", {labelled.labelled.sum():,} of them with human labels"
    takes_test = RULES[rule].takes_test
    chosen: Any = "auto"
    reason, arguments = "", dict[str, Any]()
    if takes_test or test != "auto":
        chosen, reason, arguments = _test(scores, test, weighted=weighted, unit=unit)
    if not takes_test and (scores.clusters or weighted):
        structure = "clusters" if scores.clusters else "weighted tasks"
        raise ArgumentError(
            f"rule {rule!r} assumes independent items of equal weight, and these are in "
            f"{structure}: use 'best' or 'multitest'."
        )
    given = dict(options.pop("test_options", None) or {})
    if isinstance(chosen, Choice) and given:
        raise ArgumentError(f"test_options do not apply to test {chosen.name!r}; omit them.")
    count_clusters = labels or (isinstance(chosen, Choice) and scores.clusters)
    subject = Subject(
        noun="model",
        design=counted(len(scores.items), "item") + labels,
        details=dict(details or {}),
        test_reason=reason,
        n_clusters=len(np.unique(clusters)) if count_clusters else None,
        clustered=bool(scores.clusters),
        lacking=lacking,
    )
    settings = Settings(rule=rule, test=chosen, test_options={**arguments, **given}, **options)
    return table, settings, subject


def _decide_by_pairs(
    scores: ItemScores, has: Bools, missing: MissingLosses | None, lacking: str, **options: Any
) -> Decision:
    """Decide from tests of each pair on the items that both models have."""
    filled = replace(scores, mean=_filled(scores))
    table, settings, subject = _prepared(filled, lacking=lacking, **options)
    problem = as_problem(table, prefer=settings.prefer)
    problem = replace(problem, subject=subject, missing=missing)
    family, choice = family_of(problem, settings), None
    first, second = family.pairs()
    columns: dict[str, Any] = {name: np.zeros(len(first)) for name in ("estimate", "direction")}
    columns["pvalue"] = np.ones(len(first))
    for row, pair in enumerate(zip(first, second, strict=True)):
        names = [problem.names[k] for k in pair]
        at = [scores.models.index(str(name)) for name in names]
        shared = np.asarray(has[at].all(axis=0))
        if shared.sum() < 2:
            continue
        part = _only_models(scores, at).only_items(shared)
        part_table, how, _ = _prepared(part, **{**options, "prefer": names})
        evidence, choice = tested(as_problem(part_table, prefer=names), how)
        for name, column in columns.items():
            column[row] = getattr(evidence, name)[0]
    if choice is None:
        raise TableError("No two models have two items in common; choose models or tasks.")
    evidence = Evidence.of_pairs(family, **columns, names=problem.names, metric=problem.metric)
    if missing is not None:
        evidence = missing.revised(evidence)
    ruling = resolve(RULES[settings.rule].ruling)
    ruled = ruling(evidence, problem.preference.stated, settings.margin)
    return decision_from(problem, settings, evidence, choice, ruled)


def _only_models(scores: ItemScores, rows: list[int]) -> ItemScores:
    arrays = {name: getattr(scores, name)[rows] for name in ("mean", "count", "variance")}
    return replace(scores, models=tuple(scores.models[k] for k in rows), **arrays)


def _filled(scores: ItemScores) -> Floats:
    """Return the scores with the sum of a model's and an item's effect in the gaps.

    The mean of a row is then the least-squares mean of the model over all items. It is the plain
    mean of a model that has all items.
    """
    has = np.isfinite(scores.mean)
    known, count = np.where(has, scores.mean, 0.0), has.sum(axis=0)
    # normal equations of the models' effects, without those of the items
    share = has / count
    laplacian = np.diag(has.sum(axis=1)) - share @ has.T
    if np.linalg.matrix_rank(laplacian) < len(has) - 1:
        alone = np.flatnonzero((has.astype(float) @ has.T > 0).sum(axis=1) < 2)
        who = f" ({scores.models[alone[0]]!r} shares none)" if len(alone) else ""
        raise TableError(
            f"The models were run on different items{who}; choose models that share items, or name "
            "the column of the items in your tables with ",
            use(columns={"item": "NAME"}),
            ".",
        )
    effect = np.linalg.lstsq(laplacian, known.sum(axis=1) - share @ known.sum(axis=0), rcond=None)[
        0
    ]
    item = (known - effect[:, np.newaxis] * has).sum(axis=0) / count
    filled: Floats = np.where(has, scores.mean, effect[:, np.newaxis] + item)
    return filled


def _labels_alone(evals: Evals, scores: ItemScores) -> ItemScores:
    """Return the human labels as scores, of all items if every answer has one."""
    if evals.truth is not None and np.isfinite(evals.truth).all():
        scores = replace(evals.by_item(missing="allow"), metric=scores.metric)
    labels = np.ascontiguousarray(scores.truth)
    ones, unknown = np.ones_like(scores.count), np.full(labels.shape, np.nan)
    return replace(scores, mean=labels, count=ones, variance=unknown, truth=None)


def _refuse_with_labels(test: Any, rule: str, passes: int | None) -> None:
    """Refuse options that do not work with human labels."""
    if passes is not None:
        raise ArgumentError(argument("truth"), " does not work with pass_at or pass_all; omit one.")
    if test not in ("auto", *LABELLED_TESTS) or not RULES[rule].takes_test:
        option = use(rule=rule) if test == "auto" else use(test=test)
        raise ArgumentError(argument("truth"), " does not work with ", option, "; omit one.")


def _preference(prefer: Any, costs: Mapping[str, Mapping[str, float]]) -> Any:
    if not is_measure(prefer):
        return prefer
    unknown = [name for name, cost in costs[prefer].items() if not isfinite(cost)]
    if unknown:
        raise ArgumentError(
            use(prefer=prefer),
            f": the logs do not state it for {unknown[0]!r}; give ",
            use(columns={"latency": "NAME"}) if prefer.endswith("latency") else use(prices=...),
            ", or name the models, the most preferred first.",
        )
    if prefer.endswith("latency"):
        return MeasuredCosts(what="latency", costs=costs[prefer], factor=1.0)
    return costs[prefer]


def _task_weights(scores: ItemScores) -> Floats:
    """Return a weight for each task that makes all tasks count the same."""
    tasks = len(scores.tasks)
    weights: Floats = len(scores.items) / (tasks * np.bincount(scores.task, minlength=tasks))
    return weights


def _weighted(
    scores: ItemScores, weights: Floats | None, order: Sequence[int] | None = None
) -> Scores:
    """Return the losses, weighted by task so that their plain mean is the requested mean."""
    table = scores.losses(order=order)
    if weights is None:
        return table
    return Scores(
        table.losses[:, :, 0, :, 0] * weights[scores.task],
        dims=("learner", "dataset", "instance"),
        learners=table.learners,
        datasets=table.datasets,
        loss_name=table.loss_name,
        account=table.account[:-1],
    )


def _test(
    scores: ItemScores, test: Any, *, weighted: bool, unit: float
) -> tuple[Any, str, dict[str, Any]]:
    """Return the test, the reason for it, and its arguments."""
    if callable(test):
        return test, "", {}
    known = scores.mean[scores.count > 0] if scores.count.min() < 1 else scores.mean
    binary = scores.count.max() <= 1 and bool(np.isin(known, (0.0, 1.0)).all())
    detail = "the mean score of an item over its epochs is one observation"
    structure = "weighted tasks" if weighted else ""
    if weighted:
        detail = "tasks have the same weight, and each item is one observation"
    if scores.clusters:
        structure = counted(len(scores.clusters), "cluster")
        detail = f"each of {len(scores.clusters)} clusters of items counts as one observation"
    if test == "auto" and binary and not structure:
        return "mcnemar", "chosen for right or wrong answers: it is exact", {"exact": True}
    if test != "auto" and test not in CLUSTERED_TESTS:
        if structure:
            raise ArgumentError(
                f"test {test!r} assumes independent items of equal weight, and these are in "
                f"{structure}: use one of {', '.join(CLUSTERED_TESTS)}."
            )
        entry = PAIRWISE_TESTS.get(test)  # `decide` refuses an unknown name
        return test, "", {"exact": True} if entry is not None and entry.zero_one else {}
    chosen = ""
    if test == "auto":
        entry = next(entry for entry in CLUSTERED_TESTS.values() if entry.automatic)
        chosen = f"chosen for these items: {entry.automatic['test-set']}; {detail}"
        test, detail = entry.name, ""
    strata = scores.task if len(scores.tasks) > 1 else None
    how: dict[str, Any] = {"clusters": scores.cluster, "strata": strata, "unit": unit}
    return clustered_choice(test, **how, chosen=chosen, detail=detail), "", {}


def choose_by_slice(whole: Result, groups: Evals, by: str, arguments: Mapping[str, Any]) -> Result:
    """Choose in every slice of the items, with statements that hold together.

    - `whole`: The choice from all items.
    - `groups`: The same logs, read with the key of the slices as cluster.
    - `by`: The key, or ``"task"``.
    - `arguments`: The arguments of `compare_evals`.
    """
    evals = whole.outcome.evals
    parts: dict[str, dict[str, Any]] = {name: {"tasks": name} for name in evals.tasks}
    if by != "task":
        # the key may also name the tasks, and then the items come in another order
        if len({*groups.items}) < len(groups.items) or {*groups.items} != {*evals.items}:
            raise ArgumentError(f"by: the items need names that differ, to group them by {by!r}.")
        items: dict[str, list[str]] = {name: [] for name in groups.clusters}
        for item, code in zip(groups.items, groups.item_cluster.tolist(), strict=True):
            items[groups.clusters[code]].append(item)
        parts = {name: {"items": each} for name, each in items.items()}

    def decide(name: str, alpha: float) -> Decision:
        part = evals.select(**parts[name])
        return decision_of(compare_evals(part, **{**arguments, "alpha": alpha}))

    slices = order_slices(decision_of(whole), tuple(parts), decide, by=by)
    return Result(whole.outcome, slices)
