"""Decide on each data set of one run by itself, and summarise the decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.errors import BestOfKError, RunError
from bestofk._base.formatting import counted, joined, shortened
from bestofk.decide.compare_scores import decide
from bestofk.decide.decision import Decision
from bestofk.decide.registry import RULES
from bestofk.decide.settings import Settings, with_changes, with_measured_costs
from bestofk.decide.statements import Kind, Statement, in_order, statements
from bestofk.decide.statements.wording import level_words
from bestofk.losses.losses import Scores
from bestofk.run.cells import CellTable
from bestofk.run.study import Study, as_scores, conclude, facts_of, losses_of
from bestofk.run.study_statements import study_statements

if TYPE_CHECKING:
    from bestofk.run.live import Live

MAX_NAMED = 3
"""Most data sets that a sentence names."""
Chosen = Mapping[str, Mapping[str, str | None]]
"""The recommended learner by rule and data set."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StudyByDataset(Study):
    """A comparison that was run on several data sets and decided on each of them.

    - `parts`: The study of each data set.
    - `problems`: Why the other data sets have none.
    - `chosen`: What each rule of the same paper recommends; the one that decides first.
    """

    parts: Mapping[str, Study]
    problems: Mapping[str, str]
    chosen: Chosen

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, how often each learner is recommended first."""
        own = [one for one in study_statements(self) if one.kind not in ("verdict", "left out")]
        return in_order(
            (
                *statements("verdict", [_verdict(self)]),
                *statements("left out", [f"{name}: {why}" for name, why in self.problems.items()]),
                *statements("left out", _shared(self.parts, "left out")),
                _level(self),
                *statements("also", _agreement(self.chosen)),
                *statements("caution", _shared(self.parts, "caution")),
                *statements("note", _shared(self.parts, "note")),
                *own,
            )
        )

    def _measured(self) -> dict[str, Mapping[Any, Any]]:
        """Return on how many data sets a learner is recommended, and its costs."""
        counts = Counter(next(iter(self.chosen.values())).values())
        times = {name: counts[name] for name in self.losses.learners}
        return {"recommended_on": times, **Study._measured(self)}

    def _tables(self) -> dict[str, dict[str, Any]]:
        """Return what was recommended how often, on which data set, and the means there."""
        learners, metric = self.losses.learners, self.losses.metric
        often: dict[str, list[Any]] = {"rule": list(self.chosen)}
        for title, name in [*zip(learners, learners, strict=True), ("none", None)]:
            often[title] = [list(one.values()).count(name) for one in self.chosen.values()]
        decisions = [one.decision for one in self.parts.values()]
        may_be = [", ".join(map(str, one.candidates)) if one else "" for one in decisions]
        orders = [", ".join(str(x.name) for x in one.standings) if one else "" for one in decisions]
        on_data = {
            "data set": list(self.parts),
            **{name: [one.get(data) for data in self.parts] for name, one in self.chosen.items()},
            **({"may be the best": may_be} if any(may_be) else {}),
            "order": orders,
        }
        means = metric.shown(self.losses.by_dataset(missing="allow"))
        by_learner = dict(zip(learners, means.tolist(), strict=True))
        return {
            "Data sets on which each learner is recommended": often,
            "The recommended learner on each data set": on_data,
            f"Mean {metric.name} by data set": {"data set": self.losses.datasets, **by_learner},
        }

    def _json(self) -> dict[str, Any]:
        """Return what was read and run, and what each rule recommends."""
        return {**Study._json(self), "rules": {k: dict(v) for k, v in self.chosen.items()}}


def conclude_by_dataset(
    table: CellTable,
    settings: Settings,
    by_dataset: Mapping[str, Settings],
    live: Live | None,
    notes: tuple[str, ...],
    too_little: str,
    store: str,
) -> StudyByDataset:
    """Return the study of each data set, decided by its settings of `by_dataset`."""
    record = table.record
    parts: dict[str, Study] = {}
    problems: dict[str, str] = {}
    for at, data in enumerate(record.datasets):
        try:
            parts[data.name] = conclude(
                table.on(at), by_dataset[data.name], live=None if live is None else live.on(at),
                too_little=too_little, store=store,
            )  # fmt: skip
        except BestOfKError as problem:
            problems[data.name] = str(problem)
    if not parts:
        name, reason = next(iter(problems.items()))
        raise RunError(f"Nothing can be decided on any data set; {name}: {reason}")
    chosen = _chosen(parts, settings.rule)
    return StudyByDataset(
        decision=None,
        losses=_scores(table, Counter(chosen[settings.rule].values())),
        undecided="each data set is decided by itself",
        settings=settings,
        parts=parts,
        problems=problems,
        chosen=chosen,
        **{**facts_of(table, notes, store), "left_out": {}},
    )


def _scores(table: CellTable, counts: Counter[str | None]) -> Scores:
    """Return all losses, of the most often recommended learner first, then by the means."""
    record, design = table.record, table.record.design
    names = record.names
    values = losses_of(table, range(len(names)), (0, design.runs), design.folds)
    with np.errstate(invalid="ignore"):
        means = np.nansum(values, axis=(1, 2, 3, 4)) / (~np.isnan(values)).sum(axis=(1, 2, 3, 4))
    order = sorted(range(len(names)), key=lambda at: (-counts[names[at]], means[at]))
    return as_scores(table, values[order], order, design.with_(nested_runs=0), missing="allow")


def _chosen(parts: Mapping[str, Study], rule: str) -> dict[str, dict[str, str | None]]:
    """Return what the rule, and others of the same paper, recommend on each data set."""
    paper = RULES[rule].paper
    others = [
        name
        for name, entry in RULES.items()
        if entry.paper == paper and entry.takes == "losses" and name != rule
    ]
    chosen: dict[str, dict[str, str | None]] = {rule: {}}
    for data, part in parts.items():
        if part.decision is None or part.settings is None:
            continue
        chosen[rule][data] = _name(part.decision.recommended)
        for other in others:
            # it may not apply to these losses
            with suppress(BestOfKError):
                settings = with_changes(part.settings, rule=other)
                decision = decide(
                    part.losses, with_measured_costs(settings, part.losses.learners, part.costs)
                )
                chosen.setdefault(other, {})[data] = _name(decision.recommended)
    return chosen


def _name(learner: Any) -> str | None:
    return None if learner is None else str(learner)


def _verdict(study: StudyByDataset) -> str:
    """Return how often each learner is recommended."""
    counts = Counter(next(iter(study.chosen.values())).values()).most_common()
    named = [f"{'no learner' if name is None else name} on {count}" for name, count in counts]
    if not named:
        return "No data set can be decided."
    return f"Use {joined(named)} of {counted(len(study.record.datasets), 'data set')}."


def _level(study: StudyByDataset) -> Statement:
    """Return the rule and its confidence."""
    assert study.settings is not None
    tests = {part.decision.test for part in study.parts.values() if part.decision is not None}
    preferred = preferred_words([part.decision for part in study.parts.values() if part.decision])
    text = (
        f"How sure: {RULES[study.settings.rule].title} with the test "
        f"{joined(sorted(tests))}{preferred}; {level_words(study.settings.alpha)} confidence on "
        "each data set by itself, not on all of them at once."
    )
    return Statement(kind="evidence", text=text, lead=text)


def preferred_words(decisions: Sequence[Decision]) -> str:
    """Return the words for a preference that all decisions share."""
    firsts = {one.preference.first("") if one.preference.stated else "" for one in decisions}
    shared = firsts.pop() if len(firsts) == 1 else ""
    return f" and a preference for {shared}" if shared else ""


def _agreement(chosen: Chosen) -> Iterator[str]:
    """Say how often the other rules recommend the same learner."""
    (_, ours), *others = chosen.items()
    for name, theirs in others:
        same = sum(ours[data] is not None and ours[data] == one for data, one in theirs.items())
        none = list(theirs.values()).count(None)
        yield (
            f"{RULES[name].title} recommends the same learner on {same or 'none'} of "
            f"{counted(len(theirs), 'data set')}{f', and no learner on {none}' * bool(none)}."
        )


def _shared(parts: Mapping[str, Study], kind: Kind) -> Iterator[str]:
    """Yield the statements of a kind, with the data sets that they are about unless all are."""
    about: dict[str, list[str]] = {}
    for name, part in parts.items():
        for one in part.select(kind):
            about.setdefault(one.text, []).append(name)
    for text, names in about.items():
        lead = "Caution: " if kind == "caution" else ""
        where = "" if len(names) == len(parts) else f"{shortened(names, MAX_NAMED)}: "
        yield f"{lead}{where}{text.removeprefix(lead)}"
