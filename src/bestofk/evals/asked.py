"""What the user asked of the logs: which metric, filter and task, and what makes a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bestofk.checks import refuse
from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.wording import shortened

Names = str | Sequence[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfLogs:
    """The choices of the user; an empty tuple where there is none."""

    metric: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    cluster: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def wants_task(self, *names: str) -> bool:
        """Whether the task, under any of its names, was asked for."""
        return not self.task or any(name in self.task for name in names)


def names_asked(value: Names, where: str) -> tuple[str, ...]:
    """One name or several as a tuple.

    Examples
    --------
    >>> names_asked("acc", "metric"), names_asked(None, "metric"), names_asked(["a", "b"], "task")
    (('acc',), (), ('a', 'b'))
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    found = tuple(value) if isinstance(value, Sequence) else ()
    if not found or not all(isinstance(name, str) for name in found):
        raise refuse(where, "a name or a list of names", value)
    return found


def chosen(
    asked: Sequence[str],
    known: Iterable[str],
    *,
    what: str,
    where: str,
    default: Sequence[str] = (),
) -> str | None:
    """Which of the `known` names to take: the first that was asked for, or the only one.

    None where others were asked for. `default` are names that the harness itself puts first.

    Examples
    --------
    >>> chosen((), ["acc"], what="metric", where="arc")
    'acc'
    >>> chosen(("f1", "acc"), ["acc", "acc_norm"], what="metric", where="arc")
    'acc'
    """
    names = list(dict.fromkeys(known))
    if asked:
        return next((name for name in asked if name in names), None)
    for name in default:
        if name in names:
            return name
    if len(names) == 1:
        return names[0]
    if not names:
        raise ArgumentError(f"{where}: there is no {what} that is one number per sample.")
    raise ArgumentError(
        f"{where} has {len(names)} {what}s ({shortened(names, 12)}): name the one to compare by, "
        f"such as {what}={names[0]!r} (on the command line --{what} {names[0]})."
    )


def nothing_asked_for(
    asked: Sequence[str], known: Iterable[str], what: str, where: str
) -> UnknownNameError:
    """The sentence where nothing that was asked for is there."""
    return UnknownNameError(what, asked[0] if asked else "", dict.fromkeys(known), where)
