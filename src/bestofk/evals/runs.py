"""Runs of one model on one task: which are the same learner, and which of several counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bestofk.evals.score_values import clean_name
from bestofk.wording import counted

_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    """One run of a model on a task, as a log states it.

    Parameters
    ----------
    model, task : str
        Who was asked what.
    time : str
        When, in a form that sorts.
    settings : mapping of str to str
        What makes another learner of the same model: prompts, solvers, temperatures.
    complete : bool
        The run came to its end.
    content : object
        What the reader needs to go on.
    where : str
        The file.
    """

    model: str
    task: str
    time: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    content: Any = None
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRun:
    """A run that counts, and the name of its learner."""

    learner: str
    run: EvalRun


def chosen_runs(runs: Sequence[EvalRun], note: Callable[[str], None]) -> list[ChosenRun]:
    """The latest complete run of every learner on every task.

    Runs of one model on one task whose settings differ are of different learners, and the settings
    that differ become part of their names.
    """
    told = _telling_settings(runs)
    by_cell: dict[tuple[str, str], list[EvalRun]] = defaultdict(list)
    for run in runs:
        by_cell[_label(run, told[run.model]), run.task].append(run)
    found = []
    passed: dict[str, list[str]] = defaultdict(list)
    for (learner, task), several in by_cell.items():
        best = max(several, key=lambda run: (run.complete, run.time, run.where))
        found.append(ChosenRun(learner=learner, run=best))
        if len(several) > 1:
            which = "latest complete" if best.complete else "latest"
            passed[learner].append(
                f"{task!r} ({counted(len(several), 'run')}, the {which} taken: {best.where})"
            )
    for learner, tasks in passed.items():
        shown = "; ".join(tasks[:3]) + (f"; and {len(tasks) - 3} more" if len(tasks) > 3 else "")
        note(f"Several runs of model {learner!r}: {shown}.")
    for model, keys in told.items():
        if keys:
            note(
                f"Runs of {model!r} differ in {', '.join(sorted(keys))}: each setting is a "
                "model of its own."
            )
    return found


def _telling_settings(runs: Sequence[EvalRun]) -> dict[str, set[str]]:
    """By model: the settings in which runs on the same task differ."""
    told: dict[str, set[str]] = {run.model: set() for run in runs}
    by_cell: dict[tuple[str, str], list[EvalRun]] = defaultdict(list)
    for run in runs:
        by_cell[run.model, run.task].append(run)
    for (model, _), several in by_cell.items():
        for key in {key for run in several for key in run.settings}:
            if len({run.settings.get(key, "") for run in several}) > 1:
                told[model].add(key)
    return told


def _label(run: EvalRun, keys: set[str]) -> str:
    parts = []
    for key in sorted(keys):
        value = clean_name(run.settings.get(key) or "default")
        parts.append(f"{key}={value if len(value) <= _LONGEST else value[: _LONGEST - 3] + '...'}")
    return f"{run.model} ({', '.join(parts)})" if parts else run.model
