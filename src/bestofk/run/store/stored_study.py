"""Studies as a store keeps them: their specification, and how many cells are done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any

from bestofk._base.checks import check_fields
from bestofk.learners.preparation import Preparation
from bestofk.run.cells import CellKey
from bestofk.run.experiment import (
    CellIndex,
    Experiment,
    metric_identity,
    split_fingerprint,
    way_of_evaluation,
)

MAX_SETTINGS_LENGTH = 2000
"""Maximum length of a learner's stored text."""


def _hidden(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command line without passwords."""
    if not command:
        return ()
    from bestofk.run.store.url import hide_passwords

    return tuple(map(hide_passwords, command))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyLearner:
    """A learner of a study."""

    name: str
    fingerprint: str
    settings: str
    """The estimator as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyData:
    """A data set of a study, with its splits."""

    name: str
    fingerprint: str
    rows: int
    columns: int
    runs: int
    folds: int
    splits: tuple[tuple[int, int | None, str], ...]
    """(run, fold, fingerprint); the fold is None if one fingerprint covers all folds of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDecision:
    """The settings of a decision about a study, and notes for the reader.

    - `options`: What `bestofk.decide.Settings.to_dict` wrote.
    - `created`: Time in UTC and ISO 8601, for the reader only.
    - `command`: Arguments of the command line, if there was one, with passwords hidden.
    - `fits`: Number of fits that the decision used, if some were missing.
    - `notes`: The reason, in sentences.
    - `race`: The rule for stopping before the end of the plan, if there was one.
    """

    options: dict[str, Any]
    created: str = ""
    command: tuple[str, ...] = ()
    fits: int | None = None
    notes: tuple[str, ...] = ()
    race: dict[str, Any] | None = None

    @property
    def settings(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Settings that distinguish it from other decisions about the same study."""
        return self.options, self.race

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", _hidden(self.command))
        object.__setattr__(self, "notes", tuple(self.notes))


@dataclass(frozen=True, kw_only=True)
class StudySpec:
    """The specification of a comparison, sufficient to find and name its cells."""

    title: str
    learners: tuple[StudyLearner, ...]
    datasets: tuple[StudyData, ...]
    plan: str
    kind: str
    """The kind of the design (see `bestofk.splits.design`)."""
    stratified: bool | None
    loss: str
    """The metric of the decision."""
    metrics: tuple[str, ...]
    """The names of the scores by all these metrics in a store, in this order."""
    repetitions: int
    random_state: int
    also: tuple[str, ...] = ()
    """Other metrics of the same models."""
    versions: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    """Arguments of the command line, if there was one, with passwords hidden."""
    notes: tuple[str, ...] = ()
    """Notes on the splits."""
    taken: tuple[str, ...] = ()
    """What is predicted, and what was assumed about columns and rows."""
    n_train: tuple[int, ...] | None = None
    n_test: tuple[int, ...] | None = None
    """Training and test rows of the first data set; None if unknown."""
    groups: int | None = None
    """Number of groups of rows of the first data set; None if rows are not grouped."""
    decisions: tuple[StoredDecision, ...] = ()
    """The decisions about the study, newest last."""
    preparation: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """Preparation of the rows inside the folds, by data set and learner."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", _hidden(self.command))

    @property
    def digest(self) -> str:
        """Digest of the work, without title, versions, command line and decisions."""
        work = asdict(replace(self, decisions=()))
        for name in _NOT_WORK:
            del work[name]
        for learner in work["learners"]:
            del learner["settings"]  # the fingerprint covers them, without memory addresses
        return hashlib.sha256(_dump(work).encode()).hexdigest()[:32]

    @cached_property
    def _split_names(self) -> dict[tuple[int, int, int | None], str]:
        return {
            (dataset, run, fold): name
            for dataset, data in enumerate(self.datasets)
            for run, fold, name in data.splits
        }

    def key(self, cell: CellIndex) -> CellKey:
        """Return the key of a cell."""
        names, at = self._split_names, (cell.dataset, cell.run)
        return CellKey(
            dataset=self.datasets[cell.dataset].fingerprint,
            learner=self.learners[cell.learner].fingerprint,
            splits=names.get((*at, None)) or names.get((*at, cell.fold), ""),
            run=cell.run,
            fold=cell.fold,
            repetition=cell.repetition,
        )

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        on_parts = 2 * nested_runs_of(self.plan)
        splits = sum(data.runs * data.folds + on_parts for data in self.datasets)
        return splits * len(self.learners) * self.repetitions

    def as_json(self) -> str:
        """Return the specification as ASCII text for `from_json`."""
        return _dump(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> StudySpec:
        """Return the specification that `as_json` wrote, ignoring unknown fields."""
        fields = {name: value for name, value in json.loads(text).items() if name in _FIELDS}
        fields["learners"] = [StudyLearner(**learner) for learner in fields["learners"]]
        fields["datasets"] = [
            StudyData(**{**data, "splits": _tuples(data["splits"])}) for data in fields["datasets"]
        ]
        fields["decisions"] = [
            StoredDecision(
                **{name: _tuples(each[name]) for name in _DECISION_FIELDS if name in each}
            )
            for each in fields.get("decisions", ())
        ]
        fields = {name: _tuples(value) for name, value in fields.items()}
        spec = cls(**fields)
        _check_spec(spec)
        return spec

    def merged_into(self, stored: StudySpec) -> StudySpec:
        """Return what a store keeps if the same work is registered again.

        The stored title, versions and command stay. New decisions come last and replace stored
        ones with the same settings.
        """
        settings = [decision.settings for decision in self.decisions]
        earlier = [each for each in stored.decisions if each.settings not in settings]
        return replace(stored, decisions=(*earlier, *self.decisions))


def _check_spec(spec: StudySpec) -> None:
    """Raise ValueError if the specification is not one that `StudySpec.as_json` writes."""
    check_fields(spec)
    for by_learner in spec.preparation.values():
        for done in by_learner.values():
            Preparation.from_dict(done)
    counts = [n for data in spec.datasets for n in (data.runs, data.folds, data.rows, data.columns)]
    counts += [spec.repetitions, *(spec.n_train or ()), *(spec.n_test or ()), spec.groups or 0]
    if not all(0 <= count < 1 << 53 for count in counts):
        raise ValueError("a count is out of range")
    if not spec.learners or not spec.datasets or () in (spec.n_train, spec.n_test):
        raise ValueError("a study has learners, data sets and rows")
    if 0 in (spec.repetitions, *(n for data in spec.datasets for n in (data.runs, data.folds))):
        raise ValueError("a study has splits")
    if "bestofk" not in spec.versions:
        raise ValueError("the version is unknown")
    if len(spec.metrics) != 1 + len(spec.also):
        raise ValueError("every metric has a name in the store")
    for data in spec.datasets:
        # every run, or every fold of every run, has a fingerprint
        if data.runs > len(data.splits) or data.folds > max(data.rows, 1):
            raise ValueError("the splits do not match the plan")


def _tuples(value: Any) -> Any:
    """Return lists, and the lists in them, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def nested_runs_of(plan: str) -> int:
    """Return the number of nested runs in a plan specification."""
    if "+" not in plan:
        return 0
    from bestofk.splits.plans import plan as make_plan

    return make_plan(plan).nested_runs


_FIELDS = frozenset(StudySpec.__dataclass_fields__)
_DECISION_FIELDS = frozenset(StoredDecision.__dataclass_fields__)
_NOT_WORK = (
    "title", "versions", "command", "notes", "taken", "n_train", "n_test", "groups",
    "decisions", "preparation",
)  # fmt: skip
"""Fields that do not determine the cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStudy:
    """A study in a store."""

    id: int
    created: str
    """Time in UTC and ISO 8601, for the reader only."""
    spec: StudySpec


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCount:
    """Number of failures of a learner for one reason."""

    learner: str
    kind: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of the finished and failed cells of a study."""

    cells: int
    """All cells of the study."""
    done: int
    """Cells with a loss."""
    failed: int
    seconds: float
    """Total time of fit and predict."""
    failures: tuple[FailureCount, ...]
    """Failures, most frequent first."""

    @property
    def missing(self) -> int:
        """Cells that were not evaluated yet."""
        return self.cells - self.done - self.failed


def study_of(
    experiment: Experiment, *, title: str = "", plan: str | None = None, command: Sequence[str] = ()
) -> StudySpec:
    """Return the specification of an experiment, with the versions of the software."""
    designs = [splits.design for splits in experiment.splits]
    return StudySpec(
        title=title or _title(experiment),
        learners=tuple(
            StudyLearner(
                name=learner.name,
                fingerprint=learner.fingerprint,
                settings=_settings_text(learner.estimator),
            )
            for learner in experiment.learners
        ),
        datasets=tuple(
            StudyData(
                name=data.name,
                fingerprint=data.fingerprint,
                rows=data.n,
                columns=data.d,
                runs=splits.runs,
                folds=splits.folds,
                splits=_split_names(experiment, index),
            )
            for index, (data, splits) in enumerate(
                zip(experiment.datasets, experiment.splits, strict=True)
            )
        ),
        plan=experiment.splits[0].spec if plan is None else plan,
        kind=designs[0].kind,
        stratified=designs[0].stratified,
        loss=experiment.loss.name,
        also=tuple(loss.name for loss in experiment.also),
        metrics=tuple(f"{loss.name} {metric_identity(loss).digest}" for loss in experiment.losses),
        repetitions=experiment.repetitions,
        random_state=experiment.random_state,
        versions=dict(_versions()),
        command=tuple(command),
        n_train=designs[0].n_train,
        n_test=designs[0].n_test,
        groups=designs[0].groups,
    )


def splits_of(spec: StudySpec) -> dict[tuple[str, str, int, int | None], list[int]]:
    """Return the indices of the data sets by (data set, splits, run, fold) of their cells."""
    indices: dict[tuple[str, str, int, int | None], list[int]] = {}
    for index, data in enumerate(spec.datasets):
        for run, fold, fingerprint in data.splits:
            indices.setdefault((data.fingerprint, fingerprint, run, fold), []).append(index)
    return indices


def _title(experiment: Experiment) -> str:
    learners = len(experiment.learners)
    names = [data.name for data in experiment.datasets]
    sets = names[0] if len(names) == 1 else f"{len(names)} data sets"
    return f"{learners} learner{'s' * (learners != 1)} on {sets}"


def _split_names(experiment: Experiment, dataset: int) -> tuple[tuple[int, int | None, str], ...]:
    """Return the name of each split: the seed, its rows, and the way of evaluation.

    One name serves all folds of a run of cross-validation.
    """
    splits = experiment.splits[dataset]
    way = way_of_evaluation(experiment.datasets[dataset], experiment.threads).digest

    def name(run: int, fold: int) -> str:
        return f"{experiment.random_state}:{split_fingerprint(splits, run, fold)}:{way}"

    if splits.fold_of is not None:
        runs = range(splits.runs + splits.subset_runs)
        return tuple((run, None, name(run, 0)) for run in runs)
    return tuple((run, fold, name(run, fold)) for run, fold in splits.run_folds())


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
    from importlib.metadata import PackageNotFoundError, version

    from bestofk.version import __version__

    versions = {"bestofk": __version__, "python": platform.python_version()}
    for package in ("numpy", "scikit-learn"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def now() -> str:
    """Return the time as text, for the reader only."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
