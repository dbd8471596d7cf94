"""What a fit may change of its process, and what the next one finds as it was.

Learners that are neither scikit-learn's nor ours change the working folder, close standard output,
set signals, alarms, recursion limits and variables of the environment. What one of them leaves
behind must not reach the others.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from bestofk._base.code_identity.bytecode import OWN, package_of
from bestofk._base.code_identity.identity import Identity, identify, text_digest
from bestofk.data.dataset import DataSet
from bestofk.run.metrics import Loss
from bestofk.splits.splits import Splits

_SIGNALS = tuple(
    getattr(signal, name)
    for name in (
        "SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGPIPE", "SIGCHLD", "SIGUSR1", "SIGUSR2",
    )
    if hasattr(signal, name)
)  # fmt: skip


@contextlib.contextmanager
def kept_surroundings() -> Iterator[None]:
    """Put back what a learner changed of its process."""
    with contextlib.ExitStack() as undo:
        undo.callback(_no_second_self, os.getpid())
        undo.callback(_streams_back, sys.stdout, sys.stderr)
        streams: tuple[Any, Any] = _Unclosed(sys.stdout), _Unclosed(sys.stderr)
        sys.stdout, sys.stderr = streams
        undo.callback(_files_back, [_copy(number) for number in range(3)])
        undo.callback(sys.setrecursionlimit, sys.getrecursionlimit())
        undo.callback(_environment_back, dict(os.environ))
        undo.callback(_path_back, list(sys.path))
        undo.callback(gc.enable if gc.isenabled() else gc.disable)
        undo.callback(np.seterr, **np.geterr())
        with contextlib.suppress(OSError):
            # the working folder may be gone already
            undo.callback(_folder_back, os.getcwd())  # noqa: PTH109
        if threading.current_thread() is threading.main_thread():
            undo.callback(_signals_back, {one: signal.getsignal(one) for one in _SIGNALS})
            if hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0:
                undo.callback(signal.setitimer, signal.ITIMER_REAL, 0.0)
        yield


def _no_second_self(pid: int) -> None:
    """A fork that comes out of a fit is not this process, and must not go on as if it were."""
    if os.getpid() != pid:
        os._exit(0)


def _copy(number: int) -> int | None:
    try:
        return os.dup(number)
    except OSError:
        return None


def _files_back(copies: list[int | None]) -> None:
    """Standard input, output and error, whatever was closed."""
    for number, copy in enumerate(copies):
        if copy is None:
            continue
        try:
            same = os.path.sameopenfile(number, copy)
        except OSError:
            same = False
        with contextlib.suppress(OSError):
            if not same:
                os.dup2(copy, number)
            os.close(copy)


class _Unclosed:
    """A stream for a learner to write to, and to close: the stream itself stays open."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Nothing: others will write to it."""


def _streams_back(out: Any, err: Any) -> None:
    sys.stdout, sys.stderr = out, err


def _environment_back(before: dict[str, str]) -> None:
    if os.environ != before:
        os.environ.clear()
        os.environ.update(before)


def _path_back(before: list[str]) -> None:
    sys.path[:] = before


def _folder_back(before: str) -> None:
    with contextlib.suppress(OSError):
        os.chdir(before)


def _signals_back(before: dict[signal.Signals, Any]) -> None:
    for one, handler in before.items():
        if handler is not None and signal.getsignal(one) != handler:
            signal.signal(one, handler)


# Fingerprints of learners and splits: what a stored cell must agree with to be used again.


_PLAIN = (type(None), bool, int, float, str, bytes)


def learner_fingerprint(estimator: Any) -> Identity:
    """What a learner is: its class and settings, and the code of both.

    The digest is two in one, with a dash between: of the class and its plain settings, from which
    seeds are drawn, so that they outlive an edit of the code; and of everything that runs.
    `random_state` is left out: the runner sets it in every cell.
    """
    settings = text_digest(repr(_settings(estimator)))
    code = identify(estimator)
    return Identity(digest=f"{settings}-{code.digest}", unknown=code.unknown)


def way_of_evaluation(loss: Loss, data: DataSet, threads: int) -> Identity:
    """How predictions on a data set are made and judged, besides by the learner.

    That is the code of the loss and of the judge, the types of columns and labels, how columns
    are prepared for learners that want numbers without gaps, and the threads of a fit.
    """
    from bestofk.learners.preparation import ready_learner
    from bestofk.run.judge import Judge, checked_predictions

    kinds = [type(data.X).__name__] if data.whole else [str(kind) for kind in data.X.dtypes]
    labels = [str(data.y.dtype)]
    if data.task == "classification":
        labels = sorted({type(label).__name__ for label in data.labels()[1].tolist()})
    plain = not data.whole and set(data.kinds.values()) == {"numeric"} and not data.n_missing
    prepared = () if plain else (ready_learner,)
    found = identify(loss.of, loss.needs, kinds, labels, Judge, checked_predictions, *prepared)
    return Identity(digest=text_digest(f"{found.digest} {threads}"), unknown=found.unknown)


def split_fingerprint(splits: Splits, run: int, fold: int) -> str:
    """The rows of one split.

    Longer plans begin with the same runs, so what was computed for ten runs serves for twenty.
    """
    kind = splits.design.kind
    # a row of marks is a run of cross-validation, but one split of the other kinds
    row, folds = (run, splits.folds_in(run)) if kind in ("cv", "loo") else (fold, 1)
    lines = splits.marks
    if row >= splits.runs and splits.subset_marks is not None:
        row, lines = row - splits.runs, splits.subset_marks
    marks = np.ascontiguousarray(lines[row], dtype="<i4").tobytes()
    return text_digest(f"{kind} {folds} ", marks)


def _settings(value: Any) -> Any:
    """A value whose repr is the same on every machine and in every process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        try:
            params = value.get_params(deep=False)
        except Exception:
            # any class may raise anything; its fits will say so
            params = {}
        shown = {name: _settings(param) for name, param in params.items() if name != "random_state"}
        kind = type(value)
        return (_named(kind), _version(kind), sorted(shown.items()))
    if isinstance(value, np.ndarray):
        return ("array", value.shape, str(value.dtype), text_digest("", value.tobytes()))
    if isinstance(value, list | tuple):
        return tuple(_settings(item) for item in value)
    if isinstance(value, dict):
        return sorted((_key(key), _settings(item)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return sorted(_key(item) for item in value)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, _PLAIN):
        return repr(value)
    known = isinstance(value, type) or hasattr(value, "__qualname__")
    return _named(value if known else type(value))


def _named(held: Any) -> str:
    """Its qualified name; without the module where that is a file of somebody's."""
    module = str(held.__module__)
    return f"{module}.{held.__qualname__}" if _is_packaged(module) else str(held.__qualname__)


def _is_packaged(module: str) -> bool:
    return module.partition(".")[0] == OWN or package_of(module) is not None


def _key(value: Any) -> str:
    return repr(value) if isinstance(value, _PLAIN) else repr(_settings(value))


def _version(kind: type) -> str:
    """Major and minor version of the package of a class: other versions may fit otherwise."""
    import sys

    if not _is_packaged(kind.__module__):
        return ""
    package = sys.modules.get(kind.__module__.partition(".")[0])
    version = str(getattr(package, "__version__", ""))
    return ".".join(version.split(".")[:2])
