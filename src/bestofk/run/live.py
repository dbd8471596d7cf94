"""What only a process can hold of a study: estimators, data, splits and metrics."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from bestofk._base.code_identity import OWN, Identity, identify, package_of, text_digest
from bestofk.data.dataset import DataSet
from bestofk.learners.base import seeds_of
from bestofk.run.cells import Cell
from bestofk.run.metrics import Loss
from bestofk.run.record import DataRecord, LearnerRecord, StudyRecord
from bestofk.splits.splits import Splits

MAX_SETTINGS_LENGTH = 2000
"""Maximum length of a learner's stored text."""
ALL_FOLDS = -1
"""Fold number of runs in which one model predicts all folds."""


@dataclass(frozen=True, slots=True)
class UnavailableEstimator:
    """An estimator that a worker could not load; its cells fail with the reason."""

    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Live:
    """A study in this process: its record, and everything that evaluates its cells; picklable.

    - `estimators`: In the order of the learners of the record.
    - `splits`: One for each data set.
    - `metrics`: The one that decides first.
    - `threads`: Threads that libraries may use in one fit.
    - `keep_predictions`, `keep_first`: Keep all predictions; keep those of the first fold, in case
      the run stops before the second.
    - `unknown`: Learners and metrics whose code a store cannot recognise, with the reason.
    """

    record: StudyRecord
    estimators: tuple[Any, ...]
    datasets: tuple[DataSet, ...]
    splits: tuple[Splits, ...]
    metrics: tuple[Loss, ...]
    threads: int = 1
    keep_predictions: bool = False
    keep_first: bool = False
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        learners: Mapping[str, Any],
        datasets: Sequence[DataSet],
        splits: Sequence[Splits],
        metrics: Sequence[Loss],
        *,
        repetitions: int = 1,
        random_state: int = 0,
        threads: int = 1,
        stored: bool = True,
        **options: Any,
    ) -> Live:
        """Return a study of learners by name.

        Only a store has to recognise code, so it is identified only if the cells are `stored`.
        `options` are further fields.
        """
        from bestofk.run.fit import FittedModel

        codes = [
            learner_fingerprint(one) if stored else Identity(digest=settings_digest(one))
            for one in learners.values()
        ]
        scored = [
            identify(loss.each, loss.of, loss.needs, FittedModel) if stored else Identity(digest="")
            for loss in metrics
        ]
        reasons = [(name, code.unknown) for name, code in zip(learners, codes, strict=True)]
        reasons += [("the loss", code.unknown) for code in scored]
        record = StudyRecord(
            title=_title(len(learners), [data.name for data in datasets]),
            learners=tuple(
                LearnerRecord(name=name, fingerprint=code.digest, settings=_settings_text(one))
                for (name, one), code in zip(learners.items(), codes, strict=True)
            ),
            datasets=tuple(
                DataRecord(
                    name=data.name,
                    fingerprint=data.fingerprint,
                    rows=data.n,
                    columns=data.d,
                    splits=_split_names(
                        of_data, random_state, _evaluation_identity(data, threads) if stored else ""
                    ),
                )
                for data, of_data in zip(datasets, splits, strict=True)
            ),
            plan=splits[0].spec,
            design=splits[0].design,
            designs=tuple(one.design for one in splits) if len(splits) > 1 else (),
            metrics=tuple(loss.name for loss in metrics),
            metric_keys=tuple(
                f"{loss.name} {code.digest}" for loss, code in zip(metrics, scored, strict=True)
            ),
            repetitions=repetitions,
            random_state=random_state,
            versions=dict(_versions()),
        )
        return cls(
            record=record,
            estimators=tuple(learners.values()),
            datasets=tuple(datasets),
            splits=tuple(splits),
            metrics=tuple(metrics),
            threads=threads,
            unknown=tuple(f"{what}: {reason}" for what, reason in reasons if reason),
            **options,
        )

    def recorded(self, **facts: Any) -> Live:
        """Return the study with other facts in its record."""
        return replace(self, record=replace(self.record, **facts))

    def on(self, dataset: int) -> Live:
        """Return the part of one data set as a study of its own."""
        return replace(
            self,
            record=self.record.on(dataset),
            datasets=(self.datasets[dataset],),
            splits=(self.splits[dataset],),
        )

    @property
    def learners(self) -> dict[str, Any]:
        """The estimators by name."""
        return dict(zip(self.record.names, self.estimators, strict=True))

    @property
    def metric(self) -> Loss:
        """The metric that decides."""
        return self.metrics[0]

    def sharing(self, cell: Cell) -> tuple[int, int, int]:
        """Return the data set, run and fold of the cells that share rows, or models, with this."""
        shares = self.splits[cell.dataset].shares_models(cell.run)
        return cell.dataset, cell.run, ALL_FOLDS if shares else cell.fold

    def keeps_predictions(self, cell: Cell) -> bool:
        """Return whether the predictions of a cell are kept."""
        return self.keep_predictions or (self.keep_first and cell.run == cell.fold == 0)

    @property
    def plan_notes(self) -> tuple[str, ...]:
        """Notes about the splits for the reader."""
        several = len(self.datasets) > 1
        return tuple(
            f"{data.name}: {note}" if several else note
            for data, splits in zip(self.datasets, self.splits, strict=True)
            for note in splits.notes
        )


