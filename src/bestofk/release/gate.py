"""Decide whether a new build may be released."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import ceil, floor, inf, isfinite, log10
from shlex import quote
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, one_of, positive, significance_level
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import counted, pvalue_words, shortened
from bestofk._base.results import Presented
from bestofk.losses.losses import Losses, Metric
from bestofk.release import DEFAULT_LEDGER
from bestofk.release.builds import Build, digest_of, item_hashes, read_build, worst_score
from bestofk.release.ledger import (
    Ledger,
    anchor_of,
    finite_or_none,
    locked,
    packed,
    read_ledger,
    unpacked,
    write_ledger,
)
from bestofk.release.method import (
    LATEST_METHOD,
    Comparison,
    compare,
    level_of_look,
    next_look,
    units_for_margin,
)

EXIT_CODES = {"pass": 0, "worse": 1, "undecided": 3}
MAX_USEFUL_UNITS = 1_000_000
"""Do not advise more items than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult(Presented):
    """The answer of the gate about one build.

    Attributes
    ----------
    answer : {"pass", "worse", "undecided"}
        ``"worse"``: shown to be worse than the anchor. ``"undecided"``: with a margin, neither
        shown to be worse nor shown to be within the margin.
    exit_code : int
        0, 1 or 3; 0 for an undecided build if these pass.
    difference, low, high : float
        Build minus anchor in the user's metric, and its interval. The intervals of all builds of
        the ledger cover together with probability 1 - 2 alpha.
    bound : float or None
        With a margin: the worst difference that a bound of confidence 1 - alpha allows.
    pvalue, level : float
        The one-sided p-value of *worse*, and the level that this build may spend.
    """

    answer: str
    build: str
    anchor: tuple[str, ...]
    metric: str
    higher_is_better: bool
    mean: float
    anchor_mean: float
    difference: float
    low: float
    high: float
    bound: float | None
    pvalue: float
    level: float
    alpha: float
    margin: float | None
    units: int
    unit: str
    failures: int
    look: int
    spent: float
    better: bool
    method: int
    needed: int | None
    """Units with which an equally good build is shown to be within the margin."""
    repeated: bool
    """True if the ledger already holds these scores, so that nothing was spent."""
    undecided_passes: bool
    notes: tuple[str, ...] = ()
    ledger: str | None = None
    history: Ledger | None = field(default=None, repr=False, compare=False)

    @property
    def exit_code(self) -> int:
        """0 if the build may be released, 1 if it is worse, 3 if that is undecided."""
        if self.answer == "undecided" and self.undecided_passes:
            return 0
        return EXIT_CODES[self.answer]

    def __bool__(self) -> bool:
        return self.exit_code == 0

    def headline(self) -> str:
        """Return the verdict in one sentence."""
        form = f".{self.decimals()}f"
        numbers = (
            f"{self.metric} {self.mean:{form}} against {self.anchor_mean:{form}}, difference "
            f"{signed(self.difference, form)}"
        )
        interval = f"{numbers}, interval {signed(self.low, form)} to {signed(self.high, form)}"
        if self.bound is not None:
            numbers += f", {100 * (1 - self.alpha):g} % bound {signed(self.bound, form)}"
        if self.answer == "worse":
            p = pvalue_words(self.pvalue, self.level)
            look = "" if self.ledger is None else f", the level of look {self.look}"
            return (
                f"Blocked: {self.build} is worse than the anchor ({interval}; {p}, which is below "
                f"{self.level:.2g}{look})."
            )
        if self.answer == "undecided":
            if self.needed is not None:
                units = f"{self.needed:,} {self.unit}s"
                numbers += f"; an equally good build needs about {units} to pass"
            return (
                f"Undecided: {self.build} is neither shown to be worse than the anchor nor shown "
                f"to be at most {self.margin:g} worse ({numbers})."
            )
        if self.margin is not None:
            claim, interval = f"shown to be at most {self.margin:g} worse", numbers
        else:
            claim = "better" if self.better else "not shown to be worse"
        return f"Pass: {self.build} is {claim} than the anchor ({interval})."

    def decimals(self) -> int:
        """Return the decimals that show two digits of the half width of the interval."""
        ends = [abs(end - self.difference) for end in (self.low, self.high) if isfinite(end)]
        sizes = [size for size in (*ends, 10 * abs(self.difference)) if size > 1e-12]
        return max(0, 1 - floor(log10(min(sizes, default=0.01))))

    def next_step(self, source: str = "NEW") -> str:
        """Return what to do now; empty if there is nothing to do.

        `source` are the words of a command that name the build.
        """
        if self.ledger is None:
            return ""
        if self.answer == "worse":
            ledger = "" if self.ledger == DEFAULT_LEDGER else f" --ledger {quote(self.ledger)}"
            command = f"bestofk gate accept {source}{ledger} --reason TEXT"
            return f"If the loss is intended, record that with: {command}"
        if self.answer == "undecided":
            return "Evaluate more items, allow a larger margin, or add: --undecided pass"
        first = self.look == 1 and not self.repeated
        return f"Commit {self.ledger}: it records every build." if first else ""

    def explain(self) -> str:
        """Return the verdict, its evidence and the state of the ledger."""
        lines = [self.headline(), *self.notes]
        if len(self.anchor) > 1:
            builds = f"the mean of {counted(len(self.anchor), 'build')}"
            lines.append(f"The anchor is {builds}: {shortened(list(self.anchor), 10)}.")
        else:
            lines.append(f"The anchor is {self.anchor[0]}.")
        if self.repeated:
            lines.append("The ledger already has these scores, so this look spent no alpha.")
        if self.ledger is not None:
            lines.append(
                f"Look {self.look}: {self.spent:.2g} of alpha = {self.alpha:g} is spent. If each "
                "build's test keeps its level, the chance of ever blocking a build that is as good "
                f"as the anchor is at most {self.alpha:g} over the life of the ledger. This does "
                "not cover builds that were tuned on these items."
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the result for strict JSON."""
        content = super(GateResult, self).to_dict()
        content.pop("history", None)
        return {**content, "exit_code": self.exit_code, "headline": self.headline()}


def signed(value: float, form: str) -> str:
    """Return a number with its sign."""
    if not isfinite(value):
        return "unbounded"
    return f"{value:+{form}}" if abs(value) > 1e-12 else "0"


def gate(
    new: Any,
    baseline: Any = None,
    *,
    margin: float | None = None,
    alpha: float | None = None,
    undecided: str = "fail",
    build: str | None = None,
    model: str | None = None,
    baseline_model: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
    method: str | None = None,
    missing: str = "refuse",
    **reading: Any,
) -> GateResult:
    """Decide whether a new build may replace what is released.

    Parameters
    ----------
    new : path, Evals, Losses, Study, mapping or sequence of numbers
        The scores of the new build: evaluation logs, a table of items, a study, scores by item,
        or one number per item.
    baseline : as `new`, optional
        The reference. A ledger keeps it, so it is needed only for the first build.
    margin : float, optional
        A loss that does not matter. The build passes if it is shown to be at most this much worse.
        None: the build passes unless it is shown to be worse.
    alpha : float, optional
        The chance of ever blocking a build that is as good as the anchor, over the whole ledger.
        By default that of the ledger, and 0.05 for a new one.
    undecided : {"fail", "pass"}
        What an undecided build does.
    build : str, optional
        The name of the build; by default that of the model.
    model, baseline_model : str, optional
        Which model of `new` and of `baseline`, if there are several.
    ledger : path, optional
        The file that records every build. None: test this build on its own, at level alpha.
    method : {None, "latest"}
        The version of the method: that of the ledger, or the latest one.
    missing : {"refuse", "drop", "wrong"}
        If the build lacks items of the anchor: stop, compare the others, or count them as wrong.
    **reading
        What `read_evals` takes, such as ``metric="acc"`` or ``cluster="passage"``.

    Returns
    -------
    GateResult

    Examples
    --------
    >>> import numpy as np
    >>> right = np.array([1.0] * 140 + [0.0] * 60)
    >>> worse = np.array([1.0] * 110 + [0.0] * 90)
    >>> print(gate(worse, right).headline())
    Blocked: new is worse than the anchor (score 0.550 against 0.700, difference -0.150, interval
    -0.196 to -0.113; p < 0.0001, which is below 0.05).
    >>> gate(right, right).exit_code
    0
    """
    if alpha is not None:
        alpha = significance_level(alpha)
    if margin is not None:
        margin = positive(margin, "margin")
    one_of(undecided, "undecided", ("pass", "fail"))
    one_of(missing, "missing", ("refuse", "drop", "wrong"))
    if method is not None:
        one_of(method, "method", ("latest",))
    tested = read_build(new, "new", name=build, model=model, reading=reading)
    reference = None
    if baseline is not None:
        reference = read_build(
            baseline, "baseline", name=None, model=baseline_model, reading=reading
        )
    with nullcontext() if ledger is None else locked(ledger):
        history = _opened(ledger, tested, reference, alpha)
        alpha = float(history.start["alpha"])
        if method is not None and history.method < LATEST_METHOD:
            history = history.with_line(kind="method", method=LATEST_METHOD)
        scores = _aligned(tested, history, missing)
        digest = digest_of(scores)
        line = history.recorded(digest)
        repeated = line is not None
        if line is None:
            look, level = 1, alpha
            if ledger is not None:
                look = next_look(history.spent, alpha, len(history.builds))
                level = level_of_look(look, alpha)
            content = _measured(tested, scores, history, level, alpha)
            answer, better = _answer(content, tested.metric, margin, level)
            anchor = anchor_of(history)
            joins = anchor.joining(passed=answer == "pass", better=better)
            if not np.isfinite(scores).all() or digest in history.set_anchors:
                joins = ""
            history = history.with_line(
                kind="build", build=tested.name, digest=digest, method=history.method, look=look,
                level=level, margin=margin, answer=answer, joins=joins, anchor=list(anchor.names),
                failures=tested.failures, **content,
                **({"scores": packed(scores)} if joins in ("anchor", "next") else {}),
            )  # fmt: skip
            line = history.lines[-1]
            if ledger is not None:
                write_ledger(history, ledger)
    answer, better = _answer(line, tested.metric, margin, line["level"])
    needed = None
    if answer == "undecided" and margin is not None and tested.losses is None:
        wanted = units_for_margin(line["bound"], line["difference"], line["units"], margin, alpha)
        needed = ceil(wanted) if wanted <= MAX_USEFUL_UNITS else None
    low, high = (
        open_end if line[name] is None else float(line[name])
        for name, open_end in (("low", -inf), ("high", inf))
    )
    return GateResult(
        answer=answer,
        build=tested.name,
        anchor=tuple(line["anchor"]),
        metric=tested.metric.name,
        higher_is_better=tested.metric.higher_is_better,
        mean=line["mean"],
        anchor_mean=line["mean"] - line["difference"],
        difference=line["difference"],
        low=low,
        high=high,
        bound=None if margin is None else line["bound"],
        pvalue=line["p_worse"],
        level=line["level"],
        alpha=alpha,
        margin=margin,
        units=line["units"],
        unit=line["unit"],
        failures=line["failures"],
        look=line["look"],
        spent=history.spent,
        better=better,
        method=line["method"],
        needed=needed,
        repeated=repeated,
        undecided_passes=undecided == "pass",
        notes=tuple(line["notes"]),
        ledger=None if ledger is None else os.fspath(ledger),
        history=history,
    )


def accept(
    new: Any,
    *,
    ledger: str | os.PathLike[str] = DEFAULT_LEDGER,
    build: str | None = None,
    model: str | None = None,
    reason: str = "",
    **reading: Any,
) -> Ledger:
    """Make a build the anchor, whatever its scores, and record it in the ledger.

    - `new`, `build`, `model`, `**reading`: As for `gate`.
    - `ledger`: An existing ledger.
    - `reason`: Why, for the record.
    """
    accepted = read_build(new, "new", name=build, model=model, reading=reading)
    with locked(ledger):
        history = read_ledger(ledger)
        if history is None:
            raise ArgumentError(f"There is no ledger {os.fspath(ledger)}: run the gate first.")
        _check_metric(history, accepted)
        scores = _aligned(accepted, history, "refuse")
        history = history.with_line(
            kind="accept", build=accepted.name, digest=digest_of(scores), reason=reason,
            scores=packed(scores),
        )  # fmt: skip
        write_ledger(history, ledger)
    return history


def _opened(
    path: str | os.PathLike[str] | None,
    tested: Build,
    reference: Build | None,
    alpha: float | None,
) -> Ledger:
    """Return the ledger, or a new one whose anchor is the baseline."""
    history = None if path is None else read_ledger(path)
    if history is None:
        if reference is None:
            what = "no ledger" if path is None else f"no ledger {os.fspath(path)} yet"
            raise ArgumentError(
                f"There is {what}: name the released build with ", use(baseline="FILE"),
                ", or the new build itself if nothing is released.",
            )  # fmt: skip
        history = _started(reference, 0.05 if alpha is None else alpha, path)
    start = history.start
    if alpha not in (None, start["alpha"]):
        raise ArgumentError(
            f"alpha is {start['alpha']:g} in {history.where} and cannot change: use ",
            use(alpha=start["alpha"]),
            " or another ledger.",
        )
    if reference is not None and digest_of(_aligned(reference, history, "drop")) != start["digest"]:
        raise ArgumentError(
            f"{history.where} started with other scores of the baseline ({start['build']!r}), and "
            "its anchor moves by itself: leave ",
            use(baseline="FILE"),
            " out, or make another build the anchor with 'bestofk gate accept FILE'.",
        )
    _check_metric(history, tested)
    return history


def _started(reference: Build, alpha: float, path: str | os.PathLike[str] | None) -> Ledger:
    hashes = item_hashes(reference.items)
    if len(np.unique(hashes)) != len(hashes):
        raise ArgumentError(f"The items of {reference.name!r} must have different names.")
    return Ledger(where="" if path is None else os.fspath(path)).with_line(
        kind="start", build=reference.name, digest=digest_of(reference.scores),
        method=LATEST_METHOD, alpha=alpha, metric=reference.metric.name,
        higher_is_better=reference.metric.higher_is_better, size=len(hashes),
        items=packed(hashes), clusters=packed(reference.clusters), scores=packed(reference.scores),
    )  # fmt: skip


def _check_metric(history: Ledger, build: Build) -> None:
    """Refuse a build with another metric or direction than the anchor."""
    start = history.start
    if build.metric.name != start["metric"]:
        raise ArgumentError(
            f"{build.name!r} has the metric {build.metric.name!r}, and the anchor has ",
            f"{start['metric']!r}: use ",
            use(metric=start["metric"]),
            ", or start another ledger with ",
            use(ledger="FILE"),
            " ",
            use(baseline="FILE"),
            ".",
        )
    if build.metric.higher_is_better != start["higher_is_better"]:
        raise ArgumentError(
            f"Higher {start['metric']} is {'better' if start['higher_is_better'] else 'worse'} in "
            "the ledger: use ",
            use(higher_is_better=start["higher_is_better"]),
            " or another ledger.",
        )


def _aligned(tested: Build, history: Ledger, missing: str) -> Floats:
    """Return the scores of a build in the order of the ledger's items.

    A score is NaN if the build lacks the item and `missing` is ``"drop"``.
    """
    size, unit = int(history.start["size"]), tested.unit
    known = unpacked(history.start["items"], size)
    hashes = item_hashes(tested.items)
    order = np.argsort(hashes, kind="stable")
    position = np.minimum(np.searchsorted(hashes[order], known), len(hashes) - 1)
    has = hashes[order][position] == known
    absent = int((~has).sum())
    if absent == size or (absent and tested.losses is not None):
        advice = "the same items" if tested.losses is None else "the same data, plan and seed"
        raise ArgumentError(
            f"{tested.name!r} lacks {absent} of the anchor's {counted(size, unit)}: run it on "
            f"{advice}, or start another ledger with ",
            use(ledger="FILE"),
            ".",
        )
    scores = tested.scores[order][position]
    if not absent:
        return np.asarray(scores, dtype=np.float64)
    if missing == "refuse":
        raise ArgumentError(
            f"{tested.name!r} lacks {absent} of the anchor's {counted(size, unit)}: ",
            use(missing="wrong"),
            " counts them as wrong, ",
            use(missing="drop"),
            " compares the others.",
        )
    if missing == "drop":
        return np.where(has, scores, np.nan)
    worst = worst_score(tested.scores, tested.metric.higher_is_better)
    if worst is None:
        raise ArgumentError(
            f"The worst possible {tested.metric.name!r} is unknown, because some scores are not "
            "from 0 to 1: use ",
            use(missing="drop"),
            ".",
        )
    return np.where(has, scores, worst)


def _measured(
    tested: Build, scores: Floats, history: Ledger, level: float, alpha: float
) -> dict[str, Any]:
    """Return the part of a ledger line that the comparison with the anchor determines."""
    metric = tested.metric
    losses, *reference = (
        metric.offset - values if metric.higher_is_better else values
        for values in (scores, *anchor_of(history).scores)
    )
    notes = []
    if tested.losses is not None:
        size = tested.losses.values.size
        comparison, units, unit, note = _compare_learners(
            tested.losses, losses, np.mean(reference, axis=0)
        )
        notes.append(note)
    else:
        size = len(scores)
        clusters = unpacked(history.start["clusters"], size)
        has = np.isfinite(losses)
        comparison = compare(losses[has], [one[has] for one in reference], clusters[has])
        units = len(np.unique(clusters[has]))
        unit = "item" if units == int(has.sum()) else "cluster"
        if (1 + len(reference)) ** -float(units) > level:
            notes.append(f"Too few {unit}s ({units}): no build could be blocked.")
        if not has.all():
            notes.append(f"Left out: {counted(int((~has).sum()), 'item')} of the anchor.")
        known = np.isin(item_hashes(tested.items), unpacked(history.start["items"], size))
        if not known.all():
            notes.append(f"Ignored: {counted(int((~known).sum()), 'item')} that the anchor lacks.")
        if tested.failures:
            notes.append(f"Counted as wrong: {counted(tested.failures, 'sample')} without a score.")
    low, high = metric.interval(*comparison.interval(level))
    return {
        "mean": float(np.nanmean(scores[:size])),
        "difference": float(metric.difference(comparison.excess)),
        "low": finite_or_none(low),
        "high": finite_or_none(high),
        "bound": finite_or_none(float(metric.difference(comparison.interval(alpha)[1]))),
        "p_worse": comparison.p_worse,
        "p_better": comparison.p_better,
        "units": units,
        "unit": unit,
        "notes": notes,
    }


def _compare_learners(
    design: Losses, losses: Floats, reference: Floats
) -> tuple[Comparison, int, str, str]:
    """Compare a learner with the anchor by the test for the design of their losses."""
    from bestofk.decide.choose_test import choose_test
    from bestofk.decide.problem import as_problem

    size = design.values.size
    both = np.stack([losses, reference])
    parts = design.subset_values
    table = Losses(
        both[:, :size].reshape(2, *design.values.shape[1:]), learners=("new", "anchor"),
        datasets=design.datasets, design=design.design, loss_name=design.loss_name,
        subset_values=None if parts is None else both[:, size:].reshape(2, *parts.shape[1:]),
    )  # fmt: skip
    problem = as_problem(table, prefer=table.learners)
    choice = choose_test(problem, "auto", one_sided=True)
    values = problem.sample(choice.axes)
    comparison = Comparison(*(choice(values[0], values[1], side) for side in ("greater", "less")))
    unit = "data set" if problem.n_datasets > 1 else "fold"
    note = f"Tested with {choice.name} on {problem.describe()}."
    return comparison, problem.n_units, unit, note


def _answer(
    line: Mapping[str, Any], metric: Metric, margin: float | None, level: float
) -> tuple[str, bool]:
    """Return the answer, and whether the build is shown to be better."""
    better = bool(line["p_better"] <= level)
    bound = line["bound"]
    if margin is not None and bound is not None and metric.difference(bound) < margin:
        return "pass", better
    if line["p_worse"] <= level:
        return "worse", False
    return "pass" if margin is None else "undecided", better
