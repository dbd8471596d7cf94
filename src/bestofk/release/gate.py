"""Decide whether a new build may be released."""

from __future__ import annotations

import hashlib
import os
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import ceil, isfinite
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, one_of, positive, probability
from bestofk._base.errors import ArgumentError, StoreError, use
from bestofk._base.formatting import counted, number, pvalue_words, shortened
from bestofk._base.results import Presented
from bestofk.release.builds import Build, read_build
from bestofk.release.ledger import (
    Anchor,
    Ledger,
    anchor_of,
    codes_text,
    item_hashes,
    locked,
    now,
    packed,
    read_ledger,
    unpacked,
    write_ledger,
)
from bestofk.release.method import (
    LATEST_METHOD,
    ItemTest,
    item_test,
    level_of_look,
    next_look,
    units_for_margin,
)
from bestofk.stats.pairwise.clustered import Clusters, clusters_of

LEDGER = "bestofk-gate.json"
EXIT_CODES = {"pass": 0, "worse": 1, "undecided": 3}
MAX_USEFUL_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True)
class LearnerTest:
    """A test of two learners on the same folds or data sets."""

    difference: float
    p_worse: float
    p_better: float
    interval: Any

    def bound(self, tail: float, *, upper: bool) -> float:
        """Return a one-sided confidence bound of the difference."""
        low, high = self.interval(1.0 - 2.0 * tail)
        return float(-low if upper else -high)


Comparison = ItemTest | LearnerTest
"""A test of a build against the anchor; positive differences mean better."""


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
    """Units that would probably show that the build is within the margin."""
    repeated: bool
    """Whether the ledger already holds these scores, so that nothing was spent."""
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
        words = {
            "pass": self._pass_words,
            "worse": self._worse_words,
            "undecided": self._undecided_words,
        }[self.answer]()
        return f"{words[0]}: {self.build} {words[1]}."

    def _pass_words(self) -> tuple[str, str]:
        numbers = self._numbers()
        if self.margin is not None:
            return "Pass", f"is at most {self.margin:g} worse than the anchor ({numbers})"
        if self.better:
            return "Pass", f"is better than the anchor ({numbers})"
        return "Pass", f"is not shown to be worse than the anchor ({numbers})"

    def _worse_words(self) -> tuple[str, str]:
        p = pvalue_words(self.pvalue, self.level)
        return "Blocked", (
            f"is worse than the anchor ({self._numbers()}; {p}, below the level "
            f"{self.level:.2g} of build {self.look})"
        )

    def _undecided_words(self) -> tuple[str, str]:
        needed = ""
        if self.needed is not None:
            needed = f"; about {self.needed:,} {self.unit}s would decide"
        return "Undecided", (
            f"is neither shown to be worse than the anchor nor shown to be at most "
            f"{self.margin:g} worse ({self._numbers()}{needed})"
        )

    def _numbers(self) -> str:
        return (
            f"{self.metric} {number(self.mean)} against {number(self.anchor_mean)}, difference "
            f"{_signed(self.difference)}, interval {_signed(self.low)} to {_signed(self.high)}"
        )

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


def _signed(value: float) -> str:
    if not isfinite(value):
        return "unbounded"
    return f"{'+' if value > 0 else ''}{value:.3g}" if abs(value) >= 5e-4 else "0"