def _title(learners: int, datasets: Sequence[str]) -> str:
    sets = datasets[0] if len(datasets) == 1 else f"{len(datasets)} data sets"
    return f"{learners} learner{'s' * (learners != 1)} on {sets}"


def _settings_text(estimator: Any) -> str:
    """Return the estimator as one line, or its class if its repr fails."""
    try:
        text = " ".join(repr(estimator).split())
        return text if len(text) <= MAX_SETTINGS_LENGTH else text[: MAX_SETTINGS_LENGTH - 3] + "..."
    except Exception:  # user classes may raise anything
        return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


@cache
def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    from bestofk.version import __version__

    versions = {"bestofk": __version__, "python": platform.python_version()}
    return versions | {package: version(package) for package in ("numpy", "scikit-learn")}


# What determines the result of a cell: splits, scoring, preparation, settings and code


def _split_names(
    splits: Splits, random_state: int, evaluation: str
) -> tuple[tuple[int, int | None, str], ...]:
    """Return the name of each split; one name serves all folds of a run of cross-validation."""

    def name(run: int, fold: int) -> str:
        return f"{random_state}:{split_fingerprint(splits, run, fold)}:{evaluation}"

    if splits.fold_of is not None:
        runs = range(splits.runs + splits.subset_runs)
        return tuple((run, None, name(run, 0)) for run in runs)
    return tuple((run, fold, name(run, fold)) for run, fold in splits.run_folds())


def split_fingerprint(splits: Splits, run: int, fold: int) -> str:
    """Return the digest of the rows of one split.

    Longer plans begin with the same runs, so cells of ten runs are reused for twenty.
    """
    kind = splits.design.kind
    # a row of marks is a run of cross-validation, but a single split of other kinds of plan
    row, folds = (run, splits.folds_in(run)) if kind in ("cv", "loo") else (fold, 1)
    lines = splits.marks
    if row >= splits.runs and splits.subset_marks is not None:
        row, lines = row - splits.runs, splits.subset_marks
    marks = np.ascontiguousarray(lines[row], dtype="<i4").tobytes()
    return text_digest(f"{kind} {folds} ", marks)


def _evaluation_identity(data: DataSet, threads: int) -> str:
    """Return the digest of how predictions on a data set are computed.

    It covers the types of columns and labels, the preparation of columns for learners that need
    numbers without gaps, and the threads of a fit.
    """
    from bestofk.learners.preparation import ready_learner
    from bestofk.run.fit import checked_predictions

    kinds = [type(data.X).__name__] if data.whole else [str(kind) for kind in data.X.dtypes]
    labels = [str(data.y.dtype)]
    if data.task == "classification":
        labels = sorted({type(label).__name__ for label in data.labels()[1].tolist()})
    plain = not data.whole and set(data.kinds.values()) == {"numeric"} and not data.n_missing
    prepared = () if plain else (ready_learner,)
    identity = identify(kinds, labels, checked_predictions, *prepared)
    return text_digest(f"{identity.digest} {threads}")


def learner_fingerprint(estimator: Any) -> Identity:
    """Return the identity of a learner: its class, its settings, and the code of both."""
    code = identify(estimator)
    return Identity(digest=f"{settings_digest(estimator)}-{code.digest}", unknown=code.unknown)


def settings_digest(estimator: Any) -> str:
    """Return the digest of the class and the plain settings of a learner.

    Exclude a `random_state` that the user did not set, because the runner sets it in every cell.
    """
    return text_digest(repr(_settings(estimator)))


PLAIN = (type(None), bool, int, float, str, bytes)
"""Types of settings whose copies are the values themselves."""


def _settings(value: Any) -> Any:
    """Return a value whose repr is the same on every machine and in every process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        try:
            params = value.get_params(deep=False)
        except Exception:
            # user classes may raise anything; the fits report it
            params = {}
        seeds = seeds_of(value)
        settings = {
            name: _settings(param)
            for name, param in params.items()
            if seeds.get(name) is not None or name not in ("random_state", "random_seed")
        }
        kind = type(value)
        return (_qualified_name(kind), _version(kind), sorted(settings.items()))
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
    if isinstance(value, np.random.RandomState):
        return ("random state", _settings(value.get_state(legacy=False)))
    if isinstance(value, np.random.Generator):
        return ("generator", _settings(value.bit_generator.state))
    if isinstance(value, PLAIN):
        return repr(value)
    has_name = isinstance(value, type) or hasattr(value, "__qualname__")
    return _qualified_name(value if has_name else type(value))


def _qualified_name(value: Any) -> str:
    """Return the qualified name, without the module unless it belongs to a package."""
    module = str(value.__module__)
    return f"{module}.{value.__qualname__}" if _is_packaged(module) else str(value.__qualname__)


def _is_packaged(module: str) -> bool:
    return module.partition(".")[0] == OWN or package_of(module) is not None


def _key(value: Any) -> str:
    return repr(value) if isinstance(value, PLAIN) else repr(_settings(value))


def _version(kind: type) -> str:
    """Return the major and minor version of the package of a class."""
    if not _is_packaged(kind.__module__):
        return ""
    package = sys.modules.get(kind.__module__.partition(".")[0])
    version = str(getattr(package, "__version__", ""))
    return ".".join(version.split(".")[:2])
