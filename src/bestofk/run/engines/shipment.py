"""Experiments on their way to other processes: one learner that cannot travel stops no other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bestofk.run.experiment import Contender, Experiment


@dataclass(frozen=True, slots=True)
class Stranded:
    """Stands for an estimator that did not arrive; its cells fail with the reason."""

    reason: str


def pack_experiment(experiment: Experiment) -> tuple[bytes | None, frozenset[int]]:
    """The experiment as bytes, and the positions of the learners that must stay here.

    A learner that cannot be pickled stays; None, and all of them, if it is the rest of the
    experiment (a loss that holds an open file, say) that cannot.
    """
    packed: list[bytes | None] = []
    for contender in experiment.contenders:
        try:
            packed.append(_dumps(contender.estimator))
        except Exception:
            # any class may raise anything while it is pickled
            packed.append(None)
    bare = tuple(
        replace(contender, estimator=Stranded("it cannot be pickled."))
        for contender in experiment.contenders
    )
    try:
        body = _dumps((replace(experiment, contenders=bare), packed))
    except Exception:
        return None, frozenset(range(len(packed)))
    return body, frozenset(place for place, data in enumerate(packed) if data is None)


def unpack_experiment(data: bytes) -> Any:
    """What `pack_experiment` packed; other work comes back as it is."""
    loaded = _loads(data)
    if not isinstance(loaded, tuple):
        return loaded
    experiment, packed = loaded
    contenders = tuple(
        _arrived(contender, estimator)
        for contender, estimator in zip(experiment.contenders, packed, strict=True)
    )
    found: Experiment = replace(experiment, contenders=contenders)
    return found


def _arrived(contender: Contender, packed: bytes | None) -> Contender:
    if packed is None:
        return contender
    try:
        return replace(contender, estimator=_loads(packed))
    except Exception as raised:
        reason = f"it cannot be loaded in a worker: {type(raised).__name__}: {raised}"
        return replace(contender, estimator=Stranded(" ".join(reason.split())[:300]))


def _dumps(value: Any) -> bytes:
    import cloudpickle

    data: bytes = cloudpickle.dumps(value)
    return data


def _loads(data: bytes) -> Any:
    import cloudpickle

    return cloudpickle.loads(data)
