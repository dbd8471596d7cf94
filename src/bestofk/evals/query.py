"""Choose what to read from evaluation logs: metric, task, cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bestofk._base.checks import Floats, refuse
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk._base.formatting import shortened
from bestofk.evals.rows import matches
from bestofk.losses.columns import EVAL_ROLES, direction_of, normal

Names = str | Sequence[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """The user's choices; an empty tuple stands for no choice."""

    metric: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    cluster: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Names and patterns of models and tasks to use, and to leave out."""
    excluded: set[str] = field(default_factory=set)
    """Tasks that were left out while reading."""

    def wants_task(self, name: str) -> bool:
        """Return whether to read the task; ``org/name`` is also a task ``name``."""
        if not self.task and not self.exclude:
            return True
        names = (name, name.rpartition("/")[2])
        if any(matches(each, self.exclude) for each in names):
            self.excluded.add(name)
            return False
        return not self.task or any(matches(each, self.task) for each in names)

    def unknown_metric(self, known: Iterable[str], where: str) -> UnknownNameError:
        """Return the error for metrics that the logs do not have."""
        return UnknownNameError("metric", self.metric[0], dict.fromkeys(known), where)


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


def pick_metric(
    requested: Sequence[str], known: Iterable[str], where: str, default: Sequence[str] = ()
) -> str | None:
    """Return the first requested metric that is known, or else the only one.

    Return None if none of the requested names is known. `default` are names that the tool itself
    puts first.

    Examples
    --------
    >>> pick_metric((), ["acc"], "arc"), pick_metric(("f1", "acc"), ["acc", "acc_norm"], "arc")
    ('acc', 'acc')
    """
    names = list(dict.fromkeys(known))
    for each in requested:
        if each.removesuffix(",none") in names:
            return each.removesuffix(",none")
        # lm-evaluation-harness names a metric with its filter: acc,strict
        filtered = [name for name in names if name.partition(",")[0] == each]
        if len(filtered) == 1:
            return filtered[0]
        if filtered:
            names, requested = filtered, ()
            break
    if requested:
        return None
    chosen = next((name for name in default if name in names), None)
    if chosen is not None or len(names) == 1:
        return chosen or names[0]
    likely = likely_first(names)
    raise ArgumentError(
        f"{where} has {len(names)} metrics ({shortened(likely, 12)}): name the one to compare by, "
        "such as ",
        use(metric=likely[0]),
        ".",
    )


_BAD = {
    "loss", "error", "errors", "toxicity", "hallucination", "hallucinations", "harm", "harmfulness",
    "bias", "violation", "violations", "perplexity", "distance", "latency", "cost",
}  # fmt: skip
"""Words in the name of a metric of which less is better."""


def higher_by_name(metric: str) -> bool | None:
    """Return whether higher is better according to the name of a metric; None if it does not say.

    Examples
    --------
    >>> higher_by_name("f1,strict"), higher_by_name("word_error_rate"), higher_by_name("judge")
    (True, False, None)
    """
    last = re.split(r"[./]", metric)[-1].partition(",")[0]
    direction = direction_of(last)
    if direction == "loss" or _BAD & set(normal(last).split("_")):
        return False
    return True if direction == "score" or normal(last) == "score" else None


RATED = {"judge", "rating", "grade", "quality", "helpfulness", "stars", "llm", "geval"}
"""Words in the name of a metric that people or models rate."""


def is_rating(known: Floats) -> bool:
    """Return whether scores are whole numbers from 1 to at most 10, such as those of a judge."""
    if not known.size:
        return False
    return bool(known.min() >= 1.0 and 3.0 <= known.max() <= 10.0 and (known % 1.0 == 0.0).all())


def likely_first(names: Sequence[str]) -> list[str]:
    """Return names of metrics, those that say so before others, and losses last.

    Examples
    --------
    >>> likely_first(["length", "correct", "error"])
    ['correct', 'length', 'error']
    """

    def rank(name: str) -> int:
        last = name.rpartition("/")[2].partition(",")[0]
        if normal(last) in EVAL_ROLES["score"]:
            return 0
        return {True: 1, None: 2, False: 3}[higher_by_name(name)]

    return sorted(names, key=rank)
