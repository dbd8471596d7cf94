"""Choose what to read from evaluation logs: metric, filter, task, cluster, runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bestofk._base.checks import refuse
from bestofk._base.errors import Advice, ArgumentError, UnknownNameError
from bestofk._base.formatting import counted, shortened
from bestofk.evals.rows import clean_name, matches

Names = str | Sequence[str] | None
MAX_SETTING_LENGTH = 60
"""Characters of a setting in the name of a learner."""
MAX_LISTED_TASKS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """The user's choices; an empty tuple stands for no choice."""

    metric: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    cluster: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    """Names and patterns of models and tasks to leave out."""
    excluded: set[str] = field(default_factory=set)
    """Tasks that were left out while reading."""

    def wants_task(self, *names: str) -> bool:
        """Return whether to read the task, under any of its names."""
        if any(matches(name, self.exclude) for name in names):
            self.excluded.update(names)
            return False
        return not self.task or any(name in self.task for name in names)


def as_names(value: Names, where: str) -> tuple[str, ...]:
    """Return one name or several as a tuple.

    Examples
    --------
    >>> as_names("acc", "metric"), as_names(None, "metric"), as_names(["a", "b"], "task")
    (('acc',), (), ('a', 'b'))
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    names = tuple(value) if isinstance(value, Sequence) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise refuse(where, "a name or a list of names", value)
    return names


def pick_name(
    requested: Sequence[str],
    known: Iterable[str],
    *,
    what: str,
    where: str,
    default: Sequence[str] = (),
) -> str | None:
    """Return the first requested name that is known, or else the only known name.

    Return None if none of the requested names is known. `default` are names that the harness
    itself puts first.

    Examples
    --------
    >>> pick_name((), ["acc"], what="metric", where="arc")
    'acc'
    >>> pick_name(("f1", "acc"), ["acc", "acc_norm"], what="metric", where="arc")
    'acc'
    """
    names = list(dict.fromkeys(known))
    if requested:
        return next((name for name in requested if name in names), None)
    for name in default:
        if name in names:
            return name
    if len(names) == 1:
        return names[0]
    if not names:
        raise ArgumentError(f"{where} has no {what} that is one number per sample.")
    raise ArgumentError(
        f"{where} has {len(names)} {what}s ({shortened(names, 12)}): name the one to compare by, "
        "such as ",
        Advice(what, names[0]),
        ".",
    )


def unknown_name(
    requested: Sequence[str], known: Iterable[str], what: str, where: str
) -> UnknownNameError:
    """Return the error for requested names that the logs do not have."""
    return UnknownNameError(what, requested[0] if requested else "", dict.fromkeys(known), where)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    """One run of a model on a task, as a log states it.

    - `model`, `task`: The names of the model and of the task.
    - `time`: When it ran, in a form that sorts.
    - `settings`: Settings that make another learner of the same model: prompts, solvers,
      temperatures.
    - `complete`: Whether the run finished.
    - `content`: Anything that the reader needs to read the run.
    - `where`: The file.
    """

    model: str
    task: str
    time: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    content: Any = None
    where: str = ""


def latest_runs(
    runs: Sequence[EvalRun], note: Callable[[str], None]
) -> Iterator[tuple[str, EvalRun]]:
    """Yield the name of the learner and its latest complete run, for every learner and task.

    Runs of one model on one task whose settings differ belong to different learners. The settings
    that differ become part of their names.
    """
    differing = _differing_settings(runs)
    by_cell: dict[tuple[str, str], list[EvalRun]] = defaultdict(list)
    for run in runs:
        by_cell[_learner_name(run, differing[run.model]), run.task].append(run)
    latest = {
        cell: max(several, key=lambda run: (run.complete, run.time, run.where))
        for cell, several in by_cell.items()
    }
    repeated: dict[str, list[str]] = defaultdict(list)
    for (learner, task), run in latest.items():
        count = len(by_cell[learner, task])
        if count > 1:
            rule = "latest complete" if run.complete else "latest"
            repeated[learner].append(
                f"{task!r} ({counted(count, 'run')}, the {rule} counts: {run.where})"
            )
    for learner, tasks in repeated.items():
        more = len(tasks) - MAX_LISTED_TASKS
        listed = "; ".join(tasks[:MAX_LISTED_TASKS]) + (f"; and {more} more" if more > 0 else "")
        note(f"Several runs of model {learner!r}: {listed}.")
    for model, keys in differing.items():
        if keys:
            note(
                f"Runs of {model!r} differ in {', '.join(sorted(keys))}: each setting is a "
                "separate model."
            )
    for (learner, _), run in latest.items():
        yield learner, run


def _differing_settings(runs: Sequence[EvalRun]) -> dict[str, set[str]]:
    """Return by model the settings in which runs on the same task differ."""
    differing: dict[str, set[str]] = {run.model: set() for run in runs}
    by_cell: dict[tuple[str, str], list[EvalRun]] = defaultdict(list)
    for run in runs:
        by_cell[run.model, run.task].append(run)
    for (model, _), several in by_cell.items():
        for key in {key for run in several for key in run.settings}:
            if len({run.settings.get(key, "") for run in several}) > 1:
                differing[model].add(key)
    return differing


def _learner_name(run: EvalRun, keys: set[str]) -> str:
    parts = []
    for key in sorted(keys):
        value = clean_name(run.settings.get(key) or "default")
        if len(value) > MAX_SETTING_LENGTH:
            value = f"{value[: MAX_SETTING_LENGTH - 3]}..."
        parts.append(f"{key}={value}")
    return f"{run.model} ({', '.join(parts)})" if parts else run.model