def gate(
    new: Any,
    baseline: Any = None,
    *,
    margin: float | None = None,
    alpha: float = 0.05,
    undecided: str | None = None,
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
    alpha : float
        The chance of ever blocking a build that is as good as the anchor, over the whole ledger.
    undecided : {"pass", "fail"}, optional
        Whether an undecided build passes. By default it fails.
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
    Blocked: new is worse than the anchor (score 0.55 against 0.7, difference -0.15, interval
    -0.196 to -0.108; p < 0.0001, below the level 0.05 of build 1).
    >>> gate(right, right).exit_code
    0
    """
    alpha = probability(alpha, "alpha")
    if margin is not None:
        margin = positive(margin, "margin")
    passes = one_of(undecided or "fail", "undecided", ("pass", "fail")) == "pass"
    one_of(missing, "missing", ("refuse", "drop", "wrong"))
    if method is not None:
        one_of(method, "method", ("latest",))
    tested = read_build(new, name=build, model=model, reading=reading)
    with nullcontext() if ledger is None else locked(ledger):
        history = None if ledger is None else read_ledger(ledger)
        reference = None
        if baseline is not None:
            reference = read_build(baseline, name="baseline", model=baseline_model, reading=reading)
        if history is None:
            if reference is None:
                raise ArgumentError("There is no ledger yet: give ", use(baseline=...), ".")
            history = _started(reference, alpha, ledger)
        _check(history, tested, reference, alpha)
        if method == "latest" and history.method < LATEST_METHOD:
            history = history.with_line(kind="method", method=LATEST_METHOD, time=now())
        look = 1 if ledger is None else next_look(history.spent, alpha, len(history.builds))
        level = alpha if ledger is None else level_of_look(look, alpha)
        if tested.losses is not None:
            anchor, test, notes, units, unit = _compare_learners(tested, reference, history)
        else:
            anchor, test, notes, units, unit = _compare_items(tested, history, missing)
        repeated = next(
            (line for line in history.builds if line["digest"] == _digest(tested)), None
        )
        if repeated is not None:
            level, look = float(repeated["level"]), int(repeated["look"])
        answer, better = _answer(test, level, margin, alpha)
        joins = anchor.joining(passed=answer == "pass", better=better)
        if tested.losses is not None and joins != "better":
            joins = ""
        needed = None
        if answer == "undecided" and isinstance(test, ItemTest):
            wanted = units_for_margin(test, units, margin or 0.0, alpha)
            needed = ceil(wanted) if wanted <= MAX_USEFUL_ITEMS else None
        if repeated is None:
            history = history.with_line(
                kind="build", build=tested.name, time=now(), method=history.method, look=look,
                level=level, margin=margin, answer=answer, joins=joins, mean=tested.shown_mean,
                difference=test.difference, low=test.bound(level, upper=False),
                high=test.bound(level, upper=True), p_worse=test.p_worse, p_better=test.p_better,
                units=units, failures=tested.failures, anchor=list(anchor.names),
                digest=_digest(tested),
                **({"scores": packed(_aligned(tested, history, missing)[0])}
                   if joins in ("anchor", "next") else {}),
            )  # fmt: skip
        if ledger is not None:
            write_ledger(history, ledger)
    low, high = (test.bound(level, upper=upper) for upper in (False, True))
    sign = 1.0 if tested.higher_is_better else -1.0
    if sign < 0:
        low, high = -high, -low
    return GateResult(
        answer=answer,
        build=tested.name,
        anchor=anchor.names,
        metric=tested.metric,
        higher_is_better=tested.higher_is_better,
        mean=tested.shown_mean,
        anchor_mean=tested.shown_mean - sign * test.difference,
        difference=sign * test.difference,
        low=low,
        high=high,
        pvalue=test.p_worse,
        level=level,
        alpha=alpha,
        margin=margin,
        units=units,
        unit=unit,
        failures=tested.failures,
        look=look,
        spent=history.spent,
        better=better,
        method=history.method,
        needed=needed,
        repeated=repeated is not None,
        undecided_passes=passes,
        notes=notes,
        ledger=None if ledger is None else os.fspath(ledger),
        history=history,
    )


def accept(
    new: Any,
    *,
    ledger: str | os.PathLike[str] = LEDGER,
    build: str | None = None,
    model: str | None = None,
    reason: str = "",
    **reading: Any,
) -> Ledger:
    """Make a build the anchor, whatever its scores, and record it in the ledger.

    Parameters
    ----------
    new, build, model, **reading
        As for `gate`.
    ledger : path
        An existing ledger.
    reason : str
        Why, for the record.

    Returns
    -------
    Ledger
    """
    accepted = read_build(new, name=build, model=model, reading=reading)
    with locked(ledger):
        history = read_ledger(ledger)
        if history is None:
            raise StoreError(f"There is no ledger {os.fspath(ledger)}: run the gate first.")
        _check(history, accepted, None, float(history.start["alpha"]))
        scores, _ = _aligned(accepted, history, "refuse")
        history = history.with_line(
            kind="accept", build=accepted.name, time=now(), reason=reason, scores=packed(scores),
            digest=_digest(accepted),
        )  # fmt: skip
        write_ledger(history, ledger)
    return history


def _started(reference: Build, alpha: float, ledger: str | os.PathLike[str] | None) -> Ledger:
    """Return a new ledger whose anchor is the baseline."""
    hashes = item_hashes(reference.items)
    order = np.argsort(hashes, kind="stable")
    if len(np.unique(hashes)) != len(hashes):
        raise ArgumentError(f"The items of {reference.name!r} must have different names.")
    content: dict[str, Any] = {
        "kind": "start", "build": reference.name, "time": now(), "method": LATEST_METHOD,
        "alpha": alpha, "metric": reference.metric,
        "higher_is_better": reference.higher_is_better, "size": len(order),
        "digest": _digest(reference),
    }  # fmt: skip
    if reference.losses is None:
        content |= {
            "items": packed(hashes[order]),
            "clusters": codes_text(reference.clusters[order]),
            "scores": packed(reference.scores[order]),
        }
    return Ledger(where="" if ledger is None else os.fspath(ledger)).with_line(**content)


def _check(history: Ledger, tested: Build, reference: Build | None, alpha: float) -> None:
    """Refuse settings, metrics and baselines that differ from those of the ledger."""
    start = history.start
    if alpha != start["alpha"]:
        raise ArgumentError(
            f"alpha is {start['alpha']:g} in {history.where} and cannot change: use ",
            use(alpha=start["alpha"]),
            " or another ledger.",
        )
    for build in (tested, *([] if reference is None else [reference])):
        if build.metric != start["metric"] or build.higher_is_better != start["higher_is_better"]:
            raise ArgumentError(
                f"{build.name!r} has the metric {build.metric!r} and the anchor has "
                f"{start['metric']!r}: give both the same metric."
            )
    if (tested.losses is None) != ("items" in start):
        raise ArgumentError("The build and the anchor must both have scores of items, or neither.")
    if reference is not None and history.where and _digest(reference) != start["digest"]:
        raise ArgumentError(
            f"{history.where} started with another baseline ({start['build']!r}), and its anchor "
            "moves by itself: leave ",
            use(baseline=...),
            " out, or record the change with 'bestofk gate accept'.",
        )


def _aligned(tested: Build, history: Ledger, missing: str) -> tuple[Floats, Clusters]:
    """Return the scores of a build in the order of the ledger's items, and the clusters.

    A score is NaN if the build lacks the item and `missing` is ``"drop"``.
    """
    start = history.start
    size = int(start["size"])
    known = unpacked(start["items"], size)
    clusters = clusters_of(unpacked(start["clusters"], size), size)
    hashes = item_hashes(tested.items)
    order = np.argsort(hashes, kind="stable")
    position = np.searchsorted(hashes[order], known)
    position = np.minimum(position, len(hashes) - 1)
    has = hashes[order][position] == known
    if not has.any():
        raise ArgumentError(
            f"{tested.name!r} has none of the anchor's {counted(size, 'item')}: give it the logs "
            "of the same items, or start another ledger."
        )
    if not has.all() and missing == "refuse":
        raise ArgumentError(
            f"{tested.name!r} lacks {counted(int((~has).sum()), 'item')} of the anchor's {size}: ",
            use(missing="wrong"),
            " counts them as wrong, ",
            use(missing="drop"),
            " compares the others.",
        )
    scores = tested.scores[order][position]
    worst = min(0.0, float(tested.scores.min())) if tested.higher_is_better else -1.0
    return np.where(has, scores, worst if missing == "wrong" else np.nan), clusters


def _compare_items(
    tested: Build, history: Ledger, missing: str
) -> tuple[Anchor, Comparison, tuple[str, ...], int, str]:
    scores, clusters = _aligned(tested, history, missing)
    anchor = anchor_of(history, int(history.start["size"]))
    notes = []
    reference = [np.asarray(one, dtype=float) for one in anchor.scores]
    has = np.isfinite(scores) & np.isfinite(reference).all(axis=0)
    absent = int((~has).sum())
    if absent:
        notes.append(f"{counted(absent, 'item')} of the anchor are left out.")
        codes = np.empty(len(scores), dtype=np.int64)
        codes[clusters.order] = np.repeat(np.arange(len(clusters)), clusters.sizes.astype(int))
        clusters = clusters_of(np.unique(codes[has], return_inverse=True)[1], int(has.sum()))
        scores, reference = scores[has], [one[has] for one in reference]
    extra = len(tested.items) - (len(has) - absent)
    if extra > 0:
        notes.append(f"{counted(extra, 'item')} that the anchor lacks are ignored.")
    if tested.failures:
        notes.append(f"{counted(tested.failures, 'sample')} without a score count as wrong.")
    unit = "item" if len(clusters) == len(scores) else "cluster"
    test = item_test(scores, reference, clusters)
    return anchor, test, tuple(notes), len(clusters), unit


def _compare_learners(
    tested: Build, reference: Build | None, history: Ledger
) -> tuple[Anchor, Comparison, tuple[str, ...], int, str]:
    """Compare two learners by the test for the design of their losses."""
    from bestofk.decide.choose_test import choose_test, units
    from bestofk.decide.problem import as_problem
    from bestofk.losses.losses import Losses

    if reference is None or reference.losses is None or tested.losses is None:
        raise ArgumentError(
            "A ledger keeps no losses by fold: give ", use(baseline=...), " each time."
        )
    first, second = tested.losses, reference.losses
    if first.design != second.design or first.datasets != second.datasets:
        raise ArgumentError(
            f"{tested.name!r} and {reference.name!r} must have losses of the same splits: got "
            f"{first.design.describe()} and {second.design.describe()}."
        )
    parts = None
    if first.subset_values is not None and second.subset_values is not None:
        parts = np.concatenate([first.subset_values, second.subset_values])
    both = Losses(
        np.concatenate([first.values, second.values]), algorithms=("new", "anchor"),
        datasets=first.datasets, design=first.design, loss_name=first.loss_name,
        subset_values=parts,
    )  # fmt: skip
    problem = as_problem(both, prefer=None, missing="refuse", arguments={})
    choice = choose_test(problem, "auto", one_sided=True)
    values = problem.sample(choice.axes)
    results = {side: choice(values[0], values[1], side) for side in ("greater", "less")}
    two_sided = choice(values[0], values[1], "two-sided")
    test = LearnerTest(
        -float(two_sided.estimate), float(results["greater"].pvalue),
        float(results["less"].pvalue), two_sided.confidence_interval,
    )  # fmt: skip
    note = f"Tested with {choice.name} on {problem.describe()}."
    anchor = Anchor(names=(str(history.start["build"]),), scores=())
    return anchor, test, (note,), units(problem), "data set" if problem.n_datasets > 1 else "fold"


def _answer(test: Comparison, level: float, margin: float | None, alpha: float) -> tuple[str, bool]:
    """Return the answer, and whether the build is shown to be better."""
    better = test.p_better <= level
    if margin is not None and test.bound(alpha, upper=False) > -margin:
        return "pass", better
    if test.p_worse <= level:
        return "worse", False
    return "pass" if margin is None else "undecided", better


def _digest(build: Build) -> str:
    """Return a digest of the items and scores of a build."""
    content = hashlib.sha256()
    hashes = item_hashes(build.items)
    order = np.argsort(hashes, kind="stable")
    for part in (hashes[order], np.round(build.scores[order], 12)):
        content.update(np.ascontiguousarray(part).tobytes())
    return content.hexdigest()[:32]
